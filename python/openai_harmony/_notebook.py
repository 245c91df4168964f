"""What shows itself in notebooks."""

from __future__ import annotations

from collections.abc import Callable

MOST_TOKENS = 5_000
"""Of longer ones the middle is left out: a notebook keeps what it showed in its file."""

_draw: list[Callable[..., str]] = []


def draw_with(draw: Callable[..., str]) -> None:
    """Sets what draws; it imports the classes that show themselves, so they cannot import it."""
    _draw[:] = [draw]


class InNotebooks:
    """Shows itself in notebooks as :func:`openai_harmony.show.html` draws it."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        [draw] = _draw
        return draw(self, max_tokens=MOST_TOKENS)
