"""SGLang: ``/generate`` with ``input_ids``."""

from __future__ import annotations

from typing import Any

from openai_harmony.serve.engines.engine import EngineError, Sampled, SampleRequest
from openai_harmony.serve.engines.http import HttpEngine, ids
from openai_harmony.serve.engines.logprobs import of_lists

_REASONS: dict[str, Any] = {"stop": "stop", "length": "length", "abort": "abort"}


class Sglang(HttpEngine):
    """``POST /generate``."""

    name = "sglang"
    constrains = True

    def asked(self, request: SampleRequest) -> tuple[str, dict[str, Any]]:
        """The path and the body that ask for this."""
        sampling = request.named(seed="sampling_seed")
        if "sampling_seed" in sampling:
            sampling["sampling_seed"] += request.index
        if not sampling.get("top_k"):
            sampling["top_k"] = -1  # zero is refused
        if "logit_bias" in sampling:
            sampling["logit_bias"] = {
                str(token): bias for token, bias in sampling["logit_bias"].items()
            }
        sampling["max_new_tokens"] = request.max_tokens
        sampling["stop_token_ids"] = request.stop_token_ids
        sampling["skip_special_tokens"] = False
        if request.grammar is not None:
            # Where the model's own end tokens are others, xgrammar ends the turn with one of those.
            sampling["structural_tag"] = request.grammar.written(
                lambda made: made.to_xgrammar(request.stop_token_ids)
            )
        asked = {"input_ids": request.prompt, "sampling_params": sampling, "stream": True}
        if request.logprobs is not None:
            asked |= {"return_logprob": True, "top_logprobs_num": request.logprobs}
        return "/generate", asked

    def read(self, event: dict[str, Any], seen: int) -> Sampled:
        """What an event says.

        By version and options ``output_ids`` are those of all events so far or of this one alone;
        ``completion_tokens`` counts those of all.
        """
        about = event.get("meta_info")
        if not isinstance(about, dict) or type(about.get("completion_tokens")) is not int:
            raise EngineError("the engine sends events without `meta_info`")
        tokens = ids(event.get("output_ids"))
        new = about["completion_tokens"] - seen
        if not 0 <= new <= len(tokens):
            raise EngineError(f"the engine sends {len(tokens)} token ids where {new} are new")
        ends = about.get("finish_reason")
        if isinstance(ends, dict):
            if ends.get("type") == "abort" and ends.get("message"):
                status = ends.get("status_code")
                raise EngineError(
                    f"the engine says: {ends['message']}", 400 if status == 400 else 502
                )
            ends = ends.get("type")
        reason = None if ends is None else _REASONS.get(str(ends), "abort")
        tokens = tokens[len(tokens) - new :]
        found = about.get("output_token_logprobs")
        if found is None:
            return Sampled(tokens, reason)
        return Sampled(tokens, reason, of_lists(tokens, found, about.get("output_top_logprobs")))
