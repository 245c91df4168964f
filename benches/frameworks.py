"""What `datasets.map` and Ray Data take beside the rendering that they call.

Run it with a Python that has this project's package and the dependency group `frameworks`:

    python benches/frameworks.py [--rounds N] [--times N]

10,000 conversations, as an Arrow table of messages, become the columns of TRL, in batches of 1000 rows. Each
way gives the same table, which is checked first. Times are of the wall clock, the median of all rounds, which are
interleaved. What a framework takes for the first rows, such as starting its processes, is apart from what it
takes for each 10,000 more: the difference to the same rows several times over. Its share is what is left of
that when the direct call, on as many threads, is taken off.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple

os.environ.update(HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1", RAY_USAGE_STATS_ENABLED="0")

import datasets
import pyarrow as pa
import ray

from comparison.datasets import ROWS, ten_thousand_conversations
from openai_harmony.training import huggingface
from openai_harmony.training import ray as on_ray

BATCH = 1000


class Way(NamedTuple):
    """One way from a table of rows to a table of examples."""

    name: str
    threads: int
    """On how many cores it renders."""
    run: Callable[[pa.Table], pa.Table]


def direct(threads: int) -> Callable[[pa.Table], pa.Table]:
    function = huggingface.RenderRows("trl", threads=threads)

    def run(rows: pa.Table) -> pa.Table:
        batches = range(0, len(rows), BATCH)
        return pa.concat_tables([function(rows.slice(first, BATCH)) for first in batches])

    return run


def mapped(form: str | None, threads: int, processes: int | None = None) -> Any:
    function = huggingface.RenderRows("trl", threads=threads)

    def run(rows: pa.Table) -> pa.Table:
        given = datasets.Dataset(rows).with_format(form)
        with tempfile.TemporaryDirectory() as folder:
            made = given.map(
                function,
                batched=True,
                batch_size=BATCH,
                remove_columns=rows.column_names,
                features=function.features,
                num_proc=processes,
                cache_file_name=os.path.join(folder, "cache.arrow"),
            )
            return made.with_format("arrow")[:]

    return run


def by_actors(rows: pa.Table) -> pa.Table:
    blocks = [rows.slice(first, BATCH) for first in range(0, len(rows), BATCH)]
    made = ray.data.from_arrow(blocks).map_batches(
        on_ray.RenderRows,
        batch_format="pyarrow",
        batch_size=BATCH,
        compute=ray.data.ActorPoolStrategy(size=2),
    )
    return pa.concat_tables(made.iter_batches(batch_size=None, batch_format="pyarrow"))


WAYS = [
    Way("direct call, 1 thread", 1, direct(1)),
    Way("direct call, 2 threads", 2, direct(2)),
    Way("datasets.map, Arrow, 2 threads", 2, mapped("arrow", 2)),
    Way("datasets.map, Arrow, 2 processes", 2, mapped("arrow", 1, 2)),
    Way("datasets.map, lists, 2 threads", 2, mapped(None, 2)),
    Way("Ray Data, 2 actors", 2, by_actors),
]


def start() -> None:
    datasets.disable_progress_bars()
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, logging_level="error")
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each measurement")
    parser.add_argument("--times", type=int, default=6, help="how many times the rows, for more")
    chosen = parser.parse_args()
    start()
    once = pa.Table.from_pylist([json.loads(row) for row in ten_thousand_conversations()["rows"]])
    often = pa.concat_tables([once] * chosen.times)
    expected = WAYS[0].run(once)
    for way in WAYS[1:]:
        if not way.run(once).cast(expected.schema).equals(expected):
            sys.exit(f"{way.name}: another table")
    seconds: dict[str, list[list[float]]] = {way.name: [[], []] for way in WAYS}
    for _ in range(chosen.rounds):
        for way in WAYS:
            for rows, times in zip((once, often), seconds[way.name]):
                begun = time.perf_counter()
                way.run(rows)
                times.append(time.perf_counter() - begun)
    show(seconds, chosen.times)
    return 0


def show(seconds: dict[str, list[list[float]]], times: int) -> None:
    more = {}
    print(f"| {ROWS:,} conversations | the first | each more | its share |\n|---|---:|---:|---:|")
    for way in WAYS:
        first, all_of_them = map(statistics.median, seconds[way.name])
        more[way.name] = (all_of_them - first) / (times - 1)
        rendering = more[WAYS[way.threads - 1].name]
        share = max(0.0, 1 - rendering / more[way.name])
        print(f"| {way.name} | {first:.2f} s | {more[way.name]:.2f} s | {share:.0%} |")


if __name__ == "__main__":
    sys.exit(main())
