"""What a body asks for and the server leaves out: refused where nothing is left, else reported."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from openai_harmony.interop import Body, Unused
from openai_harmony.interop.turn import Turn
from openai_harmony.serve.refusals import RefusedError

_MOST_KINDS, _MOST_CHARACTERS = 20, 120
"""How much of them is told: clients may send any number of any length."""


def refuse_unmet(turn: Turn, body: Body) -> None:
    """Raises ``RefusedError`` for a body that no answer of the model's own would meet."""
    if turn.dialect == "responses" and body.flag("background"):
        raise RefusedError("background: this server answers while you wait", path="background")
    if unmet := turn.unmet:
        text = "; ".join(f"{one.path}: {one.reason}" for one in unmet)
        raise RefusedError(text, path=unmet[0].path)


def kinds(unused: Iterable[Unused], used: Collection[str] = ()) -> list[tuple[str, str]]:
    """Paths without places, with their reasons: what the log and the metrics say.

    Without those that the server itself has ``used``.
    """
    found: dict[tuple[str, str], None] = {}
    for path, reason in unused:
        plain = re.sub(r"\[\d+\]", "[]", path)
        if plain in used:
            continue
        found[plain[:_MOST_CHARACTERS], reason[:_MOST_CHARACTERS]] = None
        if len(found) == _MOST_KINDS:
            break
    return list(found)
