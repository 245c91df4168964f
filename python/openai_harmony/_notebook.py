"""Objects that notebooks draw."""

from __future__ import annotations

from collections.abc import Callable

MOST_TOKENS = 5_000
"""The most tokens to draw; the middle of longer objects is left out, since a notebook saves its
output."""

_draw: list[Callable[..., str]] = []


def draw_with(draw: Callable[..., str]) -> None:
    """Sets the function that draws: it imports these classes, so they cannot import it."""
    _draw[:] = [draw]


class InNotebooks:
    """Drawn in notebooks by :func:`openai_harmony.show.html`."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        [draw] = _draw
        return draw(self, max_tokens=MOST_TOKENS)
