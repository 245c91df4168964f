"""What is refused, and what is said then: the rows of tables/refused/, which begin with the names that they need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tables import FOLDER


def rows() -> Iterator[Any]:
    """An expression, and what it raises: the class, `kind` and `path` of the error, and the text, up to an ellipsis."""
    for file in sorted((FOLDER / "refused").glob("*.txt")):
        _, _, text = file.read_text("utf-8").partition("\n")
        setup, *sections = text.split("\n## ")
        names: dict[str, Any] = {}
        exec(setup, names)
        for section in sections:
            lines = section.rstrip("\n").split("\n")[1:]
            for code, said in zip(lines[::2], lines[1::2]):
                yield pytest.param(names, code, said.strip(), id=code[:80])


@pytest.mark.parametrize(("names", "code", "said"), [*rows()])
def test_it_is_refused(names: dict[str, Any], code: str, said: str) -> None:
    with pytest.raises(Exception) as raised:
        eval(code, dict(names))
    error: Any = raised.value
    kind, path = getattr(error, "kind", ""), getattr(error, "path", "")
    text = str(error).replace("\\", "\\\\").replace("\n", "\\n")
    found = f"{type(error).__name__}{kind and f', {kind}'}{path and f', at {path}'}: {text}"
    known, ellipsis, _ = said.partition("…")
    assert known, "what is said is missing"
    assert found.startswith(known) if ellipsis else found == said
