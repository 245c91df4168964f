"""Tools as TypeScript against 0.0.8: random schemas, right and wrong, give the same tokens."""

from __future__ import annotations

from oracle.client import Oracle
from oracle.operations import Session
from oracle.seeds import randoms
from oracle.tool_schemas import developer_message, random_cases


def test_random_tools_are_declared_as_in_0_0_8(oracle: Oracle, ours: Session) -> None:
    for seed, random in randoms(300):
        (namespaces,) = random_cases(1, random)
        message = developer_message(namespaces)
        expected = oracle.ask("render", message, None)
        actual = ours.ask("render", message, None)
        assert actual == expected, f"{seed}: {namespaces!r}"
