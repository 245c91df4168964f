//! Random bodies of requests, and what reading any body must keep to. The fuzz targets and the
//! property tests share it.

use std::sync::LazyLock;

use openai_harmony::interop::{Dialect, ReadOptions, Unsupported};
use openai_harmony::{ErrorKind, HarmonyEncodingName, load_harmony_encoding};
use serde_json::{Map, Value, json};

/// Names of members, and texts: the two parts of `words.txt`, each line as JSON.
static WORDS: LazyLock<[Vec<String>; 2]> = LazyLock::new(|| {
    let read =
        |part: &'static str| part.lines().skip(1).map(|line| serde_json::from_str(line).unwrap());
    let (names, texts) = include_str!("words.txt").split_once("\n\n").unwrap();
    [read(names).collect(), read(texts).collect()]
});

/// A body from random bytes: any bytes give one, and small changes give small changes.
pub(super) fn body(bytes: &[u8]) -> Value {
    let mut bytes = bytes.iter().copied();
    let mut body = object(&mut bytes, 0);
    // Most bodies that say something have a list here. An empty one is refused.
    for key in ["messages", "input"] {
        let mut messages = list(&mut bytes, 1);
        if messages.is_empty() {
            messages.push(json!({"role": "user", "content": "A"}));
        }
        body.insert(key.to_owned(), Value::Array(messages));
    }
    Value::Object(body)
}

fn value(bytes: &mut impl Iterator<Item = u8>, depth: usize) -> Value {
    let kind = bytes.next().unwrap_or(0);
    match kind % 8 {
        _ if depth > 6 => word(kind),
        0..=2 => word(bytes.next().unwrap_or(0)),
        3 | 4 => Value::Object(object(bytes, depth + 1)),
        5 => Value::Array(list(bytes, depth + 1)),
        6 => Value::from(i64::from(bytes.next().unwrap_or(0)) - 3),
        _ => {
            [Value::Null, true.into(), false.into(), 0.5.into()][usize::from(kind / 8 % 4)].clone()
        }
    }
}

fn word(byte: u8) -> Value {
    WORDS[1][usize::from(byte) % WORDS[1].len()].as_str().into()
}

fn object(bytes: &mut impl Iterator<Item = u8>, depth: usize) -> Map<String, Value> {
    let count = bytes.next().unwrap_or(0) % 6;
    let mut map = Map::new();
    for _ in 0..count {
        let key = &WORDS[0][usize::from(bytes.next().unwrap_or(0)) % WORDS[0].len()];
        let member = value(bytes, depth);
        map.insert(key.clone(), member);
    }
    map
}

fn list(bytes: &mut impl Iterator<Item = u8>, depth: usize) -> Vec<Value> {
    let count = bytes.next().unwrap_or(0) % 5;
    (0..count).map(|_| value(bytes, depth)).collect()
}

/// A body gives a turn, or an error of the request whose path leads to something in it; a turn's
/// prompt is rendered, unless a schema cannot be; and placeholders take nothing away.
pub(super) fn any_body_is_read_or_refused(dialect: Dialect, body: &Value) {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap();
    match dialect.read(body, &ReadOptions::default()) {
        Ok(turn) => {
            match turn.prompt(&encoding) {
                Ok(prompt) => assert_eq!(prompt.first(), Some(&200_006)),
                Err(error) => {
                    assert!(
                        matches!(error.kind(), ErrorKind::InvalidSchema { .. }),
                        "{error}: {body}"
                    );
                }
            }
            for tool in &turn.tools {
                let found = turn.tools.by_recipient(&tool.recipient);
                assert_eq!(found, Some(tool), "{body}");
            }
            for unused in &turn.unused {
                assert!(find(body, &unused.path.to_string()).is_some(), "{}: {body}", unused.path);
            }
        }
        Err(error) => match error.kind() {
            ErrorKind::InvalidRequest { path, reason } => {
                let path = path.to_string();
                let path = if reason.to_string() == "is missing" { parent(&path) } else { &path };
                assert!(find(body, path).is_some(), "{error}: {body}");
            }
            ErrorKind::UnsupportedContent { path, .. } => {
                assert!(find(body, &path.to_string()).is_some(), "{error}: {body}");
            }
            _ => panic!("{error}: {body}"),
        },
    }
    is_survived(dialect, body);
}

/// Reading ends, whatever comes of it, with placeholders as well.
pub(super) fn is_survived(dialect: Dialect, body: &Value) {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap();
    for unsupported in [Unsupported::Error, Unsupported::Placeholder] {
        let options = ReadOptions::new().with_unsupported(unsupported);
        drop(dialect.read(body, &options).and_then(|turn| turn.prompt(&encoding)));
    }
}

fn parent(path: &str) -> &str {
    path.rfind('.').map_or("", |dot| &path[..dot])
}

/// What a path leads to. The keys of these bodies have no dots and no brackets.
fn find<'v>(body: &'v Value, path: &str) -> Option<&'v Value> {
    let steps = path.split(['.', '[']).filter(|step| !step.is_empty());
    steps.into_iter().try_fold(body, |value, step| match step.strip_suffix(']') {
        Some(index) => value.get(index.parse::<usize>().ok()?),
        None => value.get(step),
    })
}
