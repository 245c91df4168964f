"""The grammars of custom tools: xgrammar and llama.cpp take the inputs that fit them."""

from __future__ import annotations

import random
from typing import Any

import pytest

import input_grammar_worlds as worlds
from engines.conftest import ENCODING, STOPS


def check(takes: Any, form: Any, seed: int) -> None:
    chosen = random.Random(seed)
    definition = worlds.grammar(chosen)
    fits = worlds.oracle(definition)
    written = worlds.turn(definition).write(form, STOPS)
    take = takes(written.text)
    for text in worlds.texts(chosen, 20):
        calls = (f'{worlds.CALLED}{{"input":{one}}}<|call|>' for one in worlds.spellings(text))
        is_taken = any(take(ENCODING.encode(call, allowed_special="all")) for call in calls)
        expected = fits(text)
        if expected is None:
            continue
        allowed = is_taken or not expected if written.loosened else is_taken == expected
        assert allowed, (definition, text, written.loosened)


@pytest.mark.parametrize("seed", range(40))
def test_xgrammar(xgrammar_takes: Any, seed: int) -> None:
    check(xgrammar_takes, "xgrammar", seed)


@pytest.mark.parametrize("seed", range(40))
def test_llama_cpp(llama_takes: Any, seed: int) -> None:
    check(llama_takes, "gbnf", seed)


@pytest.mark.parametrize("text", worlds.PATCHES)
def test_patches(xgrammar_takes: Any, llama_takes: Any, text: str) -> None:
    for takes, form in ((xgrammar_takes, "xgrammar"), (llama_takes, "gbnf")):
        written = worlds.turn(worlds.PATCH).write(form, STOPS)
        assert written.loosened == []
        take = takes(written.text)
        calls = (f'{worlds.CALLED}{{"input":{one}}}<|call|>' for one in worlds.spellings(text))
        is_taken = any(take(ENCODING.encode(call, allowed_special="all")) for call in calls)
        assert is_taken == worlds.PATCHES[text]
