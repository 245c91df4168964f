"""The kinds of rows: how each becomes probes, and probes become ratios."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .lab import Lab, Probe, Sample

Options = tuple[tuple[str, Any], ...]
MEGABYTE = 1_000_000


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
            }
            samples = lab.measure([ours, *peers.values()])
            for peer, floor in self.floors.items():
                theirs = samples[peers[peer]]
                yield compare(self.work, given, peer, samples[ours], theirs, floor)


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
class Threads:
    """Two threads at once against one: how many times as much work is done. It has no floor."""

    work: str
    tasks: tuple[tuple[str, str], ...]

    def measure(self, lab: Lab) -> Iterator[Result]:
        for task, given in self.tasks:
            two, one = (Probe("ours", f"threads:{count}:{task}", given) for count in (2, 1))
            # By the clock on the wall, so many rounds: both cores are seldom free at once.
            samples = lab.measure([two, one], multiple=4)
            label = f"{task}: {given}" if given else task
            yield compare(self.work, label, "one thread", samples[two], samples[one], None)


@dataclass(frozen=True)
class Cores:
    """This project's own threads, two against one, by the clock on the wall."""

    work: str
    task: str
    given: str
    floor: float

    def measure(self, lab: Lab) -> Iterator[Result]:
        two, one = (Probe("ours", self.task, self.given, (("threads", n),)) for n in (2, 1))
        samples = lab.measure([two, one], multiple=4)
        against = "one thread"
        yield compare(self.work, self.given, against, samples[two], samples[one], self.floor)


@dataclass(frozen=True)
class Memory:
    """Resident memory after loading and a first rendering, above that after the import."""

    work: str
    given: str
    limit_megabytes: float

    def measure(self, lab: Lab) -> Iterator[Result]:
        ours, theirs = (lab.fresh(peer, "memory", self.given) for peer in ("ours", "0.0.8"))
        least, most = (
            sorted((each["after"] - each["before"]) / MEGABYTE for each in peer)
            for peer in (ours, theirs)
        )
        yield Result(
            work=self.work,
            given=self.given,
            against="itself",
            ours=f"{least[0]:.1f} MB",
            theirs=f"0.0.8: {most[0]:.1f} MB",
            ratio=least[0],
            floor=self.limit_megabytes,
            at_most=True,
            equal=len({each["digest"] for each in ours + theirs}) == 1,
            times={"ours": least, "0.0.8": most},
        )


@dataclass(frozen=True)
class Footprint:
    """Memory, page faults and processor time that loading and a first pass take, above those of the import. The ratio
    is of the memory."""

    work: str
    given: str
    peers: tuple[str, ...]

    def measure(self, lab: Lab) -> Iterator[Result]:
        ours = lab.fresh("ours", "footprint", self.given)
        for peer in self.peers:
            theirs = lab.fresh(peer, "footprint", self.given)
            least, most = (min(self._used(each)["bytes"] for each in one) for one in (ours, theirs))
            yield Result(
                work=self.work,
                given=self.given,
                against=peer,
                ours=self._shown(ours),
                theirs=f"{peer}: {self._shown(theirs)}",
                ratio=most / least,
                floor=None,
                equal=len({each["digest"] for each in ours + theirs}) == 1,
            )

    @staticmethod
    def _used(said: Any) -> dict[str, int]:
        return {name: said["after"][name] - said["before"][name] for name in said["after"]}

    def _shown(self, said: list[Any]) -> str:
        used = [self._used(each) for each in said]
        memory, faults, time = (
            min(each[name] for each in used) for name in ("bytes", "faults", "ns")
        )
        return f"{memory / MEGABYTE:.1f} MB, {faults:,} faults, {time / 1e6:.0f} ms"


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
