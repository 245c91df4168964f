"""What becomes of each field of a request: the cases hold, docs/interop-fields.md has a row for each, and none is missing.

A case of `interop_fields.json` has the field as the document names it, an example, and what must hold when the example is
put into a body: `error`, `unsupported` (`UnsupportedContent`), `unused` (the field is in `turn.unused`), or an expression
of `turn`, `system` (the text of the system message) and `said` (the prompt after it).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from openai_harmony import HarmonyEncoding, interop
from openai_harmony.interop import InvalidRequestError, Turn, UnsupportedContent

CASES = json.loads(Path(__file__).with_name("interop_fields.json").read_text("utf-8"))
DOCUMENT = Path(__file__).parents[2] / "docs" / "interop-fields.md"
SOURCES = Path(__file__).parents[2] / "src" / "interop"
DIALECTS = {
    "Chat completions": interop.chat_completions,
    "Fields of other servers": interop.chat_completions,
    "Responses": interop.responses,
    "Anthropic Messages": interop.anthropic,
    "Ollama": interop.ollama,
}
QUESTION = {"role": "user", "content": "Q"}


class Row(NamedTuple):
    dialect: str
    table: str
    """What the table is of: Fields, Messages, Items, Parts, Blocks, Tools."""
    field: str
    example: Any
    test: str

    def body(self) -> dict[str, Any]:
        key = "input" if self.dialect == "Responses" else "messages"
        if self.table == "Fields":
            return {key: [QUESTION], self.field: self.example}
        if self.table == "Tools":
            return {key: [QUESTION], "tools": [self.example]}
        if self.table == "Parts":
            return {key: [{"role": "user", "content": [self.example]}]}
        if self.table == "Blocks":
            return {key: [QUESTION, {"role": "assistant", "content": [self.example]}]}
        return {key: [QUESTION, self.example]}

    def path(self) -> str:
        return {"Fields": next(k for k in reversed(self.body())), "Tools": "tools[0]"}[self.table]


def names(table: str, labels: list[str]) -> list[str]:
    """Of a table of fields each name; of others what stands in the first column."""
    if table != "Fields":
        return labels
    found = [name for label in labels for name in re.findall(r"`(\w+)`", label)]
    return found + ["odd" for label in labels if "any other" in label]


def rows() -> Iterator[Row]:
    for dialect, tables in CASES.items():
        for table, cases in tables.items():
            for case in cases:
                for field in names(table, [case["field"]]):  # Several have the same example.
                    yield Row(dialect, table, field, case["example"], case["test"])


ROWS = list(rows())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.dialect}-{row.table}-{row.field}")
def test_row(row: Row, encoding: HarmonyEncoding) -> None:
    dialect = DIALECTS[row.dialect]
    body = row.body()
    if row.test in ("error", "unsupported"):
        with pytest.raises(InvalidRequestError) as raised:
            dialect.read(body)
        assert isinstance(raised.value, UnsupportedContent) == (row.test == "unsupported")
        return
    turn: Turn = dialect.read(body, date="2025-06-28")
    if row.test == "unused":
        assert row.path() in [unused.path for unused in turn.unused]
        return
    if "unused" not in row.test and row.table in ("Fields", "Tools"):
        assert row.path() not in [unused.path for unused in turn.unused]
    text = encoding.decode(turn.prompt(encoding))
    system, said = text.split("<|end|>", 1)
    names = {"turn": turn, "system": system, "said": said, "field": row.field}
    assert eval(row.test, names), (text, turn.unused)


def documented() -> dict[tuple[str, str], list[str]]:
    """The first columns of the document's tables."""
    found: dict[tuple[str, str], list[str]] = {}
    dialect = table = ""
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            dialect = line.lstrip("# ")
        elif line and not line.startswith("|"):
            table = re.split(r"\W", line)[0]
        elif line.startswith("|") and dialect in DIALECTS:
            label = re.split(r"(?<!\\)\|", line)[1].strip()
            if label not in ("field", "type", "---"):
                found.setdefault((dialect, table), []).append(label)
    return found


def test_each_row_of_the_document_has_a_case_and_each_case_a_row() -> None:
    """Unused fields of a body need none: the row of any other field is theirs."""
    shown = {key: set(names(key[1], labels)) for key, labels in documented().items()}
    cases: dict[tuple[str, str], dict[str, str]] = {}
    for row in ROWS:
        cases.setdefault((row.dialect, row.table), {})[row.field] = row.test
    assert shown.keys() == cases.keys()
    for key, tests in cases.items():
        unused = {field for field, test in tests.items() if key[1] == "Fields" and test == "unused"}
        missing = (tests.keys() - unused) - shown[key]
        assert not missing, f"docs/interop-fields.md, {key}: no row of {missing}"
        missing = shown[key] - tests.keys()
        assert not missing, f"interop_fields.json, {key}: no case of {missing}"


@pytest.mark.parametrize("read", DIALECTS.values(), ids=DIALECTS)
def test_each_field_that_is_read_has_a_case(read: Any) -> None:
    file = SOURCES / read.__name__.rpartition(".")[2] / "mod.rs"
    [listed] = re.findall(r"FIELDS: &\[&str\] = words!\((.*?)\);", file.read_text("utf-8"), re.S)
    fields = set(" ".join(re.findall('"(.*)"', listed)).split())
    known = {row.field for row in ROWS if row.table == "Fields" and DIALECTS[row.dialect] is read}
    assert fields <= known, f"interop_fields.json has no case of {fields - known}"


def test_no_field_stands_twice() -> None:
    for key, labels in documented().items():
        found = names(key[1], labels)
        assert len(found) == len(set(found)), key


def known(dialect: str, table: str) -> set[str]:
    fields = [row.field for row in ROWS if (row.dialect, row.table) == (dialect, table)]
    return set(fields if table == "Fields" else re.findall(r"`(\w+)`", " ".join(fields)))


class TestNoFieldOfTheClientsIsMissing:
    """The clients' own types, as published, against the tables."""

    @staticmethod
    def fields(*types: Any) -> list[str]:
        return [name for kind in types for name in kind.__annotations__]

    def test_chat_completions(self) -> None:
        types = pytest.importorskip("openai.types.chat.completion_create_params")
        chat = pytest.importorskip("openai.types.chat")
        body = self.fields(types.CompletionCreateParamsBase)
        assert set(body) <= known("Chat completions", "Fields")
        message = self.fields(chat.ChatCompletionAssistantMessageParam)
        assert set(message) <= known("Chat completions", "Messages")

    def test_responses(self) -> None:
        types = pytest.importorskip("openai.types.responses.response_create_params")
        body = self.fields(types.ResponseCreateParamsBase)
        assert set(body) <= known("Responses", "Fields")

    def test_anthropic(self) -> None:
        types = pytest.importorskip("anthropic.types.beta.message_create_params")
        plain = pytest.importorskip("anthropic.types.message_create_params")
        body = self.fields(types.MessageCreateParamsBase, plain.MessageCreateParamsBase)
        assert set(body) <= known("Anthropic Messages", "Fields")

    def test_ollama(self) -> None:
        sdk = pytest.importorskip("ollama._types")
        body = set(sdk.ChatRequest.model_fields)
        assert body <= known("Ollama", "Fields")
        message = set(sdk.Message.model_fields)
        assert message - {"role", "content"} <= known("Ollama", "Messages") | {"tool_name"}
