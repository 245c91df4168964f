"""Pickles of 0.0.8 are read here, and those written here there; copies likewise."""

from __future__ import annotations

import pytest

from oracle import objects
from oracle.client import Oracle
from oracle.operations import Session


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("name", objects.NAMES)
def test_pickles_are_read_by_both(name: str, protocol: int, oracle: Oracle, ours: Session) -> None:
    of_0_0_8, of_ours = (side.ask("pickle_of", name, protocol) for side in (oracle, ours))
    expected = oracle.ask("unpickled", name, of_0_0_8)
    assert expected["equal"]
    for side, pickled in ((ours, of_0_0_8), (oracle, of_ours), (ours, of_ours)):
        assert side.ask("unpickled", name, pickled) == expected
