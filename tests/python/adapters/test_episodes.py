"""2,000 random episodes with damaged samples through each adapter: nothing raises."""

from __future__ import annotations

import asyncio
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from adapters.headers import ENCODING
from episodes import episodes, sampled

COUNT = 2_000
NAMES = ("f", "g", "f.g")
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in NAMES]
USER = {"role": "user", "content": "Rain?"}
RESULT = {"role": "tool", "content": "yes"}


def f(a: int) -> str:
    """Look.

    Args:
        a: Where.
    """
    return "yes"


def test_trl() -> None:
    pytest.importorskip("trl", reason="make test-adapters installs TRL")
    from openai_harmony.adapters.trl import RolloutFunction

    random = Random(0)
    seen: list[list[int]] = []

    def sample(trainer: Any, prompts: list[list[int]]) -> Any:
        found = [sampled(random) if random.random() < 0.99 else [] for _ in prompts]
        seen.extend(found)
        return [(tokens, [-0.5] * len(tokens)) for tokens in found]

    function = RolloutFunction([f], sample=sample)
    roomy = SimpleNamespace(max_completion_length=5_000)
    columns = function(["Rain?"] * COUNT, roomy)
    trained = 0
    for ids, mask, logprobs in zip(
        columns["completion_ids"], columns["env_mask"], columns["logprobs"]
    ):
        assert len(ids) == len(mask) == len(logprobs)
        trained += sum(mask)
    assert trained == sum(map(len, seen))
    assert len(seen) > COUNT * 1.2


def test_renderers(tokenizer: Any) -> None:
    pytest.importorskip("renderers", reason="make test-adapters installs renderers")
    from renderers.configs import GptOssRendererConfig

    from openai_harmony.adapters.renderers import HarmonyRenderer

    renderer = HarmonyRenderer(tokenizer, GptOssRendererConfig(thinking_retention="all"))
    begin = renderer.render_ids([USER], tools=TOOLS, add_generation_prompt=True)
    bridges = 0
    for random in episodes(COUNT):
        prompt: Any = begin
        for _ in range(3):
            tokens = sampled(random) if random.random() < 0.99 else []
            parsed = renderer.parse_response(tokens, tools=TOOLS, prompt_ids=prompt)
            runs = [call for call in parsed.tool_calls if call.status == "ok"]
            new = [RESULT for _ in runs] or [USER]
            bridged = renderer.bridge_to_next_turn(prompt, tokens, new, tools=TOOLS)
            if bridged is None:
                break
            assert bridged.token_ids[: len(prompt) + len(tokens)] == [*prompt, *tokens]
            prompt = bridged.token_ids
            bridges += 1
    assert bridges > COUNT


def test_tinker(tokenizer: Any) -> None:
    pytest.importorskip("tinker_cookbook", reason="make test-adapters installs tinker-cookbook")
    from openai_harmony.adapters.tinker import HarmonyRenderer

    renderer = HarmonyRenderer(tokenizer, thoughts="keep")
    specs = [tool["function"] for tool in TOOLS]
    begin = [*renderer.create_conversation_prefix_with_tools(specs), USER]
    kept = 0
    for random in episodes(COUNT):
        messages, prompt = list(begin), renderer.build_generation_prompt(begin).to_ints()
        for _ in range(3):
            tokens = sampled(random)
            message, _ = renderer.parse_response(tokens)
            calls = message.get("tool_calls", [])
            results = [{**RESULT, "name": call.function.name} for call in calls]
            messages += [message, *(results or [USER])]
            following = renderer.build_generation_prompt(messages).to_ints()
            kept += following[: len(prompt) + len(tokens)] == [*prompt, *tokens]
            prompt = following
    assert kept > COUNT


def test_verl(tokenizer: Any) -> None:
    pytest.importorskip("verl", reason="make test-adapters installs verl")
    from adapters.test_verl import loop_of

    class Engine:
        """Samples at random, and remembers what it was asked."""

        def __init__(self, random: Random) -> None:
            self.random, self.samples = random, []

        async def generate(self, *, prompt_ids: list[int], **_: Any) -> Any:
            from verl.workers.rollout.replica import TokenOutput

            self.samples.append(sampled(self.random) if self.random.random() < 0.99 else [])
            return TokenOutput(token_ids=self.samples[-1], log_probs=[-0.5] * len(self.samples[-1]))

    async def play() -> int:
        turns = 0
        for random in episodes(COUNT):
            engine = Engine(random)
            loop = loop_of(engine, tokenizer, calls=random.choice([1, 4]), length=100_000)
            output = await loop.run({}, raw_prompt=[USER])
            trained = [t for t, m in zip(output.response_ids, output.response_mask) if m]
            assert trained == [token for tokens in engine.samples for token in tokens]
            turns += len(engine.samples)
        return turns

    assert asyncio.run(play()) > COUNT * 1.2


class Environment:
    """Answers the calls of a step, or asks on, for three turns."""

    def __init__(self) -> None:
        self.turns = 0

    def init(self, prompt: Any) -> Any:
        return prompt, {}

    def step(self, step: Any) -> Any:
        self.turns += 1
        results = [{**RESULT, "name": call.name} for call in step.waiting]
        done = self.turns == 3
        return {"observations": results or [USER], "reward": 1.0, "done": done, "metadata": {}}

    def get_metrics(self) -> dict[str, Any]:
        return {"turns": self.turns}

    def close(self) -> None:
        pass


def test_skyrl() -> None:
    pytest.importorskip("skyrl", reason="make test-adapters installs SkyRL")
    from openai_harmony.adapters.skyrl import HarmonyGenerator

    random = Random(0)
    seen: list[list[int]] = []

    class Engine:
        async def generate(self, batch: Any) -> Any:
            assert batch["sampling_params"]["stop_token_ids"] == [200002, 200012]
            seen.append(sampled(random) if random.random() < 0.99 else [])
            logprobs = [[-0.5] * len(seen[-1])]
            return {
                "response_ids": [list(seen[-1])],
                "stop_reasons": ["stop"],
                "response_logprobs": logprobs,
            }

    generator = HarmonyGenerator(
        Engine(),
        lambda kind, extras: Environment(),
        action=lambda step: step,
        request={"tools": TOOLS},
    )
    batch = {"prompts": [[USER]] * COUNT, "env_classes": ["x"] * COUNT, "trajectory_ids": None}
    output = asyncio.run(generator.generate(batch))
    rows = list(
        zip(
            output["response_ids"],
            output["loss_masks"],
            output["rollout_logprobs"],
            output["rewards"],
        )
    )
    assert len(rows) == COUNT
    for ids, mask, logprobs, rewards in rows:
        assert len(ids) == len(mask) == len(logprobs) == len(rewards)
        assert logprobs == [-0.5 if one else 0.0 for one in mask]
    assert sum(sum(mask) for _, mask, _, _ in rows) == sum(map(len, seen))
    assert sum(sum(row) for *_, row in rows) == sum(1 for tokens in seen if tokens)
    assert output["prompt_token_ids"][0][-2:] == ENCODING.encode(
        "<|start|>assistant", allowed_special="all"
    )
