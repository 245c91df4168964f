"""The peers' processes, asked in turn, and what they measured."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any

from .environments import Environments


@dataclass(frozen=True)
class Probe:
    """One task of one peer on one input; `cold` is the first pass of a fresh process."""

    peer: str
    task: str
    given: str = ""
    options: tuple[tuple[str, Any], ...] = ()
    cold: bool = False


@dataclass
class Sample:
    """The times of a probe, in nanoseconds per unit: none if it could not be measured."""

    unit: str
    #: Of all answers: one, unless they differ.
    digests: set[str] = field(default_factory=set)
    times: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.times, default=math.nan)

    @property
    def median(self) -> float:
        return median(self.times) if self.times else math.nan


class Process:
    """A worker in a peer's environment."""

    def __init__(self, environments: Environments, peer: str, corpora: Path) -> None:
        self._peer = peer
        self._process = subprocess.Popen(
            [environments.interpreters[peer], "-m", "comparison.worker", peer, str(corpora)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environments.variables(),
            text=True,
        )
        self.hello = self._answer()

    def ask(self, *request: Any) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process of {self._peer} ended, see its error above")
        return json.loads(line)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)


class Lab:
    """Measures probes side by side: a round of each, then the next round of each.

    Probes that are measured again, in a later sweep through all rows, add to their samples.
    """

    def __init__(
        self, environments: Environments, corpora: Path, rounds: int, seconds: float
    ) -> None:
        self._environments = environments
        self._corpora = corpora
        self._rounds = rounds
        self._seconds = seconds
        self._processes: dict[str, Process] = {}
        self._samples: dict[tuple[Probe, ...], dict[Probe, Sample]] = {}

    def measure(self, probes: Iterable[Probe], multiple: int = 1) -> dict[Probe, Sample]:
        """Times each probe for as many rounds as are usual, or a multiple, within as much time; returns all
        its samples so far."""
        wanted = tuple(dict.fromkeys(probes))
        samples = self._samples.setdefault(wanted, {probe: Sample(unit="") for probe in wanted})
        for probe in wanted:
            self._open(probe, samples[probe])
        spent = dict.fromkeys(wanted, 0.0)
        for turn in range(self._rounds * multiple):
            for probe in wanted:
                # A slow peer gets fewer rounds, never none.
                if turn < 1 or spent[probe] < self._seconds * multiple:
                    started = monotonic()
                    self._round(probe, samples[probe])
                    spent[probe] += monotonic() - started
        for probe in wanted:
            if not probe.cold:
                self._process(probe.peer).ask("close", self._key(probe))
        return samples

    def has(self, peer: str) -> bool:
        return peer in self._environments.interpreters

    def versions(self) -> dict[str, Any]:
        return {peer: self._process(peer).hello for peer in self._environments.interpreters}

    def close(self) -> None:
        for process in self._processes.values():
            process.close()

    def _open(self, probe: Probe, sample: Sample) -> None:
        if probe.cold:
            return
        opened = self._process(probe.peer).ask(
            "open", self._key(probe), probe.task, probe.given, dict(probe.options)
        )
        sample.unit = opened["unit"]
        sample.digests.add(opened["digest"])

    def _round(self, probe: Probe, sample: Sample) -> None:
        if not probe.cold:
            sample.times += self._process(probe.peer).ask("round", self._key(probe))
            return
        options = {**dict(probe.options), "first": True}
        first = self._ask_a_fresh_one(probe.peer, "first", probe.task, probe.given, options)
        sample.unit = first["unit"]
        sample.digests.add(first["digest"])
        sample.times.append(first["ns"])

    def _ask_a_fresh_one(self, peer: str, *request: Any) -> Any:
        process = Process(self._environments, peer, self._corpora)
        try:
            return process.ask(*request)
        finally:
            process.close()

    def _process(self, peer: str) -> Process:
        if peer not in self._processes:
            self._processes[peer] = Process(self._environments, peer, self._corpora)
        return self._processes[peer]

    @staticmethod
    def _key(probe: Probe) -> str:
        return repr(probe)
