"""Immutable objects."""

from __future__ import annotations

from typing import Any

from typing_extensions import Self


class Immutable:
    """Copying returns the object itself."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self
