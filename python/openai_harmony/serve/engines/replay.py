"""Recorded output: for tests, demonstrations, and to try a client without a model."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from openai_harmony.encoding import HarmonyEncodingName, load_harmony_encoding
from openai_harmony.interop.reply import TokenLogprob
from openai_harmony.serve.engines.engine import (
    CONTEXT,
    EngineError,
    Logprobs,
    Sampled,
    SampleRequest,
)

_DEFAULTS = {"match": None, "text": None, "delay": 0, "size": 3, "logprob": None}
"""The fields of a record, and what they are where it does not say."""


class Replay:
    """Says the ``text`` of the first record whose ``match`` is in the prompt.

    The prompt is searched as text with its markers spelled; if it begins a message that the record
    has, what follows that beginning is said. Of several answers to one prompt, each
    says the next record that matches. A record's ``delay`` is in seconds, before each piece;
    ``size`` is how many tokens a piece has; ``logprob`` is that of every token, for clients that
    ask for log-probabilities.
    """

    name = "replay"
    constrains = False

    def __init__(self, file: str | Path) -> None:
        """Reads a JSONL file of ``{"match": "...", "text": "..."}``.

        ``ValueError`` for a line that is no record, ``OSError`` if it cannot be read.
        """
        self.address = str(file)
        self.model: str | None = "gpt-oss-20b"
        self.context = CONTEXT
        self._encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
        try:
            lines = Path(file).read_text(encoding="utf-8-sig").split("\n")
        except UnicodeDecodeError:
            raise ValueError(f"{file}: not text in UTF-8") from None
        self._records = [
            _record(file, at, line) for at, line in enumerate(lines, 1) if line.strip()
        ]
        if not self._records:
            raise ValueError(f"{file}: no record")

    async def check(self) -> None:
        """Nothing can be wrong with it."""

    async def aclose(self) -> None:
        """Nothing is open."""

    async def sample(self, request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        """Says what was recorded."""
        text = self._encoding.decode(request.prompt)
        found = [record for record in self._records if record["match"] in text]
        if not found:
            raise EngineError("no record matches the prompt", 503)
        record = found[request.index % len(found)]
        tokens = self._encoding.encode(_left(record["text"], text), allowed_special="all")
        size, limit = record["size"], request.max_tokens
        logprob = record["logprob"] if request.logprobs is not None else None
        for start in range(0, min(limit, len(tokens)), size):
            await asyncio.sleep(record["delay"])
            piece = tokens[start : min(start + size, limit)]
            given: Logprobs | None = None
            if logprob is not None:
                given = [TokenLogprob(logprob, {token: logprob}) for token in piece]
            yield Sampled(piece, None, given)
        yield Sampled([], "length" if limit < len(tokens) else "stop")


def _left(recorded: str, prompt: str) -> str:
    """What is left of a record after what the prompt has begun: a named tool's call, an answer."""
    begun = prompt.rpartition("<|start|>assistant")[2]
    return recorded.rpartition(begun)[2] if begun else recorded


def _record(file: str | Path, at: int, line: str) -> dict[str, Any]:
    where = f"{file}, line {at}"
    try:
        record = json.loads(line)
    except ValueError as error:
        raise ValueError(f"{where}: not JSON: {error}") from None
    given = record if isinstance(record, dict) else {}
    if others := given.keys() - _DEFAULTS:
        known = ", ".join(_DEFAULTS)
        raise ValueError(f"{where}: {min(others)}: unknown field (known: {known})")
    made: dict[str, Any] = {**_DEFAULTS, **given}
    if not all(isinstance(made[name], str) for name in ("match", "text")):
        raise ValueError(f"{where}: expected an object with the texts `match` and `text`")
    if type(made["size"]) is not int or made["size"] < 1:
        raise ValueError(f"{where}: size: expected a whole number from 1 on")
    if not _is_number(made["delay"]) or made["delay"] < 0:
        raise ValueError(f"{where}: delay: expected a number of seconds")
    if "logprob" in given and (not _is_number(made["logprob"]) or made["logprob"] > 0):
        raise ValueError(f"{where}: logprob: expected a number of at most 0")
    return made


def _is_number(found: Any) -> bool:
    return type(found) in (int, float) and math.isfinite(found)
