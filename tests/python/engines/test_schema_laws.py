"""Schemas at random: xgrammar and llama.cpp take the values that JSON Schema does."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import schema_worlds
from openai_harmony import Prefill, load_harmony_encoding
from openai_harmony.grammar import TurnGrammar

ENCODING = load_harmony_encoding("HarmonyGptOss")
BEGUN = Prefill(channel="final", text="")
SIZE, RETURN = 201_088, 200002


@pytest.fixture(scope="module")
def xgrammar_takes() -> Any:
    """From a grammar's text to a function: whether it takes tokens."""
    xgrammar = pytest.importorskip("xgrammar", reason="make test-engines installs xgrammar")
    tokens = [bytes(ENCODING.decode_bytes([n])) if n < 200_019 else b"" for n in range(SIZE)]
    vocabulary = xgrammar.TokenizerInfo(
        tokens, vocab_type=xgrammar.VocabType.RAW, vocab_size=SIZE, stop_token_ids=[RETURN]
    )

    def takes(text: str) -> Callable[[list[int]], bool]:
        compiler = xgrammar.GrammarCompiler(vocabulary, cache_enabled=False)
        made = compiler.compile_structural_tag(text)

        def take(tokens: list[int]) -> bool:
            matcher = xgrammar.GrammarMatcher(made, override_stop_tokens=[RETURN])
            return all(matcher.accept_token(token) for token in tokens)

        return take

    return takes


@pytest.fixture(scope="module")
def llama_takes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pytest.importorskip("xllamacpp", reason="make test-engines installs xllamacpp")
    pytest.importorskip("gguf", reason="make test-engines installs gguf")
    from engines import llama_grammar, tiny_gguf

    model: Path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    tiny_gguf.write(model)
    vocabulary = llama_grammar.Vocabulary(model)

    def takes(text: str) -> Callable[[list[int]], bool]:
        made = llama_grammar.Grammar(vocabulary, text)

        def take(tokens: list[int]) -> bool:
            state = llama_grammar.State(made)
            return all(state.take(token) for token in tokens)

        return take

    return takes


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


@pytest.mark.parametrize("seed", range(150))
def test_xgrammar(xgrammar_takes: Any, seed: int) -> None:
    check(xgrammar_takes, "xgrammar", seed)


@pytest.mark.parametrize("seed", range(150))
def test_llama_cpp(llama_takes: Any, seed: int) -> None:
    check(llama_takes, "gbnf", seed)
