"""All small texts: BNF takes those that a schema, a pattern or a tool's grammar describes, and no others."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

import gbnf
import input_grammar_worlds
import schema_worlds
from labelled_json import ANSWERS, SCHEMAS
from openai_harmony import Prefill
from openai_harmony.grammar import Loosened, TurnGrammar
from oracle.seeds import share, some_of
from tables import table

BEGUN = Prefill(channel="final", text="")


def held(space: Any = "compact", **answer: Any) -> tuple[gbnf.Grammar, list[Loosened]]:
    """The grammar of an answer, and what it does not hold."""
    written = TurnGrammar(strict=[], prefill=BEGUN, json_space=space, **answer).write("gbnf")
    return gbnf.read(written.text), written.loosened


@pytest.mark.parametrize(("schema", "good", "bad"), SCHEMAS, ids=str)
def test_labelled_json(schema: Any, good: list[str], bad: list[str]) -> None:
    grammar, loosened = held("any", response_schema=schema)
    assert loosened == []
    assert [text for text in good + bad if grammar.takes(text)] == good


@pytest.mark.parametrize(("form", "good", "bad"), ANSWERS, ids=str)
def test_labelled_answers(form: Any, good: list[str], bad: list[str]) -> None:
    grammar, _ = held(**form)
    assert [text for text in good + bad if grammar.takes(text)] == good


# Numbers.


UNIT = 10_000
"""Numbers are counted in ten thousandths: five characters have no more places."""


def _numbers() -> Iterator[tuple[str, int]]:
    for size in range(1, 6):
        for characters in itertools.product("-01259.", repeat=size):
            text = "".join(characters)
            if re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?", text) and not re.fullmatch(r"-[0.]+", text):
                yield text, round(float(text) * UNIT)


NUMBERS = [*_numbers()]
BOUNDS = [0, 1, 2, 5, 9, 10, 12, 19, 25, 90, 99, 101, 0.5, 0.25, 0.1, 1.5, 1.52, 1.55, 2.05, 9.9, 12.5]  # fmt: skip


def bounded(chosen: random.Random) -> dict[str, Any]:
    """Bounds that are often near each other."""
    near = [
        BOUNDS,
        [1.5, 1.51, 1.52, 1.55, 1.59],
        [0, 0.1, 0.2, 0.25],
        [12, 12.5, 12.9, 13],
        [2.05],
    ]
    some = chosen.choice([BOUNDS, *near])
    low, high = sorted(chosen.choice(some) * chosen.choice([1, 1, -1]) for _ in range(2))
    lower = {chosen.choice(["minimum", "exclusiveMinimum"]): low}
    upper = {chosen.choice(["maximum", "exclusiveMaximum"]): high}
    return chosen.choice([lower, upper, {**lower, **upper}, {**lower, **upper}])


def every_bounds() -> Iterator[dict[str, Any]]:
    """Bounds around zero."""
    near = [-1, -0.5, 0, 0.5, 1]
    lower = [{key: bound} for key in ("minimum", "exclusiveMinimum") for bound in near]
    upper = [{key: bound} for key in ("maximum", "exclusiveMaximum") for bound in near]
    yield from lower + upper
    yield from ({**one, **other} for one in lower for other in upper)


def least_and_most(schema: Any) -> tuple[int, int]:
    def bound(key: str, otherwise: int) -> int:
        return round(schema[key] * UNIT) if key in schema else otherwise

    far = 10**9
    least = max(bound("minimum", -far), bound("exclusiveMinimum", -far) + 1)
    return least, min(bound("maximum", far), bound("exclusiveMaximum", far) - 1)


@pytest.mark.parametrize("part", range(6))
@pytest.mark.parametrize("multiple", ["integer", "number", 7, 0.1, 0.01, 0.25])
def test_every_short_number(multiple: Any, part: int) -> None:
    """Numbers with bounds have no exponent, integers no point, and zero no sign."""
    some = [bounded(random.Random(seed)) for seed in range(part, share(120), 6)]
    for bounds in [*some, *some_of(every_bounds())[part::6]]:
        schema = {"type": "number", **bounds}
        if multiple == "integer":
            schema["type"] = multiple
        elif multiple != "number":
            schema["multipleOf"] = multiple
        grammar, loosened = held(response_schema=schema)
        if is_loose := [one.keyword for one in loosened][:1] == ["multipleOf"]:
            # Of integers with one bound there are multiples from zero on.
            has_one = sum(key.endswith("imum") for key in schema) == 1
            assert multiple == 0.25 or (multiple == 7 and has_one), schema
        most = {"integer": 0, 7: 0, 0.1: 1, 0.01: 2}.get(multiple, 99)
        step = 7 * UNIT if multiple == 7 and not is_loose else max(1, UNIT // 10**most)
        least, greatest = least_and_most(schema)
        of_value = {
            text: len(text.partition(".")[2])
            for text, number in NUMBERS
            if least <= number <= greatest and number % step == 0 and (most or "." not in text)
        }
        if any(one.keyword == "type" for one in loosened):
            assert not of_value, schema
            continue
        taken = {text for text in grammar.texts("-01259.", 5) if float(text) or text[0] != "-"}
        # More zeros may follow where they change nothing.
        assert taken <= of_value.keys(), schema
        assert taken >= {text for text, places in of_value.items() if places <= most}, schema


# Texts.

PATTERNS = [
    "a", "^a", "a$", "^a*$", "^(a|<)*$", "^<[|]$", "^<*[|]?$", "^(<a|[|]<)*$", "^[<|]*$", r"^[<a]\|a?$", r"^<\|$",
    r"^a<\|a$", "^(<|a<)[|]*$", "^[^a]*$", "^[^|]*$", "^[^<]+$", '^"?<?"?$', "^[\x01\n]*$", "^[\x01-\x03]$", "^\n<?$",
    "^.{1,2}$", "^a?<?a?$", "^(a|<a|<)(a|[|])$", "^(<?){2}[|]$", "^(a?<)+[|]?$", "(^a)", "^(a)$|^(<)$", "^(<|a)?[|a]$",
    r"^<?a\|$", r"^(a*<)?\|*$", "^[<]?(a|)[|]$", "^a{2}<{0,2}$", "^(aa|<)$", "^(a|aa)?<$", "^(|a)[|]<$", r"^(<|a)(\|a|a)?$", "^\\\\?a$",
    "^[<a](aa)?[a|]$", "^(<a?|aa)[a|]$", "^[<a][a|]*$", "^([<a][a|])*$", "^([a|]<?)*$",
]  # fmt: skip
CHARACTERS = ["a", "<", "|", '"', "\n", "\x01", "\\"]
PIECES = [*CHARACTERS[:-1], '\\"', "\\n", "\\u0001", "\\u0003", "\\u003c", "\\u007c", "\\\\"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_short_text_of_a_pattern(pattern: str) -> None:
    """As JSON, with `<` and `|` as they are wherever the two do not meet; then one of them is an escape."""
    grammar, loosened = held(response_schema={"type": "string", "pattern": pattern})
    assert loosened == []
    is_fitting = re.compile(pattern.replace("$", r"\Z")).search
    short = itertools.chain(*(itertools.product(CHARACTERS, repeat=size) for size in range(4)))
    fitting = {text for text in map("".join, short) if is_fitting(text)}
    spelled = set(grammar.texts(PIECES, 5))
    assert {json.loads(text) for text in spelled} >= fitting
    for text in spelled:
        assert "<|" not in text
        assert is_fitting(json.loads(text)), text
        assert text.count("\\u007c") == text.count("<\\u007c"), text
    for text in fitting:
        assert (json.dumps(text) in spelled) == ("<|" not in text), text


@pytest.mark.parametrize("pattern", ["a*", "^a*$", "^a+<?$", "^a{1,3}$", "^<a{2,}$", "^(a*)$", "^(aa|a)$", "^aa$", "^[a<]?$", "^a*<*$", "^(aa)*$", "^(a|<*)$"])  # fmt: skip
@pytest.mark.parametrize("least", range(4))
def test_patterns_of_some_length(pattern: str, least: int) -> None:
    """Bounds of length are held where one repeated character decides the length, or the pattern itself does."""
    for most in (None, 0, 1, 2, 3):
        bounds = {"minLength": least} if most is None else {"minLength": least, "maxLength": most}
        schema = {"type": "string", "pattern": pattern, **bounds}
        grammar, loosened = held(response_schema=schema)
        texts = map(
            "".join, itertools.chain(*(itertools.product("a<", repeat=n) for n in range(6)))
        )
        expected = {text for text in texts if schema_worlds.fits(schema, text)}
        taken = {json.loads(text) for text in grammar.texts(["a", "<", '"'], 7) if text[0] == '"'}
        if [one.keyword for one in loosened] == ["type"]:
            assert not expected
            continue
        fitting = {text for text in taken if re.search(pattern, text)}
        assert taken == fitting, schema
        over = {len(text) > (99 if most is None else most) for text in taken - expected}
        assert {one.keyword for one in loosened} >= {
            "maxLength" if is_long else "minLength" for is_long in over
        }
        assert taken >= expected
        several = {"^a*<*$", "^(aa)*$", "^(a|<*)$", "^a+<?$", "^(aa|a)$", "a*"}
        assert not loosened or pattern in several or not expected, (schema, loosened)


DEFINITIONS = dict(table("bnf_worlds", "definitions"))
"""Grammars of which some rule leads to itself; whether each `<` may be as it is: no rule has a `|`, or ends with a `<`."""


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_every_short_input(definition: str) -> None:
    form = {"type": "grammar", "syntax": "lark", "definition": definition}
    tool = {"type": "custom", "name": "t", "format": form}
    begun = Prefill(channel="commentary", recipient="functions.t", text="")
    written = TurnGrammar([tool], prefill=begun, json_space="compact").to_gbnf()
    grammar = gbnf.read(written)
    before, after = '{"input":"', '"}'
    pieces = [before, after, *"ab<|", "\\u003c", "\\u007c"]
    spelled = {text.removeprefix(before)[: -len(after)] for text in grammar.texts(pieces, 7)}
    decoded = {json.loads(f'"{text}"') for text in spelled}
    fits = input_grammar_worlds.oracle(definition)
    short = map("".join, itertools.chain(*(itertools.product("ab<|", repeat=n) for n in range(6))))
    fitting = {text for text in short if fits(text)}
    assert decoded == fitting
    for text in spelled:
        assert "<|" not in text
    if DEFINITIONS[definition]:
        assert {text for text in fitting if "<|" not in text} <= spelled


# Objects and what several schemas ask.


def test_additional_names_are_none_of_those_that_have_their_own_schema() -> None:
    names = ["a<b", 'a"', "ab", "a b", "a^", "a-b", "a\n", "aba", "[", "]"]
    schema = {
        "type": "object",
        "properties": {name: {"const": "x"} for name in names},
        "additionalProperties": {"const": 1},
    }
    grammar, loosened = held(response_schema=schema)
    assert loosened == []
    for name in map(
        "".join, itertools.chain(*(itertools.product('ab<^-"\n[] ', repeat=n) for n in range(4)))
    ):
        has_escape = any(char in '<"\n' for char in name)
        takes = (grammar.takes(f"{{{json.dumps(name)}:{value}}}") for value in ("1", '"x"'))
        assert [*takes] == [name not in names and not has_escape, name in names], name
        assert not grammar.takes(f'{{"{name}":1}}') or not has_escape
