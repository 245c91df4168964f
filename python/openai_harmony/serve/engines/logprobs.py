"""Log-probabilities of sampled tokens, in the forms of the engines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from openai_harmony.interop.reply import TokenLogprob
from openai_harmony.serve.engines.engine import EngineError, Logprobs


def of_objects(tokens: list[int], found: Any, id_name: str) -> Logprobs:
    """Objects with ``logprob`` and ``top_logprobs``, whose token ids have this name.

    ``EngineError`` unless there is one for each token; likewise of the others.
    """

    def pairs(entries: Any) -> Iterator[tuple[Any, Any]]:
        for entry in _list(entries):
            if isinstance(entry, dict):
                yield entry.get(id_name), entry.get("logprob")

    def of_object(entry: Any) -> TokenLogprob | None:
        if not isinstance(entry, dict):
            return None
        return _logprob(entry.get("logprob"), pairs(entry.get("top_logprobs")))

    return _for_tokens(tokens, map(of_object, _list(found)))


def of_completions(tokens: list[int], found: dict[str, Any]) -> Logprobs:
    """The lists of OpenAI's completions, where alternatives are named ``token_id:5``."""
    logprobs, tops = _list(found.get("token_logprobs")), _list(found.get("top_logprobs"))

    def pairs(top: Any) -> Iterator[tuple[Any, Any]]:
        for name, logprob in (top if isinstance(top, dict) else {}).items():
            digits = name.removeprefix("token_id:")
            if digits != name and digits.isdecimal():
                yield int(digits), logprob

    tops += [None] * (len(logprobs) - len(tops))
    return _for_tokens(tokens, (_logprob(one, pairs(top)) for one, top in zip(logprobs, tops)))


def of_lists(tokens: list[int], found: Any, tops: Any) -> Logprobs:
    """SGLang's ``[logprob, token id, text]``, of which the last are those of the tokens."""

    def pairs(entries: Any) -> Iterator[tuple[Any, Any]]:
        for entry in _list(entries):
            if isinstance(entry, list) and len(entry) > 1:
                yield entry[1], entry[0]

    count = len(tokens)
    logprobs, likely = _list(found)[-count:] if count else [], _list(tops)[-count:]
    likely += [None] * (len(logprobs) - len(likely))
    return _for_tokens(
        tokens,
        (
            _logprob(entry[0] if isinstance(entry, list) and entry else None, pairs(top))
            for entry, top in zip(logprobs, likely)
        ),
    )


def _logprob(logprob: Any, top: Iterable[tuple[Any, Any]]) -> TokenLogprob | None:
    if not _is_number(logprob):
        return None
    likely = {
        token: float(one)
        for token, one in top
        if type(token) is int and 0 <= token < 2**32 and _is_number(one)
    }
    return TokenLogprob(float(logprob), likely)


def _for_tokens(tokens: list[int], logprobs: Iterable[TokenLogprob | None]) -> Logprobs:
    found = list(logprobs)
    if len(found) != len(tokens):
        raise EngineError(
            f"the engine sends {len(found)} log-probabilities for {len(tokens)} tokens"
        )
    return found


def _is_number(found: Any) -> bool:
    return isinstance(found, (int, float)) and not math.isnan(found) and found != math.inf


def _list(found: Any) -> list[Any]:
    return list(found) if isinstance(found, list) else []
