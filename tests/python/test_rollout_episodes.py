"""Laws over random episodes with damaged samples: nothing raises, and what was sampled stays."""

from __future__ import annotations

import pickle
from random import Random
from typing import Any

import pytest

from episodes import ENCODING, episodes, sampled
from openai_harmony import Message, ThoughtPolicy
from openai_harmony.interop import chat_completions
from openai_harmony.rollout import Broken, Rollout, Step, read_step
from oracle.seeds import share

TOOLS = [{"type": "function", "function": {"name": name}} for name in ("f", "g", "f.g")]
BODY = {"messages": [{"role": "user", "content": "Rain?"}], "tools": TOOLS}
TURN = chat_completions.read(BODY, date="2026-01-01")
OFFERED = [tool.recipient for tool in TURN.tools]
STOPS = (200002, 200007, 200012)


def follows(step: Step, random: Random) -> list[Any]:
    """What an agent adds: results in any order, as messages or as chat messages; questions."""
    calls = random.sample(step.waiting, random.randrange(len(step.waiting) + 1))
    if random.random() < 0.5:
        new: list[Any] = [call.result("ok") for call in calls]
        question: Any = Message.from_role_and_content("user", "And?")
    else:
        new = [{"role": "tool", "content": "ok"} for _ in calls]
        question = {"role": "user", "content": "And?"}
    return new if new and random.random() < 0.7 else [*new, question]


def play(random: Random) -> None:
    thoughts: Any = random.choice(["drop", "keep", None])
    keep_return = random.random() < 0.5
    rollout = Rollout(TURN, ENCODING, thoughts, keep_return=keep_return)
    update = {} if thoughts is None else {"thoughts": ThoughtPolicy(thoughts)}
    config = TURN.config.model_copy(update=update)
    samples, misread = [], False
    for number in range(random.randrange(1, 6)):
        prompt, tokens = rollout.prompt.tolist(), sampled(random)
        data = {"number": [number] * len(tokens)}
        step = rollout.sampled(tokens, [-0.5] * len(tokens), data)
        samples.append(tokens)
        assert step == read_step(ENCODING, tokens, prompt=prompt, tools=OFFERED)
        assert step.stop_token == (tokens[-1] if tokens[-1] in STOPS else None)
        segments = len(rollout.examples())
        before = len(rollout.messages)
        rollout.extend(follows(step, random))
        extended = ENCODING.extend(
            prompt,
            tokens,
            rollout.messages[before:],
            config,
            keep_return=keep_return,
            tools=OFFERED,
        )
        # From tokens it cannot be seen that the model sampled a tool's message, which is its call.
        misread = misread or "misplaced_recipient" in [repair.kind for repair in step.repairs]
        if misread:
            continue
        breaks = rollout.examples().breaks
        reason = breaks[-1] if len(breaks) > segments else None
        assert reason == (extended.reason if isinstance(extended, Broken) else None)
        if reason is None:
            assert rollout.prompt.tolist() == extended.tokens
    check(rollout, samples)


def check(rollout: Rollout, samples: list[list[int]]) -> None:
    """The examples have what was sampled, and so has the rollout that was pickled."""
    examples = rollout.examples()
    assert [examples.tokens[step].tolist() for step in examples.steps] == samples
    assert [set(examples.data["number"][step]) for step in examples.steps] == [
        {number} for number in range(len(samples))
    ]
    trained = [token for token, mask in zip(examples.tokens, examples.loss_mask) if mask]
    assert trained == [token for tokens in samples for token in tokens]
    segments = examples.segments
    assert [
        token for one in segments for token, mask in zip(one.response, one.loss_mask) if mask
    ] == trained
    for one in segments:
        assert one.logprobs == [-0.5 if mask else 0.0 for mask in one.loss_mask]
        assert [number is not None for number in one.data["number"]] == [
            m == 1 for m in one.loss_mask
        ]
    again = pickle.loads(pickle.dumps(rollout))
    assert again.prompt == rollout.prompt
    assert again.messages == rollout.messages
    copied = pickle.loads(pickle.dumps(examples))
    for name in ("tokens", "offsets", "loss_mask", "spans", "breaks", "steps", "data"):
        assert getattr(copied, name) == getattr(examples, name) == getattr(again.examples(), name)


@pytest.mark.parametrize("part", range(4))
def test_nothing_that_a_model_samples_raises(part: int) -> None:
    for random in episodes(share(500), seed=part):
        play(random)
