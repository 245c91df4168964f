"""Numbers of things in words."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """A number and its noun.

    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


__all__ = ["counted"]
