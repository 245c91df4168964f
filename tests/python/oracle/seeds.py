"""The seeds of the random cases."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from random import Random
from typing import TypeVar

T = TypeVar("T")

#: The first seed; a failure names the seed that shows it again.
SEED = "OPENAI_HARMONY_ORACLE_SEED"
#: How many times the usual number of cases to run: `make test` runs a quarter.
TIMES = "OPENAI_HARMONY_ORACLE_TIMES"


def randoms(count: int) -> Iterator[tuple[str, Random]]:
    """`count` seeded generators, each with the words that bring it back."""
    first = int(os.environ.get(SEED, "0"))
    for seed in range(first, first + share(count)):
        yield f"seed {seed} (set {SEED}={seed} to see it first)", Random(seed)


def share(count: int) -> int:
    """How many of ``count`` cases are run, or expected."""
    return int(count * float(os.environ.get(TIMES, "1")))


def some_of(all_cases: Iterable[T]) -> list[T]:
    """A share of an exhaustive list of cases, drawn from all of it."""
    listed = [*all_cases]
    return Random(os.environ.get(SEED, "0")).sample(listed, share(len(listed)))


def stride() -> int:
    """Every how manyth of a row of cases is run."""
    return max(1, round(1 / float(os.environ.get(TIMES, "1"))))
