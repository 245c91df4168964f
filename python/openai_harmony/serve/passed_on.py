"""Bodies that the engine answers itself, of completions or of tokens, within the limits."""

from __future__ import annotations

from openai_harmony.interop import Body
from openai_harmony.serve.refusals import RefusedError
from openai_harmony.serve.settings import Settings


def limited(body: Body, settings: Settings) -> bytes:
    """The JSON to pass on.

    ``RefusedError`` if it asks for too many answers, or writes a number so that it would not be
    limited: engines take ``1e6``, ``"1000000"`` and, for no limit, ``-1``.
    """
    if (sampling := body.json("sampling_params")) is not None and sampling.startswith(b"{"):
        inner = limited(Body(sampling), settings)
        return body.with_member("sampling_params", inner).json() or b""
    for name in ("n", "best_of"):
        asked = _count(body, name)
        if asked > settings.max_answers:
            text = f"{name}: {asked} answers, of which this server gives {settings.max_answers}"
            raise RefusedError(text, path=name)
    if _count(body, "max_tokens") > settings.max_output_tokens:
        body = body.with_member("max_tokens", b"%d" % settings.max_output_tokens)
    return body.json() or b""


def _count(body: Body, name: str) -> int:
    """A field's number; 0 if it has none."""
    digits = body.json(name) or b"null"
    if digits == b"null":
        return 0
    if not digits.isdigit():
        raise RefusedError(f"{name}: expected an integer of at least 0", path=name)
    return int(digits)
