"""Schemas at random: a grammar takes the values that JSON Schema does; in llguidance, and in a reader of GBNF."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterable
from typing import Any

import pytest

import gbnf
import schema_worlds
from openai_harmony import Prefill, load_harmony_encoding
from openai_harmony.grammar import TurnGrammar
from openai_harmony.serve.engines import guidance
from oracle.seeds import share, some_of

ENCODING = load_harmony_encoding("HarmonyGptOss")
BEGUN = Prefill(channel="final", text="")


@pytest.fixture(scope="module")
def vocabulary() -> Any:
    pytest.importorskip("llguidance", reason="llguidance has no wheel for this Python")
    return guidance.vocabulary()


@pytest.mark.parametrize("seed", range(share(400)))
def test_llguidance_takes_what_fits(vocabulary: Any, seed: int) -> None:
    import llguidance

    chosen = random.Random(seed)
    schema = schema_worlds.schema(chosen)
    written = TurnGrammar(response_schema=schema, strict=[], prefill=BEGUN).write("lark")
    engine = llguidance.LLMatcher(vocabulary, written.text)
    values = schema_worlds.values(chosen, schema)
    if error := engine.get_error():
        # It refuses a schema that no value fits.
        assert "nsatisfiable" in error, (schema, error)
        assert not any(schema_worlds.fits(schema, value) for value in values)
        return
    for value in values:
        is_taken = False
        for text in schema_worlds.spellings(value):
            engine.reset()
            tokens = ENCODING.encode(f"{text}<|return|>", allowed_special="all")
            is_taken = engine.try_consume_tokens(tokens) == len(tokens)
            if is_taken:
                break
        fits = schema_worlds.fits(schema, value)
        if written.loosened:
            assert is_taken or not fits, (json.dumps(schema), value)
        else:
            assert is_taken == fits, (json.dumps(schema), value)


@pytest.mark.parametrize("keywords", [1, 2])
def test_every_small_schema(vocabulary: Any, keywords: int) -> None:
    """All pairs of keywords with a few values each, and values of all types."""
    import llguidance

    values = [
        (value, [f"{text}<|return|>" for text in schema_worlds.spellings(value)])
        for value in schema_worlds.SMALL_VALUES
    ]
    encoded = [
        (value, [ENCODING.encode(text, allowed_special="all") for text in texts])
        for value, texts in values
    ]
    count = 0
    for schema in some_of(schema_worlds.small(keywords)):
        count += 1
        written = TurnGrammar(response_schema=schema, strict=[], prefill=BEGUN).write("lark")
        engine = llguidance.LLMatcher(vocabulary, written.text)
        if error := engine.get_error():
            assert "nsatisfiable" in error, (schema, error)
        for value, spellings in encoded:
            is_taken = False
            for tokens in () if error else spellings:
                engine.reset()
                is_taken = is_taken or engine.try_consume_tokens(tokens) == len(tokens)
            fits = schema_worlds.fits(schema, value)
            expected = is_taken or not fits if written.loosened else is_taken == fits
            assert expected, (json.dumps(schema), value, written.loosened)
    assert count >= share(40**keywords // 2)


def test_every_bounds(vocabulary: Any) -> None:
    """llguidance admits no number beyond bounds that are not reported, and writes each one that fits somehow."""
    import llguidance

    near: list[Any] = [
        0,
        1,
        -1,
        10,
        0.5,
        0.25,
        1.5,
        -0.5,
        -1.5,
        9.5,
        2**53 - 1,
        -(2**63),
        1e18,
        0.1,
    ]
    signs, ends = ("", "-"), ("", ".0", ".1", ".25", ".2", ".26", ".3", ".5", ".50", ".49", ".75")
    texts = [f"{sign}{n}{end}" for sign in signs for n in (0, 1, 2, 9, 10) for end in ends]
    texts += [
        str(2**53 - 1),
        str(2**53),
        str(-(2**63)),
        str(-(2**63) - 1),
        str(10**18),
        "-99999999999",
    ]
    tokens = {text: ENCODING.encode(f"{text}<|return|>", allowed_special="all") for text in texts}
    lower: list[Any] = [{}, *({key: n} for key in ("minimum", "exclusiveMinimum") for n in near)]
    upper: list[Any] = [{}, *({key: n} for key in ("maximum", "exclusiveMaximum") for n in near)]
    for kind, one, other in some_of(itertools.product(("number", "integer"), lower, upper)):
        schema = {"type": kind, **one, **other}
        written = TurnGrammar(response_schema=schema, strict=[], prefill=BEGUN).write("lark")
        engine = llguidance.LLMatcher(vocabulary, written.text)
        error = engine.get_error()
        assert not error or "nsatisfiable" in error, (schema, error)
        for text in texts:
            value = json.loads(text)
            if (kind == "integer" and "." in text) or (value == 0 and "-" in text):
                continue
            engine.reset()
            is_taken = not error and engine.try_consume_tokens(tokens[text]) == len(tokens[text])
            fits = schema_worlds.fits(schema, value)
            assert fits or written.loosened or not is_taken, (schema, text)
            # Of equal texts it may take one only, which has as many places as the bound.
            assert is_taken or not fits or "." in text, (schema, text, written.loosened)


def check_bnf(schema: Any, values: Iterable[Any], needed: Any) -> None:
    """What the schema that names all members fits is taken, and what the schema itself does not fit is not."""
    written = TurnGrammar(response_schema=schema, strict=[], prefill=BEGUN).write("gbnf")
    grammar = gbnf.read(written.text)
    for value in values:
        is_taken = any(grammar.takes(text) for text in schema_worlds.spellings(value))
        if is_taken:
            assert written.loosened or schema_worlds.fits(schema, value), (schema, value)
        else:
            assert not schema_worlds.fits(needed, value), (schema, value, written.loosened)


@pytest.mark.parametrize("part", range(8))
def test_bnf_of_every_small_schema(part: int) -> None:
    both = some_of([*schema_worlds.small(1), *schema_worlds.small(2)])
    for schema in both[part::8]:
        check_bnf(schema, schema_worlds.SMALL_VALUES, schema_worlds.closed(schema))
    assert len(both) > share(1_400)


def test_bnf_of_two_small_schemas() -> None:
    pairs = some_of(schema_worlds.merged())
    for schema, needed in pairs:
        check_bnf(schema, schema_worlds.SMALL_VALUES, needed)
    assert len(pairs) > share(400)


@pytest.mark.parametrize("part", range(8))
def test_bnf_takes_what_fits(part: int) -> None:
    for seed in range(part, share(800), 8):
        chosen = random.Random(seed)
        schema = schema_worlds.schema(chosen)
        check_bnf(schema, schema_worlds.values(chosen, schema), schema)


@pytest.mark.parametrize("least", range(4))
@pytest.mark.parametrize("more", [None, 0, 1, 2])
def test_texts_counted_by_xgrammars_rules(least: int, more: int | None) -> None:
    """They have a rule for each character, shared by all texts of a grammar."""
    bounds = (
        {"minLength": least} if more is None else {"minLength": least, "maxLength": least + more}
    )
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", **bounds}, "b": {"type": "string", "maxLength": 3}},
        "additionalProperties": False,
    }
    grammar = TurnGrammar(response_schema=schema, strict=[], prefill=BEGUN)
    written = grammar.write("xgrammar", stop_token_ids=[200002, 200012])
    lines = json.loads(written.text)["format"]["grammar"].splitlines()
    # What its answers do not use has tokens, which only its own reader knows.
    rules = gbnf.read("\n".join(line for line in lines if "Token(" not in line))
    assert not written.loosened
    for key in "ab":
        for text in ("", "a", "ab", 'a"b', "\\é\n", "abcde", "abcdef"):
            value = {key: text}
            fits = schema_worlds.fits(schema, value)
            assert rules.takes(json.dumps(value)) == fits, (schema, value)
