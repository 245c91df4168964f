"""llama.cpp's server: ``/completion``."""

from __future__ import annotations

from typing import Any

from openai_harmony.serve.engines.engine import SampleRequest
from openai_harmony.serve.engines.http import HttpEngine


class LlamaCpp(HttpEngine):
    """``POST /completion`` with ``return_tokens``.

    It stops at the model's own end tokens, which for gpt-oss are ``<|return|>`` and ``<|call|>``.
    """

    name = "llama.cpp"
    form = "llama.cpp"
    constrains = True
    reuses = False
    """Each open connection takes one of its few threads, idle ones, too."""

    def asked(self, request: SampleRequest) -> tuple[str, dict[str, Any]]:
        """The path and the body that ask for this."""
        sampling = request.named(repetition_penalty="repeat_penalty")
        sampling.setdefault("repeat_penalty", 1.0)
        if "seed" in sampling:
            sampling["seed"] += request.index
        if "logit_bias" in sampling:
            sampling["logit_bias"] = [list(pair) for pair in sampling["logit_bias"].items()]
        if request.logprobs is not None:
            sampling["n_probs"] = max(request.logprobs, 1)  # zero turns it off
        if request.grammar is not None:
            sampling["grammar"] = request.grammar.written("gbnf")
        return "/completion", {
            "prompt": request.prompt,
            "n_predict": request.max_tokens,
            "cache_prompt": True,
            "return_tokens": True,
            "stream": True,
            **sampling,
        }

    async def _learn(self) -> None:
        await super()._learn()
        _, found = await self._get("/props")
        settings = found.get("default_generation_settings") if isinstance(found, dict) else None
        self._take_context(settings.get("n_ctx") if isinstance(settings, dict) else None)
