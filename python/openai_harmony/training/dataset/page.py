"""The report of a run as a page to look at."""

from __future__ import annotations

from html import escape

from openai_harmony.show.bars import Bar, bars
from openai_harmony.training.dataset.numbers import numbers
from openai_harmony.training.dataset.state import Counts, State

TITLE = "Examples of a data set"


def page(state: State) -> str:
    """A page without scripts: how long examples are, and the numbers."""
    rows = "".join(
        f"<tr><th>{escape(name).replace('  ', '&emsp;')}<td>{escape(value)}"
        for name, value in numbers(state)
    )
    return (
        f"<!doctype html>\n<meta charset=utf-8>\n<title>{TITLE}</title>\n"
        "<style>:root{color-scheme:light dark}body{font:14px/1.5 system-ui,sans-serif;"
        "margin:24px;max-width:900px}table{margin-bottom:24px}"
        "th{text-align:left;font-weight:400;padding-right:24px;opacity:.7}</style>\n"
        f"<h1>{TITLE}</h1>\n<table>{rows}</table>\n{_lengths(state.counts)}\n"
    )


def _lengths(counts: Counts) -> str:
    """How many examples have how many tokens; each bar covers twice the range of the one above."""
    if not counts.lengths:
        return ""
    first, last = (length.bit_length() for length in (min(counts.lengths), max(counts.lengths)))
    total = sum(counts.lengths.values())
    made = []
    for power in range(first, last + 1):
        low, high = 1 << (power - 1), (1 << power) - 1
        count = sum(n for length, n in counts.lengths.items() if low <= length <= high)
        made.append(Bar(f"{low:,} to {high:,} tokens", count, f"{count:,} ({count / total:.1%})"))
    return bars("Examples by length", made)
