//! Going on from sampled tokens: its laws over random conversations and damaged samples, and what is refused.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use openai_harmony::chat::{
    Author, DeveloperContent, Message, Role, SystemContent, ToolDescription, ToolNamespaceConfig,
};
use openai_harmony::rollout::{Break, ExtendConfig, Extension, Rollout, SaidKind, Segment};
use openai_harmony::{
    AnalysisPolicy, HarmonyEncoding, HarmonyEncodingName, HeaderStyle, ParseConfig, RenderConfig,
    RenderEnd, load_harmony_encoding,
};
use proptest::prelude::*;

fn encoding() -> HarmonyEncoding {
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap()
}

fn tokens(text: &str) -> Vec<u32> {
    encoding().tokenizer().encode_with_special_tokens(text)
}

fn text(tokens: &[u32]) -> String {
    encoding().tokenizer().decode_utf8(tokens).unwrap()
}

fn user(text: &str) -> Message {
    Message::from_role_and_content(Role::User, text)
}

fn assistant(channel: &str, text: &str) -> Message {
    Message::from_role_and_content(Role::Assistant, text).with_channel(channel)
}

fn call(name: &str) -> Message {
    assistant("commentary", "{}").with_recipient(name).with_content_type("<|constrain|>json")
}

fn result(name: &str) -> Message {
    Message::from_author_and_content(Author::new(Role::Tool, name), "done")
        .with_channel("commentary")
        .with_recipient("assistant")
}

fn prompt(messages: &[Message], config: RenderConfig) -> Vec<u32> {
    let ending = RenderEnd::Completion(Role::Assistant);
    encoding().render_conversation_with(messages, ending, &config).unwrap()
}

/// What a model samples for messages, behind a prompt: as the renderer writes them, `<|return|>` after an answer.
fn sampled(messages: &[Message], config: RenderConfig) -> Vec<u32> {
    let config = config.with_analysis(AnalysisPolicy::KeepAll);
    let mut written =
        encoding().render_conversation_with(messages, RenderEnd::Training, &config).unwrap();
    written.drain(..prompt(&[], config).len());
    written
}

fn parsed(tokens: &[u32]) -> Vec<Message> {
    encoding().parse_messages_with(tokens.iter().copied(), None, &ParseConfig::lenient()).unwrap()
}

/// A turn: a question, then steps of the model with the results of its calls. Each is cut where sampling stops.
#[derive(Debug, Clone)]
struct Exchange {
    question: Message,
    steps: Vec<Vec<Message>>,
}

fn step() -> impl Strategy<Value = Vec<Message>> {
    let thought = prop::option::of("[a-z ]{0,9}".prop_map(|text| assistant("analysis", &text)));
    let preamble = prop::option::weighted(0.3, Just(assistant("commentary", "I will look.")));
    let last = prop_oneof![
        2 => prop::sample::select(&["functions.f", "python", "browser.search"][..]).prop_map(call),
        1 => "[a-zé🤷]{0,9}".prop_map(|text| assistant("final", &text)),
    ];
    (thought, preamble, last).prop_map(|(a, b, c)| a.into_iter().chain(b).chain([c]).collect())
}

fn exchange() -> impl Strategy<Value = Exchange> {
    ("[a-z?]{1,9}", prop::collection::vec(step(), 1..5)).prop_map(|(question, mut steps)| {
        // Nothing is asked of the model behind its answer but a new question.
        if let Some(answer) = steps.iter().position(|step| step.last().unwrap().recipient.is_none())
        {
            steps.truncate(answer + 1);
        }
        Exchange { question: user(&question), steps }
    })
}

fn config() -> impl Strategy<Value = RenderConfig> {
    let analysis = prop::sample::select(
        &[
            AnalysisPolicy::KeepAll,
            AnalysisPolicy::DropBeforeFirstFinal,
            AnalysisPolicy::DropCompletedTurns,
        ][..],
    );
    let style =
        prop::sample::select(&[HeaderStyle::RecipientInRole, HeaderStyle::RecipientInChannel][..]);
    (analysis, style).prop_map(|(analysis, style)| {
        RenderConfig::new().with_analysis(analysis).with_header_style(style)
    })
}

/// The steps of a conversation: what was said before each, what is sampled, what follows.
fn plays(exchanges: &[Exchange]) -> Vec<(Vec<Message>, Vec<Message>, Vec<Message>)> {
    let mut before = vec![Message::from_role_and_content(Role::System, SystemContent::new())];
    let mut plays = Vec::new();
    for (index, Exchange { question, steps }) in exchanges.iter().enumerate() {
        before.push(question.clone());
        for step in steps {
            let called = step.last().unwrap().recipient.as_deref();
            let next = exchanges.get(index + 1).map(|next| next.question.clone());
            let new: Vec<Message> = match called {
                Some(name) => vec![result(name)],
                None => next.into_iter().collect(),
            };
            plays.push((before.clone(), step.clone(), new.clone()));
            before.extend(step.iter().cloned());
            if called.is_some() {
                before.extend(new);
            }
        }
    }
    plays
}

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
            let extend = ExtendConfig::new().with_render(config);
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
        let extend = ExtendConfig::new().with_render(config).with_keep_return(true);
        match encoding().extend(&prompt, &sampled, &new, &extend) {
            Ok(Extension::Extended { added }) => {
                let next = [&prompt[..], &sampled, &added].concat();
                let mut expected = parsed(&[&prompt[..], &sampled].concat());
                expected.extend(new);
                let found = parsed(&next);
                prop_assert!(found == expected, "{}\n{found:#?}\n{expected:#?}", text(&next));
            }
            Ok(Extension::Broken { reason, .. }) => prop_assert_ne!(reason, Break::ReturnSampled),
            Err(error) => prop_assert!(error.to_string().starts_with("Invalid rollout: "), "{error}"),
        }
    }

    #[test]
    fn a_rollout_has_mask_1_exactly_on_what_was_sampled(
        exchanges in prop::collection::vec(exchange(), 1..4),
        config in config(),
        keep_return in any::<bool>(),
    ) {
        let plays = plays(&exchanges);
        let extend = ExtendConfig::new().with_render(config).with_keep_return(keep_return);
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

    #[test]
    fn a_rollout_goes_on_as_its_tokens_do(
        samples in prop::collection::vec((damaged(), any::<bool>()), 1..5),
        config in config(),
        keep_return in any::<bool>(),
    ) {
        let extend = ExtendConfig::new().with_render(config).with_keep_return(keep_return);
        let mut rollout = Rollout::new(encoding(), [user("2 + 2?")], extend.clone()).unwrap();
        for (sampled, asks) in samples {
            let prompt = rollout.prompt();
            let said = rollout.messages().len();
            let Ok(step) = rollout.sampled(&sampled, None) else {
                prop_assert_eq!(rollout.prompt(), prompt);
                break;
            };
            let called = step.said.last().and_then(|said| said.message.recipient.clone());
            let new: Vec<Message> =
                called.as_deref().map(result).into_iter().chain(asks.then(|| user("?"))).collect();
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
        }
    }
}

/// A sample that may be malformed in any way.
fn damaged() -> impl Strategy<Value = Vec<u32>> {
    let pieces = prop::collection::vec(prop::sample::select(&PIECES[..]), 1..9);
    let ends = prop::sample::select(&["", "<|end|>", "<|return|>", "<|call|>"][..]);
    (pieces, ends).prop_map(|(pieces, ends)| tokens(&(pieces.concat() + ends)))
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

const PIECES: [&str; 24] = [
    "<|start|>assistant",
    "<|channel|>",
    "<|channel|>final",
    "<|channel|>analysis",
    "<|channel|>commentary",
    "<|message|>",
    "<|message|>",
    "<|message|>",
    "<|end|>",
    "<|constrain|>json",
    " to=functions.f",
    "assistant",
    "final",
    "analysis",
    "__X",
    " ",
    "{\"a\":1}",
    "Hello. ",
    "é🤷🏽",
    "<|endoftext|>",
    "user",
    "<|start|>",
    " json",
    "A text that is long enough to be an answer by itself, since it has more than thirty-two tokens and \
     nothing at all that anybody could take for a header or a part of one, whatever comes behind it now.",
];

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

#[test]
fn a_content_that_was_cut_off_is_closed() {
    let prompt = prompt(&[user("2 + 2?")], RenderConfig::new());
    let cases = [
        ("<|channel|>final<|message|>Fo", "<|end|>"),
        ("<|channel|>commentary to=functions.f<|message|>{\"a", "<|call|>"),
    ];
    for (sampled, stop) in cases {
        let found = encoding()
            .extend(&prompt, &tokens(sampled), &[user("Go on")], &ExtendConfig::new())
            .unwrap();
        let Extension::Extended { added } = found else { unreachable!("{found:?}") };
        let expected = format!("{stop}<|start|>user<|message|>Go on<|end|><|start|>assistant");
        assert_eq!(text(&added), expected);
    }
}

#[test]
fn a_prompt_with_a_prefill_goes_on() {
    let prompt =
        tokens("<|start|>user<|message|>?<|end|><|start|>assistant<|channel|>final<|message|>It");
    let config = ExtendConfig::new().with_keep_return(true);
    let found =
        encoding().extend(&prompt, &tokens(" is 4.<|return|>"), &[user("Sure?")], &config).unwrap();
    assert!(matches!(found, Extension::Extended { .. }), "{found:?}");
}

#[test]
fn a_header_that_was_cut_off_breaks() {
    let before = [user("2 + 2?")];
    let prompt = prompt(&before, RenderConfig::new());
    let sampled = tokens("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>");
    let found = encoding().extend(&prompt, &sampled, &[user("?")], &ExtendConfig::new()).unwrap();
    let Extension::Broken { reason, tokens } = found else { unreachable!("{found:?}") };
    assert_eq!(reason, Break::CutInHeader);
    let all = [&before[..], &[assistant("analysis", "Hm."), user("?")]].concat();
    assert_eq!(text(&tokens), text(&self::prompt(&all, RenderConfig::new())));
}

/// Malformed tokens before a question mean something else at the end of all.
#[test]
fn a_prompt_that_is_read_in_parts_means_what_the_whole_does() {
    let mut rollout = Rollout::new(encoding(), [user("2 + 2?")], ExtendConfig::new()).unwrap();
    for (sampled, new, broken) in [
        ("analysis<|start|>assistant", vec![], Some(Break::CutInHeader)),
        ("<|end|>__X<|start|>user<|message|>", vec![], None),
        ("<|channel|>final<|end|>", vec![user("?")], Some(Break::ThoughtsDropped)),
    ] {
        let (prompt, sampled) = (rollout.prompt(), tokens(sampled));
        let found = encoding().extend(&prompt, &sampled, &new, &ExtendConfig::new()).unwrap();
        rollout.sampled(&sampled, None).unwrap();
        assert_eq!(rollout.extend(&new).unwrap(), broken);
        assert_eq!(matches!(found, Extension::Broken { .. }), broken.is_some());
    }
}

#[test]
fn declaring_tools_breaks_where_the_system_message_must_say_so() {
    let tool = ToolDescription::new("f", "", None);
    let tools =
        DeveloperContent::new().with_tools(ToolNamespaceConfig::new("functions", None, vec![tool]));
    let tools = Message::from_role_and_content(Role::Developer, tools);
    let system = Message::from_role_and_content(Role::System, SystemContent::new());
    let config = RenderConfig::new().with_analysis(AnalysisPolicy::KeepAll);
    let said = assistant("final", "Hi.");
    let extend = ExtendConfig::new().with_render(config).with_keep_return(true);
    let new = [tools.clone(), user("?")];

    let before = [system.clone(), user("Hi")];
    let found = encoding().extend(
        &prompt(&before, config),
        &sampled(std::slice::from_ref(&said), config),
        &new,
        &extend,
    );
    let all = [&before[..], std::slice::from_ref(&said), &new].concat();
    let expected = Extension::Broken { reason: Break::ToolsDeclared, tokens: prompt(&all, config) };
    assert_eq!(found.unwrap(), expected);

    let before = [system, tools, user("Hi")];
    let found = encoding()
        .extend(&prompt(&before, config), &sampled(&[said], config), &new, &extend)
        .unwrap();
    assert!(matches!(found, Extension::Extended { .. }), "{found:?}");
}

/// A prompt, what was sampled, new messages; the error.
type Case<'c> = (&'c [u32], Vec<u32>, Vec<Message>, &'c str);

#[test]
fn what_cannot_go_on_is_refused() {
    let good = prompt(&[user("2 + 2?")], RenderConfig::new());
    let answer = "<|channel|>final<|message|>4<|return|>";
    let calls = "<|channel|>commentary to=functions.f<|message|>{}<|call|>";
    let cases: [Case<'_>; 11] = [
        (&[], tokens(answer), vec![], "prompt: does not end with an open message of the assistant"),
        (
            &tokens("Hello"),
            tokens(answer),
            vec![],
            "prompt: does not end with an open message of the assistant",
        ),
        (
            &good[..good.len() - 2],
            tokens(answer),
            vec![],
            "prompt: does not end with an open message of the assistant",
        ),
        (
            &tokens("<|start|>user"),
            tokens(answer),
            vec![],
            "prompt: does not end with an open message of the assistant",
        ),
        (&good, vec![], vec![], "sampled: has no tokens"),
        (&good, vec![17, 201_089], vec![], "sampled[1]: 201089 is not a token id"),
        (
            &good,
            tokens(&format!("{calls}x")),
            vec![],
            "sampled[10]: stands behind <|call|>, at which sampling stops",
        ),
        (
            &good,
            tokens(&format!("{answer}<|start|>")),
            vec![],
            "sampled[5]: stands behind <|return|>, at which sampling stops",
        ),
        (
            &good,
            tokens(calls),
            vec![result("functions.g")],
            "messages[0]: is a result of \"functions.g\", the calls that wait: functions.f",
        ),
        (
            &good,
            tokens(answer),
            vec![user("?"), result("functions.f")],
            "messages[1]: is a result of \"functions.f\", the calls that wait: none",
        ),
        (
            &good,
            tokens(answer),
            vec![assistant("final", "5")],
            "messages[0]: is the assistant's, whose messages are sampled",
        ),
    ];
    for (prompt, sampled, messages, expected) in cases {
        let error =
            encoding().extend(prompt, &sampled, &messages, &ExtendConfig::new()).unwrap_err();
        assert_eq!(error.to_string(), format!("Invalid rollout: {expected}"));
    }
}

#[test]
fn an_error_leaves_the_rollout_as_it_was() {
    let mut rollout = Rollout::new(encoding(), [user("2 + 2?")], ExtendConfig::new()).unwrap();
    let answer = tokens("<|channel|>final<|message|>4<|return|>");
    let before = rollout.prompt();
    let refuse = |error: openai_harmony::Error, expected: &str| {
        assert_eq!(error.to_string(), format!("Invalid rollout: {expected}"));
    };
    refuse(
        rollout.extend(&[user("?")]).unwrap_err(),
        "messages: nothing was sampled from this prompt yet",
    );
    refuse(rollout.sampled(&[], None).unwrap_err(), "sampled: has no tokens");
    refuse(rollout.sampled(&answer, Some(&[0.0])).unwrap_err(), "logprobs: 1 for 5 tokens");
    assert_eq!(rollout.prompt(), before);
    rollout.sampled(&answer, None).unwrap();
    refuse(
        rollout.sampled(&answer, None).unwrap_err(),
        "sampled: this prompt was sampled from; extend it first",
    );
    let after = (rollout.prompt(), rollout.messages().len());
    refuse(
        rollout.extend(&[result("functions.f")]).unwrap_err(),
        "messages[0]: is a result of \"functions.f\", the calls that wait: none",
    );
    assert_eq!((rollout.prompt(), rollout.messages().len()), after);
    assert_eq!(rollout.extend(&[user("And 3?")]).unwrap(), Some(Break::ReturnSampled));
    assert_eq!(rollout.segments().len(), 2);
}

#[test]
fn every_call_of_a_step_may_be_answered() {
    let call = |name: &str| {
        format!("<|channel|>commentary to=functions.{name}<|message|>{{}}<|end|><|start|>assistant")
    };
    let last = "<|channel|>commentary to=functions.g<|message|>{}<|call|>";
    let sampled = tokens(&[call("f"), call("f"), last.to_owned()].concat());
    let results = ["functions.g", "functions.f", "functions.f"].map(result);
    let extend = |sampled: &[u32], results: &[Message]| {
        let prompt = prompt(&[user("2 + 2?")], RenderConfig::new());
        encoding().extend(&prompt, sampled, results, &ExtendConfig::new())
    };
    assert!(extend(&sampled, &results).is_ok());
    let refused =
        |sampled: &[u32], results: &[Message]| extend(sampled, results).unwrap_err().to_string();
    let more = [&results[..], &[result("functions.f")]].concat();
    assert!(
        refused(&sampled, &more)
            .ends_with("messages[3]: is a result of \"functions.f\", the calls that wait: none")
    );
    let behind = [result("functions.g"), user("?"), result("functions.f")];
    assert!(refused(&sampled, &behind).contains("messages[2]: is a result of"));
    let answered =
        tokens(&[call("f"), "<|channel|>final<|message|>4<|return|>".to_owned()].concat());
    assert!(refused(&answered, &[result("functions.f")]).contains("messages[0]: is a result of"));
}

#[test]
fn a_step_says_what_was_sampled() {
    let mut rollout = Rollout::new(encoding(), [user("2 + 2?")], ExtendConfig::new()).unwrap();
    let sampled = tokens(
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary<|message|>I look.<|end|>\
         <|start|>assistant<|channel|>commentary to=functions.f<|message|>{\"a\":",
    );
    let step = rollout.sampled(&sampled, None).unwrap();
    let kinds: Vec<_> = step.said.iter().map(|said| (said.kind, said.is_complete)).collect();
    assert_eq!(
        kinds,
        [(SaidKind::Thought, true), (SaidKind::Preamble, true), (SaidKind::Call, false)]
    );
    let contents: Vec<_> =
        step.said.iter().map(|said| text(&sampled[said.span.content_tokens()])).collect();
    assert_eq!(contents, ["Hm.", "I look.", "{\"a\":"]);
    assert_eq!((step.said[0].span.start, step.said[2].span.end), (0, sampled.len()));
    assert!(!step.is_complete() && step.thought_closed() && step.stop.is_none());

    let mut rollout = Rollout::new(encoding(), [user("2 + 2?")], ExtendConfig::new()).unwrap();
    let step = rollout.sampled(&tokens("<|channel|>analysis<|message|>Hm"), None).unwrap();
    assert!(!step.thought_closed());
}

#[test]
fn branches_go_their_own_ways() {
    let config = ExtendConfig::new().with_keep_return(true);
    let mut one = Rollout::new(encoding(), [user("2 + 2?")], config).unwrap();
    let mut other = one.clone();
    one.sampled(&tokens("<|channel|>final<|message|>4<|return|>"), None).unwrap();
    other.sampled(&tokens("<|channel|>final<|message|>5<|return|>"), None).unwrap();
    one.extend(&[user("?")]).unwrap();
    assert!(text(&one.prompt()).contains("4<|return|><|start|>user<|message|>?"));
    assert!(text(&other.prompt()).ends_with("5<|return|>"));
}
