"""Arrays of numbers: ``array`` takes a subscript when the program runs only from Python 3.12 on."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    IntArray: TypeAlias = array[int]
    FloatArray: TypeAlias = array[float]
else:
    IntArray = FloatArray = array

__all__ = ["FloatArray", "IntArray"]
