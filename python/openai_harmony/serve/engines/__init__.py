"""Engines: what samples, each in a small file; :func:`connect` makes one of a text."""

from __future__ import annotations

from urllib.parse import urlsplit

from openai_harmony._extras import needed
from openai_harmony.serve.engines.engine import Engine, EngineError, Sampled, SampleRequest
from openai_harmony.serve.engines.none import NoEngine
from openai_harmony.serve.engines.replay import Replay

__all__ = ["KINDS", "Engine", "EngineError", "SampleRequest", "Sampled", "connect"]

KINDS = {
    "auto": "URL: whichever answers there",
    "vllm": "URL",
    "sglang": "URL",
    "llama.cpp": "URL",
    "completions": "URL: OpenAI's completions with `return_token_ids`",
    "transformers": "a model's name or folder, in this process",
    "none": "tokens of the context, or nothing: rendering without an engine",
    "replay": 'a JSONL file of {"match": ..., "text": ...}, recorded output',
}
"""The kinds of engines, and what follows the ``=``."""


def connect(text: str, *, timeout: float = 600.0, key: str | None = None) -> Engine:
    """The engine that a text names; nothing is asked yet.

    Args:
        text: ``vllm=http://127.0.0.1:8001``, with any of :data:`KINDS`; a URL is ``auto=URL``.
        timeout: For engines reached by HTTP: the most seconds without a token.
        key: For engines reached by HTTP: an API key that they want.

    Raises:
        ValueError: A text that names no engine, or a file that has no records.
        EngineError: A model that cannot be loaded.
        OSError: A file that cannot be read.
    """
    kind, _, place = text.partition("=")
    if text.startswith(("http://", "https://")):
        kind, place = "auto", text
    if kind not in KINDS:
        place = f"a URL (http://{text})" if ":" in text else "a URL"
        known = ", ".join(KINDS)
        raise ValueError(
            f"engine: expected {place}, or KIND=… with KIND one of {known}; got {text!r}"
        )
    if kind == "none":
        return _none(place, text)
    if not place:
        raise ValueError(f"engine: {kind} needs a place after {kind}= ({KINDS[kind]})")
    if kind == "replay":
        return Replay(place)
    if kind == "transformers":
        from openai_harmony.serve.engines.transformers import Transformers

        return Transformers(place)
    if not _is_url(place):
        raise ValueError(f"engine: {kind} needs a URL, as http://127.0.0.1:8001, got {place!r}")
    needed("aiohttp", "serve")
    from openai_harmony.serve.engines.auto import Auto
    from openai_harmony.serve.engines.completions import Completions
    from openai_harmony.serve.engines.http import HttpEngine
    from openai_harmony.serve.engines.llama_cpp import LlamaCpp
    from openai_harmony.serve.engines.sglang import Sglang
    from openai_harmony.serve.engines.vllm import Vllm

    classes: dict[str, type[Auto | HttpEngine]] = {
        "auto": Auto,
        "vllm": Vllm,
        "sglang": Sglang,
        "llama.cpp": LlamaCpp,
    }
    return classes.get(kind, Completions)(place, timeout=timeout, key=key)


def _none(place: str, text: str) -> NoEngine:
    if not place:
        return NoEngine()
    if not place.isdecimal() or not 0 < int(place) < 2**31:
        raise ValueError(f"engine: none= needs the tokens of the context, got {text!r}")
    return NoEngine(int(place))


def _is_url(text: str) -> bool:
    try:
        url = urlsplit(text)
        return url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:  # no port, or brackets without an address
        return False
