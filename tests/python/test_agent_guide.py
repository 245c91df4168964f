"""The loop of docs/rollouts.md, with the damaged outputs of conformance/ as a model's first step."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from test_docs import blocks

ROOT = Path(__file__).parents[2]
DONE = "<|channel|>final<|message|>done<|return|>"
CASES = [
    case
    for name in ("outputs", "malformed")
    for case in json.loads((ROOT / f"conformance/{name}.json").read_text("utf-8"))["cases"]
    # An engine samples something, and the others are tokens that no text encodes to.
    if case["role"] == "assistant" and case.get("text")
]
STOPS = re.compile(r"(?s).*?(?:<\|return\|>|<\|call\|>)")
"""Up to the first token at which engines stop."""
CALL = "<|channel|>commentary to=functions.add <|constrain|>json<|message|>"


class Guide:
    """What the guide's block defines, with an engine that is recorded."""

    def __init__(self) -> None:
        guide = ROOT / "docs/rollouts.md"
        [block] = [one for one in blocks(guide) if "def run(" in one.text]
        self.names: dict[str, Any] = {}
        exec(compile(block.text, str(guide), "exec"), self.names)
        self.ran: list[Any] = []
        self.names["TOOLS"] = {"functions.add": self._add}

    def _add(self, a: int, b: int) -> int:
        self.ran.append((a, b))
        return a + b

    def run(self, *sampled: str, most_steps: int = 10) -> tuple[str, Any]:
        """The answer, and the rollout."""
        self.names["engine"] = iter(sampled)
        turn = self.names["chat_completions"].read(self.names["body"])
        rollout = self.names["Rollout"](turn, self.names["encoding"])
        return self.names["run"](rollout, most_steps), rollout


@pytest.fixture
def guide() -> Guide:
    return Guide()


def test_there_are_the_damaged_outputs() -> None:
    assert len(CASES) >= 40


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_every_damaged_output_ends_in_an_answer(guide: Guide, case: dict[str, Any]) -> None:
    stopped = STOPS.match(case["text"])
    answer, rollout = guide.run(stopped[0] if stopped else case["text"], DONE, DONE)
    finals = [one["content"] for one in case["messages"] if one.get("channel") == "final"]
    assert answer in ["done", *finals]
    assert rollout.examples().tokens


@pytest.mark.parametrize(
    ("sampled", "expected"),
    [
        (f'{CALL}{{"a": 1, "b": <|call|>', "not_json"),
        (f'{CALL}{{"a": 1, "b"', "cut_off"),
        (f'{CALL}{{"a": 1}}<|call|>', "missing 1 required"),
        (f'{CALL}{{"a": 1, "b": "x"}}<|call|>', "unsupported operand"),
        (CALL.replace("add", "divide") + "{}<|call|>", "no tool is called functions.divide"),
    ],
)
def test_what_is_wrong_with_a_call_is_its_result(guide: Guide, sampled: str, expected: str) -> None:
    answer, rollout = guide.run(sampled, DONE)
    assert answer == "done"
    text = guide.names["encoding"].decode(rollout.prompt.tolist())
    assert f"<|message|>error: {'the arguments are ' if '_' in expected else ''}" in text
    assert expected in text
    assert guide.ran in ([], [(1, "x")])


def test_a_thought_without_an_answer_is_sampled_on(guide: Guide) -> None:
    answer, _ = guide.run("<|channel|>analysis<|message|>Hm.<|end|>", DONE)
    assert answer == "done"


def test_a_model_that_never_answers_is_stopped(guide: Guide) -> None:
    call = f'{CALL}{{"a": 1, "b": 2}}<|call|>'
    with pytest.raises(RuntimeError, match="no answer within 3 steps"):
        guide.run(*[call] * 5, most_steps=3)
    assert guide.ran == [(1, 2)] * 3
