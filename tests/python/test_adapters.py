"""An adapter needs no private name, so that a stranger can write another."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import openai_harmony

FOLDER = Path(openai_harmony.__file__).parent / "adapters"
ADAPTERS = sorted(FOLDER.glob("*.py"))
HINT = "openai_harmony._extras.needed"
"""What says which extra to install, where a stranger would just import."""


def names_in(source: str) -> list[str]:
    """What is imported of this package, and each attribute of anything but `self`."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("openai_harmony"):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names if alias.name.startswith("openai_harmony")]
        elif isinstance(node, ast.Attribute) and not (
            isinstance(node.value, ast.Name) and node.value.id == "self"
        ):
            names.append(node.attr)
    return names


@pytest.mark.parametrize("adapter", ADAPTERS, ids=[path.stem for path in ADAPTERS])
def test_it_needs_no_private_name(adapter: Path) -> None:
    private = [
        name
        for name in names_in(adapter.read_text(encoding="utf-8"))
        if name != HINT
        and any(part.startswith("_") and not part.startswith("__") for part in name.split("."))
    ]
    assert private == []


def test_private_names_are_found() -> None:
    assert names_in("from openai_harmony._lowlevel import x") == ["openai_harmony._lowlevel.x"]
    assert names_in("rollout._raw") == ["_raw"]
    assert len(ADAPTERS) > 5
