"""The responses of a WebSocket: those under way, the latest, and what users said meanwhile."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

from openai_harmony.interop import Body
from openai_harmony.serve.bodies import Bodies
from openai_harmony.serve.keys import Key
from openai_harmony.serve.limits import Held
from openai_harmony.serve.store import input_of
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

    async def ended(
        self, asked: dict[str, Any], size: int, event: dict[str, Any]
    ) -> dict[str, Any] | None:
        """A response has ended; the request that what the user said meanwhile asks for."""
        response = event["response"]
        identity, output = response["id"], response["output"]
        lane = self._active.pop(identity, None)
        steers = self._steers.pop(identity, [])
        if event["type"] == "response.failed":
            for steer in steers:
                await self._refuse(steer, lane, "successor_creation_failed", "the response failed")
            return None
        await self._remember(identity, asked, size, output)
        if not steers:
            return None
        if not (required := [_stub(item) for item in output if item["type"].endswith("_call")]):
            return {
                **asked,
                "previous_response_id": identity,
                "input": [item for steer in steers for item in steer["items"]],
            }
        self._steers[identity] = steers
        for steer in steers:
            about = {"reason": "waiting_for_required_input", "required_input": required}
            await self._tell("response.steer.pending", steer, lane, about)
        return None

    def continued(self, asked: dict[str, Any]) -> dict[str, Any]:
        """A request with what users said to the response before it, which waited for results."""
        identity = asked.get("previous_response_id")
        if not isinstance(identity, str) or identity in self._active:
            return asked
        steers = self._steers.pop(identity, [])
        before = [item for steer in steers for item in steer["items"]]
        given = asked.get("input") or []
        given = [_said(given)] if isinstance(given, str) else given
        return {**asked, "input": [*before, *given]} if before else asked

    async def _remember(
        self, identity: str, asked: dict[str, Any], size: int, output: list[Any]
    ) -> None:
        previous = asked.get("previous_response_id")
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


def json_bytes(value: Any) -> bytes:
    """As UTF-8."""
    return json.dumps(value, ensure_ascii=False).encode()


def _conversation(
    before: Body | None, asked: dict[str, Any], output: list[Any]
) -> tuple[Body, int]:
    """The items up to and with a response, and how many bytes they have."""
    earlier = [] if before is None else json.loads(before.json() or b"[]")
    body = Body(json_bytes({"input": asked.get("input") or []}))
    said = [json.loads(item) for _, _, item in input_of(body)]
    raw = json_bytes([*earlier, *said, *output])
    return Body(raw), len(raw)


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
