"""Codex's own program, from its wheel, where there is no network but the loopback."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("codex_cli_bin", reason="make test-agents installs openai-codex-cli-bin")

import codex_cli_bin

from recorded import CALL, FINAL, THOUGHT

ALONE = Path(__file__).with_name("alone.py")
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


def test_a_loop_of_calls(tmp_path: Path) -> None:
    unshare = ["unshare", "--map-root-user", "--net"]
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed: there is no network without a way out")
    if subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip("this machine allows no network namespaces")
    folder, records = tmp_path / "project", tmp_path / "recorded.jsonl"
    folder.mkdir()
    (folder / "note.txt").write_text("FIRST-LINE\nsecond\n")
    records.write_text("\n".join(map(json.dumps, RECORDS)))
    codex = str(codex_cli_bin.bundled_codex_path())
    arguments = [codex, str(records), str(folder), "How many lines has note.txt?"]
    done = subprocess.run(
        [*unshare, sys.executable, str(ALONE), *arguments],
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines() if line[:1] == "{"]
    items = [event["item"] for event in events if event["type"] == "item.completed"]
    ran = [item for item in items if item["type"] == "command_execution"]
    assert [item["aggregated_output"] for item in ran] == ["FIRST-LINE\nsecond\n", "LINES-2\n"]
    [said] = [item["text"] for item in items if item["type"] == "agent_message"]
    assert said == "It has 2 lines."
    assert events[-1]["type"] == "turn.completed"
