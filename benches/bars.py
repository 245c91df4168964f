"""Bars, for what people would rather look at than read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

_WIDTH, _ROW, _LABELS, _VALUES = 860, 26, 300, 110

_STYLE = (
    "text{font:14px system-ui,sans-serif;fill:#1c2430}.title{font-weight:600}"
    ".value{fill:#667085}rect{fill:#1f62d0}"
    "@media(prefers-color-scheme:dark){text{fill:#e6e8ec}.value{fill:#949cab}rect{fill:#82b1ff}}"
)


class Bar(NamedTuple):
    """One bar of a picture."""

    label: str
    value: float
    """How long it is, from 0."""
    said: str
    """What follows the bar: the value with its unit."""


def bars(title: str, values: Sequence[Bar], *, logarithmic: bool = False) -> str:
    """A picture of bars as SVG, which follows the reader's choice of light or dark.

    Args:
        title: What is above the chart.
        values: The bars, from above.
        logarithmic: Whether a bar ten times as high is one step longer; values are then from 1.

    Returns:
        One element ``svg``, whole by itself; all texts are escaped.

    >>> print(bars("Speed", [Bar("this", 2, "2 times"), Bar("<that>", 1, "1")])[:54])
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8
    """
    scaled = [math.log10(max(bar.value, 1)) if logarithmic else bar.value for bar in values]
    most = max(scaled, default=None) or math.inf
    height = _ROW * (len(values) + 1) + 16
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="{escape(title)}">',
        f"<style>{_STYLE}</style>",
        f'<text class="title" x="0" y="18">{escape(title)}</text>',
    ]
    room = _WIDTH - _LABELS - _VALUES
    for index, (bar, value) in enumerate(zip(values, scaled)):
        y = _ROW * (index + 1) + 10
        length = round(room * value / most, 1)
        end = _LABELS + length + 8
        lines += [
            f'<text x="{_LABELS - 10}" y="{y + 15}" text-anchor="end">{escape(bar.label)}</text>',
            f'<rect x="{_LABELS}" y="{y + 2}" width="{length}" height="{_ROW - 8}" rx="3"/>',
            f'<text class="value" x="{end}" y="{y + 15}">{escape(bar.said)}</text>',
        ]
    return "\n".join([*lines, "</svg>"])
