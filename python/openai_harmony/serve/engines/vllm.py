"""vLLM: tokens in and tokens out without text, or its completions where that is switched off."""

from __future__ import annotations

import logging
from typing import Any

from openai_harmony.serve.engines.completions import Completions
from openai_harmony.serve.engines.engine import REQUEST_FIELDS, EngineError, SampleRequest
from openai_harmony.serve.engines.http import HttpEngine

GENERATE = "/inference/v1/generate"
"""vLLM 0.33 has it if it is started with ``--enable-scale-out``."""
_NO_SUCH_WAY = (404, 405, 500, 501)
_LOG = logging.getLogger("openai_harmony.serve")


_OF_COMPLETIONS = (
    "model",
    "prompt",
    "stream",
    "return_token_ids",
    "return_tokens_as_token_ids",
    "skip_special_tokens",
)


class Vllm(Completions):
    """``POST /inference/v1/generate``, else ``POST /v1/completions``."""

    name = "vllm"
    health = "/health"
    constrains = True
    generates: bool | None = None
    """Whether it takes ``generate``; ``None`` before it was asked."""

    async def check(self) -> None:
        """Asks ``/health``, for the model, and which of the two ways there is."""
        await HttpEngine.check(self)
        _, described = await self._get("/openapi.json")
        paths = described.get("paths") if isinstance(described, dict) else None
        generates = isinstance(paths, dict) and GENERATE in paths
        if not generates and self.generates is not False:
            self._fall_back("it is not in its description; start vLLM with --enable-scale-out")
        self.generates = generates

    def _fall_back(self, reason: object) -> None:
        _LOG.warning("vLLM does not take %s, so /v1/completions is used: %s", GENERATE, reason)
        self.generates = False

    def _avoids(self, path: str, status: int, error: EngineError) -> bool:
        """Whether completions are asked from now on: versions without streams of ``generate``.

        What is wrong with one request says nothing of the others.
        """
        if path != GENERATE or status not in _NO_SUCH_WAY:
            return False
        if self.generates:  # another request may have found out as well
            self._fall_back(error)
        return True

    def asked(self, request: SampleRequest) -> tuple[str, dict[str, Any]]:
        """The path and the body that ask for this."""
        path, body = super().asked(request)
        if request.grammar is not None:
            tag = request.grammar.written("xgrammar", request.stop_token_ids)
            body["structured_outputs"] = {"structural_tag": tag}
        if not self.generates:
            return path, body
        for name in _OF_COMPLETIONS:
            body.pop(name, None)
        asked: dict[str, Any] = {"token_ids": request.prompt, "model": self.model}
        asked["stream"] = not request.is_whole
        asked |= {name: body.pop(name) for name in REQUEST_FIELDS if name in body}
        # Text is made only for the prompt's log-probabilities.
        makes_text = "prompt_logprobs" in body
        return GENERATE, {**asked, "sampling_params": {**body, "detokenize": makes_text}}
