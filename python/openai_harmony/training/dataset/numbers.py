"""What a run has read and made, line by line."""

from __future__ import annotations

from collections.abc import Iterator

from openai_harmony.training.dataset.state import Counts, State

LONG = (4096, 8192, 32768)
"""Lengths in tokens at which people cut: how many examples are longer is in the report."""


def numbers(state: State) -> list[tuple[str, str]]:
    """What has been read and made, line by line."""
    counts = state.counts
    lines: list[tuple[str, str]] = [
        ("rows", f"{counts.rows:,}"),
        ("examples", f"{state.examples:,}"),
        *([("packs", f"{state.rows:,}")] if state.settings.get("pack") else []),
        ("tokens", f"{state.tokens:,}"),
        ("trained", f"{state.trained:,} ({percent(state.trained, state.tokens):.1f} %)"),
        *_lengths(counts),
        ("errors", f"{sum(counts.errors.values()):,}"),
        *((f"  {kind}", f"{count:,}") for kind, count in sorted(counts.errors.items())),
    ]
    if counts.first_error:
        lines.append(("  first", counts.first_error))
    optional = (
        ("dropped", counts.dropped),
        ("thoughts dropped", counts.dropped_thoughts),
        ("truncated", counts.truncated),
        ("blank", counts.blank),
    )
    lines += [(name, f"{count:,}") for name, count in optional if count]
    if counts.unused:
        lines.append(("unused", f"{sum(counts.unused.values()):,}"))
        lines += [(f"  {name}", f"{count:,}") for name, count in sorted(counts.unused.items())]
    return lines


def _lengths(counts: Counts) -> Iterator[tuple[str, str]]:
    if not counts.lengths:
        return
    middle, most, longest = map(counts.longest_of, (0.5, 0.95, 1))
    yield "length", f"median {middle:,}, 95 % {most:,}, longest {longest:,}"
    for limit in LONG:
        above = sum(count for length, count in counts.lengths.items() if length > limit)
        if above:
            share = percent(above, sum(counts.lengths.values()))
            yield f"  above {limit // 1024}k", f"{above:,} ({share:.1f} %)"


def percent(part: int, whole: int) -> float:
    """A share in percent, of nothing 0."""
    return 100 * part / whole if whole else 0.0
