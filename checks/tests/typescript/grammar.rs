//! What a TypeScript parser sees in a section.

use tree_sitter::{Language, Node, Parser};

/// Asserts that `section` is a heading and one namespace of type declarations, and nothing else;
/// gives their names.
///
/// Every `type` must be a function that takes at most one parameter, `_`, and returns `any`.
pub(super) fn declared_types(section: &str) -> Vec<String> {
    assert_plain_lines(section);
    let code = without_headings(section);
    let mut parser = Parser::new();
    let language = tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into();
    parser.set_language(&language).expect("a language that fits the parser");
    let tree = parser.parse(code, None).expect("a tree");
    let root = tree.root_node();
    assert!(!root.has_error(), "{}\n{section}", root.to_sexp());
    let statement = only(&declarations_of(root), section);
    let namespace = only(&declarations_of(statement), section);
    assert_eq!(namespace.kind(), "internal_module", "{section}");
    let body = namespace.child_by_field_name("body").expect("a body");
    declarations_of(body).iter().map(|node| declared_type(*node, code)).collect()
}

/// The words that mean something to the grammar, wherever that may be: `class`, `as`, `satisfies`.
pub(super) fn grammar_words() -> Vec<&'static str> {
    let language = Language::from(tree_sitter_typescript::LANGUAGE_TYPESCRIPT);
    let kinds = u16::try_from(language.node_kind_count()).expect("few kinds");
    let is_word = |kind: &&str| kind.starts_with(|first: char| first.is_ascii_alphabetic());
    let tokens = (0..kinds).filter(|kind| !language.node_kind_is_named(*kind));
    let words: Vec<_> =
        tokens.filter_map(|kind| language.node_kind_for_id(kind)).filter(is_word).collect();
    assert!(words.contains(&"satisfies"), "{words:?}");
    words
}

fn declared_type(node: Node<'_>, code: &str) -> String {
    let text = |node: Node<'_>| code[node.byte_range()].to_owned();
    assert_eq!(node.kind(), "type_alias_declaration", "{}", text(node));
    let function = node.child_by_field_name("value").expect("a value");
    assert_eq!(function.kind(), "function_type", "{}", text(node));
    let returned = function.child_by_field_name("return_type").expect("a return type");
    assert_eq!(text(returned), "any", "{}", text(node));
    let parameters = function.child_by_field_name("parameters").expect("parameters");
    for parameter in declarations_of(parameters) {
        let pattern = parameter.child_by_field_name("pattern").expect("a pattern");
        assert_eq!(text(pattern), "_", "{}", text(node));
    }
    assert!(declarations_of(parameters).len() <= 1, "{}", text(node));
    text(node.child_by_field_name("name").expect("a name"))
}

/// The named children that are not comments.
fn declarations_of(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect()
}

fn only<'t>(nodes: &[Node<'t>], section: &str) -> Node<'t> {
    assert_eq!(nodes.len(), 1, "{section}");
    nodes[0]
}

/// Asserts that no reader sees other lines than those that `\n` ends.
fn assert_plain_lines(section: &str) {
    let is_hidden = |char: char| {
        (char.is_control() && !matches!(char, '\n' | '\t'))
            || matches!(char, '\u{2028}' | '\u{2029}')
    };
    assert_eq!(section.find(is_hidden), None, "{section:?}");
}

fn without_headings(section: &str) -> &str {
    let section = section.strip_prefix("# Tools\n\n## ").expect("headings");
    let (_, code) = section.split_once('\n').expect("lines below the headings");
    code
}
