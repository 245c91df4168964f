"""The peers' processes, asked in turn, and what they measured."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any, Dict, Iterable, List, Tuple

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
    """The times of a probe, in nanoseconds per unit."""

    unit: str
    digest: str
    times: List[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.times)

    @property
    def median(self) -> float:
        return median(self.times)


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
        self._processes: Dict[str, Process] = {}
        self._samples: Dict[Tuple[Probe, ...], Dict[Probe, Sample]] = {}

    def measure(self, probes: Iterable[Probe], times_rounds: int = 1) -> Dict[Probe, Sample]:
        """All samples so far, with as many rounds and seconds more as are usual or a multiple."""
        wanted = tuple(dict.fromkeys(probes))
        opened = {probe: self._open(probe) for probe in wanted}
        samples = self._samples.setdefault(wanted, opened)
        spent = dict.fromkeys(wanted, 0.0)
        for turn in range(self._rounds * times_rounds):
            for probe in wanted:
                # A slow peer gets fewer rounds, never none.
                if turn < 1 or spent[probe] < self._seconds * times_rounds:
                    started = monotonic()
                    self._round(probe, samples[probe])
                    spent[probe] += monotonic() - started
        for probe in wanted:
            if not probe.cold:
                self._process(probe.peer).ask("close", self._key(probe))
        return samples

    def memory(self, peer: str, given: str) -> Any:
        process = Process(self._environments, peer, self._corpora)
        try:
            return process.ask("memory", given)
        finally:
            process.close()

    def versions(self) -> Dict[str, Any]:
        return {peer: self._process(peer).hello for peer in self._environments.interpreters}

    def close(self) -> None:
        for process in self._processes.values():
            process.close()

    def _open(self, probe: Probe) -> Sample:
        if probe.cold:
            return Sample(unit="", digest="")
        opened = self._process(probe.peer).ask(
            "open", self._key(probe), probe.task, probe.given, dict(probe.options)
        )
        return Sample(opened["unit"], opened["digest"])

    def _round(self, probe: Probe, sample: Sample) -> None:
        if not probe.cold:
            sample.times += self._process(probe.peer).ask("round", self._key(probe))
            return
        process = Process(self._environments, probe.peer, self._corpora)
        first = process.ask(
            "first", probe.task, probe.given, {**dict(probe.options), "first": True}
        )
        process.close()
        sample.unit, sample.digest = first["unit"], first["digest"]
        sample.times.append(first["ns"])

    def _process(self, peer: str) -> Process:
        if peer not in self._processes:
            self._processes[peer] = Process(self._environments, peer, self._corpora)
        return self._processes[peer]

    @staticmethod
    def _key(probe: Probe) -> str:
        return repr(probe)
