"""Imports of the Python package and of the benches point one way: their modules form no circle.

Every import counts: within functions, for type checkers (``if TYPE_CHECKING``), and by name, which is any string that
names a module of the package, as ``import_module`` takes it. A name that a package passes on leads to the module that
defines it, so that a module may import its neighbours by way of the package. The rooms are on floors, which the picture
in docs/house.md shows, and applications use public names only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from arrows import Arrows, Module, circles, layers, upward

PROJECT = Path(__file__).parents[2]


class Package:
    """The modules of a package by their code, and what they import."""

    def __init__(self, name: str, codes: dict[Module, str], packages: set[Module]) -> None:
        self.name = name
        self.packages = packages
        trees = {module: ast.parse(code) for module, code in codes.items()}
        self.trees = trees
        self.modules = set(trees) | {("_lowlevel",)}
        self.imports = {module: list(self._imports(module, tree)) for module, tree in trees.items()}

    def _imports(self, module: Module, tree: ast.AST) -> Iterator[tuple[Module, str]]:
        """The module and the name of each import of the package's own."""
        described = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._named(alias.name)
            elif isinstance(node, ast.ImportFrom):
                path = (node.module or "").split(".") if node.module else []
                if node.level:
                    path = [*self._around(module, node.level), *path]
                elif path[:1] == [self.name]:
                    path = path[1:]
                else:
                    continue
                for alias in node.names:
                    yield tuple(path), alias.name
            elif isinstance(node, ast.Constant) and id(node) not in described:
                yield from self._by_string(module, str(node.value))

    def _by_string(self, module: Module, text: str) -> Iterator[tuple[Module, str]]:
        """``"p.a.b"``, ``".b"`` from a neighbour, and ``"p.a."``, to which a name is added."""
        text = text.removesuffix(".")
        dots = len(text) - len(text.lstrip("."))
        if dots:
            text = ".".join([self.name, *self._around(module, dots), text[dots:]])
        if all(map(str.isidentifier, text.split("."))):
            yield from (one for one in self._named(text) if (*one[0], one[1]) in self.modules)

    def _named(self, path: str) -> Iterator[tuple[Module, str]]:
        root, *names = path.split(".")
        if root == self.name and names:
            yield tuple(names[:-1]), names[-1]

    def _around(self, module: Module, level: int) -> Module:
        """The package from which so many dots of a module lead."""
        here = module if module in self.packages else module[:-1]
        return here[: len(here) - level + 1]

    def target(self, module: Module, name: str, passed: int = 0) -> Module:
        """The module that a name of a module leads to."""
        if (*module, name) in self.modules:
            return (*module, name)
        for source, onward in self.imports.get(module, []):
            if onward == name and self._passes_on(module) and passed < 9:
                return self.target(source, onward, passed + 1)
            if onward == "*" and (found := self.target(source, name, passed + 1)) != source:
                return found
        return module

    def _passes_on(self, module: Module) -> bool:
        """Whether it offers what it imports: a package, and a module of which one takes all."""
        return module in self.packages or any(
            source == module and name == "*"
            for package in self.packages
            for source, name in self.imports.get(package, [])
        )

    def arrows(self) -> Arrows:
        return {
            module: {self.target(source, name) for source, name in imports}
            for module, imports in self.imports.items()
        }


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


PACKAGE = read(PROJECT / "python/openai_harmony")
APPLICATIONS = [("adapters",), ("cli",), ("playground",), ("serve",), ("training", "dataset")]


@pytest.mark.parametrize("folder", ["python/openai_harmony", "benches/comparison"])
def test_no_circle(folder: str) -> None:
    package = read(PROJECT / folder)
    assert len(package.modules) > 9
    assert circles(package.arrows()) == set()


def test_imports_point_downwards_in_the_picture_of_the_house() -> None:
    floors = layers("How is the Python package layered?")
    arrows = PACKAGE.arrows()
    rooms = {module[0] for module in PACKAGE.modules if module}
    assert rooms | {"training/dataset"} == {room for floor in floors for room in floor}
    assert upward(arrows, floors) == []


def test_the_extension_imports_nothing_of_the_package() -> None:
    """It is given what it needs by ``_wiring``: the lowest floor.

    But for ``_foreign``, which sees another package's files, and so needs nothing of this one.
    """
    for file in (PROJECT / "python/src").rglob("*.rs"):
        assert not re.search(
            r'import\(\s*"openai_harmony(?!\._foreign)', file.read_text("utf-8")
        ), file


def exported() -> set[tuple[Module, str]]:
    """What ``__all__`` of a module has, by the module that defines it; public modules are exported."""
    found = set()
    for module, tree in PACKAGE.trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                names = ast.literal_eval(node.value)
                found |= {(PACKAGE.target(module, name), name) for name in names}
    return found


def inside(module: Module, room: Module) -> bool:
    return module[: len(room)] == room


@pytest.mark.parametrize("room", APPLICATIONS, ids="/".join)
def test_applications_use_public_names_only(room: Module) -> None:
    public = exported()
    private = {
        f"{'/'.join(module)}: {'.'.join((*target, name))}"
        for module, imports in PACKAGE.imports.items()
        if inside(module, room)
        for source, name in imports
        for target in [PACKAGE.target(source, name)]
        if not any(inside(target, other) for other in APPLICATIONS)
        and (*source, name) not in PACKAGE.modules
        and (target, name) not in public
        and name != "__version__"
    }
    assert private == set()


def test_circles_are_found() -> None:
    codes: dict[Module, str] = {
        (): "from .a import A\nfrom p.b import B\n",
        ("a",): "from p import B",
        ("b",): '"""Not ``p.a``."""\nB = "p.a, for one"\n',
    }
    assert circles(Package("p", codes, {()}).arrows()) == set()
    for planted in [
        "def f():\n    import p.a",
        "def f():\n    from p.a import A",
        "def f():\n    from . import a",
        "if TYPE_CHECKING:\n    from p import A",
        "import importlib\nimportlib.import_module('p.a')",
        "import_module('.a', 'p')",
        "__import__('p.a')",
        "LAZY = {'A': 'p.a'}",
        "import_module(f'p.a.{1}')",
    ]:
        assert circles(Package("p", {**codes, ("b",): planted}, {()}).arrows()) == {
            frozenset({"a", "b"})
        }, planted


def test_upward_imports_are_found() -> None:
    codes: dict[Module, str] = {
        (): "",
        ("a",): "",
        ("b",): "import p.a",
        ("b", "c"): "import p.b.d",
        ("b", "d"): "",
    }
    arrows = Package("p", codes, {(), ("b",)}).arrows()
    assert upward(arrows, [["b/c"], ["b"], ["a"]]) == []
    assert upward(arrows, [["a"], ["b/c"], ["b"]]) == ["b -> a"]
    assert upward(arrows, [["b"], ["a"], ["b/c"]]) == ["b/c -> b"]
