//! `Full`: schemas and the types that mean the same, row by row.

use openai_harmony::ToolSchemaStyle;
use serde_json::{Value, json};

use crate::write_section;

/// The type of a required property with this schema.
fn written(schema: &Value) -> String {
    let parameters = json!({"type": "object", "properties": {"p": schema}, "required": ["p"]});
    let tools = json!([{"name": "f", "parameters": parameters}]);
    let namespaces = json!([{"name": "n", "tools": tools}]);
    let section = write_section(&namespaces, ToolSchemaStyle::Full).expect("a section");
    let (_, declared) = section.split_once("type f = (_: {\n").expect("a type");
    let (fields, _) = declared.split_once("}) => any;").expect("the end of the type");
    fields.to_owned()
}

/// Whether the type of each schema is the text beside it.
fn check(rows: &[(Value, &str)]) {
    for (schema, expected) in rows {
        let written = written(schema);
        assert_eq!(written.strip_prefix("p: ").unwrap_or(&written), *expected, "{schema}");
    }
}

/// A string.
fn s() -> Value {
    json!({"type": "string"})
}

/// A number.
fn n() -> Value {
    json!({"type": "number"})
}

/// One of two texts.
fn ab() -> Value {
    json!({"anyOf": [{"const": "a"}, {"const": "b"}]})
}

#[test]
fn a_field_is_required_if_one_of_the_demands_requires_it() {
    let object = |required: &[&str]| json!({"properties": {"a": s()}, "required": required});
    check(&[
        (json!({"allOf": [object(&["a"]), object(&[])]}), "{\n    a: string,\n    },\n"),
        (json!({"allOf": [object(&[]), object(&["a"])]}), "{\n    a: string,\n    },\n"),
        (json!({"allOf": [object(&["a"]), object(&["a"])]}), "{\n    a: string,\n    },\n"),
        (json!({"allOf": [object(&[]), object(&[])]}), "{\n    a?: string,\n    },\n"),
    ]);
}

/// A list of this schema.
fn list(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}

#[test]
fn a_demand_that_is_made_twice_is_written_once() {
    let described = json!({"type": "string", "description": "d"});
    check(&[
        (json!({"allOf": [s(), s()]}), "string,\n"),
        (json!({"allOf": [s(), n()]}), "string & number,\n"),
        (json!({"allOf": [{"const": "a"}, {"const": "a"}]}), "\"a\",\n"),
        (json!({"allOf": [{"const": "a"}, {"const": "b"}]}), "\"a\" & \"b\",\n"),
        (json!({"allOf": [{"const": [1]}, {"const": [2]}]}), "[1] & [2],\n"),
        (json!({"allOf": [list(&s()), list(&s())]}), "string[],\n"),
        (json!({"allOf": [list(&s()), list(&n())]}), "string[] & number[],\n"),
        // What has comments of its own is not the same.
        (json!({"allOf": [list(&s()), list(&described)]}), "string[] & string[],\n"),
        (json!({"allOf": [list(&described), list(&s())]}), "string[] & string[],\n"),
        (json!({"allOf": [ab(), ab()]}), "\"a\" | \"b\",\n"),
        (
            json!({"allOf": [ab(), {"anyOf": [{"const": "a"}, {"const": "b"}, {"const": "c"}]}]}),
            "(\"a\" | \"b\") & (\"a\" | \"b\" | \"c\"),\n",
        ),
        (
            json!({"allOf": [{"anyOf": [{"const": "a"}, {"const": "b"}, {"const": "c"}]}, ab()]}),
            "(\"a\" | \"b\" | \"c\") & (\"a\" | \"b\"),\n",
        ),
    ]);
}

#[test]
fn a_demand_that_another_describes_in_detail_is_left_out() {
    let either = json!([{"properties": {"a": s()}}, {"properties": {"b": s()}}]);
    let variants = " | {\n   a?: string,\n   }\n | {\n   b?: string,\n   }\n";
    check(&[
        (json!({"type": ["string", "null"], "allOf": [{"const": "a"}]}), "\"a\",\n"),
        (json!({"type": "object", "allOf": [ab()]}), "\"a\" | \"b\",\n"),
        (json!({"type": "object", "anyOf": either}), &format!("p:\n{variants},\n")),
        (
            json!({"type": "object", "additionalProperties": s(), "allOf": [ab()]}),
            "Record<string, string> & (\"a\" | \"b\"),\n",
        ),
        (json!({"allOf": [{"type": "object"}, {"type": "object"}]}), "Record<string, any>,\n"),
        (
            json!({"allOf": [{"type": "object"}, {"type": "object", "properties": {"a": s()}}]}),
            "{\n    a?: string,\n    },\n",
        ),
        (
            json!({"allOf": [
                {"properties": {"b": s()}, "additionalProperties": true},
                {"properties": {"a": s()}},
            ]}),
            "{\n    b?: string,\n    a?: string,\n    [key: string]: any,\n    },\n",
        ),
        (
            json!({"allOf": [
                {"type": "object", "additionalProperties": n()},
                {"properties": {"a": s()}},
            ]}),
            "{\n    a?: string,\n    [key: string]: number,\n    },\n",
        ),
    ]);
}

#[test]
fn unions_are_flat_and_name_a_type_once_unless_there_are_comments() {
    let described = json!({"type": "string", "description": "d"});
    check(&[
        (
            json!({"anyOf": [{"anyOf": [s(), n()]}, {"type": "boolean"}]}),
            "string | number | boolean,\n",
        ),
        (
            json!({"anyOf": [{"anyOf": [s(), n()], "description": "d"}, {"type": "boolean"}]}),
            "p:\n | string | number // d\n | boolean\n,\n",
        ),
        (json!({"anyOf": [s(), {"type": "null"}, s()]}), "string | null,\n"),
        (json!({"anyOf": [{"anyOf": [s(), {"type": "null"}]}, s()]}), "string | null,\n"),
        (
            json!({"anyOf": [s(), {"type": "null"}, described]}),
            "p:\n | string\n | null\n | string // d\n,\n",
        ),
        (json!({"nullable": true}), "any,\n"),
        (json!({"nullable": true, "type": "string"}), "string | null,\n"),
        (json!({"nullable": true, "type": ["string", "null"]}), "string | null,\n"),
        (json!({"type": "any"}), "any,\n"),
    ]);
}

#[test]
fn an_operand_of_several_types_has_parentheses() {
    check(&[
        (list(&json!({"allOf": [s(), n()]})), "(string & number)[],\n"),
        (list(&json!({"anyOf": [s(), n()]})), "(string | number)[],\n"),
        (
            json!({"anyOf": [{"allOf": [s(), n()]}, {"type": "boolean"}]}),
            "string & number | boolean,\n",
        ),
    ]);
}
/// A list of these elements, then any number of `rest`.
fn tuple(elements: &Value, rest: Option<&Value>) -> Value {
    let mut schema = json!({"type": "array", "prefixItems": elements});
    if let Some(rest) = rest {
        schema["items"] = rest.clone();
    }
    schema
}

/// An object of any names with this value.
fn map(values: &Value) -> Value {
    json!({"type": "object", "additionalProperties": values})
}

#[test]
fn comments_within_a_type_put_it_on_lines_of_its_own() {
    let d = || json!({"type": "string", "description": "d"});
    let object = || json!({"type": "object", "properties": {"a": s()}});
    let elements = "[\n    string,\n    // d\n    string,\n    ],\n";
    check(&[
        (tuple(&json!([s(), n()]), None), "[string, number],\n"),
        (tuple(&json!([s()]), Some(&n())), "[string, ...number[]],\n"),
        (tuple(&json!([s(), d()]), None), elements),
        (
            tuple(&json!([s()]), Some(&d())),
            &elements.replace("d\n    string", "d\n    ...string[]"),
        ),
        (
            tuple(&json!([s(), object()]), None),
            "[\n    string,\n    {\n        a?: string,\n        },\n    ],\n",
        ),
        (map(&s()), "Record<string, string>,\n"),
        (map(&d()), "{\n    // d\n    [key: string]: string,\n    },\n"),
        (map(&list(&d())), "{\n    // Items:\n    // d\n    [key: string]: string[],\n    },\n"),
        (
            map(&map(&d())),
            "{\n    [key: string]: {\n        // d\n        [key: string]: string,\n        },\n    },\n",
        ),
        (
            map(&tuple(&json!([d()]), None)),
            "{\n    [key: string]: [\n        // d\n        string,\n        ],\n    },\n",
        ),
    ]);
}

/// A description of a variant stands after it, unless the variant takes several lines.
#[test]
fn variants_have_their_comments_behind_or_before_them() {
    let d = || json!({"type": "string", "description": "d"});
    let described = |mut schema: Value| {
        schema["description"] = json!("e");
        schema
    };
    let lines = "p:\n // e\n | [\n   string,\n   // d\n   string,\n   ]\n | number\n,\n";
    for (variant, expected) in [
        (tuple(&json!([s(), n()]), None), "[string, number] | number,\n"),
        (
            described(tuple(&json!([s(), n()]), None)),
            "p:\n | [string, number] // e\n | number\n,\n",
        ),
        (tuple(&json!([s(), d()]), None), &lines.replace(" // e\n", "")),
        (described(tuple(&json!([s(), d()]), None)), lines),
        (list(&d()), "p:\n // Items:\n // d\n | string[]\n | number\n,\n"),
        (described(list(&d())), "p:\n // e\n // Items:\n // d\n | string[]\n | number\n,\n"),
        (described(map(&s())), "p:\n | Record<string, string> // e\n | number\n,\n"),
        (
            described(map(&d())),
            "p:\n // e\n | {\n   // d\n   [key: string]: string,\n   }\n | number\n,\n",
        ),
    ] {
        check(&[(json!({"anyOf": [variant, n()]}), expected)]);
    }
}

#[test]
fn a_reference_that_cannot_be_followed_is_any_and_says_why() {
    check(&[
        (json!({"$ref": "#/nowhere"}), "// any: $ref \"#/nowhere\" leads nowhere\np: any,\n"),
        (
            json!({"$ref": "http://x"}),
            "// any: $ref \"http://x\" leads out of the schema\np: any,\n",
        ),
        (json!({"$ref": 5}), "// any: $ref 5 is not a text\np: any,\n"),
        (
            json!({"$ref": "#/properties/p"}),
            "// any: $ref \"#/properties/p\" is recursive\np: any,\n",
        ),
        (
            json!({"anyOf": [{"$ref": "#/nowhere"}, n()]}),
            "p:\n | any // any: $ref \"#/nowhere\" leads nowhere\n | number\n,\n",
        ),
        (
            json!({"allOf": [{"$ref": "#/nowhere"}, n()]}),
            "// any: $ref \"#/nowhere\" leads nowhere\np: number,\n",
        ),
        // What stands beside it is still read, and nothing of that is taken for its target.
        (
            json!({"$ref": "#/nowhere", "type": "array", "items": s()}),
            "// any: $ref \"#/nowhere\" leads nowhere\np: string[],\n",
        ),
    ]);
}

/// `[string, number]` says how long it is, and nothing else.
#[test]
fn the_length_of_a_tuple_is_not_said_twice() {
    let mut limited = tuple(&json!([s(), n()]), None);
    let mut open = list(&s());
    for (keyword, value) in
        [("minItems", json!(2)), ("maxItems", json!(2)), ("uniqueItems", json!(true))]
    {
        limited[keyword] = value.clone();
        open[keyword] = value;
    }
    check(&[
        (limited, "// uniqueItems\np: [string, number],\n"),
        (open, "// minItems: 2, maxItems: 2, uniqueItems\np: string[],\n"),
    ]);
}
