//! Replies that are saved and taken up again: nothing shows it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use openai_harmony::ErrorKind;
use openai_harmony::interop::{
    Dialect, FinishReason, MakeId, Reply, ReplyOptions, TokenLogprob, Turn,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::laws::{reason, sampled};
use crate::changed;

use super::{
    ANTHROPIC, CALL, CHAT, OLLAMA, PREAMBLE, RESPONSES, THOUGHT, encoding, plain_of, reply_laws,
    tokens, turn,
};

fn begun(turn: &Turn, options: ReplyOptions) -> Reply {
    let options = options.with_id("a").with_created(7);
    turn.reply(&encoding(), options).unwrap()
}

fn again(turn: &Turn, reply: &Reply) -> Reply {
    Reply::from_bytes(turn, &encoding(), &reply.to_bytes(), ReplyOptions::default()).unwrap()
}

/// What is saved of a reply but how long it took.
fn timeless(reply: &Reply) -> Value {
    let mut saved: Value = serde_json::from_slice(&reply.to_bytes()).unwrap();
    for key in ["elapsed", "first_token"] {
        saved[key].take();
    }
    saved
}

/// The same by a checkpoint.
fn from_checkpoint(turn: &Turn, reply: &Reply) -> Reply {
    let saved = reply.to_checkpoint().unwrap();
    Reply::from_bytes(turn, &encoding(), &saved, ReplyOptions::default()).unwrap()
}

/// What is sent of tokens in pieces, saved and taken up before each piece where `moves` says so.
fn sent(turn: &Turn, pieces: &[&[u32]], moves: &[bool], reason: FinishReason) -> (String, Value) {
    sent_by(turn, pieces, moves, reason, again)
}

fn sent_by(
    turn: &Turn,
    pieces: &[&[u32]],
    moves: &[bool],
    reason: FinishReason,
    again: fn(&Turn, &Reply) -> Reply,
) -> (String, Value) {
    let mut reply = begun(turn, ReplyOptions::new("m").with_prompt_tokens(9).with_cached_tokens(2));
    let mut bytes = Vec::new();
    for (piece, moves) in pieces.iter().zip(moves.iter().cycle()) {
        if *moves {
            reply = again(turn, &reply);
        }
        let given: Vec<_> =
            piece.iter().map(|id| Some(TokenLogprob::from(-f64::from(*id)))).collect();
        reply.feed_into(piece, Some(&given), &mut bytes).unwrap();
    }
    reply.finish_into(reason, None, &mut bytes).unwrap();
    if moves[0] {
        reply = again(turn, &reply);
        assert!(reply.feed(&[], None).is_err(), "it is finished");
        assert_eq!(reply.finish(reason, None).unwrap(), []);
    }
    (reply_laws::without_durations(bytes), reply_laws::response(&reply))
}

proptest! {
    #[test]
    fn what_is_sent_is_the_same(
        tokens in sampled(),
        size in 1_usize..6,
        moves in prop::collection::vec(any::<bool>(), 1..6),
        reason in reason(),
    ) {
        for turn in reply_laws::turns() {
            let pieces: Vec<_> = std::iter::once(&[][..]).chain(tokens.chunks(size)).collect();
            let stayed = sent(turn, &pieces, &[false], reason);
            prop_assert_eq!(sent(turn, &pieces, &moves, reason), stayed);
        }
    }
}

proptest! {
    #[test]
    fn what_is_sent_after_a_checkpoint_is_the_same(
        tokens in sampled(),
        size in 1_usize..6,
        moves in prop::collection::vec(any::<bool>(), 1..6),
        reason in reason(),
    ) {
        for turn in reply_laws::turns() {
            if turn.dialect == Dialect::Responses {
                continue;
            }
            let pieces: Vec<_> = std::iter::once(&[][..]).chain(tokens.chunks(size)).collect();
            let (stayed, _) = sent(turn, &pieces, &[false], reason);
            let (moved, _) = sent_by(turn, &pieces, &moves, reason, from_checkpoint);
            prop_assert_eq!(moved, stayed);
        }
    }
}

/// After thoughts, shown and hidden, preambles and calls, in each dialect.
#[test]
fn a_checkpoint_may_come_after_each_token() {
    let second = CALL.replace("<|call|>", "<|end|><|start|>assistant");
    let sampled = tokens(&[THOUGHT, PREAMBLE, &second, THOUGHT, CALL].concat());
    for turn in reply_laws::turns().iter().filter(|turn| turn.dialect != Dialect::Responses) {
        let pieces: Vec<_> = sampled.chunks(1).collect();
        let (stayed, _) = sent(turn, &pieces, &[false], FinishReason::Stop);
        let (moved, _) = sent_by(turn, &pieces, &[true], FinishReason::Stop, from_checkpoint);
        assert_eq!(moved, stayed);
    }
}

#[test]
fn responses_have_no_checkpoint() {
    let responses = turn(RESPONSES, &plain_of(RESPONSES));
    let error = begun(&responses, ReplyOptions::new("m")).to_checkpoint().unwrap_err();
    assert!(error.to_string().contains("use to_bytes"), "{error}");
}

/// Whatever a model says without end, what was sent of it is not kept. A header is sent once it has ended.
#[test]
fn a_checkpoint_does_not_grow() {
    let tools = json!([
        {"type": "function", "function": {"name": "get_weather"}},
        {"type": "custom", "custom": {"name": "shell"}},
    ]);
    let body = json!({"logprobs": true, "stop": ["END"], "tools": tools});
    let turn = turn(CHAT, &super::with(plain_of(CHAT), body));
    let weather = "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>";
    let shell = "<|channel|>commentary to=functions.shell <|constrain|>json<|message|>";
    let after = "<|start|>assistant<|channel|>final<|message|>";
    let rows = [
        ("<|channel|>analysis<|message|>", " word"),
        (&[THOUGHT, after].concat()[..], " word"),
        (&[THOUGHT, after].concat(), " EN"),
        (&[THOUGHT, after].concat(), "\u{e9}\u{1f600}"),
        (&[weather, "{\"city\": \"Os"].concat(), "lo, Berg\\u00e9\\n"),
        (&[weather, "{\"days\": [0"].concat(), ", {\"a\": [1.5, true]}"),
        (weather, "no object "),
        (weather, "\n "),
        (&[weather, "[1"].concat(), ", 1"),
        (&[shell, "{\"input\": \""].concat(), "echo \\\"é\\\"\\n"),
        (&[shell, "{\"input\": \"print(\"a\") "].concat(), "\"b\" "),
        (shell, "ls -l "),
        ("", " word"),
        ("<|start|>assistant", " word"),
        ("<|channel|>analysis", " word"),
        ("", "<|start|>"),
        ("", "<|start|>user<|message|>Hi<|end|>"),
        ("", "<|start|>assistant<|channel|>final<|message|>Hi<|end|>"),
        (
            "",
            "<|start|>assistant<|channel|>commentary to=functions.get_weather<|message|>{}<|call|>",
        ),
    ];
    let mut grown = Vec::new();
    for (begin, more) in rows {
        let mut reply = begun(&turn, ReplyOptions::new("m"));
        let feed = |reply: &mut Reply, tokens: &[u32]| {
            reply.feed(tokens, Some(&vec![Some((-1.0).into()); tokens.len()])).unwrap();
        };
        feed(&mut reply, &tokens(begin));
        let more = tokens(&more.repeat(500));
        let mut sizes = Vec::new();
        for _ in 0..10 {
            for piece in more.chunks(97) {
                feed(&mut reply, piece);
                reply = from_checkpoint(&turn, &reply);
            }
            sizes.push(reply.to_checkpoint().unwrap().len());
        }
        if sizes[9] > sizes[0] + 40 || sizes[9] >= 1_800 {
            grown.push(format!("{begin} {sizes:?}"));
        }
    }
    assert!(grown.is_empty(), "{grown:#?}");
}

/// States of all kinds of messages, and before the first token.
fn checkpoints(turn: &Turn) -> Vec<Value> {
    let texts = [
        "",
        THOUGHT,
        CALL,
        "<|channel|>final<|message|>One EN",
        "<|channel|>final<|message|>One END two",
        "<|start|>assistant",
        "<|channel|>commentary to=functions.shell<|message|>{\"input\": \"echo é\\u00",
        "<|channel|>analysis to=python code<|message|>print(1",
        "<|channel|>final<|message|>One<|end|><|start|>user<|message|>Two",
    ];
    let mut states = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let mut reply = begun(turn, ReplyOptions::new("m"));
        let fed = tokens(text);
        let fed = &fed[..fed.len() - usize::from(text.ends_with("|>"))];
        if index > 0 {
            reply.feed(fed, Some(&vec![Some((-1.0).into()); fed.len()])).unwrap();
        }
        states.push(serde_json::from_slice(&reply.to_checkpoint().unwrap()).unwrap());
    }
    states
}

/// A checkpoint may come from a client. What breaks a reply is refused, by the name of a field that does not fit; what
/// is taken is kept, and the spans of repairs are within the tokens.
fn no_checkpoint_breaks(turn: &Turn) {
    let (mut refused, mut lost) = (BTreeSet::new(), Vec::new());
    let states = checkpoints(turn);
    for whole in &states {
        resumed(turn, whole).unwrap();
        let root = "/fed/Checkpoint";
        changed::each(whole, &states, root, &mut |state, path| {
            // The parser has a law of its own.
            if path.starts_with("/fed/Checkpoint/parser/") {
                return;
            }
            match resumed(turn, state) {
                Ok(reply) => lost.extend(keeps_the_laws(reply, state, path)),
                Err(error) => match error.kind() {
                    ErrorKind::InvalidState { reason } => _ = refused.insert(reason.to_string()),
                    other => panic!("{other:?}"),
                },
            }
        });
    }
    assert!(lost.is_empty(), "{lost:#?}");
    refused.retain(|reason| !reason.starts_with("not a saved reply"));
    let fields = ["content", "held", "open", "past", "thought_tokens"];
    let fields = fields.into_iter().chain(turn.sampling.logprobs.map(|_| "logprobs"));
    for field in fields {
        let reason = format!("`{field}` does not fit its other fields");
        assert!(refused.contains(&reason), "{field}: {refused:?}");
    }
}

#[test]
fn no_checkpoint_breaks_a_reply() {
    let tools = json!([
        {"type": "function", "function": {"name": "get_weather"}},
        {"type": "custom", "custom": {"name": "shell"}},
        {"type": "code_interpreter"},
    ]);
    let body = json!({"logprobs": true, "stop": ["END"], "tools": tools});
    no_checkpoint_breaks(&turn(CHAT, &super::with(plain_of(CHAT), body)));
}

#[test]
fn no_checkpoint_breaks_a_continued_reply() {
    let begun = json!({"role": "assistant", "content": "Ité", "prefix": true});
    let messages = json!([{"role": "user", "content": "Hi"}, begun]);
    no_checkpoint_breaks(&turn(CHAT, &json!({"messages": messages, "stop": ["END"]})));
}

/// Calls are held until they are complete, and a thought is repeated at its end.
#[test]
fn no_checkpoint_breaks_a_reply_of_objects() {
    let tools = json!([{"name": "get_weather", "input_schema": {"type": "object"}}]);
    let thinking = json!({"type": "enabled", "budget_tokens": 2048});
    let body = json!({"max_tokens": 4096, "thinking": thinking, "tools": tools});
    no_checkpoint_breaks(&turn(ANTHROPIC, &super::with(plain_of(ANTHROPIC), body)));
}

/// A checkpoint may hold back what may begin a stop string, and nothing else.
#[test]
fn only_what_may_begin_a_stop_string_is_held() {
    let turn = turn(CHAT, &super::with(plain_of(CHAT), json!({"stop": ["ab"]})));
    let mut reply = begun(&turn, ReplyOptions::new("m"));
    reply.feed(&tokens("<|channel|>final<|message|>xa"), None).unwrap();
    let mut state: Value = serde_json::from_slice(&reply.to_checkpoint().unwrap()).unwrap();
    let rows = [("", true), ("a", true), ("aa", false), ("ba", false), ("ab", false)];
    for (text, is_held) in rows {
        state["fed"]["Checkpoint"]["held"] = json!(text);
        assert_eq!(resumed(&turn, &state).is_ok(), is_held, "{text}");
    }
}

fn resumed(turn: &Turn, state: &Value) -> Result<Reply, openai_harmony::Error> {
    let saved = serde_json::to_vec(state).unwrap();
    Reply::from_bytes(turn, &encoding(), &saved, ReplyOptions::default())
}

/// What was lost.
fn keeps_the_laws(mut reply: Reply, state: &Value, path: &str) -> Option<String> {
    let kept: Value = serde_json::from_slice(&reply.to_checkpoint().unwrap()).unwrap();
    let lost =
        (comparable(&kept) != comparable(state)).then(|| format!("{path}: {state} became {kept}"));
    let more = tokens(
        "é D<|end|><|start|>assistant<|channel|>analysis<|message|>a<|end|>\
         <|start|>assistant<|channel|>commentary to=functions.get_weather<|message|>{}<|end|>\
         <|start|>assistant<|channel|>final<|message|>a<|channel|>b",
    );
    let _ = reply.feed(&more, Some(&vec![Some((-1.0).into()); more.len()]));
    reply.finish(FinishReason::Stop, None).unwrap();
    let _ = reply.response();
    let fed = reply.usage().completion_tokens;
    for repair in reply.repairs() {
        assert!(
            repair.span.start <= repair.span.end && repair.span.end <= fed,
            "{path} of {state}: {repair:?}"
        );
    }
    lost
}

/// What has to be the same in a checkpoint that was taken and made again: not the clock, nor what a shorter text stands
/// for, nor the tokens that are held.
fn comparable(saved: &Value) -> Value {
    match saved {
        Value::Object(members) => {
            let unlike = ["elapsed", "first_token", "arguments", "logprobs", "parser"];
            let kept = members
                .iter()
                .filter(|(key, value)| !unlike.contains(&key.as_str()) && !value.is_null());
            kept.map(|(key, value)| (key.clone(), comparable(value))).collect()
        }
        Value::Array(items) => items.iter().map(comparable).collect(),
        Value::Number(number) => json!(number.as_f64()),
        other => other.clone(),
    }
}

#[test]
fn what_a_reply_knows_stays() {
    let turn = turn(CHAT, &plain_of(CHAT));
    let options = ReplyOptions::new("m").with_thinking_budget(2).with_spelled_markers(true);
    let mut reply = begun(&turn, options);
    let spelled = encoding().tokenizer().encode_ordinary("<|channel|>analysis<|message|>One two");
    reply.feed(&spelled, None).unwrap();
    let moved = again(&turn, &reply);
    assert!(moved.reads_spelled_markers());
    assert!(!begun(&turn, ReplyOptions::new("m")).reads_spelled_markers());
    assert_eq!(moved.force(), reply.force());
    assert!(!moved.force().is_empty());
    assert_eq!((moved.tokens(), moved.usage()), (reply.tokens(), reply.usage()));
    assert_eq!(timeless(&again(&turn, &moved)), timeless(&reply));
}

#[test]
fn how_it_ended_stays() {
    for &dialect in Dialect::ALL {
        let turn = turn(dialect, &plain_of(dialect));
        let mut ended = [0, 1].map(|_| begun(&turn, ReplyOptions::new("m")));
        for reply in &mut ended {
            reply.feed(&tokens("<|channel|>final<|message|>Hi"), None).unwrap();
        }
        ended[0].finish(FinishReason::Stop, Some("END")).unwrap();
        ended[1].fail("engine gone", 503).unwrap();
        for reply in ended {
            let moved = again(&turn, &reply);
            assert_eq!(moved.response(), reply.response(), "{dialect}");
            assert_eq!(moved.stop_sequence(), reply.stop_sequence(), "{dialect}");
            assert_eq!(timeless(&moved), timeless(&reply), "{dialect}");
        }
    }
}

#[test]
fn log_probabilities_stay() {
    let turn =
        turn(CHAT, &super::with(plain_of(CHAT), json!({"logprobs": true, "top_logprobs": 1})));
    let mut reply = begun(&turn, ReplyOptions::new("m"));
    let given = |count: usize| {
        let one = TokenLogprob { logprob: f64::NEG_INFINITY, top: vec![(5, -0.5)] };
        let mut given = vec![Some(one); count];
        given[0] = None;
        given
    };
    let sampled = tokens("<|channel|>final<|message|>One two three");
    for piece in sampled.chunks(3) {
        reply.feed(piece, Some(&given(piece.len()))).unwrap();
    }
    let moved = again(&turn, &reply);
    assert_eq!(moved.response(), reply.response());
    assert_eq!(moved.response()["choices"][0]["logprobs"]["content"].as_array().unwrap().len(), 2);
    assert_eq!(timeless(&again(&turn, &moved)), timeless(&reply));
}

/// Numbers that are read from decimals can have another last bit.
#[test]
fn log_probabilities_keep_all_bits() {
    let turn = turn(CHAT, &super::with(plain_of(CHAT), json!({"logprobs": true})));
    let mut reply = begun(&turn, ReplyOptions::new("m"));
    let sampled = tokens(&["<|channel|>final<|message|>", &" a".repeat(500)].concat());
    let given = (0..sampled.len())
        .map(|n| Some((-f64::from(u16::try_from(n).unwrap()).sqrt() / 7.0).into()));
    reply.feed(&sampled, Some(&given.collect::<Vec<_>>())).unwrap();
    assert_eq!(again(&turn, &reply).response(), reply.response());
}

/// The server's own function makes each id once, and goes on with it.
#[test]
fn ids_are_not_made_again() {
    let count = Arc::new(AtomicU64::new(0));
    let make_id = || {
        let count = Arc::clone(&count);
        MakeId::new(move |prefix| format!("{prefix}{}", count.fetch_add(1, Ordering::Relaxed)))
    };
    let turn = turn(
        RESPONSES,
        &super::with(
            plain_of(RESPONSES),
            json!({"tools": [{"type": "function", "name": "get_weather"}]}),
        ),
    );
    let mut reply = begun(&turn, ReplyOptions::new("m").with_make_id(make_id()));
    reply.feed(&tokens(THOUGHT), None).unwrap();
    reply.feed(&tokens(&CALL[..CALL.len() - "<|call|>".len()]), None).unwrap();
    let before = (count.load(Ordering::Relaxed), reply.response());
    let options = ReplyOptions::default().with_make_id(make_id());
    let mut moved = Reply::from_bytes(&turn, &encoding(), &reply.to_bytes(), options).unwrap();
    assert_eq!((count.load(Ordering::Relaxed), moved.response()), before);
    moved.feed(&tokens("<|call|><|start|>assistant<|channel|>final<|message|>Hi"), None).unwrap();
    assert_eq!(count.load(Ordering::Relaxed), before.0 + 1);
}

#[test]
fn other_bytes_are_refused() {
    let chat = turn(CHAT, &plain_of(CHAT));
    let mut reply = begun(&chat, ReplyOptions::new("m"));
    reply.feed(&tokens("<|channel|>final<|message|>Hi"), None).unwrap();
    let saved = reply.to_bytes();
    let reason = |turn: &Turn, bytes: &[u8]| {
        let error =
            Reply::from_bytes(turn, &encoding(), bytes, ReplyOptions::default()).unwrap_err();
        match error.kind() {
            ErrorKind::InvalidState { reason } => reason.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let changed = |key: &str, value: Value| {
        let mut state: Value = serde_json::from_slice(&saved).unwrap();
        let place = if key == "version" { &mut state } else { &mut state["fed"]["Tokens"] };
        place[key] = value;
        serde_json::to_vec(&state).unwrap()
    };
    assert!(reason(&chat, b"").starts_with("not a saved reply: EOF"));
    assert!(reason(&chat, b"{}").starts_with("not a saved reply: missing field `version`"));
    assert!(reason(&chat, &saved[..saved.len() - 2]).starts_with("not a saved reply: EOF"));
    assert_eq!(
        reason(&chat, &changed("version", json!(1))),
        "its version is 1; this library reads 11"
    );
    for cuts in [json!([9_999]), json!([]), json!([1, 1]), json!([u64::MAX, u64::MAX])] {
        let reason = reason(&chat, &changed("cuts", cuts));
        assert_eq!(reason, "`cuts` does not add up to the number of tokens");
    }
    assert!(
        reason(&chat, &changed("tokens", json!([-1])))
            .starts_with("not a saved reply: invalid value")
    );
    let responses = turn(RESPONSES, &plain_of(RESPONSES));
    assert_eq!(
        reason(&responses, &saved),
        "it was saved by a chat_completions reply, but the turn is responses"
    );
    for end in 0..saved.len() {
        assert!(
            Reply::from_bytes(&chat, &encoding(), &saved[..end], ReplyOptions::default()).is_err()
        );
    }
}

#[test]
fn a_choice_keeps_its_index() {
    let turn = turn(CHAT, &plain_of(CHAT));
    let mut reply = begun(&turn, ReplyOptions::new("m").with_index(1));
    reply.feed(&tokens("<|channel|>final<|message|>Hi"), None).unwrap();
    let mut moved = again(&turn, &reply);
    let sent = moved.feed(&tokens(" you"), None).unwrap();
    assert_eq!(json!(sent)[0]["choices"][0]["index"], 1);
    assert_eq!(moved.response()["choices"][0]["index"], 1);
}

/// The time before it was saved counts, and that until it was taken up does not.
#[test]
fn durations_continue() {
    let wait = || std::thread::sleep(Duration::from_millis(3));
    let turn = turn(OLLAMA, &plain_of(OLLAMA));
    let start = Instant::now();
    let mut reply = begun(&turn, ReplyOptions::new("m").with_prompt_tokens(9));
    reply.feed(&[], None).unwrap();
    wait();
    reply.feed(&tokens("<|channel|>final<|message|>Hi"), None).unwrap();
    wait();
    for saved in [reply.to_bytes(), reply.to_checkpoint().unwrap()] {
        let pause = Instant::now();
        wait();
        let pause = pause.elapsed();
        let options = ReplyOptions::default();
        let mut moved = Reply::from_bytes(&turn, &encoding(), &saved, options).unwrap();
        moved.finish(FinishReason::Stop, None).unwrap();
        let lasted = start.elapsed();
        let answer = moved.response();
        let [prompt, eval, total, load] = ["prompt_eval", "eval", "total", "load"]
            .map(|name| Duration::from_nanos(answer[format!("{name}_duration")].as_u64().unwrap()));
        assert!(prompt >= Duration::from_millis(3) && eval >= Duration::from_millis(3), "{answer}");
        assert!(
            total == prompt + eval && total + pause <= lasted && load.is_zero(),
            "{answer} {lasted:?}"
        );
    }
}
