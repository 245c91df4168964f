"""Engines with OpenAI's completions, if they take token ids and give them back."""

from __future__ import annotations

from typing import Any

from openai_harmony.serve.engines.engine import EngineError, Sampled, SampleRequest
from openai_harmony.serve.engines.http import HttpEngine, ids
from openai_harmony.serve.engines.logprobs import of_completions, of_objects

REASONS: dict[str, Any] = {
    "stop": "stop",
    "length": "length",
    "abort": "abort",
    "error": "abort",
    "repetition": "stop",
}
"""Why the output ends, by the words of vLLM and those who follow it."""


class Completions(HttpEngine):
    """``POST /v1/completions`` with ``return_token_ids``, which vLLM and others know."""

    name = "completions"
    health = "/v1/models"

    def asked(self, request: SampleRequest) -> tuple[str, dict[str, Any]]:
        """The path and the body that ask for this."""
        sampling = dict(request.sampling)
        if "seed" in sampling:
            sampling["seed"] += request.index
        if request.logprobs is not None:
            sampling |= {"logprobs": request.logprobs, "return_tokens_as_token_ids": True}
        return "/v1/completions", {
            "model": self.model or "gpt-oss",
            "prompt": request.prompt,
            "max_tokens": request.max_tokens,
            "stop_token_ids": request.stop_token_ids,
            "return_token_ids": True,
            "skip_special_tokens": False,
            "stream": True,
            **sampling,
        }

    def read(self, event: dict[str, Any], seen: int) -> Sampled:
        """What an event says."""
        return sampled_choice(event)


def sampled_choice(event: dict[str, Any]) -> Sampled:
    """The tokens and the reason of an event's first choice."""
    choices = event.get("choices")
    if not isinstance(choices, list):
        raise EngineError("the engine sends events without choices")
    if not choices:  # the usage, behind the last token
        return Sampled([])
    choice = choices[0]
    if not isinstance(choice, dict):
        raise EngineError("the engine sends a choice that is not an object")
    if choice.get("text") and not choice.get("token_ids"):
        raise EngineError(
            "the engine sends text without token ids; its completions need `return_token_ids`"
        )
    reason = choice.get("finish_reason")
    ends = None if reason is None else REASONS.get(str(reason), "abort")
    tokens = ids(choice.get("token_ids"))
    found = choice.get("logprobs")
    if not isinstance(found, dict):
        return Sampled(tokens, ends)
    if "content" in found:  # of vLLM's `generate`
        return Sampled(tokens, ends, of_objects(tokens, found["content"], "token_id"))
    return Sampled(tokens, ends, of_completions(tokens, found))
