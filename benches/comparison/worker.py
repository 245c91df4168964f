"""The process of one peer: a request as a JSON line in, an answer as a JSON line out.

python -m comparison.worker PEER CORPORA

["open", key, task, input, {…}]   makes a task; gives the digest of its answer and its units
["round", key]                    times one round of it; gives nanoseconds per unit, a list
["first", task, input, {…}]       in a fresh process: times the first pass, digest and all
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from pathlib import Path
from random import Random
from time import perf_counter_ns, process_time_ns
from typing import Any

from . import adapters, catalogue, corpora, tasks

ROUND_NS = 5_000_000
"""A round has as many passes as fill this time."""


WALL_CLOCK = os.environ.get("BENCH_CLOCK") == "wall"


def clock_of(task: tasks.Task) -> tasks.Clock:
    """The processor time of the whole process, of all its threads together.

    On an idle machine it is the time of the clock on the wall; on a busy one it leaves out the
    turns of others. Tasks with several threads are about that very difference.
    """
    return perf_counter_ns if WALL_CLOCK or task.threaded else process_time_ns


class Opened:
    """A task and how many of its passes make a round."""

    def __init__(self, task: tasks.Task) -> None:
        self.task = task
        self.digest = digest(task.plain(task.answer(task.fresh())))
        catalogue.settle()
        self.passes = 1
        for time in self.round()[:1]:
            self.passes = max(1, min(10_000, round(ROUND_NS / (time * task.units))))

    def round(self) -> list[float]:
        return self.task.round(self.passes, clock_of(self.task))


class Worker:
    def __init__(self, peer: str, folder: Path) -> None:
        self._adapter = adapters.adapter(peer)
        self._started = False
        self._folder = folder
        self._opened: dict[str, Opened] = {}

    def open(self, key: str, task: str, given: str, options: Any) -> Any:
        opened = self._opened[key] = Opened(self._task(task, given, options))
        return {"digest": opened.digest, "units": opened.task.units, "unit": opened.task.unit}

    def close(self, key: str) -> Any:
        """Lets go of the task, so that its data burdens no later one."""
        del self._opened[key]

    def round(self, key: str) -> Any:
        return self._opened[key].round()

    def first(self, task: str, given: str, options: Any) -> Any:
        made = self._task(task, given, options)
        if options.get("called before"):
            self._adapter.encode(other_text())
        fresh = made.fresh()
        catalogue.settle()
        clock = clock_of(made)
        started = clock()
        answer = made.answer(fresh)
        nanoseconds = (clock() - started) / made.units
        shown = digest(made.plain(answer))
        return {"ns": nanoseconds, "digest": shown, "units": made.units, "unit": made.unit}

    def _task(self, task: str, given: str, options: Any) -> tasks.Task:
        if not self._started:
            self._adapter.start()
            self._started = True
        return catalogue.task(task, self._adapter, {**self._input(given), **options})

    def _input(self, name: str) -> Any:
        if not name:
            return {}
        return json.loads(corpora.file_of(self._folder, name).read_text(encoding="utf-8"))


def digest(answer: Any) -> str:
    return hashlib.sha256(json.dumps(answer, sort_keys=True).encode()).hexdigest()[:16]


def other_text() -> str:
    """600 KB that have few words in common with any input: what a peer prepares when it is called for
    the first time is done after it."""
    random = Random(600)
    return "".join(f"{random.getrandbits(64):x} " for _ in range(35_000))


def main() -> None:
    peer, folder = sys.argv[1], Path(sys.argv[2])
    worker = Worker(peer, folder)
    hello = {"version": adapters.version(peer), "python": platform.python_version()}
    print(json.dumps(hello), flush=True)
    for line in sys.stdin:
        request, *arguments = json.loads(line)
        print(json.dumps(getattr(worker, request)(*arguments)), flush=True)


if __name__ == "__main__":
    main()
