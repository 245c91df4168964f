"""An engine behind a network: what it samples, and what goes wrong on the way."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from typing import Any

from gateways import ENCODING, tokens
from openai_harmony.serve.engines.client import ClientError

KINDS = ("vllm", "sglang", "llama.cpp")
FAULTS = (
    "unreachable",
    "busy",
    "refused",
    "down",
    "reset",
    "end of file",
    "not json",
    "error event",
    "abort",
    "bad ids",
    "silence",
)
"""What ends an output early; the first four before it begins."""
ODDITIES = ("none", "no reason", "two stops", "text behind the end")
"""What does not: the stop token is there."""
WORDS = ("rain", "sun", "wind", " 🙂", "\n", '"', "\\", "<|end|>", "ß", "data: [DONE]", " the")


@dataclass
class Plan:
    """What the engine says to a prompt."""

    marker: str
    """Names the client, and stands in every text."""
    texts: tuple[str, str]
    """A thought, which may be empty, and the answer."""
    fault: str | None
    at: float
    """Where the fault is, as a part of the output."""
    oddity: str = "none"
    gap: float = 0.0
    """Seconds between events."""
    sampled: list[int] = field(default_factory=list)

    @classmethod
    def random(cls, chance: random.Random, marker: str, faults: float) -> Plan:
        def words() -> str:
            return "".join(chance.choice(WORDS) for _ in range(chance.randint(0, 25)))

        thought = f"{marker} thinks{words()}" if chance.random() < 0.4 else ""
        answer = f"{marker}{words()}"
        fault = chance.choice(FAULTS) if chance.random() < faults else None
        made = cls(marker, (thought, answer), fault, chance.random())
        made.oddity = chance.choice(ODDITIES)
        made.gap = chance.choice((0.0, 0.001, 0.2, 3.0))
        made.sampled = made._tokens()
        return made

    def _tokens(self) -> list[int]:
        thought, answer = self.texts
        found: list[int] = []
        if thought:
            found += tokens("<|channel|>analysis<|message|>") + ENCODING.encode_ordinary(thought)
            found += tokens("<|end|><|start|>assistant")
        found += tokens("<|channel|>final<|message|>") + ENCODING.encode_ordinary(answer)
        return [*found, 200_002]


class SimulatedClient:
    """The network to the engine, in place of ``engines.client.Client``."""

    def __init__(self, kind: str, chance: random.Random, timeout: float) -> None:
        self._kind, self._chance, self._timeout = kind, chance, timeout
        self.plans: dict[str, Plan] = {}
        self.open = 0
        """How many requests are under way."""

    async def get(self, path: str) -> tuple[int, Any]:
        await asyncio.sleep(self._chance.choice((0.0, 0.01)))
        if path == "/v1/models":
            return 200, {"data": [{"id": "gpt-oss", "max_model_len": 131_072}]}
        if path == "/openapi.json":
            return 200, {"paths": {}}
        return 200, {}

    async def aclose(self) -> None:
        assert self.open == 0, "requests to the engine are left"

    async def post(self, path: str, body: bytes, headers: dict[str, str]) -> SimulatedResponse:
        asked = json.loads(body)
        prompt = ENCODING.decode(asked.get("prompt") or asked["input_ids"])
        plan = next(plan for marker, plan in self.plans.items() if f"Say {marker}" in prompt)
        if prompt.endswith("<|channel|>final<|message|>"):  # a thought was ended
            plan = replace(plan, sampled=[*ENCODING.encode_ordinary(plan.texts[1]), 200_002])
        most = asked.get("max_tokens") or asked.get("n_predict")
        most = most or asked["sampling_params"]["max_new_tokens"]
        self.open += 1
        try:
            await asyncio.sleep(self._chance.choice((0.0, 0.05, 1.0)))
            if plan.fault == "unreachable":
                raise ClientError("cannot be reached: refused", 503)
        except BaseException:
            self.closed()
            raise
        return SimulatedResponse(self, self._kind, plan, most, self._chance, self._timeout)

    def closed(self) -> None:
        """A request is not under way any more."""
        self.open -= 1


class SimulatedResponse:
    """An answer of the engine."""

    content_type = "text/event-stream"
    retry_after = 3

    def __init__(
        self,
        client: SimulatedClient,
        kind: str,
        plan: Plan,
        most: int,
        chance: random.Random,
        timeout: float,
    ) -> None:
        self._client, self._kind, self._plan, self._most = client, kind, plan, most
        self._chance, self._timeout = chance, timeout
        self.status = {"busy": 429, "refused": 400, "down": 503}.get(plan.fault or "", 200)
        self.parts = self._cut()

    async def beginning(self) -> bytes:
        return b'{"error": {"message": "said the engine"}}'

    async def read(self) -> bytes:
        return await anext(self.parts, b"")

    async def aclose(self, *, has_ended: bool = False) -> None:
        self._client.closed()
        await self.parts.aclose()

    async def _cut(self) -> AsyncGenerator[bytes, None]:
        """The bytes, cut anywhere, with pauses, up to the fault."""
        raw, fault = self._raw(), self._plan.fault
        if fault in ("reset", "end of file", "silence"):
            raw = raw[: int(self._plan.at * len(raw))]
        whole = self._chance.random() < 0.5
        while raw:
            size = len(raw) if whole else self._chance.choice((1, 7, 100, 1000))
            part, raw = raw[:size], raw[size:]
            await asyncio.sleep(self._plan.gap if self._chance.random() < 0.2 else 0)
            yield part
        if fault == "silence":
            await asyncio.sleep(self._timeout)
            raise ClientError("is too slow: no answer in time", 504)
        if fault == "reset":
            raise ClientError("closed the connection", 502)

    def _raw(self) -> bytes:
        sampled = self._plan.sampled[: self._most]
        events, count, left = [], 0, sampled
        while left:
            size = self._chance.randint(1, 4)
            part, left = left[:size], left[size:]
            count += len(part)
            ends = not left and self._plan.oddity != "no reason"
            events.append(self._event(part, count, ends, len(sampled) == self._most))
        if self._plan.oddity == "two stops":
            events.append(self._event([200_002, 200_012], count + 2, True, False))
        if self._plan.oddity == "text behind the end":
            events.append(self._event(tokens("another's text"), count + 3, False, False))
        if (event := self._bad_event()) is not None:
            del events[int(self._plan.at * (len(events) - 1)) :]
            events.append(event)
        return b"".join(b"data: %b\n\n" % event for event in events) + b"data: [DONE]\n\n"

    def _bad_event(self) -> bytes | None:
        if self._plan.fault == "not json":
            return b"Internal Server Error"
        if self._plan.fault == "error event":
            return b'{"error": {"message": "said the engine", "code": 500}}'
        if self._plan.fault == "bad ids":
            return self._event([-1], 1, False, False)
        if self._plan.fault != "abort":
            return None
        if self._kind == "sglang":
            about = {"completion_tokens": 0, "finish_reason": {"type": "abort", "message": "gone"}}
            return json.dumps({"output_ids": [], "meta_info": about}).encode()
        if self._kind == "llama.cpp":
            return b'{"error": "slot unavailable"}'
        return b'{"choices": [{"token_ids": [], "finish_reason": "abort"}]}'

    def _event(self, part: list[int], count: int, ends: bool, limit: bool) -> bytes:
        reason = ("length" if limit else "stop") if ends else None
        event: dict[str, Any]
        if self._kind == "sglang":
            about = {"completion_tokens": count, "finish_reason": reason and {"type": reason}}
            event = {"output_ids": part, "meta_info": about}
        elif self._kind == "llama.cpp":
            event = {"tokens": part, "content": "x", "tokens_predicted": count, "stop": ends}
            event["stop_type"] = "limit" if limit else "eos"
        else:
            choice = {"token_ids": part, "text": "x", "finish_reason": reason}
            event = {"choices": [{"index": 0, **choice}]}
        return json.dumps(event).encode()
