"""Schemas at random: a grammar takes the values that JSON Schema does; in llguidance, which the tests have."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import schema_worlds
from openai_harmony import Prefill, load_harmony_encoding
from openai_harmony.grammar import TurnGrammar
from openai_harmony.serve.engines import guidance

ENCODING = load_harmony_encoding("HarmonyGptOss")
BEGUN = Prefill(channel="final", text="")


@pytest.fixture(scope="module")
def vocabulary() -> Any:
    pytest.importorskip("llguidance", reason="llguidance has no wheel for this Python")
    return guidance.vocabulary()


@pytest.mark.parametrize("seed", range(400))
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
