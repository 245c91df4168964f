"""Bodies that the engine answers itself, of completions or of tokens, within the limits."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Any

from openai_harmony.encoding import HarmonyEncoding
from openai_harmony.interop import Body
from openai_harmony.serve.engine_fields import refuse_untrusted
from openai_harmony.serve.refusals import RefusedError

ABORT = "/inference/v1/abort_requests"
GENERATE = "/inference/v1/generate"
_MAX_TOKENS = 16
"""How many tokens the API of completions samples, if the body does not say."""


@dataclass(frozen=True, slots=True)
class Passed:
    """The rules for a body that is passed on."""

    tokens: int
    """How many tokens an answer may have."""
    answers: int
    context: int
    is_trusted: bool
    prefix: str = ""
    """What the ids of a key's requests begin with; empty where all are one client's."""

    def of(self, path: str, body: Body, encoding: HarmonyEncoding) -> bytes:
        """The JSON to pass on.

        ``RefusedError`` for too many answers, for what only trusted clients may say, and for a
        number that is written so that it would not be limited: engines take ``1e6``,
        ``"1000000"`` and, for no limit, ``-1``.
        """
        found: dict[str, Any] = json.loads(body.json() or b"{}")
        if path == ABORT:
            found["request_ids"] = [self._own(one) for one in _texts(found, "request_ids")]
            return json.dumps(found).encode()
        if not self.is_trusted:
            refuse_untrusted(found)
        if path == GENERATE:
            sampling = found.setdefault("sampling_params", {})
            if not isinstance(sampling, dict):
                raise RefusedError("sampling_params: expected an object", path="sampling_params")
            if not self.is_trusted:
                refuse_untrusted(sampling)
            self._limit(sampling, [found.get("token_ids")], encoding)
            if self.prefix:
                identity = found.get("request_id") or secrets.token_hex(8)
                found["request_id"] = self._own(str(identity))
        else:
            prompt: Any = found.get("prompt")
            is_one = not isinstance(prompt, list) or all(type(one) is int for one in prompt)
            found.setdefault("max_tokens", min(_MAX_TOKENS, self.tokens))
            self._limit(found, [prompt] if is_one else prompt, encoding)
        return json.dumps(found).encode()

    def _limit(self, sampling: dict[str, Any], prompts: list[Any], encoding: Any) -> None:
        """Limits what is sampled after these prompts, each of which is a text or tokens."""
        each = max(1, *(_count(sampling, name) for name in ("n", "best_of")))
        if (asked := each * len(prompts)) > self.answers:
            text = f"n: {asked} answers, of which this server gives {self.answers}"
            raise RefusedError(text, path="n")
        most = self.tokens
        if sampling.get("max_tokens") is not None:
            most = min(_count(sampling, "max_tokens"), most)
        else:
            # Engines refuse a limit that does not fit.
            given = (encoding.encode(one) if isinstance(one, str) else one for one in prompts)
            longest = max((len(one) for one in given if isinstance(one, list)), default=0)
            most = max(1, min(most, self.context - longest))
        sampling["max_tokens"] = most

    def _own(self, identity: str) -> str:
        return identity if identity.startswith(self.prefix) else self.prefix + identity


def _count(sampling: dict[str, Any], name: str) -> int:
    found = sampling.get(name)
    if found is None:
        return 0
    if type(found) is not int or found < 0:
        raise RefusedError(f"{name}: expected an integer of at least 0", path=name)
    return found


def _texts(body: dict[str, Any], name: str) -> list[str]:
    found = body.get(name)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise RefusedError(f"{name}: expected a list of texts", path=name)
    return found
