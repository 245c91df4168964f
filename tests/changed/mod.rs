//! What a client may have made of a saved state: each of its values changed or left out, each of its fields taken from
//! another state.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;

use serde_json::{Value, json};

/// Gives the state with each change within `root` in turn, each once, and where it was made.
pub(crate) fn each(
    whole: &Value,
    others: &[Value],
    root: &str,
    take: &mut dyn FnMut(&Value, &str),
) {
    let mut tried = HashSet::new();
    let mut change = |path: &str, new: Option<&Value>| {
        if tried.insert(format!("{path} {new:?}")) {
            let mut changed = whole.clone();
            if set(&mut changed, path, new) && changed != *whole {
                take(&changed, path);
            }
        }
    };
    for (path, old) in places(whole.pointer(root).unwrap()).into_iter().skip(1) {
        let path = [root, &path].concat();
        change(&path, None);
        for new in values(old) {
            change(&path, Some(&new));
        }
    }
    for other in others.iter().filter_map(|other| other.pointer(root)?.as_object()).flatten() {
        change(&format!("{root}/{}", other.0), Some(other.1));
    }
}

/// Values of every type, and those beside the one that is there.
fn values(old: &Value) -> Vec<Value> {
    let mut new = vec![json!(null), json!([]), json!(true), json!(false)];
    match old {
        Value::Number(number) => {
            let number = number.as_u64().unwrap_or_default();
            new.extend([0, 7, number.wrapping_add(1), number.wrapping_sub(1)].map(Value::from));
            new.extend([json!(u32::MAX), json!(u64::MAX), json!(-1.5)]);
        }
        Value::String(_) => new.extend([json!(""), json!("é")]),
        _ => new.extend([json!(0), json!("é")]),
    }
    if let Some(items) = old.as_array().filter(|items| !items.is_empty()) {
        new.extend([json!([&items[1..], &items[..1]].concat()), json!(items[1..])]);
    }
    new
}

/// All values within a value, of lists the first, and their paths as JSON pointers.
fn places(value: &Value) -> Vec<(String, &Value)> {
    let mut found = vec![(String::new(), value)];
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(key, inner)| (key.clone(), inner)).collect(),
        Value::Array(items) => items.iter().take(1).map(|first| ("0".to_owned(), first)).collect(),
        _ => Vec::new(),
    };
    for (key, inner) in inner {
        let inner = places(inner).into_iter();
        found.extend(inner.map(|(path, inner)| (format!("/{key}{path}"), inner)));
    }
    found
}

/// Puts a value where the path leads, or takes away what is there; `false` if it leads nowhere.
fn set(value: &mut Value, path: &str, new: Option<&Value>) -> bool {
    let Some((parent, key)) = path.rsplit_once('/') else {
        *value = new.cloned().unwrap_or_default();
        return true;
    };
    match (value.pointer_mut(parent), new) {
        (Some(Value::Object(members)), Some(new)) => {
            members.insert(key.to_owned(), new.clone());
        }
        (Some(Value::Object(members)), None) => drop(members.remove(key)),
        (Some(Value::Array(items)), new) => {
            let at: usize = key.parse().unwrap();
            match (items.get_mut(at), new) {
                (Some(item), Some(new)) => *item = new.clone(),
                (Some(_), None) => drop(items.remove(at)),
                (None, _) => return false,
            }
        }
        _ => return false,
    }
    true
}
