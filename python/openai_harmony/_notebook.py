"""What shows itself in notebooks."""

from __future__ import annotations

from importlib import import_module

MOST_TOKENS = 5_000
"""Of longer ones the middle is left out: a notebook keeps what it showed in its file."""


class InNotebooks:
    """Shows itself in notebooks as :func:`openai_harmony.show.html` draws it."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        # By name, when a notebook asks: `show` imports the classes that inherit this.
        show = import_module("openai_harmony.show")
        piece: str = show.html(self, max_tokens=MOST_TOKENS)
        return piece
