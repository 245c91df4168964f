"""Codex's own program, from its wheel, where there is no network but the loopback."""

from __future__ import annotations

import pytest

pytest.importorskip("codex_cli_bin", reason="make test-agents installs openai-codex-cli-bin")

import codex_cli_bin

from clients.conftest import RunAlone
from recorded import CALL, FINAL, THOUGHT

RECORDS = [
    {"match": "LINES-2", "text": THOUGHT.format("Done.") + FINAL.format("It has 2 lines.")},
    {
        "match": "FIRST-LINE",
        "text": CALL.format("exec_command", '{"cmd":"echo LINES-$(wc -l < note.txt)"}'),
    },
    {
        "match": "How many lines",
        "text": THOUGHT.format("Read it first.")
        + CALL.format("exec_command", '{"cmd":"cat note.txt"}'),
    },
]


def test_a_loop_of_calls(run_alone: RunAlone) -> None:
    program = str(codex_cli_bin.bundled_codex_path())
    events = run_alone("codex", program, RECORDS, "How many lines has note.txt?")
    items = [event["item"] for event in events if event["type"] == "item.completed"]
    ran = [item for item in items if item["type"] == "command_execution"]
    assert [item["aggregated_output"] for item in ran] == ["FIRST-LINE\nsecond\n", "LINES-2\n"]
    [said] = [item["text"] for item in items if item["type"] == "agent_message"]
    assert said == "It has 2 lines."
    assert events[-1]["type"] == "turn.completed"
