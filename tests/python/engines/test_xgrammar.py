"""xgrammar takes turns as `accepts` does, and what its masks let through parses as it was meant."""

from __future__ import annotations

import random
import re
import time
from typing import Any

import pytest

pytest.importorskip("xgrammar", reason="make test-engines installs xgrammar")

import xgrammar

from labelled_json import ANSWERS, SCHEMAS
from labelled_turns import TOOLS, turns
from openai_harmony.grammar import TurnGrammar
from sampled_turns import (
    CALL,
    ENCODING,
    OPTIONS,
    RETURN,
    check,
    different_fields,
    eight_fields,
    is_turn_with_any_stop,
    sampled,
)

SIZE = 201_088
BOTH = [RETURN, CALL]
"""The stop tokens of vLLM, which takes the request's; SGLang takes the model's, `<|return|>`."""


@pytest.fixture(scope="module")
def vocabulary() -> Any:
    """As engines read gpt-oss' tokenizer, which ends with token 200018."""
    tokens = [bytes(ENCODING.decode_bytes([n])) if n < 200_019 else b"" for n in range(SIZE)]
    return xgrammar.TokenizerInfo(
        tokens, vocab_type=xgrammar.VocabType.RAW, vocab_size=SIZE, stop_token_ids=[RETURN]
    )


def in_xgrammars_words(gbnf: str) -> str:
    """llama.cpp's grammars are xgrammar's but for tokens by their ids."""
    return re.sub(r"<\[(\d+)\]>", r"Token(\1)", gbnf)


def compiled(vocabulary: Any, grammar: TurnGrammar, form: Any) -> Any:
    compiler = xgrammar.GrammarCompiler(vocabulary, cache_enabled=False)
    if form == "gbnf":
        return compiler.compile_grammar(in_xgrammars_words(grammar.to_gbnf()))
    return compiler.compile_structural_tag(grammar.to_xgrammar(form))


class Xgrammar:
    """Its masks."""

    def __init__(self, made: Any, form: Any) -> None:
        stops = BOTH if form == "gbnf" else form
        self.matcher = xgrammar.GrammarMatcher(made, override_stop_tokens=stops)
        self._mask = xgrammar.allocate_token_bitmask(1, SIZE)

    def mask(self) -> bytes:
        self.matcher.fill_next_token_bitmask(self._mask, 0)
        return bytes(self._mask.numpy().tobytes())

    def take(self, token: int) -> bool:
        return not self.matcher.is_terminated() and bool(self.matcher.accept_token(token))

    def is_ended(self) -> bool:
        return bool(self.matcher.is_completed())


FORMS: list[Any] = [[RETURN], BOTH, "gbnf"]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_labelled_turns(vocabulary: Any, form: Any) -> None:
    """The same verdicts but for which stop token ends the turn, where the engine adds them."""
    for turn in turns():
        grammar = TurnGrammar(TOOLS, **turn.options)
        engine = Xgrammar(compiled(vocabulary, grammar, form), form)
        tokens = ENCODING.encode(turn.text, allowed_special="all")
        is_turn = all(engine.take(token) for token in tokens)
        is_turn = is_turn and tokens[-1:] in ([RETURN], [CALL]) and engine.is_ended()
        one_stop = form == [RETURN]
        assert is_turn == (turn.is_turn if one_stop else is_turn_with_any_stop(turn, grammar)), turn


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_what_is_sampled_parses_as_it_was_meant(vocabulary: Any, form: Any) -> None:
    whole = 0
    for options in OPTIONS:
        grammar = TurnGrammar(TOOLS, **options)
        made = compiled(vocabulary, grammar, form)
        chosen = random.Random(str(options))
        for _ in range(100):
            engine = Xgrammar(made, form)
            tokens = sampled(engine, chosen)
            if tokens[-1:] not in ([RETURN], [CALL]):
                continue
            whole += 1
            if form != [RETURN] and not grammar.accepts(tokens).ok:
                tokens[-1] = CALL if tokens[-1] == RETURN else RETURN
            check(tokens, grammar, options)
    assert whole >= 400


def test_strings_hold_no_special_token(vocabulary: Any) -> None:
    header = "<|channel|>commentary to=functions.rain<|message|>"
    for form in FORMS:
        engine = Xgrammar(compiled(vocabulary, TurnGrammar(TOOLS), form), form)
        for token in ENCODING.encode(f'{header}{{"in": "x', allowed_special="all"):
            assert engine.take(token)
        mask = engine.mask()
        special = [n for n in range(199_998, 200_019) if mask[n >> 3] >> (n & 7) & 1]
        assert special == [], form


@pytest.mark.parametrize("tools", [eight_fields, different_fields])
def test_two_hundred_tools_compile_within_two_seconds(vocabulary: Any, tools: Any) -> None:
    """Printed, since no test asserts a time; the size of what is compiled shows the same.

    It was 85 MB where each tool had headers of its own; tools whose fields differ take 20.2.
    """
    written = TurnGrammar(tools(200)).to_xgrammar(BOTH)
    compiler = xgrammar.GrammarCompiler(vocabulary, cache_enabled=False)
    begun = time.monotonic()
    made = compiler.compile_structural_tag(written)
    print(f"200 tools: {len(written)} bytes, {time.monotonic() - begun:.2f} s", end=", ")
    print(f"{made.memory_size_bytes / 1e6:.1f} MB")
    assert made.memory_size_bytes < 25e6


@pytest.mark.parametrize(("schema", "good", "bad"), SCHEMAS, ids=str)
def test_schemas(vocabulary: Any, schema: Any, good: list[str], bad: list[str]) -> None:
    grammar = TurnGrammar(response_schema=schema)
    made = compiled(vocabulary, grammar, "gbnf")
    for text in good + bad:
        engine = Xgrammar(made, "gbnf")
        answer = f"<|channel|>final<|message|>{text}<|return|>"
        is_taken = all(
            engine.take(token) for token in ENCODING.encode(answer, allowed_special="all")
        )
        assert is_taken == (text in good), text


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize(("answer", "good", "bad"), ANSWERS, ids=str)
def test_answers_that_fit_a_regex_or_are_a_choice(
    vocabulary: Any, form: Any, answer: Any, good: list[str], bad: list[str]
) -> None:
    made = compiled(vocabulary, TurnGrammar(TOOLS, **answer), form)
    for text in good + bad:
        engine = Xgrammar(made, form)
        turn = f"<|channel|>final<|message|>{text}<|return|>"
        tokens = ENCODING.encode(turn, allowed_special="all")
        assert all(engine.take(token) for token in tokens) == (text in good), text
