"""Hands lower floors what is made on upper ones, which import them.

Only the package itself imports this module.
"""

from __future__ import annotations

from typing import Any

from openai_harmony import _lowlevel, _notebook, chat, errors
from openai_harmony.stream import StreamState


def _html(piece: Any, **options: Any) -> str:
    # Few programs show anything, so the pictures are imported when the first is drawn.
    from openai_harmony import show

    return show.html(piece, **options)


_lowlevel.use_classes(chat, errors, StreamState)
_notebook.draw_with(_html)
