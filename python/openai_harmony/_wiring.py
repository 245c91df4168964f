"""Hands lower floors objects of upper ones, which import them.

Only the package itself imports this module. The objects are imported when they are first needed.
"""

from __future__ import annotations

from typing import Any

from openai_harmony import _lowlevel, _notebook


def _classes() -> tuple[Any, Any, Any]:
    from openai_harmony import errors
    from openai_harmony.roles import Role
    from openai_harmony.stream import StreamState

    return errors, Role, StreamState


def _models() -> Any:
    from openai_harmony import chat

    return chat


def _html(piece: Any, **options: Any) -> str:
    # Few programs show anything.
    from openai_harmony import show

    return show.html(piece, **options)


_lowlevel.use_classes(_classes, _models)
_notebook.draw_with(_html)
