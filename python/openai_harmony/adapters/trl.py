"""GRPO with tools in TRL: a rollout function, and rewards for what was said on a channel.

TRL's own loop decodes what was sampled, reads calls out of the text with a template, and renders
results with a dummy conversation. Here calls are read from the tokens, malformed headers included,
and results follow the tokens as they were sampled.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from openai_harmony._extras import needed
from openai_harmony.adapters import chat
from openai_harmony.chat import Message
from openai_harmony.interop import Turn
from openai_harmony.rollout import Call, Rollout, Step

Sampled = tuple[list[int], list[float] | None]
"""The tokens that were sampled from a prompt, and the log-probability of each."""
Sampler = Callable[[Any, list[list[int]]], list[Sampled]]
"""From the trainer and prompts: what is sampled from each, which are all to be sampled at once."""

_PADDING = 199999


class Episode(NamedTuple):
    """One prompt's rollout, and the steps that were sampled in it."""

    turn: Turn
    rollout: Rollout
    steps: list[Step]


class RolloutFunction:
    """For ``GRPOTrainer(rollout_func=...)``: samples, runs tools, and samples on.

    An episode ends with an answer, a call that cannot run (``cut_off``), nothing sampled,
    ``max_steps``, the trainer's ``max_completion_length``, or where its prompt would break, since
    TRL trains on one sequence of each. Reward functions get the argument ``steps``, for each
    completion the list of its :class:`openai_harmony.rollout.Step`.

    Args:
        tools: Functions with type hints and a docstring, as TRL's ``tools`` have them. What one
            returns is the result, as text; what it raises is the result ``{"error": ...}``.
        request: More of the request's body, ``{"reasoning_effort": "low"}``.
        max_steps: How many times an episode samples at most.
        sample: How to sample; by default with the trainer's vLLM if it has one, else its model.

    Raises:
        ValueError: ``max_steps`` is less than 1.
    """

    def __init__(
        self,
        tools: Sequence[Callable[..., Any]] = (),
        *,
        request: Mapping[str, Any] | None = None,
        max_steps: int = 16,
        sample: Sampler | None = None,
    ) -> None:
        if max_steps < 1:
            raise ValueError(f"max_steps: expected 1 or more, got {max_steps}")
        schema_of = needed("transformers.utils", "trl").get_json_schema
        self._tools = {tool.__name__: tool for tool in tools}
        self._request = {**(request or {}), "tools": [schema_of(tool) for tool in tools]}
        self._max_steps, self._sample = max_steps, sample or sample_with_trainer

    def __call__(self, prompts: list[Any], trainer: Any) -> dict[str, Any]:
        """TRL's call: the prompts of this process, texts or lists of messages."""
        episodes = [self._begin(prompt) for prompt in prompts]
        most = trainer.max_completion_length
        limits = [len(episode.rollout.prompt) + most for episode in episodes]
        going = list(range(len(episodes)))
        for _ in range(self._max_steps):
            asked = [episodes[index].rollout.prompt.tolist() for index in going]
            samples = self._sample(trainer, asked) if asked else []
            for index, prompt, (tokens, logprobs) in zip(going, asked, samples):
                room = limits[index] - len(prompt)
                logprobs = None if logprobs is None else logprobs[:room]
                episode = episodes[index]
                if tokens:
                    episode.steps.append(episode.rollout.sampled(tokens[:room], logprobs))
            sampled = [index for index, (tokens, _) in zip(going, samples) if tokens]
            going = [index for index in sampled if self._goes_on(episodes[index], limits[index])]
        return _columns(episodes)

    def _begin(self, prompt: Any) -> Episode:
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        return Episode(*chat.begun(self._request, messages), [])

    def _goes_on(self, episode: Episode, limit: int) -> bool:
        """Runs the calls of the last step; whether the model is to be asked again."""
        calls = episode.steps[-1].waiting
        if not calls or any(call.status == "cut_off" for call in calls):
            return False
        results = [self._result(episode.turn, call) for call in calls]
        prompt = episode.rollout.extend(results)
        return len(prompt) < limit and len(episode.rollout.examples()) == 1

    def _result(self, turn: Turn, call: Call) -> Message:
        try:
            tool = turn.tools.by_recipient(call.name)
            if tool is None or tool.name not in self._tools:
                raise ValueError(f"no tool has the name {call.name}")
            return call.result(str(self._tools[tool.name](**json.loads(call.arguments))))
        except Exception as error:  # The model is to read it, whatever it is.
            return call.result(json.dumps({"error": str(error)}))


def _columns(episodes: list[Episode]) -> dict[str, Any]:
    """What TRL reads. Of each episode the first segment, up to its last sampled token."""
    segments = [chat.one_sequence(episode.rollout)[0] for episode in episodes]
    has_logprobs = not all(math.isnan(one.logprobs[0]) for one in segments if one.response)
    return {
        "prompt_ids": [one.prompt for one in segments],
        "completion_ids": [one.response for one in segments],
        "env_mask": [one.loss_mask for one in segments],
        # TRL computes them, if there are none.
        "logprobs": [one.logprobs for one in segments] if has_logprobs else None,
        "steps": [episode.steps for episode in episodes],
    }


def sample_with_trainer(trainer: Any, prompts: list[list[int]]) -> list[Sampled]:
    """Samples with the trainer's vLLM if it has one, else with its model.

    The model's ``generate`` gives no log-probabilities. With a vLLM server and several processes
    all of them must ask it equally often, which episodes do not: run vLLM in the trainer
    (``vllm_mode="colocate"``) instead.
    """
    if trainer.use_vllm:
        _, tokens, logprobs, _ = trainer.vllm_generation.generate(prompts, None, 1)
        return [(ids, [first[0] for first in rows]) for ids, rows in zip(tokens, logprobs)]
    return _generated(trainer, prompts)


def _generated(trainer: Any, prompts: list[list[int]]) -> list[Sampled]:
    torch, models = needed("torch", "trl"), needed("trl.models", "trl")
    width = max(map(len, prompts))
    device = trainer.accelerator.device
    padded = [[_PADDING] * (width - len(prompt)) + prompt for prompt in prompts]
    mask = [[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts]
    unwrapped = models.unwrap_model_for_generation(trainer.model_wrapped, trainer.accelerator)
    with unwrapped as model, torch.no_grad():
        ids = model.generate(
            input_ids=torch.tensor(padded, device=device),
            attention_mask=torch.tensor(mask, device=device),
            generation_config=trainer.generation_config,
            eos_token_id=chat.STOPS,
            pad_token_id=_PADDING,
        )
    # Without the padding of a batch.
    return [(chat.up_to_stop(row), None) for row in ids[:, width:].tolist()]


def reward_said(
    kind: Literal["thought", "preamble", "answer", "call"],
    score: Callable[..., float],
) -> Callable[..., list[float]]:
    """A reward function for what was said on a channel, in all steps of an episode.

    Args:
        kind: Which messages: what :class:`openai_harmony.rollout.Said` has as ``kind``.
        score: Gets the list of their texts, and those columns of the row that it has arguments of.

    >>> brief = reward_said("thought", lambda texts: -len("".join(texts)) / 100)
    >>> correct = reward_said("answer", lambda texts, solution: float(texts[-1:] == [solution]))
    >>> correct(steps=[[], []], solution=["4", "5"])
    [0.0, 0.0]
    """
    names = list(inspect.signature(score).parameters)[1:]

    def reward(steps: list[list[Step]], **columns: Any) -> list[float]:
        rewards = []
        for index, episode in enumerate(steps):
            texts = [said.text for step in episode for said in step.said if said.kind == kind]
            rewards.append(score(texts, **{name: columns[name][index] for name in names}))
        return rewards

    # The name under which TRL logs it.
    reward.__name__ = f"{kind}_{getattr(score, '__name__', 'score')}".replace("<lambda>", "reward")
    return reward
