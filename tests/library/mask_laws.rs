//! The law of loss masks: a conversation is played as a server would, and the tokens that are sampled
//! there are those of mask 1. It is told here from `render_conversation_with` and the stop tokens
//! alone.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use openai_harmony::chat::{Author, Message, Role, SystemContent};
use openai_harmony::training::{LossMask, Turns};
use openai_harmony::{
    HarmonyEncoding, HarmonyEncodingName, HeaderStyle, Prefill, RenderConfig, RenderEnd, Rendered,
    ThoughtPolicy, load_harmony_encoding,
};
use proptest::prelude::*;

fn encoding() -> HarmonyEncoding {
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap()
}

fn special(name: &str) -> u32 {
    encoding().tokenizer().special_token(name).unwrap()
}

/// What a model samples, and where the prompt for it ends.
struct Sampling {
    prompt: Vec<u32>,
    sampled: Vec<u32>,
}

/// Plays messages: where the next is the assistant's, the server renders what there is for
/// completion, and the model writes messages until it samples a stop token for actions. Messages of
/// others the server adds.
///
/// The model ends its messages as they are rendered, but its answers with `<|return|>`; and the last
/// of them as a training example ends.
fn play(messages: &[Message], config: RenderConfig, is_training: bool) -> Vec<Sampling> {
    let stops = encoding().stop_token_ids();
    let ending = RenderEnd::Completion(Role::Assistant);
    let mut samplings: Vec<Sampling> = Vec::new();
    let mut is_sampling = false;
    for (index, message) in messages.iter().enumerate() {
        if message.author.role != Role::Assistant {
            is_sampling = false;
            continue;
        }
        let mut written = encoding().render_with(message, &config).unwrap();
        let is_answer = message.channel.as_deref() == Some("final");
        let is_last_of_training = is_training && index + 1 == messages.len();
        if is_answer && (message.recipient.is_none() || is_last_of_training) {
            *written.last_mut().unwrap() = special("<|return|>");
        }
        if !is_sampling {
            let prompt =
                encoding().render_conversation_with(&messages[..index], ending, &config).unwrap();
            // The model goes on behind what the server wrote of the message.
            let behind = encoding().render_conversation_with(&[], ending, &config).unwrap();
            assert!(written.starts_with(&behind));
            written.drain(..behind.len());
            samplings.push(Sampling { prompt, sampled: Vec::new() });
        }
        is_sampling = !stops.contains(written.last().unwrap());
        samplings.last_mut().unwrap().sampled.extend(written);
    }
    samplings
}

/// The mask that playing the rendered messages gives.
fn played(tokens: &[u32], samplings: &[Sampling]) -> Vec<u8> {
    let mut mask = vec![0; tokens.len()];
    for Sampling { prompt, sampled } in samplings {
        assert!(tokens.starts_with(prompt));
        for (index, &token) in sampled.iter().enumerate() {
            let place = prompt.len() + index;
            if tokens[place] == token {
                mask[place] = 1;
            } else {
                // Sampled, and not what the history holds.
                assert_eq!((token, tokens[place]), (special("<|return|>"), special("<|end|>")));
            }
        }
    }
    mask
}

fn author() -> impl Strategy<Value = Author> {
    let tool = prop::sample::select(&["functions.f", "python", "assistant", "user"][..]);
    prop_oneof![
        6 => Just(Author::from(Role::Assistant)),
        1 => Just(Author::new(Role::Assistant, "bob")),
        2 => Just(Author::from(Role::User)),
        1 => prop::sample::select(&[Role::System, Role::Developer][..]).prop_map(Author::from),
        2 => tool.prop_map(|name| Author::new(Role::Tool, name)),
    ]
}

prop_compose! {
    fn message()(
        author in author(),
        text in prop_oneof![
            any::<String>(),
            prop::sample::select(&["", "<|start|>assistant", "<|end|>", "Hi. "][..])
                .prop_map(str::to_owned),
        ],
        channel in prop::option::weighted(0.85, prop::sample::select(
            &["analysis", "commentary", "final", "final", "Scratch", ""][..]
        )),
        recipient in prop::option::weighted(0.4, prop::sample::select(
            &["functions.f", "python", "assistant", "all", "user"][..]
        )),
        content_type in prop::option::weighted(0.2, prop::sample::select(
            &["<|constrain|>json", "code"][..]
        )),
    ) -> Message {
        let mut message = Message::from_author_and_content(author, text);
        message.channel = channel.map(str::to_owned);
        message.recipient = recipient.map(str::to_owned);
        message.content_type = content_type.map(str::to_owned);
        message
    }
}

fn conversation() -> impl Strategy<Value = Vec<Message>> {
    (any::<bool>(), prop::collection::vec(message(), 0..12)).prop_map(|(has_system, messages)| {
        let system = Message::from_role_and_content(Role::System, SystemContent::new());
        has_system.then_some(system).into_iter().chain(messages).collect()
    })
}

prop_compose! {
    fn config()(
        thoughts in prop::sample::select(&[
            ThoughtPolicy::Keep,
            ThoughtPolicy::DropBeforeFirstFinal,
            ThoughtPolicy::Drop,
        ][..]),
        style in prop::sample::select(
            &[HeaderStyle::RecipientInRole, HeaderStyle::RecipientInChannel][..]
        ),
    ) -> RenderConfig {
        RenderConfig::new().with_thoughts(thoughts).with_header_style(style)
    }
}

fn ending() -> impl Strategy<Value = RenderEnd<'static>> {
    prop::sample::select(
        &[
            RenderEnd::None,
            RenderEnd::Training,
            RenderEnd::Completion(Role::Assistant),
            RenderEnd::Completion(Role::User),
        ][..],
    )
}

/// The messages that were rendered.
fn rendered_messages(rendered: &Rendered, messages: &[Message]) -> Vec<Message> {
    let indices = rendered.spans.iter().filter_map(|span| span.message);
    indices.map(|index| messages[index].clone()).collect()
}

/// The mask that `LossMask` should give, of one that has all that is sampled.
fn narrowed(all: &[u8], mask: &LossMask, rendered: &Rendered, messages: &[Message]) -> Vec<u8> {
    let mut narrowed = vec![0; all.len()];
    let is_user = |message: &Message| message.author.role == Role::User;
    for (index, span) in rendered.spans.iter().enumerate() {
        let Some(message) = span.message.map(|at| &messages[at]) else { continue };
        let later = rendered.spans[index..].iter().filter_map(|span| span.message);
        let is_answered = later.map(|at| &messages[at]).any(is_user);
        let is_trained = !(mask.turns == Turns::Last && is_answered)
            && mask.channels.as_ref().is_none_or(|channels| {
                message.channel.as_ref().is_some_and(|channel| channels.contains(channel))
            });
        for place in span.start..span.end {
            let is_header = place < span.content;
            let is_stop = place >= span.stop;
            let is_asked = (mask.headers || !is_header) && (mask.stop_tokens || !is_stop);
            narrowed[place] = all[place] * u8::from(is_trained && is_asked);
        }
    }
    narrowed
}

/// A law of tokens that few cases have is tried on many.
fn thousands_of_cases() -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig { cases: config.cases.max(3000), ..config }
}

proptest! {
    #![proptest_config(thousands_of_cases())]

    #[test]
    fn what_is_sampled_has_mask_1_and_the_rest_has_0(
        messages in conversation(),
        config in config(),
        ending in ending(),
    ) {
        let rendered = encoding().render_with_spans(&messages, ending, &config).unwrap();
        let shown = rendered_messages(&rendered, &messages);
        let keep = config.with_thoughts(ThoughtPolicy::Keep);
        // An answer that is the last only since what follows was dropped ends as in a history.
        let last = rendered.spans.iter().filter_map(|span| span.message).next_back();
        let is_last = last.is_some_and(|last| last + 1 == messages.len());
        let samplings = play(&shown, keep, ending == RenderEnd::Training && is_last);
        let expected = played(&rendered.tokens, &samplings);
        prop_assert_eq!(rendered.loss_mask(&LossMask::new()), expected);
    }

    #[test]
    fn options_leave_out_what_they_say(
        messages in conversation(),
        config in config(),
        ending in ending(),
        channels in prop::option::of(prop::collection::vec(
            prop::sample::select(&["analysis", "commentary", "final", "Scratch", "x"][..]), 0..3
        )),
        is_last in any::<bool>(),
        headers in any::<bool>(),
        stop_tokens in any::<bool>(),
    ) {
        let rendered = encoding().render_with_spans(&messages, ending, &config).unwrap();
        let mut mask = LossMask::new().with_headers(headers).with_stop_tokens(stop_tokens);
        mask.turns = if is_last { Turns::Last } else { Turns::All };
        if let Some(channels) = channels {
            mask = mask.with_channels(channels);
        }
        let all = rendered.loss_mask(&LossMask::new());
        prop_assert_eq!(
            rendered.loss_mask(&mask),
            narrowed(&all, &mask, &rendered, &messages)
        );
    }

    #[test]
    fn a_prompt_is_not_sampled_whatever_it_holds_of_the_next_message(
        messages in conversation(),
        config in config(),
        channel in prop::option::of(Just("final")),
        text in any::<String>(),
    ) {
        let mut prefill = Prefill::new().with_text(text);
        prefill.channel = channel.map(str::to_owned);
        let ending = RenderEnd::Prefill(Role::Assistant, &prefill);
        let rendered = encoding().render_with_spans(&messages, ending, &config).unwrap();
        let without = encoding().render_with_spans(&messages, RenderEnd::None, &config).unwrap();
        let mut expected = without.loss_mask(&LossMask::new());
        expected.resize(rendered.tokens.len(), 0);
        prop_assert_eq!(rendered.loss_mask(&LossMask::new()), expected);
    }
}
