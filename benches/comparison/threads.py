"""A task in several threads at once."""

from __future__ import annotations

from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice, pairwise
from time import perf_counter_ns
from typing import Any

from .tasks import Clock, Task


class Threads(Task):
    """The same task in several threads at once; a unit is one pass of one thread.

    A round gives the times of several windows, in all of which all threads are at work. What it
    takes to wake up the threads is no part of it: they live on in a server. A window is short,
    since both cores of a shared machine are seldom free for long.
    """

    unit = "pass"
    threaded = True
    _ROUND_NS = 50_000_000
    _WINDOW_NS = 10_000_000
    #: What a thread has for its passes, one after the other and then again: more than a core keeps
    #: in its cache, and quickly made again for each round.
    _DISTINCT = 50

    def __init__(self, task: Task, count: int) -> None:
        self._task = task
        self._threads = ThreadPoolExecutor(count)
        self._count = count
        task.run(task.fresh())
        fresh = task.fresh()
        started = perf_counter_ns()
        task.run(fresh)
        self._passes = max(3, self._ROUND_NS // (perf_counter_ns() - started))

    def fresh(self) -> list[list[Any]]:
        distinct = min(self._passes, self._DISTINCT)
        return [[self._task.fresh() for _ in range(distinct)] for _ in range(self._count)]

    def round(self, passes: int, clock: Clock) -> list[float]:
        """However many `passes` are wanted, a round is long."""
        return throughput(list(self._threads.map(self._run_all, self.fresh())), self._WINDOW_NS)

    def _run_all(self, share: list[Any]) -> list[int]:
        """When the first pass began, and when each of them ended."""
        moments = [perf_counter_ns()]
        for fresh in islice(cycle(share), self._passes):
            self._task.run(fresh)
            moments.append(perf_counter_ns())
        return moments

    def answer(self, fresh: list[list[Any]]) -> Any:
        return self._task.answer(fresh[0][0])


def throughput(threads: list[list[int]], width: int) -> list[float]:
    """The time per pass, all threads together, in each window of so many nanoseconds; of all the
    time in which all are at work, if that is shorter. Of each thread the moments are given at which
    its passes end, that at which the first begins before them. Nothing if they never were at work together, as
    may happen on a busy machine."""
    started = max(moments[0] for moments in threads)
    ended = min(moments[-1] for moments in threads)
    width = min(width, ended - started)
    if width <= 0:
        return []
    edges = range(started, ended + 1, width)
    done = [sum(passes_until(moments, edge) for moments in threads) for edge in edges]
    return [width / (after - before) for before, after in pairwise(done)]


def passes_until(moments: list[int], moment: int) -> float:
    """How many passes were done by then, the share of the one under way included."""
    index = bisect_right(moments, moment) - 1
    if index == len(moments) - 1:
        return float(index)
    return index + (moment - moments[index]) / (moments[index + 1] - moments[index])
