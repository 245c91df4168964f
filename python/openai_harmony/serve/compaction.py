"""Compaction of a long conversation: its oldest turns are left out, as by ``truncation: "auto"``.

No model sums anything up. What is kept is in ``encrypted_content`` of one item, which the reader of
Responses opens again; its first message says how much was left out.
"""

from __future__ import annotations

import json
import re
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

from openai_harmony.errors import PromptTooLongError
from openai_harmony.interop import Body
from openai_harmony.interop.reply import Reply
from openai_harmony.serve.items import input_of

_MARK = "harmony-compaction-1."
"""The beginning of ``encrypted_content``, by which the reader knows it."""

_NOTE = re.compile(r"msg_left_out_(\d{1,9})")

Count = Callable[[Body], int]
"""How many tokens the prompt of a body has."""


def compacted(body: Body, said: list[Any], count: Count, most: int) -> dict[str, Any]:
    """The item that takes the place of all items so far: those that fit into this many tokens.

    ``PromptTooLongError`` if not even the last message of the user does.
    """
    items = [*said, *(json.loads(item) for _, _, item in input_of(body))]
    items = [inner for item in items for inner in _opened(item)]
    notes = [note for item in items if (note := _NOTE.fullmatch(str(item.get("id"))))]
    before = sum(int(note[1]) for note in notes)
    items = [item for item in items if not _NOTE.fullmatch(str(item.get("id")))]
    shorter = list(_shorter(items, before))
    first, last = 0, len(shorter)
    while first < last:  # each is shorter than the one before it
        middle = (first + last) // 2
        if count(_of(body, shorter[middle])) <= most:
            last = middle
        else:
            first = middle + 1
    if first == len(shorter):
        tokens = count(_of(body, shorter[-1]))
        text = f"The prompt is too long: {tokens} tokens > {most} maximum"
        raise PromptTooLongError(text, "input", tokens, most)
    kept = json.dumps(shorter[first], ensure_ascii=False, separators=(",", ":"))
    content = _MARK + urlsafe_b64encode(kept.encode()).decode().rstrip("=")
    return {"type": "compaction", "id": f"cmp_{uuid4().hex}", "encrypted_content": content}


def answer(item: dict[str, Any], tokens: int) -> dict[str, Any]:
    """The answer of ``POST /v1/responses/compact``."""
    return {
        "id": f"resp_{uuid4().hex}",
        "object": "response.compaction",
        "created_at": int(time.time()),
        "output": [item],
        "usage": {
            "input_tokens": tokens,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 0,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": tokens,
        },
    }


def events(reply: Reply, item: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of a response with only this item as output."""
    begun, last = reply.feed([]), reply.finish("stop")[-1]
    last["response"]["output"] = [item]
    added = [
        {"type": f"response.output_item.{state}", "output_index": 0, "item": item}
        for state in ("added", "done")
    ]
    numbered = enumerate([*begun, *added, last])
    return [{**event, "sequence_number": number} for number, event in numbered]


def _of(body: Body, items: list[Any]) -> Body:
    whole = body.with_member("input", json.dumps(items).encode())
    return whole.with_member("previous_response_id", b"null")


def _opened(item: dict[str, Any]) -> list[Any]:
    """The items that an earlier compaction kept; nothing of what asks for this one."""
    content = str(item.get("encrypted_content"))
    if item.get("type") == "compaction" and content.startswith(_MARK):
        kept = content[len(_MARK) :]
        found: list[Any] = json.loads(urlsafe_b64decode(kept + "=" * (-len(kept) % 4)))
        return [inner for item in found for inner in _opened(item)]
    return [] if item.get("type") == "compaction_trigger" else [item]


def _shorter(items: list[Any], before: int) -> Iterator[list[Any]]:
    """All items, then without the oldest turns, then the last without its oldest steps.

    ``before`` were left out earlier.
    """
    users = [at for at, item in enumerate(items) if item.get("role") == "user"]
    head = items[: users[0]] if users else items
    for at in users or [len(items)]:
        yield [*head, *_note(before + at - len(head)), *items[at:]]
    if not users:
        return
    last = users[-1]
    for at in range(last + 2, len(items) + 1):
        if not _parts_a_call(items[last:at], items[at:]):
            yield [*head, *_note(before + at - 1 - len(head)), items[last], *items[at:]]


def _parts_a_call(before: list[Any], after: list[Any]) -> bool:
    called = {item["call_id"] for item in before if item.get("call_id")}
    return any(item.get("call_id") in called for item in after)


def _note(count: int) -> list[Any]:
    """The message that says how much was left out, if anything was."""
    text = f"[{count} earlier items of this conversation were left out]"
    note = {"type": "message", "id": f"msg_left_out_{count}", "role": "developer", "content": text}
    return [note] if count else []
