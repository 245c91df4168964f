"""Engines with OpenAI's completions, if they take token ids and give them back."""

from __future__ import annotations

from typing import Any

from openai_harmony.serve.engines.engine import SampleRequest
from openai_harmony.serve.engines.http import HttpEngine


class Completions(HttpEngine):
    """``POST /v1/completions`` with ``return_token_ids``, which vLLM and others know."""

    name = "completions"
    health = "/v1/models"
    scores_prompts = True

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
            "return_token_ids": True,
            "skip_special_tokens": False,
            "stream": not request.is_whole,
            **sampling,
            **request.passed_on,
            "stop_token_ids": [
                *request.stop_token_ids,
                *request.passed_on.get("stop_token_ids", []),
            ],
        }
