"""Schemas at random: xgrammar and llama.cpp take the values that JSON Schema does."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import schema_worlds
from openai_harmony import Prefill, load_harmony_encoding
from openai_harmony.grammar import TurnGrammar

ENCODING = load_harmony_encoding("HarmonyGptOss")
BEGUN = Prefill(channel="final", text="")
RETURN = 200002


def check(takes: Any, form: Any, seed: int) -> None:
    chosen = random.Random(seed)
    schema = schema_worlds.schema(chosen)
    grammar = TurnGrammar(response_schema=schema, strict=[], prefill=BEGUN)
    written = grammar.write(form, [RETURN])
    take = takes(written.text)
    for value in schema_worlds.values(chosen, schema):
        spelled = (f"{text}<|return|>" for text in schema_worlds.spellings(value))
        is_taken = any(take(ENCODING.encode(text, allowed_special="all")) for text in spelled)
        fits = schema_worlds.fits(schema, value)
        expected = is_taken or not fits if written.loosened else is_taken == fits
        assert expected, (json.dumps(schema), value, written.loosened)


def check_small(takes: Any, form: Any, part: int) -> None:
    """A part of all pairs of keywords, other pairs in each."""
    chosen = random.Random(part)
    for schema in chosen.sample([*schema_worlds.small()], 4):
        grammar = TurnGrammar(response_schema=schema, strict=[], prefill=BEGUN)
        written = grammar.write(form, [RETURN])
        take = takes(written.text)
        for value in schema_worlds.SMALL_VALUES:
            spelled = (f"{text}<|return|>" for text in schema_worlds.spellings(value))
            is_taken = any(take(ENCODING.encode(text, allowed_special="all")) for text in spelled)
            fits = schema_worlds.fits(schema_worlds.closed(schema), value)
            expected = is_taken or not fits if written.loosened else is_taken == fits
            assert expected, (json.dumps(schema), value, written.loosened)


@pytest.mark.parametrize("part", range(20))
def test_small_schemas(xgrammar_takes: Any, llama_takes: Any, part: int) -> None:
    check_small(xgrammar_takes, "xgrammar", part)
    check_small(llama_takes, "gbnf", part)


@pytest.mark.parametrize("seed", range(150))
def test_xgrammar(xgrammar_takes: Any, seed: int) -> None:
    check(xgrammar_takes, "xgrammar", seed)


@pytest.mark.parametrize("seed", range(150))
def test_llama_cpp(llama_takes: Any, seed: int) -> None:
    check(llama_takes, "gbnf", seed)
