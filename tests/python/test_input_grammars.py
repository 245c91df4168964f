"""The grammars of custom tools: llguidance, and a reader of GBNF, take the inputs that fit them."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import gbnf
import input_grammar_worlds as worlds
from openai_harmony import HarmonyError, load_harmony_encoding
from openai_harmony.grammar import TurnGrammar, Written
from openai_harmony.interop import responses
from openai_harmony.serve.engines import guidance
from oracle.seeds import share
from tables import table

ENCODING = load_harmony_encoding("HarmonyGptOss")


@pytest.fixture(scope="module")
def vocabulary() -> Any:
    pytest.importorskip("llguidance", reason="llguidance has no wheel for this Python")
    return guidance.vocabulary()


@pytest.mark.parametrize("seed", range(share(150)))
def test_llguidance_takes_what_fits(vocabulary: Any, seed: int) -> None:
    import llguidance

    chosen = random.Random(seed)
    definition = worlds.grammar(chosen)
    fits = worlds.oracle(definition)
    written = worlds.turn(definition).write("lark")
    assert is_listed(written)
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
    for seed in range(part, share(120), 8):
        chosen = random.Random(seed)
        definition = worlds.grammar(chosen)
        fits = worlds.oracle(definition)
        written = worlds.turn(definition).write("gbnf")
        assert is_listed(written)
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


# Grammars that are regular expressions, and these.
REGULAR = table("input_grammars", "regular")


@pytest.mark.parametrize(("definition", "pattern"), REGULAR)
def test_regular_grammars(definition: str, pattern: str) -> None:
    read, expected = worlds.turn(definition), worlds.turn(pattern, "regex")
    for form in ("lark", "gbnf"):
        assert read.write(form) == expected.write(form)
        assert read.write(form).loosened == []


@pytest.mark.parametrize(
    ("definition", "error"),
    table("input_grammars", "what cannot be read"),
)
def test_what_cannot_be_read(definition: str, error: str) -> None:
    with pytest.raises(HarmonyError) as raised:
        worlds.turn(definition)
    assert str(raised.value).endswith(f"tools[0].format.definition: {error}")


@pytest.mark.parametrize(
    ("pattern", "error"),
    [
        ("a\n[", "line 2, column 1: unclosed character class"),
        ("(?i)a[", "line 1, column 6: unclosed character class"),
    ],
)
def test_expressions_that_cannot_be_read(pattern: str, error: str) -> None:
    with pytest.raises(HarmonyError, match=error):
        worlds.turn(pattern, "regex")


def many(count: int) -> str:
    return 'start: "a"' + "".join(f'\nr{at}: "b"' for at in range(count))


def nested(count: int) -> str:
    return 'start: "b" | ' + '("bb" ' * count + '"a"' + ")*" * count


# What no engine enforces: the part of docs/grammar.md that says so, a grammar, the forms, and the reason.
LOOSENED = [
    *table("input_grammars", "loosened"),
    (
        "100 groups",
        "start: " + "(" * 5000 + '"a"' + ")" * 5000,
        "lark gbnf",
        "line 1, column 108: too many groups",
    ),
    ("150 expressions", nested(90), "lark gbnf", "more than 150 expressions within one another"),
    ("300 rules", many(298), "lark gbnf", "more than 300 rules"),
    (
        "64 KiB",
        'start: "a"' + " " * (2**16 - 9),
        "lark gbnf",
        "line 1, column 1: too large: a grammar has at most",
    ),
    (
        "300 classes",
        "start: /" + r"\w" * 301 + "/",
        "lark gbnf",
        "line 1, column 9: too large an expression",
    ),
    ("too much room", "start: " + r"/\w/ " * 400, "lark gbnf", "line 1, column 1648: too large"),
    ("1 MiB", "start: /" + r"\w" * 300 + "/", "lark gbnf", "too large: more than 1048576 bytes"),
]
HELD = [
    'start: "q" start "x" start "y" | "w"',
    'start: b "x" start "y" | "z"\nb: "q" b "w" | "v"',
    many(297),
    nested(74),
    'start: "a"' + " " * (2**16 - 10),
    "start: /" + r"\d" * 300 + "/",
    "start: /([ab]c){1501}/",
    # Doubling rules are not written out.
    "start: r0" + "".join(f"\nr{at}: r{at + 1} r{at + 1}" for at in range(40)) + '\nr40: "a"',
]


@pytest.mark.parametrize(("part", "definition", "forms", "reason"), LOOSENED)
def test_what_is_loosened(part: str, definition: str, forms: str, reason: str) -> None:
    for form in ("lark", "gbnf"):
        reasons = [one.reason for one in worlds.turn(definition).write(form).loosened]
        assert len(reasons) == (form in forms), (form, reasons)
        assert all(said.startswith(reason) for said in reasons), reasons


@pytest.mark.parametrize("definition", HELD, ids=range(len(HELD)))
def test_what_just_has_room(definition: str) -> None:
    for form in ("lark", "gbnf"):
        assert worlds.turn(definition).write(form).loosened == []


def test_the_document_lists_what_is_loosened() -> None:
    """Each part of the list has a row above, and each row is in the list."""
    document = (Path(__file__).parents[2] / "docs" / "grammar.md").read_text()
    listed = document.partition("as the keyword `definition`:")[2].strip().partition("\n\n")[0]
    points = [" ".join(point.split()) for point in listed.removeprefix("* ").split("\n* ")]
    parts = {part for part, *_ in LOOSENED} | {"texts beyond its budget"}
    for part in parts:
        assert any(part in point for point in points), part
    for point in points:
        assert any(part in point for part in parts), point


def is_listed(written: Written) -> bool:
    """Whether the reasons for what is loosened are among those above."""
    reasons = [re.sub(r"^line \d+, column \d+: ", "", reason) for *_, reason in LOOSENED]
    said = [re.sub(r"^line \d+, column \d+: ", "", one.reason) for one in written.loosened]
    return all(any(one.startswith(reason) for reason in reasons) for one in said)


@pytest.mark.parametrize(
    ("definition", "is_regular"),
    [
        ("start: " + " | ".join(["start", *(f'"a{n}"' for n in range(199))]), True),
        ("start: " + " | ".join(["start", *(f'"a{n}"' for n in range(200))]), False),
        *[
            (
                "start: "
                + " ".join(
                    "(start | " + " | ".join(f'"{letter}{n}"' for n in range(count)) + ")"
                    for letter in "ab"
                ),
                count < 14,
            )
            for count in (13, 14, 15)
        ],
        ('start: "xx" ("aa" start | "bb") "yy"', False),
    ],
)
def test_rules_that_stay(definition: str, is_regular: bool) -> None:
    """What names itself in the middle, or has too many options, is a rule in the engine's grammar, too."""
    assert ("input0r0: " in worlds.turn(definition).to_lark()) != is_regular
