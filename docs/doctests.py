"""Makes Markdown of docstrings: fences for their examples, code for their references."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):`~?([^`]+)`")
_EXAMPLE = re.compile(r"(?:^[ ]*>>> .*\n?(?:^[ ]*\S.*\n?)*\n*)+", re.MULTILINE)


class FencedDoctests(griffe.Extension):
    """Puts each run of `>>>` lines and their output between fences."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Changes the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            text = _ROLE.sub(_code, obj.docstring.value)
            obj.docstring.value = _EXAMPLE.sub(_fenced, text)


def _code(role: re.Match[str]) -> str:
    """A reference as editors read it, as code; of a long path the last name."""
    name = role[1].rpartition(".")[2] if "~" in role[0] else role[1]
    return f"`{name}`"


def _fenced(example: re.Match[str]) -> str:
    text = example[0].rstrip("\n")
    indent = " " * (len(text) - len(text.lstrip(" ")))
    return f"{indent}```pycon\n{text}\n{indent}```\n\n"
