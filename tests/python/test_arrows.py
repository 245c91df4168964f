"""Imports of the crate point one way: the modules of each folder form no circle.

Every path in the code (``use crate::…``, ``super::…``) is an arrow from the module in which it stands
to the module that it names; where a module only passes a name on (``pub use``), the arrow continues to
where the name comes from. A module and those within it are one thing to the others, and may name each
other. Unit tests are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

Module = tuple[str, ...]
"""The path of a module, ``("tokenizer", "split")``; the crate itself is ``()``."""

SOURCES = Path(__file__).parents[2] / "src"
BRANCHED = re.compile(r"([^{]*)\{(.*)\}", re.DOTALL)


class Crate:
    """The modules of a crate by their code, and what they import."""

    def __init__(self, codes: dict[Module, str]) -> None:
        self.paths: dict[Module, list[Module]] = {}
        """The paths that a module names."""
        self.imports: dict[Module, dict[str, Module]] = {}
        """The names that a module imports, and their paths."""
        for module, code in codes.items():
            code = re.sub(r"//[^\n]*", "", code).split("#[cfg(test)]")[0]
            uses = [
                tuple(path.split("::"))
                for tree in re.findall(r"\buse\s+([^;]+);", code)
                for path in _branches("".join(re.sub(r"\s+as\s+\w+", "", tree).split()))
            ]
            rest = re.sub(r"\buse\s+[^;]+;", "", code)
            named = re.findall(r"\b(?:crate|super)(?:::\w+)+", rest)
            own = [path for path in uses if path[0] in ("crate", "self", "super")]
            below = [path for path in uses if (*module, path[0]) in codes]
            self.imports[module] = {path[-1]: path for path in own + below}
            self.paths[module] = own + below + [tuple(path.split("::")) for path in named]

    def target(self, module: Module, path: Module, passed: int = 0) -> Module:
        """The module that a path in a module leads to."""
        at = module
        if path[0] in ("crate", "self"):
            at, path = () if path[0] == "crate" else module, path[1:]
        while path and path[0] == "super":
            at, path = at[:-1], path[1:]
        while path and (*at, path[0]) in self.paths:
            at, path = (*at, path[0]), path[1:]
        onward = self.imports[at].get(path[0]) if path and at != module else None
        if onward is None or passed == 9:
            return at
        return self.target(at, (*onward, *path[1:]), passed + 1)

    def circles(self) -> set[frozenset[str]]:
        """Neighbours in a folder that import each other, directly or through others."""
        arrows: dict[Module, set[Module]] = {}
        for module, paths in self.paths.items():
            for path in paths:
                target = self.target(module, path)
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


def _branches(tree: str) -> Iterator[str]:
    """The paths of ``a::{b, c::{d, e}}``."""
    branched = BRANCHED.fullmatch(tree)
    if branched is None:
        yield tree
        return
    stem, inner = branched.groups()
    depth, start = 0, 0
    for index, char in enumerate(inner + ","):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            if index > start:
                yield from (stem + branch for branch in _branches(inner[start:index]))
            start = index + 1


def _reached(module: Module, arrows: dict[Module, set[Module]]) -> set[Module]:
    reached: set[Module] = set()
    waiting = [module]
    while waiting:
        new = arrows.get(waiting.pop(), set()) - reached
        reached |= new
        waiting.extend(new)
    return reached


def read_crate() -> Crate:
    codes = {}
    for file in SOURCES.rglob("*.rs"):
        module = file.relative_to(SOURCES).with_suffix("").parts
        if "tests" in module:
            continue
        if module[-1] in ("mod", "lib"):
            module = module[:-1]
        codes[module] = file.read_text(encoding="utf-8")
    return Crate(codes)


STILL_THERE: set[frozenset[str]] = set()
"""Circles that are still to be opened. No other may come."""


def test_imports_point_one_way() -> None:
    assert read_crate().circles() <= STILL_THERE


def test_the_error_imports_nothing_of_the_house() -> None:
    assert read_crate().paths[("error",)] == []


def test_circles_are_found() -> None:
    codes = {
        (): "pub use b::{deep::Thing, Other};",
        ("a",): "use crate::{b::{deep, x}, Thing};",
        ("b",): "use self::deep::Thing;",
        ("b", "deep"): "use super::Other; fn f() { super::super::c::g() } // crate::a::x()",
        ("c",): "pub use std::fmt;",
    }
    assert Crate(codes).circles() == set()
    circles = {"a": "use crate::b::x;", "b": "use crate::c::y;", "c": "fn f() { crate::a::z() }"}
    modules = {(name,): code for name, code in circles.items()}
    assert Crate({(): "", **modules}).circles() == {frozenset({"a", "b", "c"})}
    through_the_root = {**codes, ("b", "deep"): "use crate::a::y;"}
    assert Crate(through_the_root).circles() == {frozenset({"a", "b"})}
