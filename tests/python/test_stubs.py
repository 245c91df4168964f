"""The extension's stubs are documentation: editors show them. It is complete, and its examples run.

That names and signatures are the module's, mypy's stubtest sees; its documentation is made of theirs.
"""

from __future__ import annotations

import ast
import builtins
import doctest
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import openai_harmony
from openai_harmony import _lowlevel, load_harmony_encoding

STUB = Path(openai_harmony.__file__).with_name("_lowlevel.pyi")


class Documented(NamedTuple):
    """A class, method or property of the stubs."""

    name: str
    text: str
    arguments: list[str]
    is_property: bool
    returns: str
    line: int


def documented() -> Iterator[Documented]:
    """All that users see, also what lacks its text."""
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
            made = [one for one in methods if one.name == "__init__"]
            arguments = [name for one in made for name in names(one)]
            text = ast.get_docstring(node) or ""
            yield Documented(node.name, text, arguments, False, "None", node.lineno)
            for method in methods:
                if not method.name.startswith("_"):
                    yield of_method(node.name, method)


def of_method(owner: str, method: ast.FunctionDef) -> Documented:
    return Documented(
        f"{owner}.{method.name}",
        ast.get_docstring(method) or "",
        names(method),
        any(isinstance(one, ast.Name) and one.id == "property" for one in method.decorator_list),
        ast.unparse(method.returns) if method.returns else "",
        method.lineno,
    )


def names(function: ast.FunctionDef) -> list[str]:
    arguments = [*function.args.args, *function.args.kwonlyargs]
    return [argument.arg for argument in arguments if argument.arg != "self"]


def section(text: str, title: str) -> list[str]:
    """What a section of a docstring names: the words before the colons at its outer level."""
    found = re.search(rf"^{title}:\n((?:(?:    .*)?\n?)*)", text, re.MULTILINE)
    return re.findall(r"^    (\w+): ", found[1], re.MULTILINE) if found else []


ALL = list(documented())


def test_all_are_found() -> None:
    owners = {name.partition(".")[0] for name, *_ in ALL}
    assert owners == {
        "HarmonyEncoding",
        "StreamableParser",
        "Turn",
        "MessageStart",
        "ContentDelta",
        "MessageEnd",
        "Repair",
        "Reply",
        "Body",
        "EngineReader",
    }


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_each_is_documented(one: Documented) -> None:
    assert one.text, f"{STUB.name}:{one.line}"
    assert section(one.text, "Args") == one.arguments
    if not one.is_property:
        assert ">>> " in one.text
        assert ("\nReturns:\n" in one.text) == (one.returns != "None")
    for name in section(one.text, "Raises"):
        assert hasattr(openai_harmony, name) or hasattr(builtins, name)


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_help_shows_the_same_text(one: Documented) -> None:
    owner, _, member = one.name.partition(".")
    compiled = getattr(_lowlevel, owner)
    member_of = vars(compiled).get(member) if member else compiled
    assert inspect.cleandoc(member_of.__doc__) == one.text


def test_help_of_functions_shows_the_same_text() -> None:
    body = ast.parse(STUB.read_text(encoding="utf-8")).body
    functions = [one for one in body if isinstance(one, ast.FunctionDef)]
    texts = {one.name: text for one in functions if (text := ast.get_docstring(one))}
    assert {name: inspect.getdoc(getattr(_lowlevel, name)) for name in texts} == texts


@pytest.mark.parametrize(
    "one", [one for one in ALL if ">>> " in one.text], ids=lambda one: one.name
)
def test_examples_run(one: Documented) -> None:
    shown = {name: getattr(openai_harmony, name) for name in openai_harmony.__all__}
    shown["encoding"] = load_harmony_encoding("HarmonyGptOss")
    example = doctest.DocTestParser().get_doctest(one.text, shown, one.name, str(STUB), one.line)
    assert example.examples
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert not report, "".join(report)
