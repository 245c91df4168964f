"""The tables of docs/interop-fields.md: each row holds, and no field of the clients' types is missing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from openai_harmony import HarmonyEncoding, interop
from openai_harmony.interop import InvalidRequestError, Turn, UnsupportedContent

DOCUMENT = Path(__file__).parents[2] / "docs" / "interop-fields.md"
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
    line: int
    table: str
    """What the table is of: Fields, Messages, Items, Parts, Blocks, Tools."""
    field: str
    example: Any
    test: str

    def body(self) -> dict[str, Any]:
        key = "input" if self.dialect == "Responses" else "messages"
        if self.table == "Fields":
            return {key: [], self.field: self.example}
        if self.table == "Tools":
            return {key: [], "tools": [self.example]}
        if self.table == "Parts":
            return {key: [{"role": "user", "content": [self.example]}]}
        if self.table == "Blocks":
            return {key: [QUESTION, {"role": "assistant", "content": [self.example]}]}
        return {key: [QUESTION, self.example]}

    def path(self) -> str:
        return {"Fields": next(k for k in reversed(self.body())), "Tools": "tools[0]"}[self.table]


def code(cell: str) -> str:
    match = re.fullmatch(r"`(.*)`", cell.strip())
    assert match, cell
    return match[1].replace("\\|", "|")


def rows() -> Iterator[Row]:
    dialect = table = ""
    for number, line in enumerate(DOCUMENT.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("#"):
            dialect = line.lstrip("# ")
        elif line and not line.startswith("|"):
            table = re.split(r"\W", line)[0]
        elif line.startswith("|") and dialect in DIALECTS:
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if cells[0] not in ("field", "type", "---"):
                found, example, _, test = cells
                each = [found]
                if table == "Fields":  # Several in a row have the same example.
                    each = re.findall(r"`(\w+)`", found) or ["odd"]
                for field in each:
                    yield Row(dialect, number, table, field, json.loads(code(example)), code(test))


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


def test_the_tables_are_found() -> None:
    tables = {(row.dialect, row.table) for row in ROWS}
    assert {(dialect, "Fields") for dialect in DIALECTS} < tables
    assert len(ROWS) > 170


def documented(dialect: str, table: str) -> set[str]:
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
        assert set(body) <= documented("Chat completions", "Fields")
        message = self.fields(chat.ChatCompletionAssistantMessageParam)
        assert set(message) <= documented("Chat completions", "Messages")

    def test_responses(self) -> None:
        types = pytest.importorskip("openai.types.responses.response_create_params")
        body = self.fields(types.ResponseCreateParamsBase)
        assert set(body) <= documented("Responses", "Fields")

    def test_anthropic(self) -> None:
        types = pytest.importorskip("anthropic.types.beta.message_create_params")
        plain = pytest.importorskip("anthropic.types.message_create_params")
        body = self.fields(types.MessageCreateParamsBase, plain.MessageCreateParamsBase)
        assert set(body) <= documented("Anthropic Messages", "Fields")

    def test_ollama(self) -> None:
        sdk = pytest.importorskip("ollama._types")
        body = set(sdk.ChatRequest.model_fields)
        assert body <= documented("Ollama", "Fields")
        message = set(sdk.Message.model_fields)
        assert message - {"role", "content"} <= documented("Ollama", "Messages") | {"tool_name"}
