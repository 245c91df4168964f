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
from tables import table

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
        *table("schema_rows", "what is held"),
        ({"anyOf": [{"const": one} for one in range(70)]}, ["0", "69"], ["70"]),
        (
            {**NONE, "properties": {f"p{n}": {"const": n} for n in range(170)}},
            ['{"p0":0}', '{"p169":169}'],
            ['{"p169":1}'],
        ),
    ],
    ids=str,
)
def test_what_is_held(schema: Any, good: list[str], bad: list[str]) -> None:
    written = TurnGrammar(response_schema=schema, prefill=BEGUN, json_space="compact").to_gbnf()
    grammar = gbnf.read(written)
    assert [text for text in good + bad if grammar.takes(text)] == good


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        *table("schema_rows", "patterns of javascript"),
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
        *table("schema_rows", "what bnf loosens"),
        ({"type": "string", "pattern": r"\\p{L}" * 300}, ["pattern"]),
        ({"patternProperties": {f"^{n}-": {} for n in range(50)}}, []),
        ({"patternProperties": {f"^{n}-": {} for n in range(51)}}, ["patternProperties"]),
        (both({"enum": [*range(1024)]}, {"enum": [*range(1024)][::-1]}), []),
        (both({"enum": [*range(1025)]}, {"enum": [*range(1024)][::-1]}), ["enum"]),
        ({"enum": ["a" * (2**18 - 13)]}, []),
        ({"enum": ["a" * (2**18 - 12)]}, ["type"]),
        ({"oneOf": [{"const": one} for one in range(300)]}, []),
    ],
    ids=str,
)
def test_what_bnf_loosens(schema: Any, keywords: list[str]) -> None:
    assert loosened(schema) == keywords


@pytest.mark.parametrize(
    ("schema", "keywords"),
    table("schema_rows", "what llguidance loosens"),
    ids=str,
)
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


IN_BNF = dict(table("schema_rows", "in bnf"))

LOOSENED: dict[str, dict[str, int]] = {
    "gbnf": IN_BNF,
    "xgrammar": IN_BNF,
    "lark": {
        "dependentRequired": 69,
        "maxProperties": 21,
        "minProperties": 19,
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
    table("schema_rows", "room for texts"),
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
