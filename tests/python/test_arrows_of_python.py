"""Imports of the Python package and of the benches point one way: their modules form no circle.

An import within a function counts too; what only type checkers read, ``if TYPE_CHECKING``, does not. A name that a package passes on leads to the module
that defines it, so that a module may import its neighbours by way of the package.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from arrows import Arrows, Module, circles

PROJECT = Path(__file__).parents[2]


class Package:
    """The modules of a package by their code, and what they import."""

    def __init__(self, name: str, codes: dict[Module, str], packages: set[Module]) -> None:
        self.name = name
        self.packages = packages
        trees = {module: ast.parse(code) for module, code in codes.items()}
        self.modules = set(trees)
        self.imports = {module: list(self._imports(module, tree)) for module, tree in trees.items()}

    def _imports(self, module: Module, tree: ast.AST) -> Iterator[tuple[Module, str]]:
        """The module and the name of each import of the package's own."""
        for node in _run(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    root, *path = alias.name.split(".")
                    if root == self.name and path:
                        yield tuple(path[:-1]), path[-1]
            elif isinstance(node, ast.ImportFrom):
                path = (node.module or "").split(".") if node.module else []
                if node.level:
                    here = module if module in self.packages else module[:-1]
                    path = [*here[: len(here) - node.level + 1], *path]
                elif path[:1] == [self.name]:
                    path = path[1:]
                else:
                    continue
                for alias in node.names:
                    yield tuple(path), alias.name

    def target(self, module: Module, name: str, passed: int = 0) -> Module:
        """The module that a name of a module leads to."""
        if (*module, name) in self.modules:
            return (*module, name)
        for source, onward in self.imports.get(module, []):
            if onward == name and module in self.packages and passed < 9:
                return self.target(source, onward, passed + 1)
        return module

    def arrows(self) -> Arrows:
        return {
            module: {self.target(source, name) for source, name in imports}
            for module, imports in self.imports.items()
        }


def _run(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree that the interpreter runs."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from _run(node)


def read(folder: Path) -> Package:
    codes: dict[Module, str] = {}
    packages: set[Module] = set()
    for file in folder.rglob("*.py"):
        module = file.relative_to(folder).with_suffix("").parts
        if module[-1] == "__init__":
            module = module[:-1]
            packages.add(module)
        codes[module] = file.read_text(encoding="utf-8")
    return Package(folder.name, codes, packages)


@pytest.mark.parametrize("folder", ["python/openai_harmony", "benches/comparison"])
def test_no_circle(folder: str) -> None:
    package = read(PROJECT / folder)
    assert len(package.modules) > 9
    assert circles(package.arrows()) == set()


def test_circles_are_found() -> None:
    codes: dict[Module, str] = {
        (): "from .a import A\nfrom p.b import B\nif TYPE_CHECKING:\n    from .a import A",
        ("a",): "from p import B",
        ("b",): "B = 1\nif TYPE_CHECKING:\n    from p import A",
    }
    assert circles(Package("p", codes, {()}).arrows()) == set()
    codes[("b",)] = "def f():\n    import p.a"
    assert circles(Package("p", codes, {()}).arrows()) == {frozenset({"a", "b"})}
