//! The example server, over loopback: HTTP/1.1 by hand, so that nothing stands between.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../examples/gateway.rs"]
#[expect(dead_code, reason = "its main")]
mod gateway;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use gateway::Replay;
use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
use serde_json::{Value, json};

const RECORDED: &str = r#"
{"match": "2 + 2", "text": "<|channel|>analysis<|message|>Easy.<|end|><|start|>assistant<|channel|>final<|message|>It is four, of course.<|return|>"}

{"match": "weather", "text": "<|channel|>analysis<|message|>Ask.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{\"place\":\"Oslo\"}<|call|>"}
"#;

fn started(pause: Duration) -> (SocketAddr, Arc<()>) {
    let mut engine = Replay::from_jsonl(RECORDED).unwrap();
    engine.pause = pause;
    let under_way = Arc::clone(&engine.under_way);
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
            sender.send(listener.local_addr().unwrap()).unwrap();
            axum::serve(listener, gateway::router(engine, encoding)).await.unwrap();
        });
    });
    (receiver.recv().unwrap(), under_way)
}

struct Answered {
    status: u16,
    head: String,
    body: String,
}

impl Answered {
    fn json(&self) -> Value {
        assert!(self.head.contains("content-type: application/json"), "{}", self.head);
        serde_json::from_str(&self.body).unwrap()
    }

    /// The events' data; the last of them is `[DONE]`.
    fn events(&self) -> Vec<Value> {
        assert!(self.head.contains("content-type: text/event-stream"), "{}", self.head);
        let body = self.body.strip_suffix("data: [DONE]\n\n").unwrap();
        let events = body.split_terminator("\n\n");
        events
            .map(|event| serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap())
            .collect()
    }
}

fn sent(address: SocketAddr, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /v1/chat/completions HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    stream
}

fn ask(address: SocketAddr, body: &str) -> Answered {
    let mut answer = String::new();
    sent(address, body).read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let is_chunked = head.contains("transfer-encoding: chunked");
    let body = if is_chunked { joined(body) } else { body.to_owned() };
    Answered { status, head: head.to_owned(), body }
}

/// A body in chunks, each behind its length.
fn joined(mut chunks: &str) -> String {
    let mut body = String::new();
    loop {
        let (length, rest) = chunks.split_once("\r\n").unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            return body;
        }
        body.push_str(&rest[..length]);
        chunks = rest[length..].strip_prefix("\r\n").unwrap();
    }
}

fn question(text: &str, more: &Value) -> String {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": text}]});
    for (field, value) in more.as_object().unwrap() {
        body[field] = value.clone();
    }
    body.to_string()
}

fn weather() -> Value {
    json!({"tools": [{"type": "function", "function": {"name": "get_weather"}}]})
}

#[test]
fn an_answer_comes_whole() {
    let (address, _) = started(Duration::ZERO);
    let answered = ask(address, &question("What is 2 + 2?", &json!({})));
    assert_eq!(answered.status, 200);
    let completion = answered.json();
    assert_eq!(completion["model"], "m");
    let choice = &completion["choices"][0];
    assert_eq!(choice["message"]["content"], "It is four, of course.");
    assert_eq!(choice["message"]["reasoning_content"], "Easy.");
    assert_eq!(choice["finish_reason"], "stop");
    assert!(completion["usage"]["prompt_tokens"].as_u64().unwrap() > 20);
}

#[test]
fn a_call_comes_whole() {
    let (address, _) = started(Duration::ZERO);
    let completion = ask(address, &question("The weather in Oslo?", &weather())).json();
    let choice = &completion["choices"][0];
    let function = json!({"name": "get_weather", "arguments": r#"{"place":"Oslo"}"#});
    assert_eq!(choice["message"]["tool_calls"][0]["function"], function);
    assert_eq!(choice["message"]["content"], Value::Null);
    assert_eq!(choice["finish_reason"], "tool_calls");
}

#[test]
fn a_stream_says_what_the_whole_answer_says() {
    let (address, _) = started(Duration::ZERO);
    let options = json!({"stream": true, "stream_options": {"include_usage": true}});
    let answered = ask(address, &question("What is 2 + 2?", &options));
    let events = answered.events();
    let said = |field: &str| -> String {
        let deltas = events.iter().filter_map(|event| event["choices"][0]["delta"][field].as_str());
        deltas.collect()
    };
    assert_eq!(said("role"), "assistant");
    assert_eq!(said("reasoning_content"), "Easy.");
    assert_eq!(said("content"), "It is four, of course.");
    let [.., end, usage] = &events[..] else { unreachable!("{events:?}") };
    assert!(events.len() > 5, "a few tokens at a time: {events:?}");
    assert_eq!(end["choices"][0]["finish_reason"], "stop");
    let whole = ask(address, &question("What is 2 + 2?", &json!({}))).json();
    assert_eq!(usage["usage"], whole["usage"]);
}

#[test]
fn a_streamed_call_has_its_arguments_in_pieces() {
    let (address, _) = started(Duration::ZERO);
    let mut body = weather();
    body["stream"] = json!(true);
    let events = ask(address, &question("The weather in Oslo?", &body)).events();
    let functions = || {
        events.iter().filter_map(|event| {
            event["choices"][0]["delta"]["tool_calls"][0].get("function").cloned()
        })
    };
    assert_eq!(functions().next().unwrap()["name"], "get_weather");
    let arguments: String = functions()
        .map(|function| function["arguments"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(arguments, r#"{"place":"Oslo"}"#);
    assert_eq!(events[events.len() - 1]["choices"][0]["finish_reason"], "tool_calls");
}

#[test]
fn limits_and_stop_strings_end_an_answer() {
    let (address, _) = started(Duration::ZERO);
    let limited = ask(address, &question("2 + 2?", &json!({"max_tokens": 4}))).json();
    assert_eq!(limited["choices"][0]["finish_reason"], "length");
    assert_eq!(limited["usage"]["completion_tokens"], 4);
    let stopped = ask(address, &question("2 + 2?", &json!({"stop": ", of"}))).json();
    assert_eq!(stopped["choices"][0]["message"]["content"], "It is four");
    assert_eq!(stopped["choices"][0]["finish_reason"], "stop");
}

#[test]
fn a_bad_body_is_refused_with_its_path() {
    let (address, _) = started(Duration::ZERO);
    let image = json!({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}});
    let cases = [
        (json!({"messages": [{"role": "bot", "content": "Hi"}]}), "messages[0].role"),
        (
            json!({"messages": [{"role": "user", "content": [image]}]}),
            "messages[0].content[0].image_url",
        ),
        (json!({"messages": [{"role": "user", "content": "Hi"}], "n": 2}), "n"),
        (
            json!({"messages": [{"role": "user", "content": "Hi"}], "temperature": "hot"}),
            "temperature",
        ),
    ];
    for (body, path) in cases {
        let answered = ask(address, &body.to_string());
        assert_eq!(answered.status, 400, "{body}");
        let error = &answered.json()["error"];
        assert_eq!(error["param"], path);
        assert_eq!(error["type"], "invalid_request_error");
    }
    let several =
        ask(address, &json!({"messages": [{"role": "user", "content": "Hi"}], "n": 2}).to_string())
            .json();
    assert_eq!(several["error"]["message"], "this server gives 1 answer, not 2");
    let answered = ask(address, "{");
    assert_eq!((answered.status, &answered.json()["error"]["param"]), (400, &Value::Null));
    assert!(answered.body.contains("the body is not JSON"), "{}", answered.body);
}

#[test]
fn an_engine_without_an_answer_is_unavailable() {
    let (address, _) = started(Duration::ZERO);
    let answered = ask(address, &question("Who are you?", &json!({})));
    assert_eq!((answered.status, &answered.json()["error"]["type"]), (503, &json!("api_error")));
}

/// Without the client the answer would take longer than anybody waits.
#[test]
fn the_engine_stops_when_the_client_goes_away() {
    for stream in [true, false] {
        let (address, under_way) = started(Duration::from_secs(600));
        let gone = sent(address, &question("2 + 2?", &json!({"stream": stream})));
        wait_until(|| Arc::strong_count(&under_way) == 3);
        drop(gone);
        wait_until(|| Arc::strong_count(&under_way) == 2);
    }
}

fn wait_until(holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(60), "waited for a minute");
        thread::sleep(Duration::from_millis(5));
    }
}
