"""Schemas, with JSON that fits them and JSON that does not; likewise regular expressions and choices."""

from __future__ import annotations

from typing import Any

TREE = {
    "$defs": {"node": {"type": "object", "properties": {"left": {"$ref": "#/$defs/node"}}}},
    "$ref": "#/$defs/node",
}
SHAPES = [
    {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind", "n"]},
    {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]},
]  # fmt: skip
MEMBERS = {"a": {"type": "integer"}, "b": {"type": "string"}}

SCHEMAS: list[tuple[Any, list[str], list[str]]] = [
    (True, ["1", "[]", '{"a":[null,true]}', '"x"', "-1.5e+3"], ["", "01", "nul", "[1,]"]),
    ({"type": "integer"}, ["0", "-12", "7"], ["1.5", "01", '"1"', "-"]),
    ({"type": "integer", "minimum": 0, "maximum": 100}, ["0", "9", "42", "100"], ["101", "-1", "1000"]),
    ({"type": "integer", "minimum": -25, "exclusiveMaximum": 317}, ["-25", "-9", "0", "299", "316"], ["-26", "317", "-100"]),
    ({"type": "integer", "exclusiveMinimum": 38}, ["39", "40", "99", "100", "12345"], ["38", "9", "-40"]),
    ({"type": "integer", "maximum": -7}, ["-7", "-10", "-99"], ["-6", "0", "7"]),
    ({"type": "string", "minLength": 2, "maxLength": 3}, ['"ab"', '"\\u00e5b"', '"⛅⛅⛅"'], ['"a"', '"abcd"']),
    ({"type": "string", "minLength": 1}, ['"a"', '"abc"'], ['""']),
    ({"type": ["string", "null"]}, ['"a"', "null"], ["1"]),
    ({"enum": ["a\n", 3, None, "<|end|>"]}, ['"a\\n"', "3", "null", '"\\u003c|end|>"'], ['"a"', '"<|end|>"']),
    ({"enum": ["a", 3], "type": "string"}, ['"a"'], ["3"]),
    ({"const": {"a": [1, 2]}}, ['{"a":[1,2]}'], ['{"a":[1]}']),
    ({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, ["1", "true"], ["null"]),
    ({"oneOf": SHAPES}, ['{"kind":"a","n":1}', '{"kind": "b"}'], ['{"kind":"a"}', '{"kind":"c"}']),
    ({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3}, ["[1]", "[1, 2 ,3]"], ["[]", "[1,2,3,4]", '["a"]']),
    ({"type": "array", "items": {"type": "integer"}}, ["[]", "[1]", "[1,2,3]"], ["[1,]", "[,1]"]),
    ({"type": "array", "prefixItems": [], "items": {"type": "integer"}}, ["[]", "[1]", "[1,2]"], ["[,1]", '["a"]']),
    ({"type": "array", "maxItems": 0}, ["[ ]"], ["[1]"]),
    ({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 1, "items": False}, ["[1]", '[1,"a"]'], ["[]", '["a"]', '[1,"a",2]']),
    ({"type": "object", "properties": MEMBERS, "required": ["b"]}, ['{"b":"x"}', '{ "a" : 1 , "b" : "x" }'], ["{}", '{"a":1}', '{"a":1"b":"x"}', '{"b":"x","c":1}']),
    ({"type": "object", "properties": MEMBERS}, ["{}", '{"a":1}', '{"b":""}', '{"a":1,"b":""}'], ['{"a":""}', '{,"a":1}']),
    ({"type": "object", "properties": MEMBERS, "additionalProperties": True}, ["{}", '{"c":[]}', '{"a":1,"bb":2,"":3}'], ['{"b":1}', '{"c":1,"a":""}', '{"a":""}']),
    ({"type": "object", "properties": {"a": {}}, "required": ["z"], "additionalProperties": {"type": "integer"}}, ['{"z":1}', '{"a":[],"z":1,"y":2}'], ['{"a":1}', '{"z":""}', '{"z":1,"y":""}']),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, ["{}", '{"a":1,"b":2}'], ['{"a":"b"}']),
    ({"type": "object", "properties": {'a"<|b': {"type": "null"}}}, ['{"a\\"\\u003c|b":null}'], ['{"a":null}']),
    (TREE, ["{}", '{"left":{"left":{}}}'], ['{"left":1}']),
    ({"type": "integer", "minimum": -(2**53 - 1), "maximum": 2**53 - 1}, ["0", "9007199254740991", "-9007199254740991"], ["9007199254740992", "-90071992547409910"]),
    ({"type": "integer", "minimum": 0, "maximum": 2**64 - 1}, ["18446744073709551615"], ["-1", "18446744073709551616"]),
    ({"type": "integer", "multipleOf": 7}, ["0", "7", "-14", "7007"], ["1", "8", "70.5"]),
    ({"type": "integer", "multipleOf": 5, "minimum": 3, "maximum": 21}, ["5", "20"], ["0", "25", "7"]),
    ({"type": "number", "minimum": 0, "exclusiveMaximum": 1}, ["0", "0.5", "0.999", "0.0"], ["1", "-0.1", "1.0", "2"]),
    ({"type": "number", "minimum": -1.25, "maximum": 10.5}, ["-1.25", "-1.2", "-0.5", "9.99", "10.5", "10.50"], ["-1.26", "10.51", "-2", "11"]),
    ({"type": "number", "minimum": 0, "multipleOf": 0.01}, ["1", "12.5", "0.07"], ["0.001", "-1", "1.234"]),
    ({"type": "string", "pattern": "^[a-z]+-\\d{2}$"}, ['"ab-12"'], ['"ab-1"', '"AB-12"', '"x ab-12"']),
    ({"type": "string", "pattern": "b"}, ['"abc"', '"b"', '"\\"b"'], ['"ac"']),
    ({"type": "string", "pattern": "^[a-z]*$", "minLength": 2, "maxLength": 3}, ['"ab"', '"abc"'], ['"a"', '"abcd"']),
    ({"type": "array", "items": [{"type": "integer"}, {"type": "string"}], "additionalItems": False}, ["[]", '[1,"a"]'], ['["a"]', '[1,"a",2]']),
    ({"type": "object", "patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": False}, ["{}", '{"x-a":1,"x-":2}'], ['{"a":1}', '{"x-a":""}']),
    ({"type": "object", "propertyNames": {"enum": ["a", "b"]}, "additionalProperties": {"type": "integer"}}, ["{}", '{"a":1,"b":2}'], ['{"c":1}', '{"a":""}']),
    ({"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1, "maxProperties": 2}, ['{"q":1}', '{"q":1,"r":2}'], ["{}", '{"q":1,"r":2,"s":3}']),
    ({"allOf": [{"type": "object", "properties": MEMBERS}, {"required": ["b"]}]}, ['{"b":"x"}', '{"a":1,"b":"x"}'], ["{}", '{"a":1}']),
    ({"type": "object", "properties": MEMBERS, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, ['{"a":1}', '{"b":""}'], ["{}", '{"b":1}']),
    ({"properties": {"a": {"type": "integer"}}}, ["1", '{"a":1}', "[]"], ['{"a":""}']),
]  # fmt: skip

ANSWERS: list[tuple[dict[str, Any], list[str], list[str]]] = [
    ({"response_choices": ["yes", "no", "yes, but"]}, ["yes", "no", "yes, but"], ["", "ye", "yess", "maybe", "yes,", " yes"]),
    ({"response_choices": ['a "b"/\n\\c', "å⛅"]}, ['a "b"/\n\\c', "å⛅"], ["a", "å", 'a "b"/nc']),
    ({"response_regex": r"\d{3}-\d{4}"}, ["555-1234"], ["555-123", "5555-1234", "555-12345", "abc"]),
    ({"response_regex": "^(cat|dog)s?$"}, ["cat", "dogs"], ["cats!", "catdog", "s"]),
    ({"response_regex": "a/b+[^x-z]?"}, ["a/b", "a/bbb!", "a/bå"], ["a/", "a/bx", "a"]),
    ({"response_regex": "(ab|abc)(c|d)?"}, ["ab", "abc", "abcd", "abcc"], ["abccd", "a"]),
    ({"response_regex": "[-a\\]^\"]{2,3}"}, ["-a", '^"]'], ["b", "-", "aaaa"]),
    ({"response_regex": r"\w+ .*"}, ["åbc  x", "a "], ["a", " a", "a \n"]),
]  # fmt: skip
