"""No member of a body is lost without a word: what is unknown is in ``unused`` or an error, and what is misspelt is named.

The bodies of ``whole_bodies.json`` have each kind of object that a reader reads. Not tested are the insides of what passes through as it is or what
nothing reads (``FREE``).
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openai_harmony import interop
from openai_harmony.interop import InvalidRequestError

FREE = {
    *("parameters", "input_schema", "schema", "json", "arguments", "input", "cache_control"),
    *("action", "operation", "environment", "caller", "image_url", "metadata", "logit_bias"),
}
"""Members whose insides are not the API's (schemas, arguments), or of which nothing is read."""

FILE = Path(__file__).parent / "whole_bodies.json"
BODIES = {getattr(interop, name): body for name, body in json.loads(FILE.read_bytes()).items()}


def places(value: Any, path: str = "") -> Iterator[str]:
    """The paths of all objects of which members are read."""
    if isinstance(value, dict):
        yield path
        for key, member in value.items():
            if key not in FREE:
                yield from places(member, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, f"{path}[{index}]")


def at(body: Any, path: str) -> dict[str, Any]:
    for step in path.replace("[", ".").replace("]", "").split("."):
        if step:
            body = body[int(step)] if isinstance(body, list) else body[step]
    assert isinstance(body, dict)
    return body


PLACES = [(dialect, path) for dialect, body in BODIES.items() for path in places(body)]


def name(dialect: Any) -> str:
    return str(dialect.__name__.rpartition(".")[2])


IDS = [f"{name(dialect)}-{path}" for dialect, path in PLACES]


@pytest.mark.parametrize("dialect", BODIES, ids=name)
def test_nothing_of_the_bodies_is_unused(dialect: Any) -> None:
    assert dialect.read(BODIES[dialect]).unused == []


@pytest.mark.parametrize(("dialect", "path"), PLACES, ids=IDS)
def test_an_unknown_member_is_listed(dialect: Any, path: str) -> None:
    body = copy.deepcopy(BODIES[dialect])
    at(body, path)["odd_member"] = 1
    found = [unused.path for unused in dialect.read(body).unused]
    assert found == [f"{path}.odd_member" if path else "odd_member"]


@pytest.mark.parametrize(("dialect", "path"), PLACES, ids=IDS)
def test_a_misspelt_member_is_named_or_an_error(dialect: Any, path: str) -> None:
    """Each name of four letters or more with two swapped in its middle, and one without its last but one."""
    for key in at(BODIES[dialect], path):
        middle = len(key) // 2
        swapped = key[: middle - 1] + key[middle] + key[middle - 1] + key[middle + 1 :]
        for wrong in [swapped, key[:-2] + key[-1]] if len(key) > 4 else []:
            if wrong == key:
                continue
            body = copy.deepcopy(BODIES[dialect])
            found = at(body, path)
            found[wrong] = found.pop(key)
            try:
                unused = dialect.read(body).unused
            except InvalidRequestError:
                continue  # it is required, or something refers to it
            place = f"{path}.{wrong}" if path else wrong
            reasons = [one.reason for one in unused if one.path == place]
            # Two members of blocks, `content` and `context`, are one letter apart.
            names = {key, "content"} if wrong == "contet" else {key}
            assert reasons in [[f"not used; did you mean {one}?"] for one in names], (wrong, unused)


MEANT = {
    "max_tokens": ["maxTokens", "max-tokens", "max_tokesn", "mux_tokens"],
    "max_completion_tokens": ["max_new_tokens"],
    "stop": ["stop_sequences", "sotp", "stops"],
    "tools": ["tool", "tols", "toolls"],
    "tool_choice": ["toolChoice"],
    "": ["stp", "tooks", "stoop", "min_tokens", "top_a", "", "\u00e9"],
}
"""Known fields, and what is written for each; under no name, what is none of them."""


@pytest.mark.parametrize(("meant", "wrong"), [(a, b) for a, wrong in MEANT.items() for b in wrong])
def test_what_a_misspelt_field_means(meant: str, wrong: str) -> None:
    body = {"messages": [{"role": "user", "content": "A"}], wrong: 9}
    (unused,) = interop.chat_completions.read(body).unused
    assert unused.reason.rpartition(" ")[2] == (f"{meant}?" if meant else "used"), unused
