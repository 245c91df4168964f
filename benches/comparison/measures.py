"""The kinds of rows: how each becomes probes, and probes become ratios."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .lab import Lab, Probe, Sample

Options = tuple[tuple[str, Any], ...]


@dataclass
class Result:
    """One input of one row.

    `ratio` is how many times faster this project is, or, where `at_most`, a factor (or an
    amount) that should stay small. It is NaN if one of both could not be measured.
    """

    work: str
    given: str
    against: str
    ours: str
    theirs: str
    ratio: float
    floor: float | None
    at_most: bool = False
    equal: bool = True
    times: dict[str, list[float]] = field(default_factory=dict)
    unit: str = ""

    @property
    def is_measured(self) -> bool:
        return not math.isnan(self.ratio)

    @property
    def met(self) -> bool | None:
        """None where there is no floor to meet, or nothing measured."""
        if not self.equal:
            return False
        if self.floor is None or not self.is_measured:
            return None
        return self.ratio <= self.floor if self.at_most else self.ratio >= self.floor


@dataclass(frozen=True)
class Faster:
    """The same work by this project and by peers; `floors` None is shown, not judged."""

    work: str
    task: str
    inputs: tuple[str, ...]
    floors: Mapping[str, float | None]
    cold: bool = False
    #: What the peers do instead of the task, where they lack it.
    instead: str | None = None
    options: Options = ()

    def measure(self, lab: Lab) -> Iterator[Result]:
        for given in self.inputs:
            ours = Probe("ours", self.task, given, self.options, self.cold)
            peers = {
                peer: Probe(peer, self.instead or self.task, given, self.options, self.cold)
                for peer in self.floors
                if lab.has(peer)
            }
            samples = lab.measure([ours, *peers.values()])
            for peer, probe in peers.items():
                floor = self.floors[peer]
                yield compare(self.work, given, peer, samples[ours], samples[probe], floor)


@dataclass(frozen=True)
class Growth:
    """This project on more of the same: the cost per unit may grow by a factor at most."""

    work: str
    task: str
    #: What is compared: a label, the small input and the large one, each with its options.
    steps: tuple[tuple[str, tuple[str, Options], tuple[str, Options]], ...]
    limit: float

    def measure(self, lab: Lab) -> Iterator[Result]:
        for label, small, large in self.steps:
            probes = [Probe("ours", self.task, *step) for step in (small, large)]
            few, many = lab.measure(probes).values()
            result = compare(self.work, label, "itself", few, many, self.limit)
            # The larger is what the row is about.
            yield replace(result, ours=shown(many), theirs=f"smaller: {shown(few)}", at_most=True)


@dataclass(frozen=True)
class Extra:
    """What this project's task costs beside the part of it that is timed alone, as a factor."""

    work: str
    task: str
    alone: str
    given: str
    options: Options
    limit: float
    name: str = "feed alone"

    def measure(self, lab: Lab) -> Iterator[Result]:
        tasks = (self.alone, self.task)
        probes = [Probe("ours", task, self.given, self.options) for task in tasks]
        alone, whole = lab.measure(probes).values()
        result = compare(self.work, self.given, self.name, alone, whole, self.limit)
        theirs = f"{self.name}: {shown(alone)}"
        yield replace(result, ours=shown(whole), theirs=theirs, at_most=True)


@dataclass(frozen=True)
class Cores:
    """This project's own threads, two against one, by the clock on the wall: how much of the gain of two threads that
    only hash."""

    work: str
    task: str
    given: str
    floor: float

    def measure(self, lab: Lab) -> Iterator[Result]:
        probes = [Probe("ours", self.task, self.given, (("threads", n),)) for n in (2, 1)]
        probes += [Probe("ours", f"threads:{count}:hash") for count in (2, 1)]
        # So many rounds: both cores are seldom free at once.
        two, one, hash_two, hash_one = lab.measure(probes, multiple=4).values()
        result = compare(self.work, self.given, "one thread", two, one, self.floor)
        machine = hash_one.best / hash_two.best
        yield replace(
            result,
            ratio=result.ratio / machine,
            theirs=f"{result.theirs}, hashing gains {machine:.2f}",
        )


def compare(
    work: str, given: str, against: str, ours: Sample, theirs: Sample, floor: float | None
) -> Result:
    """How many times as long the others take; peers have to give the same answer."""
    return Result(
        work=work,
        given=given,
        against=against,
        ours=f"{shown(ours)} per {ours.unit}",
        theirs=f"{against}: {shown(theirs)}",
        ratio=theirs.best / ours.best,
        floor=floor,
        equal=against == "itself" or len(ours.digests | theirs.digests) == 1,
        times={"ours": ours.times, against: theirs.times},
        unit=ours.unit,
    )


def shown(sample: Sample) -> str:
    """The best round's time for one unit, as in "1.25 µs"."""
    if not sample.times:
        return "not measured"
    scale, unit = next(
        (scale, unit)
        for scale, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns"))
        if sample.best >= scale or unit == "ns"
    )
    return f"{sample.best / scale:.3g} {unit}"
