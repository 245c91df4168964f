"""SkyRL's trainer takes what the generator gives, from an environment of SkyRL-Gym."""

from __future__ import annotations

import asyncio
import functools
import json
from typing import Any

import pytest

pytest.importorskip("skyrl", reason="make test-adapters installs SkyRL")

import skyrl_gym
from skyrl.train.generators.base import GeneratorInterface, TrajectoryID
from skyrl_gym.envs.base_text_env import BaseTextEnv

from adapters.headers import ARGUMENTS, CASES, ENCODING, NAMES, TOOL, tokens_of
from fences import DOCS, fenced
from openai_harmony import HarmonyError
from openai_harmony.adapters.skyrl import HarmonyGenerator
from openai_harmony.interop import chat_completions
from openai_harmony.rollout import Step

USER = {"role": "user", "content": "Weather in Lima?"}
FINAL = "<|channel|>final<|message|>It rains.<|return|>"
FOLLOWS = (
    "<|start|>functions.get_weather to=assistant<|channel|>commentary<|message|>rain<|end|>"
    "<|start|>assistant"
)


class Weather(BaseTextEnv):  # type: ignore[misc]
    """Answers calls, and rewards an answer."""

    def __init__(self, env_config: Any = None, extras: Any = None) -> None:
        super().__init__()
        self.is_open = True
        self.answer = (extras or {}).get("answer")

    def step(self, step: Step) -> Any:
        runs = [call for call in step.waiting if call.status == "complete"]
        for call in runs:
            assert json.loads(call.arguments) == ARGUMENTS
        results = [{"role": "tool", "content": "rain"} for _ in runs]
        right = step.answer is not None and step.answer.text == self.answer
        reward = float(right) + 0.25 * len(runs)
        return {"observations": results, "reward": reward, "done": not runs, "metadata": {}}

    def close(self) -> None:
        self.is_open = False


class Engine:
    """Gives these texts, one after the other, as SkyRL's client does."""

    def __init__(self, *texts: str, logprobs: bool = True) -> None:
        self.samples = [tokens_of(text) for text in texts]
        self.logprobs = logprobs
        self.asked: list[Any] = []

    async def generate(self, batch: Any) -> Any:
        tokens = self.samples[len(self.asked)]
        self.asked.append(batch)
        return {
            "responses": [ENCODING.decode(tokens)],
            "response_ids": [tokens],
            "stop_reasons": ["stop"],
            "response_logprobs": [[-0.5] * len(tokens)] if self.logprobs else None,
        }


@pytest.fixture(scope="module", autouse=True)
def environment() -> None:
    skyrl_gym.register(id="weather", entry_point=Weather)


def generator_of(engine: Engine, **options: Any) -> HarmonyGenerator:
    make = functools.partial(_make)
    request = {"tools": [TOOL]}
    return HarmonyGenerator(engine, make, action=lambda step: step, request=request, **options)


def _make(kind: str, extras: Any) -> Any:
    return skyrl_gym.make(kind, extras=extras)


def run(generator: HarmonyGenerator, rows: int = 1) -> Any:
    batch = {
        "prompts": [[USER]] * rows,
        "env_classes": ["weather"] * rows,
        "env_extras": [{"answer": "It rains."}] * rows,
        "sampling_params": None,
        "trajectory_ids": [TrajectoryID("a", index) for index in range(rows)],
    }
    return asyncio.run(generator.generate(batch))


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_every_header_calls(case: Any) -> None:
    engine = Engine(case["text"], FINAL)
    output = run(generator_of(engine, sampling_params={"temperature": 0.5}))
    first = chat_completions.read({"messages": [USER], "tools": [TOOL]}, date=None).prompt(ENCODING)
    assert output["prompt_token_ids"] == [first]
    assert ENCODING.decode(output["response_ids"][0]) == case["text"] + FOLLOWS + FINAL
    called = len(tokens_of(case["text"]))
    masked, answered = len(tokens_of(FOLLOWS)), len(tokens_of(FINAL))
    assert output["loss_masks"] == [[1] * called + [0] * masked + [1] * answered]
    assert output["rollout_logprobs"] == [[-0.5 if m else 0.0 for m in output["loss_masks"][0]]]
    rewards = [0.0] * (called - 1) + [0.25] + [0.0] * (masked + answered - 1) + [1.0]
    assert output["rewards"] == [rewards]
    asked = [batch["prompt_token_ids"][0] for batch in engine.asked]
    assert asked == [first, first + output["response_ids"][0][: called + masked]]
    assert engine.asked[0]["sampling_params"] == {
        "temperature": 0.5,
        "stop_token_ids": [200002, 200012],
    }
    assert len({batch["session_ids"][0] for batch in engine.asked}) == 1


def test_where_an_episode_ends() -> None:
    call = CASES[0]["text"]
    called = tokens_of(call)
    for engine, options, expected in [
        (Engine(call), {"max_turns": 1}, called),
        (Engine(call), {"max_input_length": 10}, called),
        (Engine("<|channel|>fin"), {}, tokens_of("<|channel|>fin")),
        (Engine(""), {}, []),
    ]:
        output = run(generator_of(engine, **options))
        assert output["response_ids"] == [expected]
        assert output["loss_masks"] == [[1] * len(expected)]
        assert len(output["rewards"][0]) == len(expected)


def test_the_longest_prompt() -> None:
    called = CASES[0]["text"]
    prompt = chat_completions.read({"messages": [USER], "tools": [TOOL]}, date=None).prompt(
        ENCODING
    )
    length = len(prompt) + len(tokens_of(called + FOLLOWS))
    for limit, samples in [(length - 1, 1), (length, 2)]:
        engine = Engine(called, FINAL)
        run(generator_of(engine, max_input_length=limit))
        assert len(engine.asked) == samples


def test_environments_are_closed_whatever_happens() -> None:
    made = []

    def make(kind: str, extras: Any) -> Any:
        made.append(Weather(extras=extras))
        return made[-1]

    run(HarmonyGenerator(Engine(FINAL), make, action=lambda step: step))
    with pytest.raises(ZeroDivisionError):
        run(HarmonyGenerator(Engine(FINAL), make, action=lambda step: 1 / 0))
    assert [environment.is_open for environment in made] == [False, False]


def test_an_environment_gets_the_visible_text() -> None:
    class Reader(Weather):
        def step(self, step: Any) -> Any:
            read.append(step)
            return {"observations": [], "reward": 0.0, "done": True, "metadata": {}}

    read: list[Any] = []
    thought = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"
    run(HarmonyGenerator(Engine(thought + FINAL), lambda kind, extras: Reader()))
    assert read == ["It rains."]


def test_a_result_of_no_call_is_refused() -> None:
    class Hasty(Weather):
        def init(self, prompt: Any) -> Any:
            return [*prompt, {"role": "tool", "content": "rain"}], {}

    generator = HarmonyGenerator(Engine(FINAL), lambda kind, extras: Hasty())
    with pytest.raises(HarmonyError, match=r"messages\[1\]: no call is pending"):
        run(generator)


def test_rows_stay_in_their_order_and_without_log_probabilities() -> None:
    generator = generator_of(Engine(*[FINAL] * 3, logprobs=False))
    assert isinstance(generator, GeneratorInterface)
    output = run(generator, rows=3)
    assert [one.repetition_id for one in output["trajectory_ids"]] == [0, 1, 2]
    assert output["rollout_logprobs"] is None
    assert output["response_ids"] == [tokens_of(FINAL)] * 3


def test_the_example_of_the_guide() -> None:
    names: Any = {"client": Engine(CASES[0]["text"], FINAL), "tools": [TOOL]}
    exec(fenced("skyrl", DOCS / "rollouts.md"), names)
    output = run(names["generator"])
    assert output["loss_masks"][0].count(1) == len(tokens_of(CASES[0]["text"] + FINAL))
