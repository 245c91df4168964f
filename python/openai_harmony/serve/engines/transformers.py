"""transformers in this process: for a laptop, and for trying things out."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from importlib.util import find_spec
from typing import Any

from openai_harmony._extras import needed
from openai_harmony.errors import HarmonyError
from openai_harmony.interop.reply import TokenLogprob
from openai_harmony.serve.engines.engine import CONTEXT, EngineError, Sampled, SampleRequest


class Transformers:
    """Generates with ``AutoModelForCausalLM``, one request after the other.

    For many users at a time there are the engines reached by HTTP; this one needs nothing but the
    weights.
    """

    name = "transformers"

    def __init__(self, model: str) -> None:
        """Loads a model, by its name on the hub or its folder, with `torch` and `transformers`.

        ``EngineError`` if it cannot be loaded.
        """
        self._torch = needed("torch", "transformers")
        transformers = needed("transformers", "transformers")
        self.address = model
        self.model: str | None = model.rstrip("/").rpartition("/")[2]
        try:
            self._model: Any = transformers.AutoModelForCausalLM.from_pretrained(
                model, dtype="auto", device_map="auto" if self._torch.cuda.is_available() else None
            )
        except (OSError, ValueError, ImportError) as error:
            raise EngineError(f"transformers cannot load {model}: {error}", 503) from error
        self.context = getattr(self._model.config, "max_position_embeddings", CONTEXT)
        self.constrains = find_spec("llguidance") is not None
        self._one = asyncio.Lock()

    async def check(self) -> None:
        """The model is loaded, or there would be no engine."""

    async def aclose(self) -> None:
        """Lets the model go."""
        self._model = None

    async def sample(self, request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        """Generates in a thread, which ends at the next token if the generator is closed."""
        async with self._one:
            loop = asyncio.get_running_loop()
            sampled: asyncio.Queue[Sampled | BaseException] = asyncio.Queue()
            stopped = threading.Event()

            def give(found: Sampled | BaseException) -> None:
                loop.call_soon_threadsafe(sampled.put_nowait, found)

            thread = asyncio.ensure_future(
                asyncio.to_thread(self._generate, request, stopped, give)
            )
            try:
                while True:
                    found = await sampled.get()
                    if isinstance(found, (EngineError, HarmonyError)):  # what the request asks
                        raise found
                    if isinstance(found, BaseException):
                        raise EngineError(f"transformers failed: {found!r}") from found
                    yield found
                    if found.reason is not None:
                        return
            finally:
                stopped.set()
                await asyncio.shield(thread)

    def _generate(self, request: SampleRequest, stopped: threading.Event, give: Any) -> None:
        torch, model = self._torch, self._model
        count = 0
        watched = None if request.logprobs is None else _Watched(torch, request.logprobs)

        def seen(ids: Any, scores: Any, **_: Any) -> Any:
            """Called after each token, with all so far; says whether to stop."""
            nonlocal count
            count += 1
            token = int(ids[0, -1])
            give(Sampled([token], None, None if watched is None else [watched.of(token)]))
            ends = stopped.is_set() or token in request.stop_token_ids
            return torch.full((ids.shape[0],), ends, dtype=torch.bool, device=ids.device)

        try:
            sampling = _options(request)
            if "seed" in request.sampling:
                torch.manual_seed(request.sampling["seed"] + request.index)
            prompt = torch.tensor([request.prompt], device=model.device)
            with torch.inference_mode():
                model.generate(
                    prompt,
                    attention_mask=torch.ones_like(prompt),
                    max_new_tokens=request.max_tokens,
                    eos_token_id=request.stop_token_ids,
                    pad_token_id=request.stop_token_ids[0],
                    stopping_criteria=[seen],
                    logits_processor=[*([watched] if watched else []), *self._processors(request)],
                    **sampling,
                )
            give(Sampled([], "length" if count >= request.max_tokens else "stop"))
        except Exception as error:  # whatever it is, it must reach the request
            give(error)

    def _processors(self, request: SampleRequest) -> list[Any]:
        """What keeps the output to the request's grammar."""
        if request.grammar is None or not self.constrains:
            return []
        from openai_harmony.serve.engines.guidance import Guidance

        size = len(request.prompt)
        return [request.grammar.compiled("lark", lambda text: Guidance(text, size))]


class _Watched:
    """A processor of logits that keeps those of the next token, and changes none."""

    def __init__(self, torch: Any, likely: int) -> None:
        self._torch, self._likely = torch, likely
        self._logprobs: Any = None

    def __call__(self, ids: Any, scores: Any) -> Any:
        self._logprobs = self._torch.log_softmax(scores[0].float(), dim=-1)
        return scores

    def of(self, token: int) -> TokenLogprob:
        """The log-probability of the token that was sampled, and those of the most likely ones."""
        top = self._logprobs.topk(self._likely)
        likely = dict(zip(top.indices.tolist(), top.values.tolist()))
        return TokenLogprob(float(self._logprobs[token]), likely)


def _options(request: SampleRequest) -> dict[str, Any]:
    """The sampling in the words of ``generate``."""
    sampling = dict(request.sampling)
    found: dict[str, Any] = {"do_sample": sampling.get("temperature", 1.0) > 0}
    if found["do_sample"]:
        found["temperature"] = float(sampling.get("temperature", 1.0))
        found["top_p"] = float(sampling.get("top_p", 1.0))
        found["top_k"] = sampling.get("top_k", 0)
        found["min_p"] = sampling.get("min_p") or None
    if "repetition_penalty" in sampling:
        found["repetition_penalty"] = float(sampling["repetition_penalty"])
    if sampling.get("logit_bias"):
        found["sequence_bias"] = [[[token], bias] for token, bias in sampling["logit_bias"].items()]
    refused = [name for name in ("presence_penalty", "frequency_penalty") if sampling.get(name)]
    if refused:
        raise EngineError(f"{refused[0]}: transformers has no such option", 400)
    return found
