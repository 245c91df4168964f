//! A server for chat completions in one file, streamed or not.
//!
//! Run it with `cargo run -p openai-harmony-checks --example gateway -- --replay recorded.jsonl --port 8000`.
//!
//! Its engine plays a JSONL file of recorded `{"match": "...", "text": "..."}`: the first record whose
//! match is in the prompt. For another engine, change [`Replay`] and [`Sampled`]; the server stays as
//! it is.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs, vec};

use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Router, serve};
use futures_util::stream;
use openai_harmony::interop::{
    FinishReason, ReadOptions, Reply, ReplyOptions, Turn, chat_completions, parse_body,
};
use openai_harmony::{Error, HarmonyEncoding, HarmonyEncodingName, load_harmony_encoding};
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::runtime;

const DEFAULT_MODEL: &str = "gpt-oss-20b";
const LARGEST_BODY: usize = 64 << 20;

fn main() -> Result<(), Box<dyn StdError>> {
    let given: Vec<String> = env::args().skip(1).collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let ["--replay", file, "--port", port] = given[..] else {
        return Err("usage: gateway --replay FILE --port PORT".into());
    };
    let engine = Replay::from_jsonl(&fs::read_to_string(file)?)?;
    let router = router(engine, load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?);
    let port: u16 = port.parse()?;
    runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        println!("http://{}/v1/chat/completions", listener.local_addr()?);
        Ok(serve(listener, router).await?)
    })
}

// The engine: a prompt's tokens to sampled tokens.

/// Says what was recorded, a few tokens at a time.
pub(crate) struct Replay {
    records: Vec<Record>,
    /// How long the engine takes for some tokens.
    pub(crate) pause: Duration,
    /// A clone for each answer under way, so that their number can be seen.
    pub(crate) under_way: Arc<()>,
}

#[derive(Deserialize)]
struct Record {
    #[serde(rename = "match")]
    matches: String,
    text: String,
}

/// Tokens as they are sampled. Dropping it cancels the sampling.
struct Sampled {
    pieces: vec::IntoIter<Vec<u32>>,
    reason: FinishReason,
    pause: Duration,
    _under_way: Arc<()>,
}

impl Replay {
    pub(crate) fn from_jsonl(text: &str) -> Result<Self, serde_json::Error> {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let records = lines.map(serde_json::from_str).collect::<Result<_, _>>()?;
        Ok(Self { records, pause: Duration::ZERO, under_way: Arc::new(()) })
    }

    /// `None` if no record matches the prompt.
    fn sample(&self, encoding: HarmonyEncoding, prompt: &[u32], turn: &Turn) -> Option<Sampled> {
        let prompt = encoding.tokenizer().decode_utf8(prompt).ok()?;
        let record = self.records.iter().find(|record| prompt.contains(&record.matches))?;
        let mut tokens = encoding.tokenizer().encode_with_special_tokens(&record.text);
        let limit = turn.sampling.max_tokens.and_then(|limit| usize::try_from(limit).ok());
        let is_cut = limit.is_some_and(|limit| limit < tokens.len());
        tokens.truncate(limit.unwrap_or(tokens.len()));
        let pieces: Vec<Vec<u32>> = tokens.chunks(3).map(<[u32]>::to_vec).collect();
        Some(Sampled {
            pieces: pieces.into_iter(),
            reason: if is_cut { FinishReason::Length } else { FinishReason::Stop },
            pause: self.pause,
            _under_way: Arc::clone(&self.under_way),
        })
    }
}

impl Sampled {
    /// The next tokens; `None` when the engine has come to its end.
    async fn next(&mut self) -> Option<Vec<u32>> {
        tokio::time::sleep(self.pause).await;
        self.pieces.next()
    }
}

// The server: a body to an answer.

struct Gateway {
    encoding: HarmonyEncoding,
    engine: Replay,
}

pub(crate) fn router(engine: Replay, encoding: HarmonyEncoding) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(complete))
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .with_state(Arc::new(Gateway { encoding, engine }))
}

/// Answers a request. When the client goes away, the server drops this, or the stream, and with it
/// the engine's sampling.
async fn complete(
    State(gateway): State<Arc<Gateway>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Failure> {
    let Gateway { encoding, engine } = &*gateway;
    let body = parse_body(&String::from_utf8_lossy(&body?))?;
    let model = body.text("model").unwrap_or(DEFAULT_MODEL).to_owned();
    let turn = chat_completions::read(body, &ReadOptions::default())?;
    // Several would be a reply for each, sampled at once, with their frames in order and one usage for all:
    // python/openai_harmony/serve/answers.py does that.
    if turn.sampling.n > 1 {
        let asked = turn.sampling.n;
        return Err(Failure::bad_request("n", &format!("this server gives 1 answer, not {asked}")));
    }
    let prompt = turn.prompt(encoding)?;
    let options = ReplyOptions::new(model).with_prompt_tokens(prompt.len());
    let reply = turn.reply(encoding, options)?;
    let Some(sampled) = engine.sample(*encoding, &prompt, &turn) else {
        return Err(Failure::unavailable("no record matches the prompt"));
    };
    let answer = Answer { reply, sampled, is_finished: false };
    if turn.answer.stream { Ok(answer.stream()) } else { Ok(answer.whole().await?) }
}

struct Answer {
    reply: Reply,
    sampled: Sampled,
    is_finished: bool,
}

impl Answer {
    /// Takes the next tokens and writes what the API streams of them; `false` after the last ones.
    async fn advance(&mut self, frames: &mut Vec<u8>) -> Result<bool, Error> {
        if self.is_finished {
            return Ok(false);
        }
        // A stop string of the body ends the answer before the engine does.
        let tokens = match self.reply.stop_sequence() {
            Some(_) => None,
            None => self.sampled.next().await,
        };
        if let Some(tokens) = tokens {
            self.reply.feed_into(&tokens, None, frames)?;
        } else {
            self.is_finished = true;
            self.reply.finish_into(self.sampled.reason, None, frames)?;
        }
        Ok(true)
    }

    async fn whole(mut self) -> Result<Response, Error> {
        let mut frames = Vec::new();
        while self.advance(&mut frames).await? {
            frames.clear();
        }
        frames.clear();
        self.reply.response_into(&mut frames);
        Ok(json_response(StatusCode::OK, frames))
    }

    fn stream(self) -> Response {
        let headers =
            [(header::CONTENT_TYPE, self.reply.media_type()), (header::CACHE_CONTROL, "no-cache")];
        let frames = stream::try_unfold(self, |mut answer| async {
            let mut frames = Vec::new();
            let has_more = answer.advance(&mut frames).await?;
            Ok::<_, Error>(has_more.then_some((frames, answer)))
        });
        (headers, Body::from_stream(frames)).into_response()
    }
}

/// What went wrong, as the API says it.
struct Failure {
    status: StatusCode,
    message: String,
    /// The field of the body.
    param: Option<String>,
}

impl Failure {
    fn bad_request(path: &str, message: &str) -> Self {
        let param = (!path.is_empty()).then(|| path.to_owned());
        Self { status: StatusCode::BAD_REQUEST, message: message.to_owned(), param }
    }

    fn unavailable(message: &str) -> Self {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Self { status, message: message.to_owned(), param: None }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        // A schema that cannot be rendered has no path.
        let path = error.kind().path().map(ToString::to_string).unwrap_or_default();
        Self::bad_request(&path, &error.to_string())
    }
}

impl From<BytesRejection> for Failure {
    fn from(rejection: BytesRejection) -> Self {
        Self { status: rejection.status(), message: rejection.body_text(), param: None }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let is_server = self.status.is_server_error();
        let kind = if is_server { "api_error" } else { "invalid_request_error" };
        let error = json!({
            "message": self.message, "type": kind, "param": self.param, "code": null,
        });
        json_response(self.status, json!({"error": error}).to_string())
    }
}

fn json_response(status: StatusCode, json: impl Into<Body>) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], json.into()).into_response()
}
