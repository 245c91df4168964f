"""Every option of Rust is one of Python too: in the tables, the models, the stubs and the command line.

The options are read from Rust's sources. One that has no place somewhere is in a list here, with the
reason. What is made of a table (signatures, help, flags) is tested by an example of each.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic import BaseModel

import openai_harmony
from openai_harmony import (
    HarmonyEncoding,
    Prefill,
    RenderConversationConfig,
    RenderOptions,
    training,
)
from openai_harmony._options import Option, annotated_with
from openai_harmony.cli import dataset, flags, rendering
from openai_harmony.grammar import GrammarOptions, TurnGrammar
from openai_harmony.interop import anthropic, chat_completions, ollama, responses
from openai_harmony.interop.options import (
    ReadOptions,
    ReadResponsesOptions,
    ReplyOptions,
    ResumeOptions,
)
from openai_harmony.rollout import Rollout
from openai_harmony.training import LossMask
from openai_harmony.training.arrow import Columns
from openai_harmony.training.dataset import write_dataset
from openai_harmony.training.dataset.shards import FileFormat
from openai_harmony.training.options import RowOptions

ROOT = Path(__file__).parents[2]

NOT_OF_CONVERSATIONS = {
    "conversation_has_function_tools": "a conversation shows which tools it has",
}
NOT_OF_MESSAGES = {"thoughts": "one message has no earlier thoughts"}
NOT_OF_LENIENT = {
    "strict": "`parse_with_repairs` is lenient, and so is the parser of stripped text"
}
NOT_OF_TEXT = {
    "prefill": "the text is parsed from its beginning",
    "spelled_markers": "all markers of a text are spelled, and read",
}
NOT_OF_ROWS = {
    "first_row": "what renders many parts counts the rows by itself",
    "system_defaults": "Python always has them, as where it reads the JSON form",
}
NOT_OF_REPLIES = {"model": "it is required, and so in no table"}
NOT_SAVED = {"make_id": "functions cannot be saved"}
NOT_OF_GRAMMARS = {
    "tool_choice": "an argument of its own, which requests have",
    "response_schema": "likewise",
}
DEFAULTS_OF_PYTHON = {
    "ReadOptions": {"date": "`today` stands for `Date::Today`"},
    "RowOptions": {
        "config": "`None` stands for that of turns",
        "mask": "`None` stands for the default",
        "date": "`None` stands for none",
        "map": "`None` stands for none",
    },
    "RenderConfig": {"thoughts": "`None` leaves it to `auto_drop_analysis`"},
}
WITHOUT_BUILDER = {
    "model": "an argument of `ReplyOptions::new`",
    "max_tokens": "`with_max_tokens` sets both",
    "overflow": "likewise",
    "strict": "`ParserOptions::strict` and `lenient` make it",
}
NOT_FLAGS_OF_FILES = {"progress": "the command shows its own", "options": "other options"}
NOT_FLAGS = {
    "auto_drop_analysis": "`thoughts` is the newer form",
    "config": "each of its options is a flag",
    "mask": "each of its options is a flag",
}


def fields_of_rust(path: str, name: str) -> dict[str, tuple[str, str]]:
    """The public fields of a struct of options, with their types and the defaults that they state."""
    source = (ROOT / "src" / path).read_text(encoding="utf-8")
    body = re.search(
        rf"^( *)(?:pub )?struct {name} {{\n(.*?)^\1}}", source, re.MULTILINE | re.DOTALL
    )
    assert body is not None, name
    fields = re.findall(
        r"^ +(?:pub )?(\w+): ([^=\n]+?)(?: = (.+?))?,?(?: =>.*)?$", body[2], re.MULTILINE
    )
    return {field: (kind, default) for field, kind, default in fields}


def of_rust(path: str, name: str) -> dict[str, str]:
    """The public fields of a struct of options, with their types."""
    return {field: kind for field, (kind, _) in fields_of_rust(path, name).items()}


RENDERING = of_rust("render/options.rs", "RenderConfig")
PARSING = of_rust("parse/options.rs", "ParserOptions")
ROWS = of_rust("training/options.rs", "RowOptions")
MASK = of_rust("training/mask.rs", "LossMask")
READING = of_rust("interop/options.rs", "ReadOptions")
REPLYING = of_rust("interop/reply/options.rs", "ReplyOptions")
GRAMMAR = of_rust("grammar/options.rs", "GrammarOptions")
EXTENDING = of_rust("rollout/options.rs", "ExtendOptions")
PREFILL = of_rust("header/prefill.rs", "Prefill")


def test_they_are_found() -> None:
    assert {"header_style", "validate"} < set(RENDERING)
    assert {"strict", "tools"} < set(PARSING)
    assert {"overflow", "threads"} < set(ROWS)
    assert {"channels", "stop_tokens"} < set(MASK)
    assert {"identity", "unsupported"} < set(READING)
    assert {"model", "make_id"} < set(REPLYING)
    assert {"preambles", "prefill"} < set(GRAMMAR)
    assert {"keep_return", "tools"} < set(EXTENDING)
    assert {"channel", "text"} < set(PREFILL)
    assert RENDERING["thoughts"] == "ThoughtPolicy"
    assert ROWS["threads"] == "Option<NonZeroUsize>"


def test_each_has_a_builder_in_rust() -> None:
    blocks = [
        block
        for file in (ROOT / "src").rglob("*.rs")
        for block in re.findall(
            r"^options! {$(.*?)^}$", file.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        )
    ]
    fields = [
        field for block in blocks for field in re.split(r"^ +pub (?=\w+: )", block, flags=re.M)[1:]
    ]
    assert len(fields) > 40
    without = {field.partition(":")[0] for field in fields if "=> with_" not in field}
    assert without == set(WITHOUT_BUILDER)


def test_what_is_listed_exists() -> None:
    for listed, options in (
        ({**NOT_OF_CONVERSATIONS, **NOT_OF_MESSAGES}, RENDERING),
        ({**NOT_OF_LENIENT, **NOT_OF_TEXT}, PARSING),
        (NOT_OF_ROWS, ROWS),
        (NOT_OF_REPLIES, REPLYING),
        (NOT_SAVED, REPLYING),
        (NOT_OF_GRAMMARS, GRAMMAR),
    ):
        assert set(listed) < set(options)


class TestTables:
    @pytest.mark.parametrize(
        ("options", "tables", "missing"),
        [
            (READING, [ReadResponsesOptions], {}),
            (REPLYING, [ReplyOptions], NOT_OF_REPLIES),
            (ROWS, [RowOptions], NOT_OF_ROWS),
            (GRAMMAR, [GrammarOptions], NOT_OF_GRAMMARS),
        ],
    )
    def test_have_the_options(
        self, options: dict[str, str], tables: list[type], missing: dict[str, str]
    ) -> None:
        # With a default and a description each.
        found = {name for table in tables for name in annotated_with(table, Option)}
        names = [table.__name__ for table in tables]
        assert found == set(options) - set(missing), f"options of {names} and of Rust"

    @pytest.mark.parametrize(
        ("function", "table", "own"),
        [
            (chat_completions.read, ReadOptions, {"body"}),
            (responses.read, ReadResponsesOptions, {"body"}),
            (anthropic.read, ReadOptions, {"body"}),
            (ollama.read, ReadOptions, {"body"}),
            (openai_harmony.interop.Turn.reply, ReplyOptions, {"self", "encoding", "model"}),
            (training.render, RowOptions, {"rows", "first_row"}),
            (
                TurnGrammar.__init__,
                GrammarOptions,
                {"self", "tools", "tool_choice", "response_schema"},
            ),
            (openai_harmony.interop.Turn.grammar, GrammarOptions, {"self"}),
        ],
    )
    def test_are_the_signature_and_the_help(
        self, function: Any, table: type, own: set[str]
    ) -> None:
        options = annotated_with(table, Option)
        parameters = inspect.signature(function).parameters
        assert set(parameters) == {*own, *options}
        assert {name: parameters[name].default for name in options} == {
            name: option.default for name, (_, option) in options.items()
        }
        help_text = inspect.getdoc(function)
        for name, (_, option) in options.items():
            first = " ".join(option.description.split()[:3])
            assert f"\n    {name}: {first}" in help_text, (
                "the line `options: Those of …` is missing"
            )

    @pytest.mark.parametrize(
        ("path", "name", "tables"),
        [
            ("interop/options.rs", "ReadOptions", [ReadResponsesOptions]),
            ("interop/reply/options.rs", "ReplyOptions", [ReplyOptions]),
            ("training/options.rs", "RowOptions", [RowOptions]),
            ("grammar/options.rs", "GrammarOptions", [GrammarOptions]),
            ("training/mask.rs", "LossMask", [LossMask]),
            ("header/prefill.rs", "Prefill", [Prefill]),
            ("render/options.rs", "RenderConfig", [RenderConversationConfig]),
        ],
    )
    def test_have_the_defaults(self, path: str, name: str, tables: list[type]) -> None:
        own = DEFAULTS_OF_PYTHON.get(name, {})
        of_rust = fields_of_rust(path, name)
        assert set(own) <= set(of_rust)
        of_python = {
            option: default
            for table in tables
            for option, default in defaults_of(table).items()
            if option in of_rust and option not in own
        }
        assert len(of_python) > 2
        assert {option: default_of_rust(*of_rust[option]) for option in of_python} == of_python


def defaults_of(table: Any) -> dict[str, Any]:
    if issubclass(table, BaseModel):
        defaults = {name: field.default for name, field in table.model_fields.items()}
        return {name: one.value if isinstance(one, Enum) else one for name, one in defaults.items()}
    return {name: option.default for name, (_, option) in annotated_with(table, Option).items()}


def default_of_rust(kind: str, stated: str) -> object:
    """A default as Python writes it: an option that states none has that of its type."""
    simple = {"bool": False, "usize": 0, "true": True, "false": False}
    if (stated or kind) in simple:
        return simple[stated or kind]
    if kind.startswith(("Option<", "Vec<")):
        assert not stated
        return None if kind.startswith("Option<") else ()
    sources = [file.read_text(encoding="utf-8") for file in (ROOT / "src").rglob("*.rs")]
    [enum] = re.findall(rf"^pub enum {kind} {{\n(.*?)^}}", "\n".join(sources), re.M | re.S)
    [variant] = re.findall(r"#\[default\]\n +(\w+)", enum)
    [words] = re.findall(rf"\s{kind}, \"[^\"]*\":(.*?);", "\n".join(sources), re.M | re.S)
    [word] = re.findall(rf'"([^"]+)" {variant}\b', words)
    return word


def test_replies_are_resumed_with_the_options_that_are_not_saved() -> None:
    assert set(ResumeOptions.__annotations__) == set(NOT_SAVED)


class TestRendering:
    def test_in_the_models(self) -> None:
        # The only option of Python's own: version 0.0.8's form of `thoughts`.
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


class TestModels:
    def test_masks_have_the_options(self) -> None:
        assert set(LossMask.model_fields) == set(MASK)

    def test_prefills_have_the_options(self) -> None:
        assert set(Prefill.model_fields) == set(PREFILL)

    def test_rollouts_take_the_options(self) -> None:
        expected = set(EXTENDING)
        assert expected <= {*inspect.signature(Rollout).parameters}
        assert expected <= {*inspect.signature(HarmonyEncoding.extend).parameters}

    @pytest.mark.parametrize("field", sorted(MASK))
    def test_of_masks_in_the_guide(self, field: str) -> None:
        assert f"| `{field}=" in (ROOT / "docs" / "training.md").read_text(encoding="utf-8")

    @pytest.mark.parametrize("field", sorted(RenderConversationConfig.model_fields))
    def test_of_rendering_in_the_guide(self, field: str) -> None:
        assert f"| `{field}` |" in (ROOT / "docs" / "python.md").read_text(encoding="utf-8")


class TestWords:
    """Those of a choice: ``choices!`` in Rust has one for each variant, or does not compile."""

    @staticmethod
    def of_python() -> set[frozenset[str]]:
        """The words of each ``Literal`` and each enumeration of words."""
        package = ROOT / "python" / "openai_harmony"
        texts = [file.read_text(encoding="utf-8") for file in package.rglob("*.py")]
        literals = [
            found for text in texts for found in re.findall(r"Literal\[(.*?)\]", text, re.S)
        ]
        enums = [one for one in vars(openai_harmony).values() if inspect.isclass(one)]
        return {frozenset(re.findall(r'"([^"]+)"', literal)) for literal in literals} | {
            frozenset(choice.value for choice in one) for one in enums if issubclass(one, Enum)
        }

    @staticmethod
    def of_rust() -> dict[str, frozenset[str]]:
        sources = (ROOT / "src").rglob("*.rs")
        blocks = re.findall(
            r"^choices! \{(.*?)\}$",
            "\n".join(file.read_text(encoding="utf-8") for file in sources),
            re.MULTILINE | re.DOTALL,
        )
        return {
            name: frozenset(re.findall(r'"([^"]+)" \w+', words))
            for block in blocks
            for name, words in re.findall(r'(\w+), "[^"]*":(.*?);', block, re.DOTALL)
        }

    def test_are_the_same_in_both(self) -> None:
        choices = self.of_rust()
        assert len(choices) >= 15
        known = self.of_python()
        assert {name: words for name, words in choices.items() if words not in known} == {}


class TestFlags:
    """Those of ``harmony dataset``, the only command that renders. No command parses."""

    parser = argparse.ArgumentParser()
    flags.add_rendering(parser.add_argument)

    def test_of_writing_are_those_of_the_function(self) -> None:
        parser = argparse.ArgumentParser()
        dataset.add(parser)
        files = ["rows.jsonl", "out"]
        flags = vars(parser.parse_args(files))
        parameters = inspect.signature(write_dataset).parameters
        own = set(parameters) - set(RowOptions.__annotations__) - NOT_FLAGS_OF_FILES.keys()
        assert own <= set(flags)
        assert {name: flags[name] for name in own - {"inputs", "output"}} == {
            name: parameters[name].default for name in own - {"inputs", "output"}
        }
        for name, words in (("to", FileFormat), ("columns", Columns)):
            for word in get_args(words):
                assert vars(parser.parse_args([*files, f"--{name}", word]))[name] == word

    def test_of_each_option(self) -> None:
        for table, types in self.tables():
            assert set(table) == types.keys() - NOT_FLAGS.keys()

    @staticmethod
    def tables() -> list[tuple[flags.Flags, dict[str, Any]]]:
        """The flags of each table of options, and the options' types."""
        rows = {name: one for name, (one, _) in annotated_with(RowOptions, Option).items()}
        return [
            (flags.ROWS, rows),
            *(
                (table, {name: field.annotation for name, field in model.model_fields.items()})
                for table, model in (
                    (flags.RENDERING, RenderConversationConfig),
                    (flags.MASK, LossMask),
                )
            ),
        ]

    def test_have_the_choices_of_their_options(self) -> None:
        for table, types in self.tables():
            for name, flag in table.items():
                words = [
                    str(getattr(word, "value", word)).lower()  # `reasoning_effort` takes any case.
                    for part in (types[name], *get_args(types[name]))
                    for word in (
                        part
                        if isinstance(part, type) and issubclass(part, Enum)
                        else get_args(part)
                        if get_origin(part) is Literal
                        else ()
                    )
                ]
                assert flag.value.get("choices", []) == [*dict.fromkeys(words)], name
                assert ("const" in flag.value) == (types[name] is bool), name

    @pytest.mark.parametrize("prefix", ["", "b-"])
    def test_turn_options_on_and_off(self, prefix: str) -> None:
        table = {
            "much_ado": flags.Flag("", {"action": "store_const", "const": True}),
            "validate": flags.RENDERING["validate"],
        }
        parser = argparse.ArgumentParser()
        flags.add_flags(parser.add_argument, table, prefix)
        both = parser.parse_args([f"--{prefix}much-ado", f"--{prefix}no-validate"])
        found = [
            flags.given_flags(one, table, prefix.replace("-", "_"))
            for one in (parser.parse_args([]), both)
        ]
        assert found == [{}, {"much_ado": True, "validate": False}]

    @pytest.mark.parametrize("field", sorted(flags.RENDERING))
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
