//! The terminals of Lark's module `common`, as regular expressions.

/// The expression of a terminal.
pub(super) fn terminal(name: &str) -> Option<&'static str> {
    let mut all = include_str!("common.txt").lines().filter_map(|line| line.split_once(' '));
    all.find(|(known, _)| *known == name).map(|(_, pattern)| pattern)
}
