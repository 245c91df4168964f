"""llama.cpp's server: ``/completion``."""

from __future__ import annotations

from typing import Any

from openai_harmony.encoding import HarmonyEncodingName, load_harmony_encoding
from openai_harmony.grammar import TurnGrammar
from openai_harmony.serve.engines.engine import EngineError, Sampled, SampleRequest
from openai_harmony.serve.engines.http import HttpEngine, ids
from openai_harmony.serve.engines.logprobs import of_objects


class LlamaCpp(HttpEngine):
    """``POST /completion`` with ``return_tokens``.

    It stops at the model's own end tokens, which for gpt-oss are ``<|return|>`` and ``<|call|>``.
    """

    name = "llama.cpp"
    constrains = True

    def asked(self, request: SampleRequest) -> tuple[str, dict[str, Any]]:
        """The path and the body that ask for this."""
        sampling = request.named(repetition_penalty="repeat_penalty")
        sampling.setdefault("repeat_penalty", 1.0)
        if "seed" in sampling:
            sampling["seed"] += request.index
        if "logit_bias" in sampling:
            sampling["logit_bias"] = [list(pair) for pair in sampling["logit_bias"].items()]
        if request.logprobs is not None:
            sampling["n_probs"] = max(request.logprobs, 1)  # zero is none at all
        if request.grammar is not None:
            sampling["grammar"] = request.grammar.written(TurnGrammar.to_gbnf)
        return "/completion", {
            "prompt": request.prompt,
            "n_predict": request.max_tokens,
            "cache_prompt": True,
            "return_tokens": True,
            "stream": True,
            **sampling,
        }

    def read(self, event: dict[str, Any], seen: int) -> Sampled:
        """What an event says.

        While a character is not whole, the server sends nothing, and then only the last of its
        tokens. ``tokens_predicted`` shows it; the text of the event has the whole character, so
        its tokens are encoded anew.
        """
        tokens = ids(event.get("tokens"))
        counted = event.get("tokens_predicted")
        missing = counted - seen - len(tokens) if type(counted) is int else 0
        text = event.get("content")
        if missing > 0 and tokens and isinstance(text, str) and text:
            encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
            tokens = encoding.encode_ordinary(text)
        elif text and not tokens:
            raise EngineError("the engine sends text without tokens; is it llama.cpp's server?")
        found, logprobs = event.get("completion_probabilities"), None
        # Of a character's other tokens the server gives none.
        if isinstance(found, list) and len(found) == len(tokens):
            logprobs = of_objects(tokens, found, "id")
        if not event.get("stop"):
            return Sampled(tokens, None, logprobs)
        return Sampled(tokens, "length" if event.get("stop_type") == "limit" else "stop", logprobs)

    def counted(self, event: dict[str, Any], here: int) -> int:
        """As the server counts, since tokens that were encoded anew may be more or fewer."""
        found = event.get("tokens_predicted")
        return found if type(found) is int else here

    async def _learn(self) -> None:
        await super()._learn()
        _, found = await self._get("/props")
        settings = found.get("default_generation_settings") if isinstance(found, dict) else None
        context = settings.get("n_ctx") if isinstance(settings, dict) else None
        self.context = context if type(context) is int and context > 0 else self.context
