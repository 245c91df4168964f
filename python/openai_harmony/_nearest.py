"""What a misspelt name was meant to be."""

from __future__ import annotations

from collections.abc import Sequence


def meant(word: str, known: Sequence[str]) -> str | None:
    """The nearest of some names; ``None`` if none is near.

    >>> meant("colums", ["columns", "to"]), meant("effort", ["port", "reasoning-effort"])
    ('columns', 'reasoning-effort')
    """
    import difflib

    # A part of a long name is nearer than similar letters. At 0.6, the default, `effort` is near
    # `port`.
    parts = [one for one in known if word in one.split("-")]
    near = parts or difflib.get_close_matches(word, known, n=1, cutoff=0.65)
    return near[0] if near else None


__all__ = ["meant"]
