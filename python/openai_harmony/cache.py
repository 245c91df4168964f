"""The memory of the tokenizer's caches.

Encoding caches pieces of text with their tokens: up to 5.02 MiB per concurrent encoding, and 321
MiB in total. See docs/python.md.
"""

from __future__ import annotations

from typing import NamedTuple

from openai_harmony._lowlevel import cache_usage, clear_cache

__all__ = ["CacheUsage", "clear", "usage"]


class CacheUsage(NamedTuple):
    """The memory of the caches."""

    #: How many caches there are: as many as encodings ran at once since the last `clear`, at most
    #: 64.
    caches: int
    #: Their memory in bytes once they are full. A cache that is not full yet takes less.
    bytes: int


def usage() -> CacheUsage:
    """The memory of the tokenizer's caches, of all threads together.

    >>> usage().bytes <= 321 * 2**20
    True
    """
    return CacheUsage(*cache_usage())


def clear() -> None:
    """Frees the memory of all caches that no other thread is encoding with.

    Later encodings make new ones, and take longer until these have filled; results do not change.

    >>> clear()
    >>> usage().caches
    0
    """
    clear_cache()
