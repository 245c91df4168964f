"""Imports of the two crates point one way: the modules of each folder form no circle.

Every path in the code (``use crate::…``, ``super::…``) is an arrow from the module in which it stands
to the module that it names; where a module only passes a name on (``pub use``), the arrow continues to
where the name comes from. A module and those within it are one thing to the others, and may name each
other. Unit tests are left out. The rooms of the core are in layers, which the picture in docs/house.md shows.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from arrows import Arrows, Module, branches, circles, layers, upward

PROJECT = Path(__file__).parents[2]
PICTURE = "Which way do imports point?"
CORE, BINDING = PROJECT / "src", PROJECT / "python/src"


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
                for path in branches("".join(re.sub(r"\s+as\s+\w+", "", tree).split()))
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

    def arrows(self) -> Arrows:
        """Which modules each module names."""
        return {
            module: {self.target(module, path) for path in paths}
            for module, paths in self.paths.items()
        }


def read_crate(sources: Path = CORE) -> Crate:
    codes = {}
    for file in sources.rglob("*.rs"):
        module = file.relative_to(sources).with_suffix("").parts
        if "tests" in module:
            continue
        if module[-1] in ("mod", "lib"):
            module = module[:-1]
        codes[module] = file.read_text(encoding="utf-8")
    return Crate(codes)


@pytest.mark.parametrize("sources", [CORE, BINDING], ids=["core", "binding"])
def test_no_circle(sources: Path) -> None:
    crate = read_crate(sources)
    assert len(crate.paths) > 30
    assert circles(crate.arrows()) == set()


def test_imports_point_downwards_in_the_picture_of_the_house() -> None:
    arrows = read_crate().arrows()
    rooms = {module[0] for module in arrows if module}
    assert rooms == {room for layer in layers(PICTURE) for room in layer}
    assert upward(arrows, layers(PICTURE)) == []


def test_the_error_imports_only_what_it_says() -> None:
    crate = read_crate()
    room = [module for module in crate.paths if module[:1] == ("error",)]
    imported = {crate.target(module, path)[0] for module in room for path in crate.paths[module]}
    assert imported == {"error", "path", "brief"}
    assert {crate.target(("path",), path) for path in crate.paths[("path",)]} == {("brief",)}
    assert crate.paths[("brief",)] == []


def test_circles_are_found() -> None:
    codes = {
        (): "pub use b::{deep::Thing, Other};",
        ("a",): "use crate::{b::{deep, x}, Thing};",
        ("b",): "use self::deep::Thing;",
        ("b", "deep"): "use super::Other; fn f() { super::super::c::g() } // crate::a::x()",
        ("c",): "pub use std::fmt;",
    }
    assert circles(Crate(codes).arrows()) == set()
    circle = {"a": "use crate::b::x;", "b": "use crate::c::y;", "c": "fn f() { crate::a::z() }"}
    modules = {(name,): code for name, code in circle.items()}
    assert circles(Crate({(): "", **modules}).arrows()) == {frozenset({"a", "b", "c"})}
    through_the_root = {**codes, ("b", "deep"): "use crate::a::y;"}
    assert circles(Crate(through_the_root).arrows()) == {frozenset({"a", "b"})}


def test_upward_imports_are_found() -> None:
    codes = {(): "", ("a",): "use crate::b::x;", ("b",): "use crate::c::y;", ("c",): ""}
    arrows = Crate(codes).arrows()
    assert upward(arrows, [["a"], ["b"], ["c"]]) == []
    assert upward(arrows, [["a"], ["b", "c"]]) == ["b -> c"]
    assert upward(arrows, [["b"], ["a"], ["c"]]) == ["a -> b"]
