"""An adapter needs no private name, so that a stranger can write another."""

from __future__ import annotations

import ast
from pathlib import Path
from random import Random
from typing import Any

import pytest

import openai_harmony
from openai_harmony import HarmonyEncoding
from openai_harmony.adapters import chat
from openai_harmony.interop import chat_completions

FOLDER = Path(openai_harmony.__file__).parent / "adapters"
ADAPTERS = sorted(FOLDER.glob("*.py"))
HINT = "openai_harmony._extras.needed"
"""What says which extra to install, where a stranger would just import."""


def names_in(source: str) -> list[str]:
    """What is imported of this package, and each attribute of anything but `self`."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("openai_harmony"):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names if alias.name.startswith("openai_harmony")]
        elif isinstance(node, ast.Attribute) and not (
            isinstance(node.value, ast.Name) and node.value.id == "self"
        ):
            names.append(node.attr)
    return names


@pytest.mark.parametrize("adapter", ADAPTERS, ids=[path.stem for path in ADAPTERS])
def test_it_needs_no_private_name(adapter: Path) -> None:
    private = [
        name
        for name in names_in(adapter.read_text(encoding="utf-8"))
        if name != HINT
        and any(part.startswith("_") and not part.startswith("__") for part in name.split("."))
    ]
    assert private == []


def test_private_names_are_found() -> None:
    assert names_in("from openai_harmony._lowlevel import x") == ["openai_harmony._lowlevel.x"]
    assert names_in("rollout._raw") == ["_raw"]
    assert len(ADAPTERS) > 5


USER = {"role": "user", "content": "Rain?"}
TOOL = {"type": "function", "function": {"name": "f"}}


def words_of(encoding: HarmonyEncoding, messages: list[Any], tools: list[Any]) -> list[str]:
    """For each message the text of its tokens that are its own words."""
    config = chat.config_for("keep")
    turn = chat_completions.read({"messages": messages, "tools": tools}, config=config)
    sources = chat.indexes(turn, messages)
    made = chat.attributed(turn.conversation, sources, config, "completion")
    assert len(made.tokens) == len(made.message) == len(made.sampled) == len(made.content)
    rows = list(zip(made.tokens, made.message, made.content))
    return [
        encoding.decode([token for token, message, own in rows if own and message == index])
        for index in range(len(messages))
    ]


@pytest.mark.parametrize("tools", [[], [TOOL]])
def test_whose_words_a_token_has(encoding: HarmonyEncoding, tools: list[Any]) -> None:
    """A token across a border has the line breaks beside the words, too, and nothing else."""
    random = Random(0)
    pieces = [*"!?.)-*=/#`1aé。 \t\r\n", "\n\n", "<|end|>", "# Tools", "日本"]
    for role in ("system", "developer"):
        for _ in range(1000):
            said = "".join(random.choice(pieces) for _ in range(random.randrange(1, 9)))
            words, asked = words_of(encoding, [{"role": role, "content": said}, USER], tools)
            assert words.strip("\n") == said.strip("\n")
            assert len(words) <= len(said) + 4
            assert asked == "Rain?"


@pytest.mark.parametrize("tools", [[], [TOOL]])
def test_a_message_without_words_has_none(encoding: HarmonyEncoding, tools: list[Any]) -> None:
    empty = {"role": "system", "content": ""}
    brief = {"role": "system", "content": "Be brief."}
    assert words_of(encoding, [empty], tools) == [""]
    assert words_of(encoding, [empty, USER], tools) == ["", "Rain?"]
    assert [words.strip() for words in words_of(encoding, [brief], tools)] == ["Be brief."]
    # Two become one developer message, which is of neither.
    two = [brief, {**brief, "role": "developer"}, USER]
    assert words_of(encoding, two, tools) == ["", "", "Rain?"]


def test_whose_token_each_is(encoding: HarmonyEncoding) -> None:
    config = chat.config_for("keep")
    turn = chat_completions.read({"messages": [USER], "tools": [TOOL]}, config=config)
    sources = chat.indexes(turn, [USER])
    made = chat.attributed(turn.conversation, sources, config, "completion")
    said = [token for token, message in zip(made.tokens, made.message) if message == 0]
    assert encoding.decode(said) == "<|start|>user<|message|>Rain?<|end|>"
    assert {*made.message} == {-1, 0}
