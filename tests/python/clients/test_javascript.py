"""The clients of JavaScript, from their own packages: loops of calls, streams, formats, images."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clients.conftest import RunAlone
from recorded import CALL, FINAL, THOUGHT

PACKAGES = Path(sys.prefix)
"""Where `make test-agents` puts npm's packages."""
PROGRAM = Path(__file__).with_name("javascript") / "clients.mjs"
CLIENTS = [
    *("openai-chat", "openai-responses", "anthropic"),
    *("ai-chat", "ai-responses", "ai-anthropic"),
    *("langchain-chat", "langchain-responses", "mastra"),
]
REFUSED = (
    "image_url is only supported by certain",
    "image data you provided",
    "cannot take images",
)
"""The words of each API."""


def run(client: str, task: str, url: str) -> dict[str, Any]:
    node = shutil.which("node")
    if node is None or not (PACKAGES / "node_modules" / "openai").exists():
        pytest.skip("make test-agents installs the packages of npm, where npm is")
    done = subprocess.run(
        [node, str(PROGRAM), client, task, url],
        cwd=PACKAGES,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "MASTRA_TELEMETRY_DISABLED": "1"},
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("task", ["loop", "stream"])
def test_a_loop_of_calls(client: str, task: str, url: str) -> None:
    found = run(client, task, url)
    # Mastra joins the texts of all steps.
    said = "I ask.Oslo." if client == "mastra" else "Oslo."
    assert found == {"asked": ["Oslo", "Bergen"], "text": said}


@pytest.mark.parametrize("client", CLIENTS)
def test_an_answer_in_a_format(client: str, url: str) -> None:
    found = run(client, "format", url)
    assert found == {"asked": [], "object": {"city": "Oslo", "sunny": True}}


@pytest.mark.parametrize("client", CLIENTS)
def test_an_image_is_an_error_that_the_client_shows(client: str, url: str) -> None:
    found = run(client, "image", url)
    assert found["status"] == 400
    assert any(words in found["error"] for words in REFUSED)


def program(name: str) -> str:
    found = PACKAGES / "node_modules" / ".bin" / name
    if not found.exists():
        pytest.skip(f"make test-agents installs {name} with npm, where npm is")
    return str(found)


def records(tool: str, *calls: dict[str, Any]) -> list[dict[str, str]]:
    """The file is read, then its lines are counted."""
    read, count = (CALL.format(tool, json.dumps(one)) for one in calls)
    return [
        {"match": "LINES-2", "text": THOUGHT.format("Done.") + FINAL.format("It has 2 lines.")},
        {"match": "FIRST-LINE", "text": count},
        {"match": "How many lines", "text": THOUGHT.format("Read it first.") + read},
        {"match": "", "text": FINAL.format("A title")},
    ]


READ, COUNT = "cat note.txt", "echo LINES-$(wc -l < note.txt)"
QUESTION = "How many lines has note.txt?"


@pytest.mark.parametrize("agent", ["codex", "codex-websocket"])
def test_codex(agent: str, run_alone: RunAlone) -> None:
    said = records("exec_command", {"cmd": READ}, {"cmd": COUNT})
    events = run_alone(agent, program("codex"), said, QUESTION)
    items = [event["item"] for event in events if event["type"] == "item.completed"]
    ran = [item for item in items if item["type"] == "command_execution"]
    assert [item["aggregated_output"] for item in ran] == ["FIRST-LINE\nsecond\n", "LINES-2\n"]
    assert items[-1]["text"] == "It has 2 lines."
    # It would fall back to requests.
    assert not any("WebSocket" in item.get("message", "") for item in items)


def test_claude_code(run_alone: RunAlone) -> None:
    calls = ({"command": one, "description": "Look"} for one in (READ, COUNT))
    events = run_alone("claude", program("claude"), records("Bash", *calls), QUESTION)
    assert (events[-1]["type"], events[-1]["result"]) == ("result", "It has 2 lines.")


def test_opencode(run_alone: RunAlone) -> None:
    calls = ({"command": one, "description": "Look"} for one in (READ, COUNT))
    events = run_alone("opencode", program("opencode"), records("bash", *calls), QUESTION)
    parts = [event["part"] for event in events]
    ran = [part["state"]["output"] for part in parts if part["type"] == "tool"]
    assert ran == ["FIRST-LINE\nsecond\n", "LINES-2\n"]
    assert [part["text"] for part in parts if part["type"] == "text"] == ["It has 2 lines."]
