"""The endpoints of Responses: create, retrieve, delete, and the items of the input."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.websockets import WebSocket

from openai_harmony.interop import Body, responses
from openai_harmony.interop.reply import Reply
from openai_harmony.interop.turn import Turn
from openai_harmony.serve.answers import Keep
from openai_harmony.serve.bodies import count, json_bytes
from openai_harmony.serve.compaction import answer, compacted, events
from openai_harmony.serve.gateway import Call, Gateway
from openai_harmony.serve.journal import LOG
from openai_harmony.serve.refusals import RefusedError, StoreError, key_of
from openai_harmony.serve.shares import Held
from openai_harmony.serve.threads import LARGE, in_thread
from openai_harmony.serve.websocket import TRY_LATER, ResponsesSocket

if TYPE_CHECKING:
    from openai_harmony.serve.store import Store

_NO_STORE = "this server stores no responses; the setting is store, as --store responses.sqlite"
_NOT_STORED = {
    "conversation": "this server stores no conversations; use previous_response_id or all of input",
    "prompt": "this server stores no prompts; send instructions and input",
    "previous_response_id": _NO_STORE,
}
_MOST_ITEMS = 100
_TRIGGER = 'type "compaction_trigger" is not used'


class StoredResponses:
    """``/v1/responses``, over a store or without one."""

    def __init__(self, gateway: Gateway, store: Store | None) -> None:
        """Of this gateway."""
        self._gateway, self._store = gateway, store

    async def create(self, request: Request) -> Response:
        """``POST /v1/responses``."""
        return await self._gateway.answer(request, self._call(request, "create"))

    async def socket(self, websocket: WebSocket) -> None:
        """``/v1/responses`` as a WebSocket."""
        held = Held(self._gateway.limits.sockets, key_of(websocket.scope))
        if not held.becomes(1):
            await websocket.close(TRY_LATER)
            return
        try:
            await ResponsesSocket(websocket, self.create, self._gateway.bodies).run()
        finally:
            held.becomes(0)

    async def compact(self, request: Request) -> Response:
        """``POST /v1/responses/compact``."""
        return await self._gateway.answer(request, self._call(request, "compact"))

    async def input_tokens(self, request: Request) -> Response:
        """``POST /v1/responses/input_tokens``."""
        about = {"object": "response.input_tokens"}
        return await self._gateway.counted(request, self._call(request, "count"), about)

    def _call(self, request: Request, asks: Literal["create", "compact", "count"]) -> Call:
        key, recent = key_of(request.scope), request.scope["state"].get("recent", {})
        keep = partial(self._keep, key.owner)
        refer = partial(self._referred, request, recent, asks == "create")
        instead = partial(self._instead, asks == "compact")
        return Call("responses", self._read, refer=refer, instead=instead, keep=keep)

    async def retrieve(self, request: Request) -> Response:
        """``GET /v1/responses/ID``."""
        if request.query_params.get("stream", "false") != "false":
            error = RefusedError("stream: a stored response is given whole", path="stream")
            return await self._gateway.refuse(request, error)
        return await self._found(request, "response", str.encode)

    async def cancel(self, request: Request) -> Response:
        """``POST /v1/responses/ID/cancel``: refused, since no response runs in the background."""

        def refuse(_: Any) -> Any:
            raise RefusedError("only responses that run in the background can be cancelled")

        return await self._found(request, "response", refuse)

    async def delete(self, request: Request) -> Response:
        """``DELETE /v1/responses/ID``."""
        deleted = {"id": request.path_params["identity"], "object": "response", "deleted": True}
        return await self._found(request, "delete", lambda _: json_bytes(deleted))

    async def input_items(self, request: Request) -> Response:
        """``GET /v1/responses/ID/input_items``, the newest first unless ``order=asc``."""

        def page(found: Any) -> bytes:
            return json_bytes(_page([typed(item) for item in found], request), in_parts=True)

        return await self._found(request, "input_items", page)

    async def _found(self, request: Request, asked: str, made: Callable[[Any], bytes]) -> Response:
        """The answer made from what the store returns when it is asked for a response."""
        identity = request.path_params["identity"]
        try:
            if self._store is None:
                raise RefusedError(f"no response {identity!r}: {_NO_STORE}", 404)
            key = key_of(request.scope)
            ask = getattr(self._store, asked)
            found = await self._store.ask(key, ask, key.owner, identity)
            if found is None or found is False:
                raise RefusedError(f"no response {identity!r} is stored", 404)
            answer = await in_thread(made, found)
            if len(answer) >= LARGE:
                count(request, len(answer))
            return Response(answer, media_type="application/json")
        except RefusedError as error:
            if isinstance(error, StoreError):
                LOG.error("%s: %s", error, error.reason)
            return await self._gateway.refuse(request, error)

    async def _referred(
        self, request: Request, recent: Mapping[str, Body], creates: bool, body: Body
    ) -> dict[str, Any]:
        """What reading a body takes of the store, which is asked before anything is sampled.

        ``recent`` has what the client's connection itself knows. Only what is created is kept.
        """
        store = self._store
        known = recent.get(body.text("previous_response_id") or "")
        if known is not None:
            return {"stores": store is not None, "previous": lambda _: known}
        if store is None:
            return {"stores": False}
        keeps = creates and body.flag("store") is not False
        refers = body.kind("previous_response_id") is not None or any(
            kind == "item_reference" for _, kind, _ in body.items("input")
        )
        if not (keeps or refers):
            return {"stores": True}
        key, most = key_of(request.scope), self._gateway.settings.max_body
        found = await store.ask(key, store.referred, key.owner, body, keeps, most)
        if found.size >= LARGE:
            count(request, found.size)
        return {"stores": True, "resolve": found.items.get, "previous": lambda _: found.history}

    def _read(self, body: Body, **options: Any) -> Turn:
        """A turn, with what was said before."""
        turn = responses.read(body, **self._gateway.settings.reading, **options)
        for unused in turn.unused:
            if unused.path in _NOT_STORED:
                text = f"{unused.path}: {_NOT_STORED[unused.path]}"
                raise RefusedError(text, path=unused.path)
        return turn

    def _instead(
        self, compacts: bool, turn: Turn, body: Body, found: dict[str, Any]
    ) -> Awaitable[Response] | None:
        """A compaction, if the path or the last item asks for one."""
        if not compacts and all(unused.reason != _TRIGGER for unused in turn.unused):
            return None
        encoding, identity = self._gateway.encoding, turn.previous_response_id

        def count(body: Body) -> int:
            return len(self._read(body, **found).prompt_array(encoding))

        def work() -> Response:
            before = None if identity is None else found["previous"](identity)
            said = [] if before is None else json.loads(before.json() or b"[]")
            item = compacted(body, said, count, self._gateway.engine.context // 2)
            tokens = len(turn.prompt_array(encoding))
            if compacts:
                return JSONResponse(answer(item, tokens))
            model = turn.model or self._gateway.model
            reply = turn.reply(encoding, model=model, prompt_tokens=tokens)
            sent = events(reply, item)
            if not turn.stream:
                return JSONResponse(sent[-1]["response"])
            return Response(b"".join(map(reply.frame, sent)), media_type=reply.media_type)

        return in_thread(work)

    def _keep(self, owner: str, turn: Turn, body: Body) -> Keep | None:
        store = self._store
        if store is None or not turn.store:
            return None

        async def keep(reply: Reply) -> None:
            await store.ask(None, lambda: store.keep(owner, body, reply.response_bytes()))

        return keep


def typed(item: dict[str, Any]) -> dict[str, Any]:
    """An item of an input as the API lists it: what a client may leave out is there."""
    kind = item.get("type") or ("message" if "role" in item else "item_reference")
    made = {**item, "type": kind}
    if kind == "item_reference":
        return made
    made["status"] = item.get("status") or "completed"
    if kind == "message":
        text = "output_text" if item.get("role") == "assistant" else "input_text"
        content = item.get("content") or []
        parts = [content] if isinstance(content, str) else content
        made["content"] = [_typed_part(part, text) for part in parts]
    return made


def _typed_part(part: Any, kind: str) -> dict[str, Any]:
    part = {"text": part} if isinstance(part, str) else part
    if part.get("type") not in (None, "text"):
        return dict(part)
    made = {**part, "type": kind}
    return {"annotations": [], **made} if kind == "output_text" else made


def _page(items: list[dict[str, Any]], request: Request) -> dict[str, Any]:
    """A part of a list, by ``limit``, ``order`` and ``after``."""
    asked = request.query_params
    limit, order, after = asked.get("limit", "20"), asked.get("order", "desc"), asked.get("after")
    if not re.fullmatch("[1-9][0-9]{0,2}", limit) or int(limit) > _MOST_ITEMS:
        raise RefusedError(f"limit: expected a number from 1 to {_MOST_ITEMS}", path="limit")
    if order not in ("asc", "desc"):
        raise RefusedError("order: expected asc or desc", path="order")
    ordered = items if order == "asc" else items[::-1]
    if after is not None:
        at = next((at for at, item in enumerate(ordered, 1) if item["id"] == after), None)
        if at is None:
            raise RefusedError(f"after: no item {after!r}", path="after")
        ordered = ordered[at:]
    page = ordered[: int(limit)]
    return {
        "object": "list",
        "data": page,
        "first_id": page[0]["id"] if page else None,
        "last_id": page[-1]["id"] if page else None,
        "has_more": len(ordered) > len(page),
    }
