"""SkyRL: a generator of episodes that continue the sampled tokens, in SkyRL-Gym's environments.

SkyRL's own generator renders what an environment observed with a chat template, after tokens whose
messages it does not read. Here the environment gets the step, calls included, and what it observes
follows the sampled tokens: results of tools answer the calls.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from openai_harmony._extras import needed
from openai_harmony.adapters import chat
from openai_harmony.rollout import Rollout, Segment, Step

base: Any = needed("skyrl.train.generators.base", "skyrl")


class Episode(NamedTuple):
    """One trajectory."""

    segment: Segment
    """The prompt, and the response up to the last sampled token."""
    rewards: list[float]
    """For each token of the response; a step's reward is at its last token."""
    stop_reason: str
    metrics: dict[str, Any]
    """The environment's own."""


def said(step: Step) -> str:
    """What an environment gets by default: the visible text."""
    return chat.texts(step.said, "preamble", "answer")


class HarmonyGenerator(base.GeneratorInterface):  # type: ignore[misc]
    """For SkyRL's ``get_generator``: samples, asks the environment, and samples on.

    An environment's ``step`` returns chat messages: ``{"role": "tool", "content": ...}`` answers
    the call of its ``name``, else the next one of ``step.waiting``; any other is a question. An
    episode ends where the environment says so, after ``max_turns``, with nothing sampled, where its
    prompt would be longer than ``max_input_length``, or where it would break, since a trajectory is
    one sequence.

    Args:
        client: SkyRL's inference engine client.
        make: From an environment's class, as the rows have it, and its extras to an environment:
            ``functools.partial(skyrl_gym.make, ...)``.
        action: What its ``step`` gets of a step of the rollout.
        request: More of the request's body: ``tools``, ``reasoning_effort``.
        sampling_params: Of the engine; those of a batch, which evaluations have, take precedence.
        max_turns: How many times an episode samples at most.
        max_input_length: The prompt's most tokens.
    """

    def __init__(
        self,
        client: Any,
        make: Callable[[str, dict[str, Any]], Any],
        *,
        action: Callable[[Step], Any] = said,
        request: Mapping[str, Any] | None = None,
        sampling_params: Mapping[str, Any] | None = None,
        max_turns: int = 16,
        max_input_length: int = 131_072,
    ) -> None:
        self._client, self._make, self._action = client, make, action
        self._request, self._params = dict(request or {}), dict(sampling_params or {})
        self._max_turns, self._max_input_length = max_turns, max_input_length

    async def generate(self, input_batch: Any, **_: Any) -> Any:
        """SkyRL's call: the trajectories of a batch, in its order."""
        prompts = input_batch["prompts"]
        extras = input_batch.get("env_extras") or [{} for _ in prompts]
        params = {**self._params, **(input_batch.get("sampling_params") or {})}
        params["stop_token_ids"] = sorted({*params.get("stop_token_ids", ()), *chat.STOPS})
        rows = zip(prompts, input_batch["env_classes"], extras)
        episodes = await asyncio.gather(
            *(
                self._episode(prompt, self._make(kind, extra), params)
                for prompt, kind, extra in rows
            )
        )
        logprobs = [episode.segment.logprobs for episode in episodes]
        given = all(value == value for row in logprobs for value in row)
        return base.GeneratorOutput(
            prompt_token_ids=[episode.segment.prompt for episode in episodes],
            response_ids=[episode.segment.response for episode in episodes],
            rewards=[episode.rewards for episode in episodes],
            loss_masks=[episode.segment.loss_mask for episode in episodes],
            stop_reasons=[episode.stop_reason for episode in episodes],
            rollout_metrics=None,
            rollout_logprobs=logprobs if given else None,
            trajectory_ids=input_batch.get("trajectory_ids"),
            is_last_step=None,
            env_metrics=[episode.metrics for episode in episodes],
        )

    async def _episode(
        self, prompt: Sequence[Mapping[str, Any]], env: Any, params: dict[str, Any]
    ) -> Episode:
        messages, _ = await asyncio.to_thread(env.init, list(prompt))
        _, rollout = chat.begun(self._request, messages)
        session, reason = uuid.uuid4().hex, "stop"
        rewards: list[float] = []
        try:
            for _ in range(self._max_turns):
                tokens, logprobs, reason = await self._sample(rollout, session, params)
                if not tokens:
                    break
                step = rollout.sampled(tokens, logprobs)
                observed = await asyncio.to_thread(env.step, self._action(step))
                rewards.append(float(observed["reward"]))
                if observed["done"] or not self._goes_on(rollout, observed["observations"]):
                    break
            return _finished(rollout, rewards, reason, dict(env.get_metrics()))
        finally:
            await asyncio.to_thread(env.close)

    async def _sample(
        self, rollout: Rollout, session: str, params: dict[str, Any]
    ) -> tuple[list[int], list[float] | None, str]:
        asked = {
            "prompt_token_ids": [rollout.prompt.tolist()],
            "sampling_params": params,
            "session_ids": [session],
        }
        output = await self._client.generate(asked)
        logprobs = output.get("response_logprobs")
        [tokens], [reason] = output["response_ids"], output["stop_reasons"]
        return list(tokens), None if logprobs is None else list(logprobs[0]), reason

    def _goes_on(self, rollout: Rollout, observations: Sequence[Mapping[str, Any]]) -> bool:
        prompt = rollout.extend(observations)
        return len(rollout.examples()) == 1 and len(prompt) <= self._max_input_length


def _finished(
    rollout: Rollout, rewards: list[float], reason: str, metrics: dict[str, Any]
) -> Episode:
    segment, examples = chat.one_sequence(rollout)
    placed = [0.0] * len(segment.response)
    for step, reward in zip(examples.steps, rewards):
        placed[step.stop - 1 - len(segment.prompt)] += reward
    return Episode(segment, placed, reason, metrics)


__all__ = ["Episode", "HarmonyGenerator", "said"]
