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


@pytest.mark.parametrize("agent", ["codex-search", "codex-websocket-search"])
def test_a_tool_is_found_and_called(run_alone: RunAlone, agent: str) -> None:
    program = str(codex_cli_bin.bundled_codex_path())
    asks = "How is the weather in Oslo?"
    records = [
        {"match": "SUNNY {'city': 'Oslo'}", "text": FINAL.format("It is sunny.")},
        {
            "match": "The weather forecast of a city",
            "text": CALL.format("mcp__weather.forecast", '{"city":"Oslo"}'),
        },
        {"match": asks, "text": CALL.format("tool_search", '{"query":"weather forecast"}')},
    ]
    events = run_alone(agent, program, records, asks)
    items = [event["item"] for event in events if event["type"] == "item.completed"]
    [called] = [item for item in items if item["type"] == "mcp_tool_call"]
    assert (called["tool"], called["status"]) == ("forecast", "completed")
    assert [item["text"] for item in items if item["type"] == "agent_message"] == ["It is sunny."]


def test_an_image_does_not_end_the_session(run_alone: RunAlone, image: str) -> None:
    """The image of the second turn stays in the history, where it is a placeholder."""
    program = str(codex_cli_bin.bundled_codex_path())
    said = ["Question 0.", ("Question 1.", image), "Question 2.", "Question 3."]
    records = [
        {"match": f"Question {at}.", "text": FINAL.format(f"Answer {at}.")} for at in (3, 2, 1, 0)
    ]
    events = run_alone("codex", program, records, *said)
    items = [event["item"] for event in events if event["type"] == "item.completed"]
    texts = [item["text"] for item in items if item["type"] == "agent_message"]
    assert texts[0] == "Answer 0."
    assert texts[-2:] == ["Answer 2.", "Answer 3."]
    assert events[-1]["type"] == "turn.completed"


def test_thirty_turns_with_a_compaction(run_alone: RunAlone) -> None:
    """The model makes one call a turn; near the end of its context Codex has the session summed up."""
    program = str(codex_cli_bin.bundled_codex_path())
    said = [f"Question number {at}." for at in range(30)]
    said[4:16] = [f"{text}{' word' * 12_000}" for text in said[4:16]]
    echo = CALL.format("exec_command", '{"cmd":"echo RESULT-$((%d))"}')
    records = [{"match": "Question number 29.", "text": FINAL.format("Answer 29.")}]
    records += [{"match": "SUMMARY-7", "text": FINAL.format("I know the summary.")}]
    records += [{"match": "CONTEXT CHECKPOINT", "text": FINAL.format("SUMMARY-7")}]
    records += [
        {"match": f"Question number {at}.", "text": FINAL.format(f"Answer {at}.")}
        for at in reversed(range(4, 29))
    ]
    records += [
        {"match": "RESULT-3", "text": FINAL.format("Both ran.")},
        {"match": "RESULT-2", "text": echo % 3},
        {"match": "Question number 3.", "text": echo % 2},
        {"match": "Question number", "text": FINAL.format("Answer.")},
    ]
    events = run_alone("codex", program, records, *said)
    items = [event["item"] for event in events if event["type"] == "item.completed"]
    texts = [item["text"] for item in items if item["type"] == "agent_message"]
    assert texts[:5] == ["Answer."] * 3 + ["Both ran.", "Answer 4."]
    known = texts.index("I know the summary.")
    assert texts[known - 1] == f"Answer {known - 1}."
    assert texts[known:] == ["I know the summary."] * (29 - known) + ["Answer 29."]
    assert sum(event["type"] == "turn.completed" for event in events) == 30


def test_a_prompt_that_is_too_long_is_named(run_alone: RunAlone) -> None:
    """One message too many: before it, there was room enough for no compaction."""
    program = str(codex_cli_bin.bundled_codex_path())
    long = " word" * 25_000
    said = [f"Question {at}.{long}" for at in range(5)]
    records = [{"match": "Question", "text": FINAL.format("Answer.")}]
    done = run_alone("codex", program, records, *said, ends=1)
    [failed] = [event for event in done if event["type"] == "turn.failed"]
    assert failed["error"]["message"].startswith(
        "Codex ran out of room in the model's context window"
    )
