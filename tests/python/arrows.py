"""Arrows between modules: which import which, and whether they form a circle or point upwards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

Module = tuple[str, ...]
"""The path of a module, ``("tokenizer", "split")``; the root itself is ``()``."""

Arrows = dict[Module, set[Module]]
"""The modules that each module imports."""


def circles(imports: Arrows) -> set[frozenset[str]]:
    """Neighbours in a folder that import each other, directly or through others."""
    arrows: Arrows = {}
    for module, targets in imports.items():
        for target in targets:
            shared = 0
            while module[shared : shared + 1] == target[shared : shared + 1] != ():
                shared += 1
            if shared < min(len(module), len(target)):
                arrows.setdefault(module[: shared + 1], set()).add(target[: shared + 1])
    reached = {module: _reached(module, arrows) for module in arrows}
    return {
        frozenset("/".join(other) for other in others if module in reached.get(other, ()))
        for module, others in reached.items()
        if module in others
    }


def upward(imports: Arrows, layers: list[list[str]]) -> list[str]:
    """The imports between rooms that do not lead to a lower layer; ``a/b`` is a room inside of ``a``."""
    layer = {room: depth for depth, rooms in enumerate(layers) for room in rooms}

    def room_of(module: Module) -> str:
        inner = "/".join(module[:2])
        return inner if inner in layer else module[0]

    between = {
        (room_of(module), room_of(target))
        for module, targets in imports.items()
        for target in targets
        # A package passes on what is inside of it.
        if module and target[: len(module)] not in ((), module)
    }
    return sorted(
        f"{room} -> {to}" for room, to in between if room != to and layer[room] >= layer[to]
    )


def layers(heading: str) -> list[list[str]]:
    """A picture in docs/house.md: the rooms line by line, from the top."""
    text = (Path(__file__).parents[2] / "docs/house.md").read_text(encoding="utf-8")
    picture = text.split(f"## {heading}\n")[1].split("```")[1]
    return [line.split() for line in picture.removeprefix("text").strip().splitlines()]


_BRANCHED = re.compile(r"([^{]*)\{(.*)\}", re.DOTALL)


def branches(tree: str) -> Iterator[str]:
    """The paths of Rust's ``a::{b, c::{d, e}}``."""
    branched = _BRANCHED.fullmatch(tree)
    if branched is None:
        yield tree
        return
    stem, inner = branched.groups()
    depth, start = 0, 0
    for index, char in enumerate(inner + ","):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            if index > start:
                yield from (stem + branch for branch in branches(inner[start:index]))
            start = index + 1


def _reached(module: Module, arrows: Arrows) -> set[Module]:
    reached: set[Module] = set()
    waiting = [module]
    while waiting:
        new = arrows.get(waiting.pop(), set()) - reached
        reached |= new
        waiting.extend(new)
    return reached
