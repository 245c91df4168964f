"""Writes the figures of the documents from results.json: `make figures`, after `make bench`.

A figure stands between marks, `<!-- faster: process -->14 times<!-- / -->`: what follows the colon is the
argument of that method of Figures. Ratios are rounded down. `tests/python/test_figures.py` fails if a document differs
from what this writes, or has a figure without marks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import results
from bars import Bar, bars

ROOT = Path(__file__).parents[1]
DOCUMENTS = (
    "README.md",
    "docs/performance.md",
    "docs/render.md",
    "docs/operate.md",
    "benches/README.md",
)
PICTURE = "docs/pictures/speed.svg"
MARKED = re.compile(r"<!-- ([a-z ]+): (.*?) -->(.*?)<!-- / -->", re.DOTALL)
TOKENIZERS = ("ours", "gigatoken", "fastokens")
NEAR = 0.97
"""Times that differ by less are called equal."""
SPEEDS = {
    "render, 7 messages": "rendering 7 messages and 4 tools",
    "render, 102 messages": "rendering 102 messages",
    "request to prompt": "a request's body to its prompt",
    "parse, 102 messages": "parsing 102 messages",
    "process": "parsing a stream, token by token",
    "feed, chunks of 64, against process": "parsing a stream in chunks of 64",
    "encode, 2 MB": "encoding 2 MB of text",
    "decode": "decoding tokens",
    "rows to tokens and masks": "rows to tokens and loss masks",
}


class Figures:
    """Each method writes one figure, or a table, from the results."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def measured(self, part: str) -> str:
        """When and where a part was measured, and with what."""
        one = self._data[part]
        packages = ", ".join(f"{name} {version}" for name, version in one["packages"].items())
        return f"{one['date']}, {one['machine']}; {packages}"

    def faster(self, work: str) -> str:
        """How many times faster than 0.0.8, for the input with the worst ratio."""
        return times(self._worst(work)["ratio"])

    def compared(self, _: str) -> str:
        """The table against 0.0.8."""
        start = self._data["start"]["figures"]
        rows = [("work", "input with the worst ratio", "here", "0.0.8", "ratio")]
        for name, what in (
            ("load_ms", "import and load, in a new process"),
            ("first_text_ms", "then the first text of 400 B"),
        ):
            ours, theirs = start["ours"][name], start["0.0.8"][name]
            ratio = times(theirs / ours)
            rows.append((what, "", shown(ours * 1e6), shown(theirs * 1e6), ratio))
        ours, theirs = (start[peer]["memory_mb"] for peer in ("ours", "0.0.8"))
        rows.append(
            ("memory of both", "", f"{ours:.3g} MB", f"{theirs:.3g} MB", times(theirs / ours))
        )
        for work, what in SPEEDS.items():
            one = self._worst(work)
            found = (shown(one["ns"]["ours"]), shown(one["ns"]["0.0.8"]))
            per = f", per {one['per']}" if one["per"] in ("token", "row") else ""
            rows.append((f"{what}{per}", one["input"], *found, times(one["ratio"])))
        return table(rows)

    def start(self, which: str) -> str:
        """A figure of a new process, `load_ms ours`, or its ratio, `load_ms ratio`."""
        name, _, peer = which.partition(" ")
        found = self._data["start"]["figures"]
        if peer == "ratio":
            return times(found["0.0.8"][name] / found["ours"][name])
        value = found[peer][name]
        return f"{value:.3g} MB" if name == "memory_mb" else shown(value * 1e6)

    def starts(self, _: str) -> str:
        """The table of new processes."""
        rows = [("package", "import and load", "first text", "memory", "the process by the clock")]
        for peer, found in self._data["start"]["figures"].items():
            load, first, wall = (
                shown(found[name] * 1e6) for name in ("load_ms", "first_text_ms", "wall_ms")
            )
            rows.append((peer, load, first, f"{found['memory_mb']:.3g} MB", wall))
        return table(rows)

    def tokenizers(self, when: str) -> str:
        """Nanoseconds per byte beside the fastest packages, of `seen` or `new` text."""
        heads = [f"{form}: {peer}" for form in ("arrays", "lists") for peer in TOKENIZERS]
        rows = [("text", *heads)]
        first = ", first pass" if when == "new" else ""
        for size, count in (("400 B", 400), ("20 KB", 20_000), ("2 MB", 2_000_000)):
            for kind in ("prose", "code", "JSON", "CJK", "chat"):
                cells = []
                for task in ("encode, arrays", "encode"):
                    found = self._inputs(f"{task}{first}, {size}", f"{kind}, {size}")
                    best = {peer: found[peer] / count for peer in TOKENIZERS if peer in found}
                    least = min(best.values())
                    cells += [
                        f"**{best[peer]:.1f}**"
                        if least / best[peer] >= NEAR
                        else f"{best[peer]:.1f}"
                        for peer in best
                    ]
                rows.append((f"{kind}, {size}", *cells))
        return table(rows)

    def floors(self, _: str) -> str:
        """Every row with its floor."""
        rows = [("work", "input with the worst ratio", "against", "ratio", "floor")]
        seen = set()
        for row in self._rows():
            key = (row["work"], row["against"])
            if key in seen:
                continue
            seen.add(key)
            worst = self._worst(*key)
            floor = worst["floor"]
            bound = "" if floor is None else f"{'≤' if worst['at_most'] else '≥'} {floor:,g}×"
            met = floor is None or (
                worst["ratio"] <= floor if worst["at_most"] else worst["ratio"] >= floor
            )
            ratio = f"{worst['ratio']:.2f}×" if worst["at_most"] else times(worst["ratio"])
            rows.append(
                (*key[:1], worst["input"], key[1], ratio, bound if met else f"{bound} MISSED")
            )
        return table(rows)

    def gateway(self, _: str) -> str:
        """The servers of the gateway's benchmark."""
        servers = self._data["gateway"]["figures"]["servers"]
        ready = servers["ready"]["chunk_us"]
        rows = [("", "a chunk of one token", "times ready bytes", "tokens a second on one core")]
        for kind, found in servers.items():
            name = "ready bytes" if kind == "ready" else f"in front of {kind}"
            name = "LiteLLM's proxy" if kind == "litellm" else name
            chunk = found["chunk_us"]
            cells = (shown(chunk * 1e3), f"{chunk / ready:.2f}", rough(1e6 / chunk))
            rows.append((name, *cells))
        return table(rows)

    def tokens_a_second(self, _: str) -> str:
        """The fewest and the most tokens a second, over the engines."""
        servers = self._data["gateway"]["figures"]["servers"]
        rates = sorted(
            1e6 / one["chunk_us"]
            for kind, one in servers.items()
            if kind not in ("ready", "litellm")
        )
        return f"{rough(rates[0])} to {rough(rates[-1])} tokens a second"

    def requests(self, _: str) -> str:
        """The CPU of a short request, over all APIs."""
        taken = sorted(
            time for one in self._data["gateway"]["figures"]["request_ms"].values() for time in one
        )
        return f"{taken[0]:.1f} to {taken[-1]:.1f} ms"

    def stream_memory(self, _: str) -> str:
        return f"{self._data['gateway']['figures']['silent_stream_kib']:.0f} KiB"

    def render(self, which: str) -> str:
        """The table of render servers at this number of connections."""
        figures = self._data["render"]["figures"]
        kinds = ("vllm", "vllm-rs", "ours", "ready")
        heads = (
            "vLLM",
            "vLLM in Rust",
            "here",
            "ready bytes",
            "slower: vLLM",
            "in Rust",
            "library alone",
        )
        rows = [("ms of CPU", *heads)]
        for name, found in figures.items():
            one = found[f"{which} at a time"]
            cells = [f"{one[kind]:.3g}" if kind in one else "–" for kind in kinds]
            cells += [times(one[kind] / one["ours"]) if kind in one else "–" for kind in kinds[:2]]
            tokens = f", {found['tokens']:,} tokens" if "tokens" in found else ""
            rows.append((f"{name}{tokens}", *cells, f"{found['in the library']:.3g}"))
        return table(rows)

    def rendering(self, which: str) -> str:
        """Of a row of render servers over 64 connections: the milliseconds here, the tokens, or a server's ratio."""
        name, _, what = which.rpartition(", ")
        found = self._data["render"]["figures"][name]
        one = found["64 at a time"]
        if what == "tokens":
            return f"{found['tokens']:,}"
        return f"{one['ours']:.2g}" if what == "ours" else times(one[what] / one["ours"])

    def against_vllm(self, which: str) -> str:
        """A figure of `request` or `token`: `vllm`, `ours` or `ratio`."""
        name, _, what = which.partition(" ")
        found = self._data["vllm"]["figures"][name]
        if what == "ratio":
            return times(found["vllm_us"] / found["ours_us"])
        return shown(found[f"{what}_us"] * 1e3)

    def picture(self) -> str:
        """The ratios as bars."""
        start = times(self._start_ratio())
        found = [Bar("import and load", self._start_ratio(), f"{start[:-1]} times")]
        for work, label in SPEEDS.items():
            ratio = self._worst(work)["ratio"]
            found.append(Bar(label, ratio, f"{times(ratio)[:-1]} times"))
        title = "How many times faster than 0.0.8, on a logarithmic scale"
        return f"{bars(title, found, logarithmic=True)}\n"

    def _start_ratio(self) -> float:
        found = self._data["start"]["figures"]
        return float(found["0.0.8"]["load_ms"] / found["ours"]["load_ms"])

    def _rows(self) -> Iterator[dict[str, Any]]:
        yield from self._data["rows"]["figures"]

    def _worst(self, work: str, against: str = "0.0.8") -> dict[str, Any]:
        rows = [row for row in self._rows() if (row["work"], row["against"]) == (work, against)]
        return min(rows, key=lambda row: -row["ratio"] if row["at_most"] else row["ratio"])

    def _inputs(self, work: str, given: str) -> dict[str, float]:
        found: dict[str, float] = {}
        for row in self._rows():
            if (row["work"], row["input"]) == (work, given):
                found.update(row["ns"])
        return found


def times(ratio: float) -> str:
    """A ratio, rounded down."""
    if ratio >= 10:
        return f"{math.floor(ratio):,}×"
    step = 100 if ratio < 1 else 10
    return f"{math.floor(ratio * step + 1e-9) / step:g}×"


def rough(number: float) -> str:
    """A number of two digits, rounded down."""
    step = 10 ** (math.floor(math.log10(number)) - 1)
    return f"{int(number // step * step):,}"


def shown(nanoseconds: float) -> str:
    """A time in the unit that suits it."""
    units = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns"))
    scale, unit = next(one for one in units if nanoseconds >= one[0] or one[0] == 1)
    value = nanoseconds / scale
    return f"{value:.0f} {unit}" if value >= 10 else f"{value:.2g} {unit}"


def table(rows: list[tuple[str, ...]]) -> str:
    head, *body = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join(["", "", head, "|---" * len(rows[0]) + "|", *body, "", ""])


def rendered(text: str, figures: Figures) -> str:
    """A document with its figures as the results have them."""

    def written(mark: re.Match[str]) -> str:
        name, given = mark[1].replace(" ", "_"), mark[2]
        write: Callable[[str], str] = getattr(figures, name)
        return f"<!-- {mark[1]}: {given} -->{write(given)}<!-- / -->"

    return MARKED.sub(written, text)


def main() -> None:
    figures = Figures(results.read())
    for name in DOCUMENTS:
        file = ROOT / name
        file.write_text(rendered(file.read_text(encoding="utf-8"), figures), encoding="utf-8")
    (ROOT / PICTURE).write_text(figures.picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
