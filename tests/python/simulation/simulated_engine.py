"""An engine: what it samples, what goes wrong on the way, and what it was asked."""

from __future__ import annotations

import asyncio
import json
import random
import re
from dataclasses import dataclass, field
from typing import Any

import httptools

from gateways import ENCODING, tokens
from simulation.simulated_network import Network, Wire

KINDS = ("vllm", "vllm of completions", "sglang", "llama.cpp")
STATUSES = {"busy": 429, "refused": 400, "down": 503, "failed": 500}
FAULTS = (
    *STATUSES,
    "closed before the head",
    "half a head",
    "not HTTP",
    "reset",
    "end of file",
    "not json",
    "error event",
    "abort",
    "bad ids",
    "silence",
    "late silence",
)
"""What ends an output early;"""
EARLY = FAULTS[: FAULTS.index("not HTTP") + 1]
"""these before it begins."""
ODDITIES = (
    "none",
    "none",
    "no reason",
    "two stops",
    "text after the end",
    "all at once",
    "no end of HTTP",
    "no end of the last line",
)
"""What does not: the stop token is there."""
WORDS = ("rain", "sun", "wind", " 🙂", "\n", '"', "\\", "<|end|>", "ß", "data: [DONE]", " the")
MARKER = re.compile(r"«\d+-\d+»")
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
_STREAMED = _HEAD + b"transfer-encoding: chunked\r\n\r\n"
_BEGINNINGS = {
    "closed before the head": b"",
    "half a head": _HEAD,
    "not HTTP": b"SSH-2.0-OpenSSH_9.6\r\n",
}
ABORT = b"/inference/v1/abort_requests"
FORCED = ENCODING.encode(
    "<|end|><|start|>assistant<|channel|>final<|message|>", allowed_special="all"
)
ABORTED = b'{"choices": [{"token_ids": [], "finish_reason": "abort"}]}'
CALL = "<|channel|>commentary to=functions.look <|constrain|>json<|message|>"


@dataclass
class Plan:
    """What the engine samples for one answer."""

    marker: str
    """Names the request, and stands in every text."""
    texts: tuple[str, str]
    """A thought, which may be empty, and the answer."""
    fault: str | None = None
    at: float = 0.0
    """Where the fault is, as a part of the output."""
    oddity: str = "none"
    gap: float = 0.0
    """Seconds between events."""
    calls: bool = False
    """Whether the answer is a call of a tool, with the text as its argument."""

    @classmethod
    def random(cls, chance: random.Random, marker: str, at: int, faults: float, gaps: Any) -> Plan:
        def words() -> str:
            return "".join(chance.choice(WORDS) for _ in range(chance.randint(0, 25)))

        # By its first letter it is known which answer goes on after a thought that was ended.
        thought = f"{'ABC'[at]} {marker}{words()}" if chance.random() < 0.5 else ""
        answer = f"{marker}{chance.randrange(10**4)}{words()}"
        fault = chance.choice(FAULTS) if chance.random() < faults else None
        oddity = chance.choice(ODDITIES)
        return cls(
            marker, (thought, answer), fault, chance.random(), oddity, gap=chance.choice(gaps)
        )

    @property
    def sampled(self) -> list[int]:
        thought, _ = self.texts
        if not thought:
            return self.answered()
        before = tokens("<|channel|>analysis<|message|>") + ENCODING.encode_ordinary(thought)
        return [*before, *tokens("<|end|><|start|>assistant"), *self.answered()]

    def answered(self, *, header: bool = True) -> list[int]:
        """The answer's tokens, and the stop token."""
        text = self.texts[1]
        if self.calls and header:
            said = ENCODING.encode_ordinary(json.dumps({"text": text}))
            return [*tokens(CALL), *said, 200_012]
        said = tokens("<|channel|>final<|message|>") if header else []
        return [*said, *ENCODING.encode_ordinary(text), 200_002]


@dataclass
class Asked:
    """A request that has reached the engine, and what became of it."""

    marker: str
    markers: list[str]
    """All of the prompt."""
    headers: dict[str, str] = field(repr=False)
    body: dict[str, Any] = field(repr=False)
    prompt: list[int] = field(repr=False)
    most: int
    reused: bool
    """Whether its connection had one before."""
    began: float
    """When its first byte was there,"""
    whole_at: float
    """and its last."""
    continues: bool
    """Whether a thought was ended for it."""
    address: str
    """Where it was asked."""
    plan: Plan | None = field(default=None, repr=False)
    ended: float = float("inf")
    silent: float = 0.0
    """Seconds at the end in which it said nothing."""
    end: str = ""
    """``whole`` if all was sent, ``hangs`` if only HTTP's end was not, ``cancelled`` by the gateway, ``broken`` by the
    engine."""
    fault: str | None = None
    said: bytes = field(default=b"", repr=False)
    """The events that were sent."""
    aborted: list[str] = field(default_factory=list)
    """The markers of the requests that ended it."""
    is_void: bool = False
    """Whether it may be asked again: its connection, which had waited, was closed before the answer's head was there,
    or vLLM refused the way in which it was asked."""


@dataclass
class Engine:
    """Listens at some addresses."""

    kind: str
    chance: random.Random
    network: Network
    plans: dict[str, list[Plan]] = field(default_factory=dict)
    """For each marker, one for each answer."""
    asked: list[Asked] = field(default_factory=list)
    idle: float = 5.0
    """Seconds after which it closes a connection that waits."""

    def listen(self, address: str) -> None:
        self.network.listening[address] = [lambda: _Connection(self, address)]

    def abort(self, identity: str, by: str) -> None:
        """Ends the request of this id, for that one."""
        for one in self.asked:
            if one.body.get("request_id") == identity and not one.end:
                one.aborted.append(by)

    def plan(self, asked: Asked) -> Plan:
        """The next one of its marker that nobody has; after a thought, that of the thought."""
        plans = self.plans[asked.marker]
        if asked.continues:
            letter = ENCODING.decode(asked.prompt).rpartition("analysis<|message|>")[2][0]
            return next(one for one in plans if one.texts[0].startswith(letter))
        same = [one for one in self.asked if one.marker == asked.marker]
        had = [one.plan for one in same if not one.continues and not one.is_void]
        left = (one for one in plans if not any(one is plan for plan in had))
        return next(left, plans[len(had) % len(plans)])


class _Connection(asyncio.Protocol):
    """One that the gateway has made."""

    def __init__(self, engine: Engine, address: str) -> None:
        self._engine, self._address, self._loop = engine, address, engine.network.loop
        self._parser = httptools.HttpRequestParser(self)
        self._count = 0
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._path, self._body = b"", b""
        self._headers: dict[str, str] = {}
        self.asked: Asked | None = None

    def connection_made(self, transport: Any) -> None:
        self._wire: Wire = transport

    def data_received(self, data: bytes) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._parser.feed_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
        self._has_ended("cancelled")

    def _has_ended(self, how: str) -> None:
        if self.asked is not None and not self.asked.end:
            self.asked.end, self.asked.ended = how, self._loop.time()
            said = self._wire.delivered[-1][0] if self._wire.delivered else 0.0
            self.asked.silent = self.asked.ended - max(said, self.asked.whole_at)

    def on_message_begin(self) -> None:
        self._path, self._body, self._headers = b"", b"", {}
        self._begun = self._loop.time()

    def on_url(self, url: bytes) -> None:
        self._path += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode().lower()] = value.decode()

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        self._count += 1
        self._task = self._loop.create_task(self._answer())

    async def _answer(self) -> None:
        chance = self._engine.chance
        if not self._body:
            here = [self._loop.time(), float("inf")]
            self._engine.network.busy.append(here)
            try:
                await asyncio.sleep(chance.choice((0.0, 0.015625)))
                self._write_json(200, self._about())
            finally:
                here[1] = self._loop.time()
        elif self._path == ABORT:
            *identities, by = json.loads(self._body)["request_ids"]
            for identity in identities:
                self._engine.abort(identity, *MARKER.findall(by))
            self._write_json(200, {})
        else:
            await self._sample(self._understood())
        if self.asked is None or self.asked.end == "whole":
            self._timer = self._loop.call_later(self._engine.idle, self._wire.close)

    def _about(self) -> Any:
        if self._path == b"/v1/models":
            return {"data": [{"id": "gpt-oss", "max_model_len": 131_072}]}
        generates = self._engine.kind == "vllm"
        return {"paths": {"/inference/v1/generate": {}} if generates else {}}

    def _understood(self) -> Asked:
        body = json.loads(self._body)
        sampling = body.get("sampling_params", body)
        prompt = body.get("prompt") or body.get("input_ids") or body["token_ids"]
        markers = MARKER.findall(ENCODING.decode(prompt))
        said = [one for one in markers if one in self._engine.plans]
        before = [one.prompt for one in self._engine.asked if one.marker == said[-1]]
        continues = any(len(one) < len(prompt) and prompt[: len(one)] == one for one in before)
        limits = ("max_tokens", "n_predict", "max_new_tokens")
        return Asked(
            said[-1],
            markers,
            self._headers,
            {**body, **sampling},
            prompt,
            next(sampling[name] for name in limits if name in sampling),
            self._count > 1,
            self._begun,
            self._loop.time(),
            continues,
            self._address,
        )

    async def _sample(self, asked: Asked) -> None:
        engine, chance = self._engine, self._engine.chance
        plan = asked.plan = engine.plan(asked)
        is_begun = asked.prompt[-len(FORCED) :] == FORCED
        sampled = plan.answered(header=not is_begun) if asked.continues else plan.sampled
        self.asked = asked
        self._before = self._wire.delivered[-1][1] if self._wire.delivered else 0
        engine.asked.append(asked)
        fault = asked.fault = plan.fault
        await asyncio.sleep(chance.choice((0.0, 0.0625, 1.0)) if plan.gap else 0)
        if fault in STATUSES:
            # vLLM before 0.33 has no such path.
            is_old = engine.kind == "vllm" and self._path.endswith(b"/generate")
            asked.is_void = fault == "failed" and is_old
            message = "said the engine" * chance.choice((1, 1, 9000))
            self._write_json(STATUSES[fault], {"error": {"message": message}})
        elif fault == "silence":
            await self._loop.create_future()
        elif fault in EARLY:
            self._wire.write(_BEGINNINGS[fault])
            self._break()
        else:
            self._wire.write(_STREAMED)
            await self._stream(plan, asked, self._events(plan, sampled[: asked.most], asked.most))

    async def _stream(self, plan: Plan, asked: Asked, events: list[bytes]) -> None:
        raw = b"\n\n".join(b"data: %b" % event for event in events)
        raw += b"" if plan.oddity == "no end of the last line" else b"\n\ndata: [DONE]\n\n"
        fault, chance = plan.fault, self._engine.chance
        if fault in ("reset", "end of file", "late silence"):
            raw = raw[: int(plan.at * len(raw))]
        size = len(raw) if plan.oddity == "all at once" else chance.choice((5, 70, 400, 1000))
        while raw:
            part, raw = raw[:size], raw[size:]
            if plan.gap and chance.random() < 0.3:
                await asyncio.sleep(plan.gap)
            self._write_part(asked, part)
            if asked.aborted:
                self._write_part(asked, ABORTED)
                break
        if fault == "late silence":
            await self._loop.create_future()
        if fault == "reset":
            return self._break()
        if fault == "end of file":
            self._has_ended("broken")
            return self._wire.close()
        if plan.oddity == "no end of HTTP":
            return self._has_ended("hangs")
        self._wire.write(b"0\r\n\r\n")
        return self._has_ended("whole")

    def _write_part(self, asked: Asked, part: bytes) -> None:
        self._wire.write(b"%x\r\n%b\r\n" % (len(part), part))
        asked.said += part

    def _break(self) -> None:
        self._has_ended("broken")
        asked = self.asked

        def abort() -> None:
            arrived = (self._wire.delivered[-1][1] if self._wire.delivered else 0) - self._before
            if asked is not None and asked.reused and arrived < len(_STREAMED):
                asked.is_void = True
            self._wire.abort()

        # What was written before may arrive, and then the reset does.
        self._loop.call_later(self._engine.chance.choice((0.0, 0.001, 0.5)), abort)

    def _write_json(self, status: int, made: Any) -> None:
        raw = json.dumps(made).encode()
        head = b"HTTP/1.1 %d X\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        self._wire.write(head % (status, len(raw)) + raw)
        self._has_ended("whole")

    def _events(self, plan: Plan, sampled: list[int], most: int) -> list[bytes]:
        events, count, left = [], 0, sampled
        while left:
            size = self._engine.chance.randint(1, 4)
            part, left = left[:size], left[size:]
            count += len(part)
            ends = not left and plan.oddity != "no reason"
            events.append(self._event(part, count, ends, len(sampled) == most))
        if plan.oddity == "two stops":
            events.append(self._event([200_002, 200_012], count + 2, True, False))
        if plan.oddity == "text after the end":
            events.append(self._event(tokens("another's text"), count + 3, False, False))
        if (event := self._bad_event(plan)) is not None:
            del events[int(plan.at * (len(events) - 1)) :]
            events.append(event)
        return events

    def _bad_event(self, plan: Plan) -> bytes | None:
        if plan.fault == "not json":
            return b"Internal Server Error"
        if plan.fault == "error event":
            return b'{"error": {"message": "said the engine", "code": 500}}'
        if plan.fault == "bad ids":
            return self._event([-1], 1, False, False)
        if plan.fault != "abort":
            return None
        if self._engine.kind == "sglang":
            about = {"completion_tokens": 0, "finish_reason": {"type": "abort", "message": "gone"}}
            return json.dumps({"output_ids": [], "meta_info": about}).encode()
        if self._engine.kind == "llama.cpp":
            return b'{"error": "slot unavailable"}'
        return ABORTED

    def _event(self, part: list[int], count: int, ends: bool, limit: bool) -> bytes:
        reason = ("length" if limit else "stop") if ends else None
        event: dict[str, Any]
        if self._engine.kind == "sglang":
            about = {"completion_tokens": count, "finish_reason": reason and {"type": reason}}
            event = {"output_ids": part, "meta_info": about}
        elif self._engine.kind == "llama.cpp":
            event = {"tokens": part, "content": "x", "tokens_predicted": count, "stop": ends}
            event["stop_type"] = "limit" if limit else "eos"
        else:
            choice = {"token_ids": part, "text": "x", "finish_reason": reason}
            event = {"choices": [{"index": 0, **choice}]}
        return json.dumps(event).encode()
