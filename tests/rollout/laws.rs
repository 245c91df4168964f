//! Laws over random conversations and damaged samples.

use openai_harmony::chat::{Message, Role, SystemContent};
use openai_harmony::rollout::{Break, ExtendOptions, Extension, Rollout, Segment, Step};
use proptest::bool::weighted;
use proptest::prelude::*;

use crate::samples::{config, damaged, exchange, plays};
use crate::{encoding, parsed, prompt, result, sampled, text, tools, user};

proptest! {
    #[test]
    fn what_is_sampled_as_rendered_goes_on_as_the_full_rendering(
        exchanges in prop::collection::vec(exchange(), 1..5),
        config in config(),
    ) {
        for (before, said, new) in plays(&exchanges) {
            let prompt = prompt(&before, config);
            let mut sampled = sampled(&said, config);
            let all = [before, said, new.clone()].concat();
            let full = self::prompt(&all, config);
            let extend = ExtendOptions::new().with_config(config);
            let found = encoding().extend(&prompt, &sampled, &new, &extend).unwrap();
            if sampled.last() != Some(&200_002) {
                check_found(found, &prompt, &sampled, &full);
                continue;
            }
            let expected = Extension::Broken { reason: Break::ReturnSampled, tokens: full.clone() };
            prop_assert_eq!(found, expected);
            let kept = encoding()
                .extend(&prompt, &sampled, &new, &extend.with_keep_return(true))
                .unwrap();
            *sampled.last_mut().unwrap() = 200_007;
            check_found(kept, &prompt, &sampled, &full);
        }
    }

    #[test]
    fn damaged_samples_keep_their_meaning(
        sampled in damaged(),
        config in config(),
        asks in any::<bool>(),
    ) {
        let before = [user("2 + 2?")];
        let prompt = prompt(&before, config);
        let new = if asks { vec![user("And 3 + 3?")] } else { Vec::new() };
        let extend = ExtendOptions::new().with_config(config).with_keep_return(true);
        match encoding().extend(&prompt, &sampled, &new, &extend) {
            Ok(Extension::Extended { added }) => {
                let next = [&prompt[..], &sampled, &added].concat();
                let mut expected = parsed(&[&prompt[..], &sampled].concat());
                expected.extend(new);
                let found = parsed(&next);
                prop_assert!(found == expected, "{}\n{found:#?}\n{expected:#?}", text(&next));
            }
            Ok(Extension::Broken { reason, .. }) => prop_assert_ne!(reason, Break::ReturnSampled),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn a_rollout_has_mask_1_exactly_on_what_was_sampled(
        exchanges in prop::collection::vec(exchange(), 1..4),
        config in config(),
        keep_return in any::<bool>(),
    ) {
        let plays = plays(&exchanges);
        let extend = ExtendOptions::new().with_config(config).with_keep_return(keep_return);
        let mut rollout = Rollout::new(encoding(), plays[0].0.clone(), extend).unwrap();
        let mut expected = vec![vec![0; rollout.prompt_len()]];
        for (_, said, new) in plays {
            let sampled = sampled(&said, config);
            let logprobs: Vec<f32> = (0_u8..).map(f32::from).take(sampled.len()).collect();
            let before = rollout.prompt();
            let step = rollout.sampled(&sampled, Some(&logprobs)).unwrap();
            prop_assert_eq!(step.said.iter().map(|said| said.message.clone()).collect::<Vec<_>>(), said);
            expected.last_mut().unwrap().extend(vec![1; sampled.len()]);
            let broken = rollout.extend(&new).unwrap();
            let prompt = rollout.prompt();
            if broken.is_some() {
                let all: Vec<Message> = rollout.messages().cloned().collect();
                prop_assert_eq!(&prompt, &self::prompt(&all, config));
                expected.push(vec![0; prompt.len()]);
            } else {
                prop_assert!(prompt.starts_with(&[before, sampled].concat()));
                let last = expected.last_mut().unwrap();
                last.resize(prompt.len(), 0);
            }
        }
        let masks: Vec<_> = rollout.segments().iter().map(Segment::loss_mask).collect();
        prop_assert_eq!(masks, expected);
        for segment in rollout.segments() {
            let logprobs = segment.logprobs();
            prop_assert_eq!(logprobs.len(), segment.tokens().len());
            for (logprob, mask) in logprobs.iter().zip(segment.loss_mask()) {
                prop_assert_eq!(logprob.is_nan(), mask == 0);
            }
            let covered: usize = check_spans(segment, &rollout);
            prop_assert_eq!(covered, segment.tokens().len(), "{:?}", segment.spans());
        }
    }

    /// Whatever was sampled, both continue, for the same reasons; what waits can be answered.
    #[test]
    fn a_rollout_goes_on_as_its_tokens_do(
        samples in prop::collection::vec((damaged(), any::<bool>(), weighted(0.1)), 1..5),
        config in config(),
        keep_return in any::<bool>(),
        has_system in any::<bool>(),
    ) {
        let extend = ExtendOptions::new()
            .with_config(config)
            .with_keep_return(keep_return)
            .with_tools(["functions.f", "python"]);
        let system = Message::from_role_and_content(Role::System, SystemContent::new());
        let begin = has_system.then_some(system).into_iter().chain([user("2 + 2?")]);
        let mut rollout = Rollout::new(encoding(), begin, extend.clone()).unwrap();
        for (sampled, asks, declares) in samples {
            let prompt = rollout.prompt();
            let said = rollout.messages().len();
            let step = rollout.sampled(&sampled, None).unwrap();
            let stop = sampled.last().filter(|last| [200_002, 200_007, 200_012].contains(last));
            prop_assert_eq!(step.stop_token.as_ref(), stop);
            prop_assert_eq!(&step, &Step::read(encoding(), &prompt, &sampled, &extend.tools).unwrap());
            let waiting = step.said.iter().filter(|said| said.is_waiting).rev();
            let results = waiting.map(|call| result(call.message.recipient.as_deref().unwrap()));
            let asked = asks.then(|| user("?")).into_iter().chain(declares.then(tools));
            let new: Vec<Message> = results.chain(asked).collect();
            let found = encoding().extend(&prompt, &sampled, &new, &extend).unwrap();
            let broken = rollout.extend(&new).unwrap();
            let messages = rollout.messages().len();
            prop_assert_eq!(messages, said + step.said.len() + new.len());
            match found {
                Extension::Extended { added } => {
                    prop_assert_eq!(broken, None);
                    prop_assert_eq!(rollout.prompt(), [prompt, sampled, added].concat());
                }
                // Read from tokens, a text that was dropped before is not there to be rendered anew.
                Extension::Broken { reason, .. } => prop_assert_eq!(broken, Some(reason)),
            }
        }
        for segment in rollout.segments() {
            check_spans(segment, &rollout);
            let samples = segment.samples();
            let mut mask = vec![0; segment.tokens().len()];
            for sample in samples {
                mask[sample].fill(1);
            }
            prop_assert_eq!(mask, segment.loss_mask());
        }
    }
}

/// The spans of a segment follow each other and name the messages in their order. Returns how many tokens they cover.
fn check_spans(segment: &Segment, rollout: &Rollout) -> usize {
    let (mut covered, mut end) = (0, 0);
    let mut last = None;
    for span in segment.spans() {
        let places = [end, span.start, span.content, span.stop, span.end];
        assert!(places.is_sorted(), "{:?}", segment.spans());
        covered += span.end - span.start;
        end = span.end;
        if let Some(message) = span.message {
            assert!(last < Some(message) && message < rollout.messages().len());
            last = Some(message);
        }
    }
    assert!(end <= segment.tokens().len(), "{:?}", segment.spans());
    covered
}

fn check_found(found: Extension, prompt: &[u32], sampled: &[u32], full: &[u32]) {
    let unbroken = [prompt, sampled].concat();
    match found {
        // By 0.0.8's policy a call brings back thoughts that a question behind an answer has dropped.
        Extension::Extended { .. } if !full.starts_with(prompt) => {}
        Extension::Extended { added } => assert_eq!(text(&[unbroken, added].concat()), text(full)),
        Extension::Broken { reason, tokens } => {
            assert_eq!(reason, Break::ThoughtsDropped);
            assert_eq!(text(&tokens), text(full));
            assert!(!full.starts_with(&unbroken), "nothing breaks");
        }
    }
}
