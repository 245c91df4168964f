"""The names of the public API in both languages, read from the sources: nothing needs to be imported or built."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Name(NamedTuple):
    """A public name: ``Turn.prompt``, with its parameters if it is a function."""

    text: str
    parameters: tuple[str, ...]
    where: str
    type: str = ""
    """Of a field."""

    @property
    def last(self) -> str:
        return self.text.rpartition(".")[2]


def of_python() -> list[Name]:
    """What ``__all__`` lists, with the public members of its classes; of the extension, what the stub describes."""
    package = ROOT / "python/openai_harmony"
    found = []
    for file in sorted([*package.rglob("*.py"), package / "_lowlevel.pyi"]):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        listed = {name for node in tree.body for name in _listed(node)}
        where = file.relative_to(ROOT).as_posix()
        for node in tree.body:
            names = [*_names_of(node)]
            if any(name in listed and not name.startswith("_") for name in names):
                found += _of_node(node, where)
    return found


def _listed(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.Assign([ast.Name("__all__")], ast.List(items)):
            yield from (str(item.value) for item in items if isinstance(item, ast.Constant))


def _names_of(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.ClassDef(name) | ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
            yield name
        case ast.AnnAssign(ast.Name(name)) | ast.Assign([ast.Name(name)]):
            yield name
        case ast.With(body=body):
            yield from (name for inner in body for name in _names_of(inner))


def _of_node(node: ast.stmt, where: str, owner: str = "") -> Iterator[Name]:
    match node:
        case ast.With(body=body):
            for inner in body:
                yield from _of_node(inner, where, owner)
        case ast.ClassDef(name, body=body):
            yield Name(name, (), where)
            for inner in body:
                if not owner:
                    yield from _of_node(inner, where, f"{name}.")
        case ast.FunctionDef(name, arguments) | ast.AsyncFunctionDef(name, arguments):
            if not name.startswith("_") or name in ("__init__", "__new__"):
                given = [*arguments.args, *arguments.kwonlyargs]
                names = tuple(one.arg for one in given if one.arg not in ("self", "cls"))
                constructs = name in ("__init__", "__new__")
                yield Name(f"{owner}{'new' if constructs else name}", names, where)
        case ast.AnnAssign(ast.Name(name), kind) if not name.startswith("_"):
            yield Name(f"{owner}{name}", (), where, ast.unparse(kind) if owner else "")
        case ast.Assign([ast.Name(name)]) if not name.startswith("_"):
            yield Name(f"{owner}{name}", (), where)


_RUST = re.compile(
    r"^impl(?:<[^>]*>)? (?:[^{;]*? for )?(?P<impl>\w+)[^{;]*\{"
    r"|^(?P<end>\})"
    r"|^(?P<indent> *)pub (?:const )?fn (?P<function>\w+)(?:<[^(]*?>)?\((?P<given>[^()]*(?:\([^()]*\)[^()]*)*)\)"
    r"|^ *pub (?:struct|enum|trait|type) (?P<type>\w+)"
    r"|^ +pub (?P<field>\w+): (?P<kind>[^,\n]+)",
    re.MULTILINE,
)
_HIDDEN = re.compile(r"#\[doc\(hidden\)\]\s+pub (?:const )?fn")


def of_rust() -> list[Name]:
    """Public items of the crate, but for what its documentation hides, and tests."""
    return [name for file in sorted((ROOT / "src").rglob("*.rs")) for name in _of_file(file)]


def _of_file(file: Path) -> Iterator[Name]:
    if file.name == "machinery.rs":
        return
    where = file.relative_to(ROOT).as_posix()
    text = file.read_text(encoding="utf-8").split("\n#[cfg(test)]\nmod ")[0]
    text = re.sub(r"//[^\n]*", "", _HIDDEN.sub("fn", text))
    owner = ""
    for found in _RUST.finditer(text):
        if found["impl"]:
            owner = f"{found['impl']}."
        elif found["end"]:
            owner = ""
        elif found["function"]:
            names = tuple(re.findall(r"(\w+)\s*:\s", found["given"]))
            yield Name(f"{owner if found['indent'] else ''}{found['function']}", names, where)
        elif found["type"]:
            owner = f"{found['type']}."
            yield Name(found["type"], (), where)
        else:
            yield Name(f"{owner}{found['field']}", (), where, found["kind"].split(" =")[0])


def words(name: str) -> list[str]:
    """The words of a name: ``stop``, ``token`` and ``ids`` of ``stop_token_ids``."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return [word.lower() for word in apart.split("_") if word]
