"""Runs a notebook's cells and shows what their last lines are, without Jupyter."""

from __future__ import annotations

import ast
import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple


class Cell(NamedTuple):
    """A cell of a notebook."""

    kind: str
    """``markdown`` or ``code``."""
    source: str
    shown: Any = None
    """The value of a code's last line."""


class Html:
    """Stands for IPython's ``HTML``."""

    def __init__(self, data: str) -> None:
        self.data = data

    def _repr_html_(self) -> str:
        return self.data


def executed(notebook: Path) -> Iterator[Cell]:
    """The cells in their order; those of code have been run, in one namespace."""
    display: Any = types.ModuleType("IPython.display")
    display.HTML = Html
    modules = {"IPython": types.ModuleType("IPython"), "IPython.display": display}
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        namespace: dict[str, Any] = {}
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code":
                *first, last = ast.parse(source).body
                if not isinstance(last, ast.Expr):
                    raise TypeError(f"{notebook.name}: a cell's last line shows nothing: {source}")
                exec(compile(ast.Module(first, []), "cell", "exec"), namespace)
                shown = eval(compile(ast.Expression(last.value), "cell", "eval"), namespace)
                yield Cell("code", source, shown)
            else:
                yield Cell("markdown", source)
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


OWN_FOLDS = """\
<style>
.md-typeset .harmony-show details {border-width: 0 0 0 3px; box-shadow: none}
.md-typeset .harmony-show summary {padding-left: 0.6rem}
.md-typeset .harmony-show summary::before {display: none}
</style>"""
"""The site's theme draws folds as notes, with an icon."""


def page(notebook: Path) -> str:
    """The notebook as Markdown with its pictures."""
    parts = []
    for cell in executed(notebook):
        if cell.kind == "markdown":
            parts.append(cell.source)
            continue
        html = getattr(cell.shown, "_repr_html_", None)
        shown = html() if html else f"```python\n{cell.shown!r}\n```"
        parts += [f"```python\n{cell.source}\n```", shown]
    return "\n\n".join([*parts, OWN_FOLDS]) + "\n"
