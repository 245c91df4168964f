//! The requests of `bodies.txt`.

use std::sync::LazyLock;

use openai_harmony::interop::{BuiltinTool, Date, Dialect, ReadOptions, Turn};
use serde_json::Value;

/// Each request, in its dialect.
pub(crate) fn bodies() -> impl Iterator<Item = (Dialect, Value)> {
    let lines = include_str!("bodies.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(|line| {
        let (name, body) = line.split_once(' ').expect("a dialect and a body");
        let dialect = Dialect::ALL.iter().find(|dialect| dialect.as_str() == name);
        (*dialect.expect("a dialect"), serde_json::from_str(body).expect("a body is JSON"))
    })
}

/// A turn of each request.
pub(crate) fn turns() -> &'static [Turn] {
    static TURNS: LazyLock<Vec<Turn>> = LazyLock::new(|| {
        let options = ReadOptions::new()
            .with_date(Date::Omitted)
            .with_builtin_tools([BuiltinTool::Browser, BuiltinTool::Python]);
        let read = |(dialect, body): (Dialect, Value)| dialect.read(body, &options);
        bodies().map(|body| read(body).expect("the requests are well-formed")).collect()
    });
    &TURNS
}
