//! What engines stream, right and wrong, cut at every byte.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use openai_harmony::interop::{EngineForm, EngineOutput, EngineReader, FinishReason, TokenLogprob};

const COMPLETIONS: EngineForm = EngineForm::Completions;
const SGLANG: EngineForm = EngineForm::Sglang;
const LLAMA_CPP: EngineForm = EngineForm::LlamaCpp;

/// All that a stream gives, cut into pieces of a size; none by 0.
fn read(form: EngineForm, stream: &str, most: usize, size: usize) -> EngineOutput {
    let mut reader = EngineReader::new(form, most, &[200_002, 200_012]);
    let mut all = EngineOutput::default();
    let size = if size == 0 { stream.len().max(1) } else { size };
    for piece in stream.as_bytes().chunks(size) {
        add(&mut all, reader.feed(piece));
    }
    add(&mut all, reader.finish());
    let after = reader.feed(b"data: {}\n\n");
    assert_eq!(after, EngineOutput::default(), "what follows the end is not read");
    all
}

fn add(all: &mut EngineOutput, more: EngineOutput) {
    if more != EngineOutput::default() {
        assert!(all.reason.is_none() && all.fault.is_none(), "nothing follows the end");
    }
    if let Some(logprobs) = more.logprobs {
        assert_eq!(logprobs.len(), more.tokens.len());
        let before = all.tokens.len();
        all.logprobs.get_or_insert_with(|| vec![None; before]).extend(logprobs);
    } else if let Some(logprobs) = &mut all.logprobs {
        logprobs.extend(more.tokens.iter().map(|_| None));
    }
    all.tokens.extend(more.tokens);
    all.reason = more.reason.or(all.reason);
    all.fault = more.fault.or(all.fault.take());
}

/// The tokens of a stream, and its reason or what the fault says, the same for every cut.
fn row(
    form: EngineForm,
    stream: &str,
    most: usize,
    tokens: &[u32],
    end: Result<FinishReason, &str>,
) {
    for size in 0..stream.len().min(40) {
        let found = read(form, stream, most, size);
        assert_eq!(found.tokens, tokens, "{stream} {size}");
        match end {
            Ok(reason) => assert_eq!((found.reason, found.fault), (Some(reason), None), "{stream}"),
            Err(what) => {
                let fault = found.fault.unwrap();
                let (status, what) = what.split_once(' ').unwrap();
                assert_eq!((fault.status.to_string(), found.reason), (status.to_owned(), None));
                assert!(fault.what.starts_with(what), "{}", fault.what);
            }
        }
    }
}

#[test]
fn streams_of_completions() {
    let (stop, length) = (Ok(FinishReason::Stop), Ok(FinishReason::Length));
    let event = |ids: &str| format!("data: {{\"choices\":[{{\"token_ids\":{ids}}}]}}\n\n");
    let one_two = &format!("{}{}", event("[1]"), event("[2]"));
    for (stream, most, tokens, end) in [
        (one_two, 9, &[1, 2][..], Err("502 broke off: its stream ended without a finish reason")),
        (one_two, 2, &[1, 2], length),
        (one_two, 1, &[1], length),
        (&event("[1,200002,3]"), 9, &[1, 200_002], stop),
        (&event("[1,200002]"), 2, &[1, 200_002], stop),
        (&event("[1,200002]"), 1, &[1], length),
        (
            &format!(": ping\nevent: x\n\r\n{}data: [DONE]", event("null")),
            9,
            &[],
            Err("502 broke off"),
        ),
        (
            &"data: {\"choices\":[]}\ndata:{\"choices\":[{\"finish_reason\":\"stop\"}]}".to_owned(),
            9,
            &[],
            stop,
        ),
        (&event("[1],\"finish_reason\":\"length\""), 9, &[1], length),
        // The limit holds for the last event, too.
        (&event("[1,2,3],\"finish_reason\":\"stop\""), 2, &[1, 2], length),
        (&event("[1],\"finish_reason\":\"abort\""), 9, &[1], Err("502 gave up")),
        (&event("[1],\"finish_reason\":\"new\""), 9, &[1], Err("502 gave up")),
        (
            &format!("{}data: {{]\n\n", event("[1]")),
            9,
            &[1],
            Err("502 sends data that is not JSON: {]"),
        ),
        (
            &format!("{}data: []\n\n", event("[1]")),
            9,
            &[1],
            Err("502 sends data that is not an event: []"),
        ),
        (&event("[-1]"), 9, &[], Err("502 sends values that are not token ids: [-1]")),
        (&event("[4294967296]"), 9, &[], Err("502 sends values that are not token ids")),
        (&event("[1.0]"), 9, &[], Err("502 sends values that are not token ids")),
        (&event("[],\"text\":\"Hi\""), 9, &[], Err("502 sends text without token ids")),
        (&"{}".to_owned(), 9, &[], Err("502 sends events without choices")),
        (&"{\"choices\":[3]}".to_owned(), 9, &[], Err("502 sends a choice that is not an object")),
        (
            &format!(
                "{}data: {{\"error\": {{\"message\": \"out of memory\", \"code\": 500}}}}\n",
                event("[1]")
            ),
            9,
            &[1],
            Err("502 says: out of memory"),
        ),
        (
            &"{\"error\": {\"message\": \"later\", \"code\": 503}}".to_owned(),
            9,
            &[],
            Err("503 says: later"),
        ),
        (
            &"{\"error\": {\"message\": \"full\", \"code\": 429}}".to_owned(),
            9,
            &[],
            Err("429 says: full"),
        ),
        (&"{\"error\": \"x\"}".to_owned(), 9, &[], Err("502 says: x")),
        (&"{\"error\": [\"x\"]}".to_owned(), 9, &[], Err("502 says: [\"x\"]")),
        // What says nothing is no error.
        (
            &"{\"error\": null, \"choices\": [{\"finish_reason\": \"stop\"}]}".to_owned(),
            9,
            &[],
            stop,
        ),
        (
            &"{\"error\": false, \"choices\": [{\"finish_reason\": \"stop\"}]}".to_owned(),
            9,
            &[],
            stop,
        ),
        (
            &"{\"error\": \"\", \"choices\": [{\"finish_reason\": \"stop\"}]}".to_owned(),
            9,
            &[],
            stop,
        ),
        (&"{\"error\": 0, \"choices\": [{\"finish_reason\": \"stop\"}]}".to_owned(), 9, &[], stop),
        (&"{\"error\": [], \"choices\": [{\"finish_reason\": \"stop\"}]}".to_owned(), 9, &[], stop),
        (&"{\"error\": {}, \"choices\": [{\"finish_reason\": \"stop\"}]}".to_owned(), 9, &[], stop),
    ] {
        row(COMPLETIONS, stream, most, tokens, end);
    }
}

#[test]
fn streams_of_sglang() {
    let event = |ids: &str, count: usize, reason: &str| {
        format!(
            "data: {{\"output_ids\":{ids},\"meta_info\":{{\"completion_tokens\":{count},\"finish_reason\":{reason}}}}}\n\n"
        )
    };
    let stop = "{\"type\":\"stop\"}";
    let cumulative = event("[1]", 1, "null") + &event("[1,2]", 2, stop);
    row(SGLANG, &cumulative, 9, &[1, 2], Ok(FinishReason::Stop));
    let new = event("[1]", 1, "null") + &event("[2]", 2, stop);
    row(SGLANG, &new, 9, &[1, 2], Ok(FinishReason::Stop));
    let cut = event("[1]", 1, "{\"type\":\"length\",\"length\":1}");
    row(SGLANG, &cut, 9, &[1], Ok(FinishReason::Length));
    let backwards = event("[1,2]", 2, "null") + &event("[1]", 1, "null");
    row(SGLANG, &backwards, 9, &[1, 2], Err("502 sends 1 token ids where -1 are new"));
    let missing = event("[1]", 3, "null");
    row(SGLANG, &missing, 9, &[], Err("502 sends 1 token ids where 3 are new"));
    row(SGLANG, "{\"output_ids\":[1]}", 9, &[], Err("502 sends events without `meta_info`"));
    let refused = "{\"type\":\"abort\",\"message\":\"too long\",\"status_code\":400}";
    row(SGLANG, &event("[]", 0, refused), 9, &[], Err("400 says: too long"));
    let aborted = event("[1]", 1, "{\"type\":\"abort\"}");
    row(SGLANG, &aborted, 9, &[1], Err("502 gave up"));
}

#[test]
fn streams_of_llama_cpp() {
    let one = "data: {\"content\":\"a\",\"tokens\":[64],\"tokens_predicted\":1}\n\n";
    // The first two tokens of a character of three were not sent.
    let cut = "data: {\"content\":\"𓀀\",\"tokens\":[120],\"tokens_predicted\":4}\n\n";
    let end = "data: {\"content\":\"\",\"tokens\":[],\"stop\":true,\"stop_type\":\"eos\",\"tokens_predicted\":4}\n\n";
    let whole = read(LLAMA_CPP, &[one, cut, end].concat(), 99, 0);
    assert_eq!(whole.reason, Some(FinishReason::Stop));
    let encoding =
        openai_harmony::load_harmony_encoding(openai_harmony::HarmonyEncodingName::HarmonyGptOss);
    assert_eq!(encoding.unwrap().tokenizer().decode_utf8(&whole.tokens).unwrap(), "a𓀀");
    row(LLAMA_CPP, &[one, cut, end].concat(), 99, &whole.tokens, Ok(FinishReason::Stop));
    let limit = "{\"content\":\"\",\"stop\":true,\"stop_type\":\"limit\"}";
    row(LLAMA_CPP, limit, 9, &[], Ok(FinishReason::Length));
    // All tokens are there, though the text would be encoded as another.
    let all = "{\"content\":\"ab\",\"tokens\":[64,65],\"tokens_predicted\":2,\"stop\":true}";
    row(LLAMA_CPP, all, 9, &[64, 65], Ok(FinishReason::Stop));
    let text = "{\"content\":\"Hi\",\"tokens\":[]}";
    row(LLAMA_CPP, text, 9, &[], Err("502 sends text without tokens"));
}

#[test]
fn log_probabilities_of_all_forms() {
    let likely = Some(TokenLogprob { logprob: -0.5, top: vec![(1, -0.5), (2, -1.0)] });
    let completions = "{\"choices\":[{\"token_ids\":[1,200002],\"logprobs\":{\"token_logprobs\":[-0.5,null],\
        \"top_logprobs\":[{\"token_id:1\":-0.5,\"token_id:2\":-1.0,\"x\":-2},null]}}]}";
    let generate = "{\"choices\":[{\"token_ids\":[1,200002],\"logprobs\":{\"content\":[{\"logprob\":-0.5,\"top_logprobs\":\
        [{\"token_id\":1,\"logprob\":-0.5},{\"token_id\":2,\"logprob\":-1.0},{\"token_id\":3,\"logprob\":NaN}]},{}]}}]}";
    let sglang = "{\"output_ids\":[1,200002],\"meta_info\":{\"completion_tokens\":2,\"output_token_logprobs\":\
        [[9,9,9],[-0.5,1,null],[null,2,null]],\"output_top_logprobs\":[[],[[-0.5,1,null],[-1.0,2,null]],null]}}";
    let llama_cpp = "{\"content\":\"x\",\"tokens\":[1,200002],\"completion_probabilities\":[{\"logprob\":-0.5,\
        \"top_logprobs\":[{\"id\":1,\"logprob\":-0.5},{\"id\":2,\"logprob\":-1.0}]},null]}";
    for (form, stream) in [
        (COMPLETIONS, completions),
        (COMPLETIONS, generate),
        (SGLANG, sglang),
        (LLAMA_CPP, llama_cpp),
    ] {
        let found = read(form, stream, 9, 0);
        assert_eq!(found.logprobs, Some(vec![likely.clone(), None]), "{stream} {:?}", found.fault);
        let first = read(form, stream, 1, 0);
        assert_eq!(first.logprobs, Some(vec![likely.clone()]), "{stream}");
    }
    let few = "{\"choices\":[{\"token_ids\":[1],\"logprobs\":{\"content\":[]}}]}";
    row(COMPLETIONS, few, 9, &[], Err("502 sends 0 log-probabilities for 1 tokens"));
    let infinite =
        "{\"choices\":[{\"token_ids\":[200002],\"logprobs\":{\"token_logprobs\":[-Infinity]}}]}";
    let found = read(COMPLETIONS, infinite, 9, 0);
    assert_eq!(found.logprobs, Some(vec![Some(TokenLogprob::from(f64::NEG_INFINITY))]));
}

#[test]
fn a_line_without_an_end() {
    let mut reader = EngineReader::new(COMPLETIONS, 9, &[]);
    let piece = vec![b'x'; 1 << 20];
    let faults = (0..20).filter_map(|index| Some((index, reader.feed(&piece).fault?.what)));
    let fault = "sends a line of more than 16777216 bytes".to_owned();
    assert_eq!(faults.collect::<Vec<_>>(), [(16, fault)]);
}
