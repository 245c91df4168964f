//! Any JSON at all: a turn, or an error of the request.

use proptest::prelude::*;
use serde_json::{Value, json};

use openai_harmony::interop::{Dialect, UnusedReason, parse_body};

use crate::bodies::{any_body_is_read_or_refused, body};
use crate::reply_laws::bodies;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(1000)))]

    #[test]
    fn is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let body = body(&bytes);
        for &dialect in Dialect::ALL {
            any_body_is_read_or_refused(dialect, &body);
            let options = super::options();
            let parsed = parse_body(&body.to_string()).unwrap();
            prop_assert_eq!(dialect.read(&body, &options), dialect.read(parsed, &options));
        }
    }
}

/// In each place of a right body any other value.
#[test]
fn is_read_or_refused_with_any_value_anywhere() {
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e300),
        json!(""),
        json!("x"),
        json!([]),
        json!([[]]),
        json!({}),
        json!({"type": {}}),
    ];
    for (dialect, right) in bodies() {
        for pointer in pointers(&right, String::new()) {
            for value in &values {
                let mut body = right.clone();
                *body.pointer_mut(&pointer).unwrap() = value.clone();
                any_body_is_read_or_refused(dialect, &body);
            }
        }
    }
}

/// All places of a value, as JSON pointers.
fn pointers(value: &Value, at: String) -> Vec<String> {
    let inside: Vec<_> = match value {
        Value::Object(map) => {
            map.iter().flat_map(|(key, value)| pointers(value, format!("{at}/{key}"))).collect()
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(index, value)| pointers(value, format!("{at}/{index}")))
            .collect(),
        _ => Vec::new(),
    };
    std::iter::once(at).chain(inside).collect()
}

#[test]
fn random_bodies_are_often_read() {
    // A law about what is read would hold of nothing if all were refused.
    let mut state = 1_u64;
    let mut byte = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let bodies: Vec<Value> =
        (0..2_000).map(|_| body(&std::array::from_fn::<u8, 60, _>(|_| byte()))).collect();
    for &dialect in Dialect::ALL {
        let options = super::options();
        let said = bodies.iter().filter(|body| dialect.read(*body, &options).is_ok()).count();
        assert!(said > 100, "{dialect} reads {said} of {}", bodies.len());
    }
}

/// The names of further ones are not compared with the known ones, which would take long.
#[test]
fn sixty_four_unknown_fields_are_compared() {
    let name = |at: u8| format!("temperature{}", char::from(b'0' + at));
    let fields = (0..66).map(|at| (name(at), Value::from(1)));
    let mut body = json!({"messages": [{"role": "user", "content": "Hi"}]});
    body.as_object_mut().unwrap().extend(fields);
    let turn = super::turn(super::CHAT, body);
    let misspelt = UnusedReason::Misspelt("temperature".to_owned());
    let is_misspelt: Vec<_> = turn.unused.iter().map(|unused| unused.reason == misspelt).collect();
    assert_eq!(is_misspelt, [[true; 64].as_slice(), &[false; 2]].concat());
}
