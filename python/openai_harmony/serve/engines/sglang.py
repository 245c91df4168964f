"""SGLang: ``/generate`` with ``input_ids``."""

from __future__ import annotations

from typing import Any

from openai_harmony.serve.engines.engine import SampleRequest
from openai_harmony.serve.engines.http import HttpEngine


class Sglang(HttpEngine):
    """``POST /generate``."""

    name = "sglang"
    form = "sglang"
    constrains = True

    def asked(self, request: SampleRequest) -> tuple[str, dict[str, Any]]:
        """The path and the body that ask for this."""
        sampling = request.named(seed="sampling_seed")
        if "sampling_seed" in sampling:
            sampling["sampling_seed"] += request.index
        if not sampling.get("top_k"):
            sampling["top_k"] = -1  # zero is refused
        sampling["max_new_tokens"] = request.max_tokens
        given = request.passed_on
        sampling["stop_token_ids"] = [*request.stop_token_ids, *given.get("stop_token_ids", [])]
        if "min_tokens" in given:
            sampling["min_new_tokens"] = given["min_tokens"]
        if "ignore_eos" in given:
            sampling["ignore_eos"] = given["ignore_eos"]
        sampling["skip_special_tokens"] = False
        if request.grammar is not None:
            # Where the model's own end tokens are others, xgrammar ends the turn with one of those.
            sampling["structural_tag"] = request.grammar.written("xgrammar", request.stop_token_ids)
        asked = {"input_ids": request.prompt, "sampling_params": sampling, "stream": True}
        if request.logprobs is not None:
            asked |= {"return_logprob": True, "top_logprobs_num": request.logprobs}
        return "/generate", asked
