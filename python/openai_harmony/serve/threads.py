"""Work that would hold up other answers, in a thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from starlette.concurrency import run_in_threadpool
from typing_extensions import ParamSpec

Given = ParamSpec("Given")
Made = TypeVar("Made")


async def in_thread(work: Callable[Given, Made], *given: Given.args, **named: Given.kwargs) -> Made:
    """What the work returns. The event loop does other things meanwhile."""
    return await run_in_threadpool(work, *given, **named)
