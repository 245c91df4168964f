"""The fixtures of test_oracle_*.py: the two sides."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from .client import INTERPRETER, Oracle, reason_to_skip
from .operations import Session


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    """openai-harmony 0.0.8."""
    reason = reason_to_skip()
    if reason is not None:
        pytest.skip(reason)
    started = Oracle(os.environ[INTERPRETER])
    yield started
    started.close()


@pytest.fixture(scope="session")
def ours() -> Session:
    """This project, asked like the oracle."""
    return Session()
