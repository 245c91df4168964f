"""How doctests are found, and what they are given: they do not load an encoding each."""

import doctest
from inspect import isfunction
from types import ModuleType
from typing import Any

import pytest

from openai_harmony import load_harmony_encoding


@pytest.fixture(autouse=True)
def encoding(doctest_namespace: dict[str, Any]) -> None:
    """The name is the package's own module otherwise."""
    doctest_namespace["encoding"] = load_harmony_encoding("HarmonyGptOss")


_from_module = doctest.DocTestFinder._from_module  # type: ignore[attr-defined]


def _with_methods(finder: doctest.DocTestFinder, module: ModuleType, found: object) -> bool:
    """Classes of 0.0.8 name the package as their module, and their methods the file."""
    is_method = isfunction(found) and "." in found.__qualname__
    return is_method or bool(_from_module(finder, module, found))


doctest.DocTestFinder._from_module = _with_methods  # type: ignore[attr-defined]
