"""Compares this project with openai-harmony 0.0.8, tiktoken, gigatoken and fastokens, side by side.

Run it with `make bench`, or with a Python that has this project's package:

    python benches/compare.py [--quick] [--rows PATTERN] [--rounds N] [--keep] [--all] [--clock wall]

benches/README.md describes the method. A missed floor is shown, but is not a failure: times depend on
the machine. Different outputs are one.
"""

from __future__ import annotations

import argparse
import platform
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import results
from comparison import corpora, table
from comparison.environments import Environments
from comparison.lab import Lab
from comparison.measures import Result
from comparison.rows import ROWS, Row

PROJECT = Path(__file__).parents[1]
SWEEPS = 2


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds, for a first look")
    parser.add_argument("--rows", default="", metavar="PATTERN", help="only rows that match")
    parser.add_argument(
        "--rounds",
        type=int,
        metavar="N",
        help=f"rounds of each measurement, a multiple of {SWEEPS}",
    )
    results.add_option(parser)
    parser.add_argument("--all", action="store_true", help="show every input, not the worst alone")
    parser.add_argument("--clock", choices=["processor", "wall"], default="processor")
    parser.add_argument("--ours", default=sys.executable, metavar="PYTHON", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    pattern, chosen.rows = chosen.rows, [row for row in ROWS if re.search(chosen.rows, row.work)]
    if not chosen.rows:
        parser.error(f"no row matches {pattern!r}")
    if chosen.keep and pattern:
        parser.error("--keep replaces all rows: leave out --rows")
    if chosen.rounds is not None and (chosen.rounds < 1 or chosen.rounds % SWEEPS):
        parser.error(f"--rounds: {chosen.rounds} is not a multiple of {SWEEPS}")
    return chosen


def measure(lab: Lab, rows: Sequence[Row]) -> list[Result]:
    """Goes through all rows several times: a machine that others share can be slow for longer than
    all rounds of a row take."""
    for sweep in range(1, SWEEPS + 1):
        found: list[Result] = []
        for row in rows:
            print(f"  {row.work} ({sweep} of {SWEEPS})", file=sys.stderr, flush=True)
            found += row.measure(lab)
    return found


def kept(result: Result) -> dict[str, Any]:
    """What the results say of one input of a row: nanoseconds of the best rounds."""
    best = {peer: min(times) for peer, times in result.times.items() if times}
    return {
        "work": result.work,
        "input": result.given,
        "against": result.against,
        "ns": best,
        "per": result.unit,
        "ratio": result.ratio,
        "floor": result.floor,
        "at_most": result.at_most,
    }


def main() -> int:
    chosen = options()
    folder = PROJECT / ".bench"
    environments = Environments(folder, chosen.ours, chosen.clock)
    environments.make()
    corpora.write(folder / "corpora")
    rounds = (chosen.rounds or (6 if chosen.quick else 18)) // SWEEPS
    seconds = (0.3 if chosen.quick else 2) / SWEEPS
    lab = Lab(environments, folder / "corpora", rounds, seconds)
    try:
        versions = lab.versions()
        found = measure(lab, chosen.rows)
    finally:
        lab.close()
    if chosen.keep and environments.are_whole():
        packages = {peer: hello["version"] for peer, hello in versions.items() if peer != "ours"}
        results.keep("rows", [kept(result) for result in found], packages)
    print(
        f"Python {platform.python_version()} on {platform.machine()}, best / median of rounds, {chosen.clock} time"
    )
    print(", ".join(f"{peer}: {hello['version']}" for peer, hello in versions.items()), "\n")
    print(table.table(found if chosen.all else table.worst(found)), "\n")
    print(table.summary(table.worst(found)))
    return 0 if all(result.equal for result in found) else 1


if __name__ == "__main__":
    sys.exit(main())
