"""Bodies that the engine answers itself, of completions or of tokens, within the limits."""

from __future__ import annotations

from openai_harmony.interop import Body
from openai_harmony.serve.refusals import RefusedError
from openai_harmony.serve.settings import Settings


def limited(body: Body, settings: Settings) -> bytes:
    """The JSON to pass on. ``RefusedError`` if it asks for too many answers."""
    if (sampling := body.json("sampling_params")) is not None and sampling.startswith(b"{"):
        inner = limited(Body(sampling), settings)
        return body.with_member("sampling_params", inner).json() or b""
    for name in ("n", "best_of"):
        asked = _count(body, name)
        if asked is not None and asked > settings.max_answers:
            text = f"{name}: {asked} answers, of which this server gives {settings.max_answers}"
            raise RefusedError(text, path=name)
    tokens = _count(body, "max_tokens")
    if tokens is not None and tokens > settings.max_output_tokens:
        body = body.with_member("max_tokens", b"%d" % settings.max_output_tokens)
    return body.json() or b""


def _count(body: Body, name: str) -> int | None:
    digits = (body.json(name) or b"").decode()
    # Whatever else it is, the engine says what is wrong with it.
    return int(digits) if digits.isdecimal() and len(digits) < 20 else None
