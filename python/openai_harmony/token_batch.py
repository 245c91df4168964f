"""The tokens of many texts as flat arrays."""

from __future__ import annotations

import operator
from array import array
from collections.abc import Iterable, Iterator
from typing import Any, Protocol, overload

from openai_harmony._arrays import IntArray
from openai_harmony._counted import counted
from openai_harmony.errors import WrongTypeError


class FlatTokens(Protocol):
    """Anything with flat arrays of tokens: a :class:`TokenBatch`, a training ``Batch``."""

    @property
    def tokens(self) -> Iterable[int]:
        """The token ids of all texts."""

    @property
    def offsets(self) -> Iterable[int]:
        """Where each text begins among the tokens, and the end of the last."""


class TokenBatch:
    """The tokens of many texts as two flat arrays, from ``HarmonyEncoding.encode_batch``.

    NumPy, and anything else that reads the buffer protocol, takes them without a copy.

    >>> from openai_harmony import load_harmony_encoding
    >>> batch = load_harmony_encoding("HarmonyGptOss").encode_batch(["Hi", "", "Hello, world"])
    >>> batch
    <TokenBatch: 3 texts, 4 tokens>
    >>> batch.tokens, batch.offsets
    (array('I', [12194, 13225, 11, 2375]), array('q', [0, 1, 1, 4]))
    >>> batch[2].tolist(), batch[-2].tolist()
    ([13225, 11, 2375], [])
    """

    tokens: IntArray
    """The token ids of all texts, uint32."""
    offsets: IntArray
    """Where each text begins among the tokens, and the end of the last, int64: one more than there
    are texts. Text ``i`` is ``tokens[offsets[i]:offsets[i + 1]]``."""

    def __init__(
        self,
        tokens: bytes | Iterable[int] = b"",
        offsets: bytes | Iterable[int] = (0,),
    ) -> None:
        """From token ids and offsets, or their bytes as native uint32 and int64.

        An ``array`` of these types is kept, not copied. Offsets are not checked against the tokens.
        ``ValueError`` for a number out of range.
        """
        self.tokens = _as_array("I", tokens, "tokens")
        self.offsets = _as_array("q", offsets, "offsets")

    def __len__(self) -> int:
        """The number of texts."""
        return max(len(self.offsets) - 1, 0)

    @overload
    def __getitem__(self, index: int) -> IntArray: ...
    @overload
    def __getitem__(self, index: slice) -> list[IntArray]: ...
    def __getitem__(self, index: int | slice) -> IntArray | list[IntArray]:
        """The tokens of a text by its index, a list of them by a slice.

        They are copies. ``IndexError`` if there is no such text.
        """
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"text {index} of {len(self)}")
        index %= len(self)
        return self.tokens[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[IntArray]:
        return (self[index] for index in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TokenBatch):
            return NotImplemented
        return self.tokens == other.tokens and self.offsets == other.offsets

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<TokenBatch: {counted(len(self), 'text')}, {counted(len(self.tokens), 'token')}>"


def _as_array(typecode: str, values: Any, name: str) -> IntArray:
    if isinstance(values, array) and values.typecode == typecode:
        return values
    try:
        return array(typecode, values)
    except TypeError as error:
        raise WrongTypeError(f"{name}: expected ints, or their bytes: {error}") from error
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{name}: {error}") from error


__all__ = ["TokenBatch"]
