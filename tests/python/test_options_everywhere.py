"""Every option of Rust is one of Python too: in the models, the stubs and the command line.

The options are read from Rust's sources. One that has no place somewhere is in a list here, with the
reason.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, get_args

import pytest

import openai_harmony
from openai_harmony import HarmonyEncoding, RenderConversationConfig, RenderOptions, training
from openai_harmony.cli import rendering
from openai_harmony.interop import chat_completions
from openai_harmony.training import LossMask, map_rows

ROOT = Path(__file__).parents[2]

NOT_OF_CONVERSATIONS = {
    "conversation_has_function_tools": "a conversation shows which tools it has",
}
NOT_OF_MESSAGES = {"analysis": "one message has no earlier thoughts"}
NOT_OF_LENIENT = {
    "strict": "`parse_with_repairs` is lenient, and so is the parser of stripped text"
}
NOT_OF_TEXT = {
    "prefill": "the text is parsed from its beginning",
    "spelled_markers": "all markers of a text are spelled, and read",
}
NOT_OF_ROWS = {"system_defaults": "Python always has them, as where it reads the JSON form"}
NOT_FLAGS = {
    **NOT_OF_CONVERSATIONS,
    **NOT_OF_ROWS,
    "config": "each of its options is a flag",
    "mask": "each of its options is a flag",
    "first_row": "rows of files are counted by themselves",
}


def of_rust(path: str, name: str) -> dict[str, str]:
    """The fields of a struct of options, with their types."""
    source = (ROOT / "src" / path).read_text(encoding="utf-8")
    body = re.search(rf"^pub struct {name} {{\n(.*?)^}}", source, re.MULTILINE | re.DOTALL)
    assert body is not None, name
    return dict(re.findall(r"^    pub (\w+): (.+),$", body[1], re.MULTILINE))


RENDERING = of_rust("render/options.rs", "RenderConfig")
PARSING = of_rust("parse/options.rs", "ParseConfig")
ROWS = of_rust("training/options.rs", "RenderRows")
MASK = of_rust("training/mask.rs", "LossMask")


def test_they_are_found() -> None:
    assert {"header_style", "validate"} < set(RENDERING)
    assert {"strict", "tools"} < set(PARSING)
    assert {"overflow", "threads"} < set(ROWS)
    assert {"channels", "stop_tokens"} < set(MASK)


def test_what_is_listed_exists() -> None:
    listed = {**NOT_OF_MESSAGES, **NOT_OF_LENIENT, **NOT_OF_TEXT, **NOT_FLAGS}
    assert set(listed) <= {*RENDERING, *PARSING, *ROWS, *MASK}


class TestRendering:
    def test_in_the_models(self) -> None:
        # The only option of Python's own: version 0.0.8's form of `analysis`.
        fields = set(RenderConversationConfig.model_fields) - {"auto_drop_analysis"}
        assert fields == set(RENDERING) - set(NOT_OF_CONVERSATIONS)
        assert set(RenderOptions.model_fields) == set(RENDERING) - set(NOT_OF_MESSAGES)

    @pytest.mark.parametrize("field", sorted(set(RENDERING) - set(NOT_OF_CONVERSATIONS)))
    def test_choices_are_exported_under_the_names_of_rust(self, field: str) -> None:
        if RENDERING[field] == "bool":
            assert RenderConversationConfig.model_fields[field].annotation is bool
            return
        [choice] = choices(RenderConversationConfig.model_fields[field].annotation)
        assert choice.__name__ == RENDERING[field]
        assert choice.__name__ in openai_harmony.__all__

    def test_what_requests_ask_for_is_in_a_turns_config(self) -> None:
        turn = chat_completions.read({"messages": [{"role": "user", "content": "Hi"}]})
        assert turn.config.model_fields_set == set(RENDERING) - set(NOT_OF_CONVERSATIONS)


def choices(annotation: Any) -> list[Any]:
    """The enumerations that an annotation names."""
    kinds = [annotation, *get_args(annotation)]
    return [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Enum)]


class TestParsing:
    @pytest.mark.parametrize(
        ("function", "missing"),
        [
            ("StreamableParser", {}),
            ("HarmonyEncoding.parse_messages_from_completion_tokens", {}),
            ("HarmonyEncoding.parse_messages_from_text", NOT_OF_TEXT),
        ],
    )
    def test_in_the_stubs_and_the_extension(self, function: str, missing: dict[str, str]) -> None:
        expected = set(PARSING) - set(missing)
        assert set(keywords_of_stub(function)) == expected
        found: Any = openai_harmony._lowlevel
        for name in function.split("."):
            found = getattr(found, name)
        assert keywords(found) == expected

    def test_of_the_package(self) -> None:
        assert keywords(HarmonyEncoding.parse_with_repairs) == set(PARSING) - set(NOT_OF_LENIENT)


def keywords(function: Any) -> set[str]:
    found = inspect.signature(function).parameters.values()
    return {one.name for one in found if one.kind is one.KEYWORD_ONLY}


def keywords_of_stub(name: str) -> Iterator[str]:
    stub = Path(openai_harmony.__file__).with_name("_lowlevel.pyi")
    owner, _, method = name.partition(".")
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name == owner:
            for one in node.body:
                if isinstance(one, ast.FunctionDef) and one.name == (method or "__init__"):
                    yield from (argument.arg for argument in one.args.kwonlyargs)


class TestRows:
    def test_in_the_functions(self) -> None:
        assert keywords(training.render) == set(ROWS) - set(NOT_OF_ROWS)
        options = set(map_rows.RowOptions.__annotations__)
        assert options <= set(ROWS), "what maps rows knows no other options"
        assert set(ROWS) - options == {*NOT_OF_ROWS, "first_row"}

    def test_of_masks_in_the_model(self) -> None:
        assert set(LossMask.model_fields) == set(MASK)

    @pytest.mark.parametrize("field", sorted(set(ROWS) - set(NOT_OF_ROWS)))
    def test_in_the_reference(self, field: str) -> None:
        assert f"\n{field}: " in inspect.getdoc(training.render).replace("    ", "")

    @pytest.mark.parametrize("field", sorted(MASK))
    def test_of_masks_in_the_guide(self, field: str) -> None:
        assert f"| `{field}=" in (ROOT / "docs" / "training.md").read_text(encoding="utf-8")


class TestFlags:
    """Those of ``harmony dataset``, the only command that renders. No command parses."""

    parser = argparse.ArgumentParser()
    rendering.add_rendering(parser.add_argument)

    @pytest.mark.parametrize("field", sorted({*RENDERING, *ROWS, *MASK} - set(NOT_FLAGS)))
    def test_of_each_option(self, field: str) -> None:
        # A switch turns off what is on by default.
        names = {f"--{field}".replace("_", "-"), f"--no-{field}".replace("_", "-")}
        actions = self.parser._option_string_actions
        [flag] = names & set(actions)
        assert actions[flag].help, "the guide refers to --help"

    @pytest.mark.parametrize("field", sorted(set(RENDERING) - set(NOT_OF_CONVERSATIONS)))
    def test_of_rendering_reach_the_config(self, field: str) -> None:
        annotation = RenderConversationConfig.model_fields[field].annotation
        if annotation is bool:
            config = rendering.config_of(self.parser.parse_args([f"--no-{field}"]), None)
            assert getattr(config, field) is False
            return
        [choice] = choices(annotation)
        for member in choice:
            flag = f"--{field}".replace("_", "-")
            config = rendering.config_of(self.parser.parse_args([flag, member.value]), None)
            assert getattr(config, field) is member
