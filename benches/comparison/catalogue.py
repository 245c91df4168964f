"""The tasks by their names."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

from . import tasks
from .threads import Threads


def task(name: str, peer: Any, given: tasks.Json) -> tasks.Task:
    """The task of this name over a peer that is started."""
    if name.startswith("threads:"):
        _, count, inner = name.split(":")
        return Threads(task(inner, peer, given), int(count))
    if name == "new parser":
        parser, role = peer.module.StreamableParser, peer.module.Role.ASSISTANT
        encoding = peer.encoding
        return tasks.Calls(
            lambda: parser(encoding, role), lambda: parser(encoding, role).state.value
        )
    if name == "stop tokens":
        call = peer.encoding.stop_tokens_for_assistant_actions
        return tasks.Calls(call, lambda: sorted(call()))
    if name.startswith("rows"):
        from . import datasets

        return datasets.TASKS[name](peer, given)
    made: Callable[[Any, tasks.Json], tasks.Task] | None = {
        "hash": tasks.Hash,
        "encode": tasks.Encode,
        "encode, arrays": tasks.EncodeArray,
        "decode": tasks.Decode,
        "render": tasks.Render,
        "parse": tasks.Parse,
        "request": tasks.Request,
        "feed": tasks.Feed,
    }.get(name)
    return made(peer, given) if made else _stream(name, peer, given)


def _stream(name: str, peer: Any, given: tasks.Json) -> tasks.Task:
    from . import server_loops

    if name == "process":
        return tasks.Process(server_loops.process_only, peer, given)
    if name in ("reply", "reply, feed alone"):
        from . import replies

        return (replies.Answered if name == "reply" else replies.Fed)(peer, given)
    return tasks.Stream(getattr(server_loops, name), peer, given)


def settle() -> None:
    """Leaves the garbage collector no old work that it would do inside a measurement."""
    gc.collect()
    if hasattr(gc, "freeze") and sys.implementation.name == "cpython":
        gc.freeze()
