"""The responses of a WebSocket: those under way, the latest, and what users said meanwhile."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

from openai_harmony.interop import Body
from openai_harmony.serve.bodies import Bodies, json_bytes
from openai_harmony.serve.items import input_of
from openai_harmony.serve.keys import Key
from openai_harmony.serve.shares import Held
from openai_harmony.serve.threads import LARGE, in_thread_if

Tell = Callable[[dict[str, Any], "str | None"], Awaitable[None]]
"""Sends an event in a lane."""

MOST_WAITING = 32
"""Requests of a connection, under way or waiting for others of their lane, or steering events."""


class Dialogue:
    """The responses of one connection."""

    def __init__(self, send: Tell, bodies: Bodies, key: Key) -> None:
        """What is remembered has the limits of bodies of this key."""
        self._send, self._bodies = send, bodies
        self._remembered = Held(bodies.remembered, key)
        self.recent: OrderedDict[str, Body] = OrderedDict()
        """The items up to and with a response, by its id."""
        self._sizes: dict[str, int] = {}
        self._active: dict[str, str | None] = {}
        """The lanes of the responses under way."""
        self._steers: dict[str, list[dict[str, Any]]] = {}
        """What users said meanwhile, by the response under way."""
        self._events = 0

    def end(self) -> None:
        """Nothing is remembered any more."""
        self._remembered.becomes(0)

    def begun(self, identity: str, lane: str | None) -> None:
        """A response is under way."""
        self._active[identity] = lane

    async def ended(self, asked: Body, size: int, kind: str, response: Body) -> Body | None:
        """A response has ended; the request that what the user said meanwhile asks for."""
        identity, output = response.text("id") or "", response.items("output")
        lane = self._active.pop(identity, None)
        steers = self._steers.pop(identity, [])
        if kind == "response.failed":
            for steer in steers:
                await self._refuse(steer, lane, "successor_creation_failed", "the response failed")
            return None
        await self._remember(identity, asked, size, output)
        if not steers:
            return None
        calls = [item for _, type_, item in output if (type_ or "").endswith("_call")]
        if not (required := [_stub(json.loads(call)) for call in calls]):
            said = json_bytes([item for steer in steers for item in steer["items"]])
            after = asked.with_member("previous_response_id", json_bytes(identity))
            return after.with_member("input", said)
        self._steers[identity] = steers
        for steer in steers:
            about = {"reason": "waiting_for_required_input", "required_input": required}
            await self._tell("response.steer.pending", steer, lane, about)
        return None

    def continued(self, asked: Body) -> Body:
        """A request with what users said to the response before it, which waited for results."""
        identity = asked.text("previous_response_id")
        if identity is None or identity in self._active:
            return asked
        steers = self._steers.pop(identity, [])
        before = [json_bytes(item) for steer in steers for item in steer["items"]]
        given = [item for _, _, item in asked.items("input")]
        if (text := asked.text("input")) is not None:
            given = [json_bytes(_said(text))]
        return asked.with_member("input", _list([*before, *given])) if before else asked

    async def _remember(self, identity: str, asked: Body, size: int, output: list[Any]) -> None:
        previous = asked.text("previous_response_id")
        before = None if previous is None else self.recent.get(previous)
        if previous is not None and before is None:
            return  # the store has it
        size += self._sizes.get(previous or "", 0)
        body, self._sizes[identity] = await in_thread_if(
            size >= LARGE, _conversation, before, asked, output
        )
        self.recent[identity] = body
        while len(self.recent) > 1 and self._size() > self._bodies.settings.max_body:
            self._forget_oldest()
        while self.recent and not self._keeps():
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        del self._sizes[self.recent.popitem(last=False)[0]]

    def _size(self) -> int:
        steers: list[int] = [one["size"] for some in self._steers.values() for one in some]
        return sum(self._sizes.values()) + sum(steers)

    def _keeps(self) -> bool:
        """Whether there is room for what is remembered: for a little there always is."""
        size = self._size()
        return self._remembered.becomes(size if size >= LARGE else 0)

    async def steer(self, identity: Any, given: Any, size: int) -> None:
        """Takes what a user says while a response is under way."""
        items = [_said(given)] if isinstance(given, str) and given else given
        steer = {"previous_response_id": identity, "input": given, "items": items, "size": size}
        lane = self._active.get(identity)
        if identity not in self._active:
            known = identity in self.recent
            code = "response_already_completed" if known else "response_not_found"
            await self._refuse(steer, lane, code, f"no response {identity!r} is under way")
        elif not isinstance(items, list) or not items or not all(map(_is_users, items)):
            text = "input: expected a text or messages of the user"
            await self._refuse(steer, lane, "invalid_input", text)
        elif len(self._steers.get(identity, [])) >= MOST_WAITING:
            text = f"more than {MOST_WAITING} steering events wait"
            await self._refuse(steer, lane, "too_many_pending_steers", text)
        else:
            steer["id"] = f"steer_{uuid4().hex}"
            self._steers.setdefault(identity, []).append(steer)
            if not self._keeps():
                self._steers[identity].remove(steer)
                text = "too many bytes are remembered"
                await self._refuse(steer, lane, "too_many_pending_steers", text)
                return
            await self._tell("response.steer.accepted", steer, lane, {})

    async def _refuse(
        self, steer: dict[str, Any], lane: str | None, code: str, message: str
    ) -> None:
        error = {"type": "invalid_request_error", "code": code, "message": message}
        await self._tell("response.steer.failed", steer, lane, {"error": error}, ("input",))

    async def _tell(
        self,
        kind: str,
        steer: dict[str, Any],
        lane: str | None,
        about: dict[str, Any],
        more: tuple[str, ...] = (),
    ) -> None:
        names = ("id", "previous_response_id", *more)
        told = {name: steer[name] for name in names if name in steer}
        self._events += 1
        event = {"type": kind, "sequence_number": self._events, "steer": told, **about}
        await self._send(event, lane)


def _conversation(before: Body | None, asked: Body, output: list[Any]) -> tuple[Body, int]:
    """The items up to and with a response, and how many bytes they have."""
    items = [item.encode() for _, _, item in input_of(asked)]
    items += [item for _, _, item in output]
    if before is not None and (earlier := (before.json() or b"[]")[1:-1]):
        items.insert(0, earlier)
    raw = _list(items)
    return Body(raw), len(raw)


def _list(items: list[bytes]) -> bytes:
    return b"[%b]" % b",".join(items)


def _said(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": text}


def _is_users(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and item.get("role") == "user"
        and item.get("type", "message") == "message"
        and item.keys() <= {"type", "role", "content"}
    )


def _stub(call: dict[str, Any]) -> dict[str, Any]:
    """The result that a call waits for, as the client fills it in."""
    kind = call["type"]
    about = {"name": call["name"]} if kind == "function_call" else {}
    if kind == "tool_search_call":
        return {"type": "tool_search_output", "call_id": call["call_id"], "execution": "client"}
    return {"type": f"{kind}_output", "call_id": call["call_id"], **about}
