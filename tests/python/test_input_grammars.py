"""The grammars of custom tools: llguidance, and a reader of GBNF, take the inputs that fit them."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import gbnf
import input_grammar_worlds as worlds
from openai_harmony import HarmonyError, load_harmony_encoding
from openai_harmony.grammar import TurnGrammar
from openai_harmony.interop import responses
from openai_harmony.serve.engines import guidance

ENCODING = load_harmony_encoding("HarmonyGptOss")


@pytest.fixture(scope="module")
def vocabulary() -> Any:
    pytest.importorskip("llguidance", reason="llguidance has no wheel for this Python")
    return guidance.vocabulary()


@pytest.mark.parametrize("seed", range(150))
def test_llguidance_takes_what_fits(vocabulary: Any, seed: int) -> None:
    import llguidance

    chosen = random.Random(seed)
    definition = worlds.grammar(chosen)
    fits = worlds.oracle(definition)
    written = worlds.turn(definition).write("lark")
    engine = llguidance.LLMatcher(vocabulary, written.text)
    assert not engine.get_error(), (definition, written.text, engine.get_error())
    for text in worlds.texts(chosen):
        is_taken = False
        for spelled in worlds.spellings(text):
            engine.reset()
            call = f'{worlds.CALLED}{{"input":{spelled}}}<|call|>'
            tokens = ENCODING.encode(call, allowed_special="all")
            is_taken = is_taken or engine.try_consume_tokens(tokens) == len(tokens)
        expected = fits(text)
        if expected is None:
            continue
        if written.loosened:
            assert is_taken or not expected, (definition, text)
        else:
            assert is_taken == expected, (definition, text)


def symbols(call: str) -> list[str | int]:
    """A call's text, its special tokens by their ids; BNF leaves the stop token to the engine."""
    tokens = ENCODING.encode(call, allowed_special="all")
    return [
        symbol
        for token in tokens
        for symbol in ([token] if token >= 199_998 else ENCODING.decode([token]))
    ]


@pytest.mark.parametrize("part", range(8))
def test_bnf_takes_what_fits(part: int) -> None:
    for seed in range(part, 120, 8):
        chosen = random.Random(seed)
        definition = worlds.grammar(chosen)
        fits = worlds.oracle(definition)
        written = worlds.turn(definition).write("gbnf")
        grammar = gbnf.read(written.text)
        for text in worlds.texts(chosen):
            calls = (f'{worlds.CALLED}{{"input":{one}}}' for one in worlds.spellings(text))
            is_taken = any(grammar.takes(symbols(call)) for call in calls)
            expected = fits(text)
            if expected is None:
                continue
            allowed = is_taken or not expected if written.loosened else is_taken == expected
            assert allowed, (definition, text, written.loosened)


@pytest.mark.parametrize("text", worlds.PATCHES)
def test_bnf_takes_patches(text: str) -> None:
    written = worlds.turn(worlds.PATCH).write("gbnf")
    assert written.loosened == []
    grammar = gbnf.read(written.text)
    calls = (f'{worlds.CALLED}{{"input":{one}}}' for one in worlds.spellings(text))
    assert any(grammar.takes(symbols(call)) for call in calls) == worlds.PATCHES[text]


@pytest.mark.parametrize("text", worlds.PATCHES)
def test_patches(vocabulary: Any, text: str) -> None:
    import llguidance

    engine = llguidance.LLMatcher(vocabulary, worlds.turn(worlds.PATCH).to_lark())
    [spelled, *_] = worlds.spellings(text)
    call = f'{worlds.CALLED}{{"input":{spelled}}}<|call|>'
    tokens = ENCODING.encode(call, allowed_special="all")
    assert (engine.try_consume_tokens(tokens) == len(tokens)) == worlds.PATCHES[text]


def test_several_tools_share_their_blanks(vocabulary: Any) -> None:
    import llguidance

    form = {"type": "grammar", "syntax": "regex", "definition": "[0-9]+"}
    tools = [{"type": "custom", "name": name, "format": form} for name in ("s", "t")]
    text = TurnGrammar(tools, json_space="any").to_lark()
    assert text.count("\nBLANKS:") == 1
    assert not llguidance.LLMatcher(vocabulary, text).get_error()


def test_tools_as_both_apis_have_them() -> None:
    form = {"type": "grammar", "syntax": "regex", "definition": "[0-9]+"}
    nested = {"type": "grammar", "grammar": {"syntax": "regex", "definition": "[0-9]+"}}
    flat = TurnGrammar([{"type": "custom", "name": "t", "format": form}])
    chat = TurnGrammar([{"type": "custom", "custom": {"name": "t", "format": nested}}])
    assert flat.to_lark() == chat.to_lark()
    assert 'INPUT0: /"(?:[0-9])+"/' in flat.to_lark()
    for tool in ({"name": "t"}, {"name": "t", "format": {"type": "text"}}):
        free = TurnGrammar([{"type": "custom", **tool}])
        assert '"required":["input"]' in free.to_lark()
    assert (
        '"additionalProperties"'
        not in TurnGrammar(
            [{"type": "custom", "name": "t", "format": form}], any_json=["functions.t"]
        ).to_lark()
    )


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({"type": "grammar", "definition": "start: a"}, "tools[0].format.definition: line 1, column 8: no rule or terminal is called a"),
        ({"type": "grammar", "syntax": "gbnf", "definition": "a"}, "tools[0].format.syntax: expected 'lark' or 'regex', got 'gbnf'"),
        ({"type": "grammar"}, "tools[0].format: expected one of type 'text'"),
        ({"type": "grammar", "syntax": "regex", "definition": "a(?=b)"}, None),
    ],
)  # fmt: skip
def test_grammars_that_are_not_held(form: dict[str, Any], error: str | None) -> None:
    tool = {"type": "custom", "name": "t", "format": form}
    if error is not None:
        with pytest.raises((HarmonyError, ValueError, TypeError), match=re.escape(error)):
            TurnGrammar([tool])
        return
    for name in ("lark", "xgrammar", "gbnf"):
        [loosened] = TurnGrammar([tool], strict=[]).write(name).loosened
        assert (loosened.path, loosened.keyword) == ("tools[0].format.definition", "definition")
        assert loosened.reason.startswith("line 1, column 2: look-around")
        with pytest.raises(HarmonyError, match="look-around"):
            TurnGrammar([tool]).write(name)


def test_a_tool_of_a_turn() -> None:
    """The prompt has the grammar in the tool's description, and the turn's tool has it, too."""
    form = {"type": "grammar", "syntax": "lark", "definition": worlds.PATCH}
    tool = {"type": "custom", "name": "patch", "format": form}
    turn = responses.read({"input": "?", "tools": [tool], "tool_choice": "required"})
    assert turn.tools[0].input == ("lark", worlds.PATCH)
    assert "INPUT0: " in turn.grammar().to_lark()
    assert "*** Begin Patch" in ENCODING.decode(turn.prompt(ENCODING))
    broken = {**tool, "format": {**form, "definition": "start: x"}}
    with pytest.raises(HarmonyError, match=r"tools\[0\]\.format\.definition: line 1, column 8"):
        responses.read({"input": "?", "tools": [broken]})
