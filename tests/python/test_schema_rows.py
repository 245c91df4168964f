"""Rows of schemas: which keywords each form of a grammar holds, and how much room there is."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from typing import Any, Literal

import pytest

import gbnf
import schema_worlds
from openai_harmony import HarmonyError, Prefill, load_harmony_encoding
from openai_harmony.grammar import TurnGrammar

ENCODING = load_harmony_encoding("HarmonyGptOss")
BEGUN = Prefill(channel="final", text="")
Form = Literal["lark", "xgrammar", "gbnf"]


def loosened(schema: Any, form: Form = "gbnf") -> list[str]:
    written = TurnGrammar(response_schema=schema, strict=[], prefill=BEGUN).write(form)
    return [one.keyword for one in written.loosened]


def both(*schemas: Any) -> Any:
    return {"allOf": list(schemas)}


def one_of(*schemas: Any) -> Any:
    return {"oneOf": list(schemas)}


FEW = {"properties": {"a": {}, "b": {}}, "required": ["a"]}
NONE: dict[str, Any] = {"type": "object", "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"enum": [21, 22, 70, 105, -14, 0.5], "multipleOf": 7}, ["21", "70", "105", "-14"], ["22", "0.5"]),
        ({"enum": [0.5, 1, 0.3], "multipleOf": 0.25}, ["0.5", "1"], ["0.3"]),
        ({"type": "integer", "enum": [1, 1.5, "a"]}, ["1"], ["1.5", '"a"']),
        ({"type": ["integer", "null"], "enum": [1, 1.5, None]}, ["1", "null"], ["1.5"]),
        (both({"type": "integer", "multipleOf": 4}, {"multipleOf": 6}), ["0", "12", "-24"], ["4", "6", "8", "18"]),
        (both({"type": "integer", "multipleOf": 9}, {"multipleOf": 3}), ["0", "9"], ["3"]),
        (both({"type": "number", "minimum": 0.5}, {"minimum": 1.5}), ["1.5", "2"], ["1", "0.5"]),
        (both({"type": "number", "maximum": 0.5}, {"maximum": 1.5}), ["0.5", "-2"], ["1", "1.5"]),
        (both({"type": "integer", "minimum": 2**63}, {"minimum": 5}), [str(2**63)], ["5", str(2**63 - 1)]),
        (both({"items": {"type": "integer"}}, {"items": {"maximum": 3}}), ["[]", "[3,2]"], ["[4]", '["a"]']),
        (both({"enum": [1, 2, 3]}, {"const": 2}), ["2"], ["1", "3"]),
        (both({"const": 2}, {"enum": [1, 2, 3]}), ["2"], ["1", "3"]),
        (both({"const": {"a": 1}}, {"const": {"a": 1}}), ['{"a":1}'], ["{}"]),
        ({"anyOf": [{"const": one} for one in range(70)]}, ["0", "69"], ["70"]),
        (both(*({"anyOf": [{"minimum": 0}] * 8} for _ in range(2))), ["0"], ["-1"]),
        ({"$ref": "#/$defs/a%20b%25", "$defs": {"a b%": {"const": 1}}}, ["1"], ["2"]),
        ({"type": "string", "minLength": 2.0}, ['"ab"'], ['"a"']),
        ({"type": "string", "pattern": "(^a)$"}, ['"a"'], ['"ba"', '"ab"']),
        ({"type": "string", "pattern": "^$|^ab$"}, ['""', '"ab"'], ['"a"', '"abb"']),
        ({"type": "string", "pattern": "^(a|b$)"}, ['"ab"', '"b"'], ['"ba"', '"ca"']),
        ({"type": "number", "multipleOf": 0.1, "exclusiveMinimum": 0.25}, ["0.3", "1"], ["0.25", "0.26", "0.2", "0.31"]),
        ({"type": "number", "multipleOf": 0.1, "minimum": -0.5}, ["-0.5", "-0.1", "0"], ["-0.01", "-0.6"]),
        ({**both({"maxProperties": 2}), **FEW, **NONE}, ['{"a":1}', '{"a":1,"b":2}'], ["{}"]),
        ({"anyOf": [{"minProperties": 1}], **FEW, **NONE}, ['{"a":1}', '{"a":1,"b":2}'], ["{}"]),
        ({"type": "object", "properties": {"a": {}}, "unevaluatedProperties": False}, ['{"a":1}'], ['{"b":1}']),
        ({"type": "object", "additionalProperties": {"const": 1}, "unevaluatedProperties": False}, ['{"b":1}'], ['{"b":2}']),
        ({"enum": [1, 2, 3], "exclusiveMinimum": 1, "exclusiveMaximum": 3}, ["2"], ["1", "3"]),
        ({"type": "array", "additionalItems": False}, ["[]", "[1]"], ["1"]),
        ({"type": "number"}, ["1e5", "-0", "0.5E-3"], ["01", "1."]),
        ({"type": "number", "exclusiveMaximum": 0}, ["-1", "-0.1"], ["0", "0.0", "1"]),
        ({"type": "number", "exclusiveMaximum": 0, "minimum": -0.5}, ["-0.5", "-0.1"], ["0", "0.0", "-0.6"]),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 0.5}, ["0.5", "0.1"], ["0", "0.0", "0.6"]),
        ({"type": "number", "minimum": 0, "maximum": 0}, ["0", "0.0"], ["0.1", "-0.1"]),
        ({"type": "integer", "maximum": 2**64 - 1}, [str(2**64 - 1)], [str(2**64)]),
        ({"type": "integer", "minimum": -(2**63)}, [str(-(2**63))], [str(-(2**63) - 1)]),
        ({"type": "number", "maximum": 2.0**64}, [str(2**64)], [str(2**64 + 1)]),
        ({"type": "string", "pattern": "^\\p{L}$"}, ['"é"', '"ж"'], ['"1"']),
        ({"enum": [[], [1], {}, {"a": 1}], "maxItems": 0, "minProperties": 1}, ["[]", '{"a":1}'], ["[1]", "{}"]),
        ({"enum": [[], [1], {}, {"a": 1}], "minItems": 1, "maxProperties": 0}, ["[1]", "{}"], ["[]", '{"a":1}']),
        ({"enum": ["ab", "a", ""], "minLength": 1, "maxLength": 1}, ['"a"'], ['"ab"', '""']),
        ({**NONE, "patternProperties": {"^<$": {}, "^b": False}}, ["{}", '{"<":1}'], ['{"b":1}', '{"bc":1}']),
        ({**NONE, "properties": {f"p{n}": {"const": n} for n in range(170)}}, ['{"p0":0}', '{"p169":169}'], ['{"p169":1}']),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_held(schema: Any, good: list[str], bad: list[str]) -> None:
    written = TurnGrammar(response_schema=schema, prefill=BEGUN, json_space="compact").to_gbnf()
    grammar = gbnf.read(written)
    assert [text for text in good + bad if grammar.takes(text)] == good


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        ("^a\\d+$", "a12", "a12b"),
        ("b", "abc", "ac"),
        ("^a|c$", "ab", "ba"),
        ("^[[\\w-]+$", "[a-", "a b"),
        ("^\\/x\\-$", "/x-", "x-"),
        ("^[^&&]$", "a", "&"),
        ("^(?<y>\\d{2})$", "12", "1"),
        ("^\\<\\S$", "<a", "< "),
        *[(pattern, "", None) for pattern in ("(?=a)b", "a\\bb", "a^b", "(", "\\p{L}x{")],
    ],
)
def test_patterns_of_javascript(pattern: str, good: str, bad: str | None) -> None:
    """Found anywhere in a text; what no grammar can enforce is loosened."""
    schema = {"type": "string", "enum": [good, bad or "?"], "pattern": pattern}
    assert loosened(schema) == ([] if bad else ["pattern"])
    written = TurnGrammar(response_schema=schema, strict=[], prefill=BEGUN).to_gbnf()
    assert gbnf.read(written).takes(json.dumps(good))
    assert gbnf.read(written).takes(json.dumps(bad or "?")) == (bad is None)


@pytest.mark.parametrize(
    ("schema", "keywords"),
    [
        ({**NONE, "minProperties": 1}, ["type"]),
        ({"type": "integer", "multipleOf": 7, "minimum": 1, "maximum": 6}, ["type"]),
        (both(*({"anyOf": [{"minimum": 0}] * count} for count in (9, 8))), ["anyOf"]),
        (both({"multipleOf": 0.3}, {"multipleOf": 2}), ["multipleOf"]),
        ({"anyOf": [{"minProperties": 2}], **FEW, **NONE}, ["minProperties"]),
        ({"anyOf": [{"maxProperties": 1}], **FEW, **NONE}, ["maxProperties"]),
        ({"anyOf": [{"maxProperties": 2}], **FEW, "additionalProperties": True}, ["maxProperties"]),
        ({"type": "integer", "multipleOf": 200}, []),
        ({"type": "integer", "multipleOf": 201}, ["multipleOf"]),
        ({"type": "integer", "multipleOf": 2, "minimum": 2, "maximum": 1000}, []),
        ({"type": "integer", "multipleOf": 2, "minimum": 2, "maximum": 1002}, ["multipleOf"]),
        ({"type": "integer", "multipleOf": 2, "minimum": 0}, []),
        ({"type": "integer", "multipleOf": 2, "minimum": 1}, ["multipleOf"]),
        ({"type": "integer", "maximum": 2**64}, ["maximum"]),
        ({"type": "integer", "exclusiveMinimum": -(2**64)}, ["exclusiveMinimum"]),
        ({"minimum": 2**64 + 1}, ["minimum"]),
        ({"type": "number", "maximum": 1e60}, []),
        ({"type": "string", "minLength": 2.5}, ["minLength"]),
        ({"type": "string", "pattern": r"\\p{L}" * 300}, ["pattern"]),
        ({"patternProperties": {f"^{n}-": {} for n in range(50)}}, []),
        ({"patternProperties": {f"^{n}-": {} for n in range(51)}}, ["patternProperties"]),
        (both({"enum": [*range(1024)]}, {"enum": [*range(1024)][::-1]}), []),
        (both({"enum": [*range(1025)]}, {"enum": [*range(1024)][::-1]}), ["enum"]),
        ({**NONE, "properties": {"a" * 300: {}}, "additionalProperties": {"type": "null"}}, []),
        ({**NONE, "properties": {"a" * 301: {}}, "additionalProperties": {"type": "null"}}, ["additionalProperties"]),
        ({"enum": ["a" * (2**18 - 13)]}, []),
        ({"enum": ["a" * (2**18 - 12)]}, ["type"]),
        ({"type": "string", "pattern": "("}, ["pattern"]),
        ({"$ref": "#/$defs/a%2", "$defs": {"a%2": {"const": 1}}}, []),
        ({"$ref": "#/$defs/a%zz", "$defs": {"a": {"const": 1}}}, ["$ref"]),
        ({**NONE, "patternProperties": {"^a": {"type": "string"}, "b": {"type": "integer"}}}, ["patternProperties"]),
        ({**NONE, "patternProperties": {"^a": {"type": "string"}, "^b": {"type": "integer"}}}, []),
        ({"anyOf": [{}], "unevaluatedProperties": False}, ["unevaluatedProperties"]),
        ({"type": "array", "maxItems": 2000}, []),
        ({"type": "array", "maxItems": 2001}, ["maxItems"]),
        ({"anyOf": []}, ["anyOf"]),
        ({"$defs": 3}, ["$defs"]),
        ({**FEW, **NONE, "maxProperties": 2}, []),
        ({**FEW, **NONE, "maxProperties": 1}, ["maxProperties"]),
        ({"propertyNames": {"type": "string", "format": "date"}}, []),
        ({"propertyNames": {"enum": ["a"]}}, []),
        ({"propertyNames": True}, []),
        ({"propertyNames": False}, ["propertyNames"]),
        ({"propertyNames": {"enum": ["a"], "maxLength": 1}}, ["propertyNames"]),
        ({"allOf": 3}, ["allOf"]),
        # Each level asks more of the next.
        ({"$ref": "#/$defs/a", "$defs": {"a": {"items": both({"$ref": "#/$defs/a"}, {"items": {"minimum": 1}})}}}, ["$ref"]),
        ({"type": ["string", "text"]}, ["type"]),
        ({"type": "string", "pattern": "^([ab]c){1501}$"}, []),
        ({"type": "string", "pattern": "^([ab]c){1502}$"}, ["pattern"]),
        ({"oneOf": [{"const": one} for one in range(300)]}, []),
        ({"$ref": "#/x-a", "x-a": {"type": "integer"}}, ["$ref"]),
    ],
    ids=str,
)  # fmt: skip
def test_what_bnf_loosens(schema: Any, keywords: list[str]) -> None:
    assert loosened(schema) == keywords


@pytest.mark.parametrize(
    ("schema", "keywords"),
    [
        ({"patternProperties": {"^a": {}, "^ab": {}}}, ["patternProperties"]),
        ({"patternProperties": {"^ab": {}, "^a": {}}}, ["patternProperties"]),
        ({"patternProperties": {"^a": {}, "^b": {}}}, []),
        ({"patternProperties": {"^(a)": {}, "^b[0-9]": {}}}, []),
        ({"patternProperties": {"^a[0-9]": {}, "^b": {"not": {}}}}, ["not"]),
        ({"anyOf": [{"patternProperties": {"^a": {}, "^ab": {}}}]}, ["patternProperties"]),
        ({"items": {"patternProperties": {"a": {}, "b": {}}}}, ["patternProperties"]),
        ({"properties": {"a": {"$ref": "#/then"}}, "then": {"type": "integer"}}, ["$ref"]),
        ({"type": "integer", "minimum": -(2**53), "maximum": 2**53}, []),
        ({"type": "integer", "maximum": 2**63 - 1}, []),
        ({"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 2}, ["minimum", "maximum"]),
        ({"type": "integer", "maximum": 1e15}, []),
        ({"type": "number", "minimum": 123456789012345, "maximum": 0.1234567890123456}, ["maximum"]),
        ({"type": "number", "minimum": 1e-9}, []),
        ({"type": "number", "minimum": 1e-60}, ["minimum"]),
        ({"type": "number", "exclusiveMinimum": 1, "maximum": 1.5}, ["exclusiveMinimum", "maximum"]),
        ({"type": "number", "exclusiveMinimum": 1, "maximum": 2}, []),
        ({"type": "number", "exclusiveMinimum": 1, "minimum": 1.5}, []),
        ({"type": "number", "exclusiveMaximum": -1, "minimum": -1.5}, ["exclusiveMaximum", "minimum"]),
        ({"type": "integer", "exclusiveMinimum": 1, "maximum": 2.5}, []),
        ({"allOf": [{"exclusiveMinimum": 0}], "type": "number", "maximum": 0.5}, ["exclusiveMinimum", "maximum"]),
        ({"$ref": "#/$defs/a", "maximum": 0.5, "$defs": {"a": {"type": "number", "exclusiveMinimum": 0}}}, ["maximum"]),
        ({"items": {"exclusiveMinimum": 0}, "type": "number", "maximum": 0.5}, []),
        ({"multipleOf": 99999}, []),
        ({"multipleOf": 123456}, ["multipleOf"]),
        ({"multipleOf": 1e-9}, []),
        ({"multipleOf": 1e-10}, ["multipleOf"]),
        ({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "integer"}}}, []),
    ],
    ids=str,
)  # fmt: skip
def test_what_llguidance_loosens(schema: Any, keywords: list[str]) -> None:
    assert loosened(schema, "lark") == keywords


def test_ways_that_are_too_many_take_no_room_of_others() -> None:
    ways = [(9, {"minimum": 0}), (8, {"minimum": 0}), (2, {"maximum": 5}), (9, {"minimum": 1})]
    schema = {"type": "integer", **both(*({"anyOf": [one] * count} for count, one in ways))}
    assert loosened(schema) == ["anyOf"]
    written = TurnGrammar(response_schema=schema, strict=[], prefill=BEGUN).to_gbnf()
    assert [text for text in "-1 0 5 6".split() if gbnf.read(written).takes(text)] == ["0", "5"]


def test_what_says_nothing_changes_nothing() -> None:
    more = {"$defs": {"a": {}}, "definitions": {}, "format": "date", "title": "?", "examples": [1]}
    either = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    for form, schema in itertools.product(("gbnf", "xgrammar"), ({}, either)):
        plain, described = (
            TurnGrammar(response_schema=one).write(form).text
            for one in (schema, {**schema, **more})
        )
        assert plain == described


def test_patterns_that_llguidance_gets() -> None:
    for patterns, held in ((["^a", "^b"], ["^a", "^b"]), (["^a", "^ab", "^c"], ["^a", "^c"])):
        schema = {"patternProperties": {pattern: {} for pattern in patterns}}
        written = TurnGrammar(response_schema=schema, strict=[], prefill=BEGUN).to_lark()
        assert [pattern for pattern in patterns if f'"{pattern}"' in written] == held


def test_expressions_repeat_as_often() -> None:
    assert TurnGrammar(response_regex="a{2000}").to_gbnf()
    assert '("a" | "")' in TurnGrammar(response_regex="a|").to_gbnf()
    with pytest.raises(HarmonyError, match="response_regex: llama.cpp takes no number above 2000"):
        TurnGrammar(response_regex="ba{2001}").to_gbnf()


def test_xgrammar_repeats_a_million_times_at_most() -> None:
    for count, keywords in ((1_000_000, []), (1_000_001, ["maxItems"])):
        assert loosened({"type": "array", "maxItems": count}, "xgrammar") == keywords


KINDS = ["object", "array", "string", "number", "integer", "boolean", "null"]


@pytest.mark.parametrize(("one", "other"), [*itertools.product(KINDS, KINDS)])
def test_types_that_no_value_has_both(one: str, other: str) -> None:
    are_apart = one != other and {one, other} != {"integer", "number"}
    for schemas in (
        [{"type": one}, {"type": other}],
        [{"type": [one]}, {"type": other}],
        [schema_worlds.tagged({"type": one}), schema_worlds.tagged({"type": other})],
    ):
        assert (loosened(one_of(*schemas)) == []) == are_apart, schemas


def test_schemas_of_which_one_fits() -> None:
    const, enum = {"const": 0}, {"enum": ["x", 0]}
    tagged = schema_worlds.tagged
    members = {"type": "object", "properties": {"a": {"const": 0}}}
    other = {"type": "object", "properties": {"a": {"const": 1}}}
    nested = [{**tagged(tagged({"const": one}))} for one in (0, 1)]
    for schemas, are_apart in (
        ([const, {"enum": ["x", 1]}], True),
        ([const, enum], False),
        ([{"const": "x"}, {"type": "number"}], True),
        ([enum, {"type": "number"}], False),
        ([False, {}], True),
        ([{}, False], True),
        ([{}, {"type": "null"}], False),
        ([tagged(const), tagged({"const": 1})], True),
        ([tagged(const), tagged(enum)], False),
        ([tagged({"$ref": "#/$defs/x"}), tagged({"const": 1})], True),
        ([members, {**other, "required": ["a"]}], False),
        ([{**members, "required": ["a"]}, other], False),
        ([{**members, "required": ["b"]}, {**other, "required": ["a"]}], False),
        # Members of members are not compared.
        (nested, False),
    ):
        schema = {**one_of(*schemas), "$defs": {"x": const}}
        assert (loosened(schema) == []) == are_apart, schemas


@pytest.mark.parametrize("form", ["gbnf", "xgrammar", "lark"])
def test_how_often_small_schemas_are_loosened(form: Form) -> None:
    """The keywords of all pairs: whoever lets a form hold more of them, or less, sees it here."""
    schemas = [*schema_worlds.small(1), *schema_worlds.small(2)]
    found = Counter(keyword for schema in schemas for keyword in loosened(schema, form))
    assert dict(sorted(found.items())) == LOOSENED[form]


IN_BNF = {
    "additionalProperties": 12,
    "dependentRequired": 69,
    "items": 2,
    "maxLength": 8,
    "maxProperties": 14,
    "minLength": 7,
    "minProperties": 17,
    "multipleOf": 66,
    "not": 70,
    "oneOf": 66,
    "patternProperties": 30,
    "prefixItems": 2,
    "properties": 9,
    "propertyNames": 9,
    "required": 8,
    "type": 69,
    "unevaluatedProperties": 18,
    "uniqueItems": 69,
}

LOOSENED: dict[str, dict[str, int]] = {
    "gbnf": IN_BNF,
    "xgrammar": IN_BNF,
    "lark": {
        "dependentRequired": 69,
        "maxProperties": 13,
        "minProperties": 11,
        "not": 70,
        "oneOf": 66,
        "propertyNames": 9,
        "unevaluatedProperties": 18,
        "uniqueItems": 69,
    },
}


def keys(count: int) -> dict[str, Any]:
    """Keys that have to differ from a name, after each of whose characters most others may follow."""
    return {"properties": {"a" * (count - 1): {}}, "additionalProperties": {"type": "null"}}


# Milliseconds that xgrammar takes, of which texts have 700.
@pytest.mark.parametrize(
    ("schema", "has_room"),
    [
        ({"pattern": "^[^<]{18}$"}, True),
        ({"pattern": "^[^<]{19}$"}, False),
        ({"pattern": "^[^<]{18}[a-z]{4}[0-9]{6}$"}, True),
        ({"pattern": "^[^<]{18}[a-z]{4}[0-9]{7}$"}, False),
        ({"pattern": "^[a-t]{100}$"}, True),
        ({"pattern": "^[a-t]{101}$"}, False),
        ({"pattern": "^[a-s]{700}$"}, True),
        ({"pattern": "^[a-s]{701}$"}, False),
        ({"pattern": "^[a-t ]{19}$"}, False),
        ({"pattern": "^[a-té]{19}$"}, False),
        ({"pattern": "^[a-s ]{19}$"}, True),
        # After a `<` there is another rule of a class with `|`, but not of one without.
        ({"pattern": "^<?[^|]{18}$"}, True),
        ({"pattern": "^(b|<)[^b]{17}$"}, False),
        ({"pattern": "^(b|<)[^b<|]{17}$"}, True),
        ({"pattern": "^a?[^<]{18}$"}, True),
        # The first of several is one of them.
        ({"pattern": "^[^<]{17}[^<|]+$"}, True),
        ({"maxLength": 23}, True),
        ({"maxLength": 24}, False),
        ({"minLength": 18}, True),
        ({"minLength": 19}, False),
        ({"items": {"maxLength": 23}, "maxLength": 23}, True),
        ({"items": {"minLength": 4}, "maxLength": 23}, False),
        (keys(18), True),
        (keys(19), False),
        (
            {
                "properties": {name: {} for name in "abcdefghijklmnopq"},
                "additionalProperties": {"type": "null"},
            },
            True,
        ),
        (
            {
                "properties": {name: {} for name in "abcdefghijklmnopqr"},
                "additionalProperties": {"type": "null"},
            },
            False,
        ),
    ],
)
def test_room_for_texts(schema: Any, has_room: bool) -> None:
    assert (loosened(schema, "xgrammar") == []) == has_room
    assert loosened(schema, "gbnf") == []


@pytest.mark.parametrize(
    ("characters", "is_held"),
    [("[a-t ]", False), ("[a-té]", False), ("[^<]", False), ("[a-s ]", True), ("[a-z]", True)],
)
def test_llguidance_has_no_room_for_recursion_beside_any_text(
    characters: str, is_held: bool
) -> None:
    definition = f'start: "(" start ")" | /{characters}/'
    form = {"type": "grammar", "syntax": "lark", "definition": definition}
    tool = {"type": "custom", "name": "t", "format": form}
    written = TurnGrammar([tool], strict=[]).write("lark")
    assert (written.loosened == []) == is_held
    regular = {**form, "definition": f"start: /{characters}/"}
    tool = {"type": "custom", "name": "t", "format": regular}
    assert TurnGrammar([tool], strict=[]).write("lark").loosened == []


def test_an_error_names_twenty_keywords() -> None:
    names: dict[str, Any] = {f"p{n}": {"not": {}} for n in range(25)}
    for count, more in ((20, ""), (21, "; and 1 more"), (25, "; and 5 more")):
        schema = {"properties": dict([*names.items()][:count])}
        with pytest.raises(HarmonyError) as raised:
            TurnGrammar(response_schema=schema).to_gbnf()
        said = str(raised.value)
        assert said.count("no grammar can enforce this keyword") == 20
        assert said.endswith(f"no grammar can enforce this keyword{more}")


def test_only_the_answer_has_the_form_of_answers() -> None:
    grammar = TurnGrammar(response_regex="a+")
    thought = "<|channel|>analysis<|message|>b<|end|><|start|>assistant"
    answer = "<|channel|>final<|message|>{}<|return|>"
    for text, is_turn in (("a", True), ("b", False)):
        tokens = ENCODING.encode(thought + answer.format(text), allowed_special="all")
        assert grammar.accepts(tokens).ok == is_turn


def test_slashes_in_expressions_of_llguidance() -> None:
    for pattern in (r"a/b", r"\\/", r"\/"):
        written = TurnGrammar(response_regex=pattern).to_lark()
        [line] = [line for line in written.splitlines() if line.startswith("ANSWER")]
        expected = {"a/b": r"(?:a\/b)", r"\\/": r"(?:\\\/)", r"\/": r"\/"}[pattern]
        assert line == f"ANSWER: /{expected}/"
