"""Claude Code's own program, from the wheel of its SDK, where there is no network but the loopback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("claude_agent_sdk", reason="make test-agents installs claude-agent-sdk")

import claude_agent_sdk

from clients.conftest import RunAlone
from recorded import CALL, FINAL, THOUGHT

PROGRAM = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"


def test_a_loop_of_calls(run_alone: RunAlone, project: Path) -> None:
    if not PROGRAM.exists():
        pytest.skip("this wheel of claude-agent-sdk has no program")
    read = json.dumps({"file_path": str(project / "note.txt")})
    count = json.dumps({"command": "echo LINES-$(wc -l < note.txt)", "description": "Count"})
    records = [
        {"match": "LINES-2", "text": THOUGHT.format("Done.") + FINAL.format("It has 2 lines.")},
        {"match": "FIRST-LINE", "text": CALL.format("Bash", count)},
        {
            "match": "How many lines",
            "text": THOUGHT.format("Read it first.") + CALL.format("Read", read),
        },
    ]
    events = run_alone("claude", str(PROGRAM), records, "How many lines has note.txt?")
    contents = [event["message"]["content"] for event in events if "message" in event]
    blocks = [block for content in contents for block in content]
    thoughts = [block["thinking"] for block in blocks if block["type"] == "thinking"]
    assert thoughts == ["Read it first.", "Done."]
    called = [block["name"] for block in blocks if block["type"] == "tool_use"]
    assert called == ["Read", "Bash"]
    results = [block["content"] for block in blocks if block["type"] == "tool_result"]
    assert ["FIRST-LINE" in results[0], results[1]] == [True, "LINES-2"]
    assert (events[-1]["type"], events[-1]["result"]) == ("result", "It has 2 lines.")


def test_an_image_is_taken_out_and_the_session_goes_on(run_alone: RunAlone, image: str) -> None:
    """Thirty turns, one of them with an image: the error names its place in words that the client knows."""
    if not PROGRAM.exists():
        pytest.skip("this wheel of claude-agent-sdk has no program")
    said: list[Any] = [f"Question number {at}." for at in range(30)]
    said[3] = (said[3], image)
    answers = [FINAL.format(f"Answer {at}.") for at in range(30)]
    records = [
        {"match": f"Question number {at}.", "text": answers[at]} for at in reversed(range(30))
    ]
    events = run_alone("claude", str(PROGRAM), records, *said)
    results = [event["result"] for event in events if event["type"] == "result"]
    assert results == [f"Answer {at}." for at in range(30)]


def test_thirty_turns_with_parallel_calls_and_a_compaction(run_alone: RunAlone) -> None:
    """Two calls at once; then the history gets too long for the model, and Claude Code sums it up and asks again."""
    if not PROGRAM.exists():
        pytest.skip("this wheel of claude-agent-sdk has no program")
    said = [f"Question number {at}." for at in range(30)]
    said[10:16] = [f"{text}{' word' * 25_000}" for text in said[10:16]]
    echo = [{"command": f"echo RESULT-$((1+{at}))", "description": "Echo"} for at in (1, 2)]
    uses = [{"recipient_name": "functions.Bash", "parameters": one} for one in echo]
    both = "<|channel|>commentary to=multi_tool_use.parallel <|constrain|>json<|message|>{}<|call|>"
    answers = [
        {"match": f"Question number {at}.", "text": FINAL.format(f"Answer {at}.")}
        for at in reversed(range(30))
    ]
    records = [
        {"match": "a detailed summary", "text": FINAL.format("<summary>SUMMARY-7</summary>")},
        *answers[:24],
        {"match": "RESULT-3", "text": FINAL.format("Answer 5.")},
        {
            "match": "Question number 5.",
            "text": THOUGHT.format("Two.") + both.format(json.dumps({"tool_uses": uses})),
        },
        *answers[25:],
    ]
    events = run_alone("claude", str(PROGRAM), records, *said)
    results = [event["result"] for event in events if event["type"] == "result"]
    assert results == [f"Answer {at}." for at in range(30)]
    contents = [event["message"]["content"] for event in events if "message" in event]
    blocks = [block for content in contents for block in content]
    calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
    answered = {
        block["tool_use_id"]: block["content"] for block in blocks if block["type"] == "tool_result"
    }
    assert [answered[call] for call in calls] == ["RESULT-2", "RESULT-3"]
    [compacted] = [event for event in events if event.get("subtype") == "compact_boundary"]
    assert compacted["compact_metadata"]["pre_tokens"] > 131_072
    assert "SUMMARY-7" in json.dumps(contents)
