"""Arrows between modules: which import which, and whether they form a circle or point upwards."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
    """The imports between rooms that do not lead to a lower layer."""
    layer = {room: depth for depth, rooms in enumerate(layers) for room in rooms}
    between = {
        (module[0], target[0])
        for module, targets in imports.items()
        for target in targets
        if module and target and module[0] != target[0]
    }
    return sorted(f"{room} -> {to}" for room, to in between if layer[room] >= layer[to])


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
