"""The results as a table, in Markdown that reads well in a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from .measures import Result

HEADINGS = ("work", "worst input", "ours", "others", "ratio", "floor")


def worst(results: Iterable[Result]) -> list[Result]:
    """Of each row, against each peer, the input with the worst ratio."""
    found: dict[tuple[str, str], Result] = {}
    for result in results:
        key = (result.work, result.against)
        if key not in found or _badness(result) > _badness(found[key]):
            found[key] = result
    return list(found.values())


def table(results: Sequence[Result]) -> str:
    rows = [HEADINGS, *(_cells(result) for result in results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def summary(results: Sequence[Result]) -> str:
    judged = [result for result in results if result.met is not None]
    missed = [result for result in judged if not result.met]
    unmeasured = [result for result in results if not result.is_measured]
    if missed:
        said = f"{len(missed)} of {len(judged)} floors are missed:{_names(missed)}"
    else:
        said = f"All {len(judged)} floors are met."
    return f"{said}\nNot measured:{_names(unmeasured)}" if unmeasured else said


def _names(results: Sequence[Result]) -> str:
    return "".join(f"\n  {result.work}, against {result.against}" for result in results)


def _badness(result: Result) -> tuple[bool, bool, float]:
    badness = result.ratio if result.at_most else -result.ratio
    return not result.equal, not result.is_measured, badness


def _cells(result: Result) -> tuple[str, ...]:
    sign = "≤" if result.at_most else "≥"
    unit = " MB" if result.ours.endswith("MB") else "×"
    floor = "" if result.floor is None else f"{sign} {result.floor:,}{unit}"
    if not result.equal:
        floor = "OUTPUTS DIFFER"
    elif not result.is_measured:
        floor = "not measured"
    elif result.met is False:
        floor = f"{floor} MISSED"
    return (
        result.work,
        result.given or "–",
        result.ours,
        result.theirs,
        f"{number(result.ratio)}{unit}",
        floor,
    )


def number(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
