"""The examples of many rows as flat arrays."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from typing_extensions import Self

from openai_harmony._arrays import IntArray
from openai_harmony._counted import counted
from openai_harmony.rendered import MessageSpan
from openai_harmony.training import arrow, megatron, packing
from openai_harmony.training.flat import FlatExamples

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


class Example(NamedTuple):
    """One example of a :class:`Batch`."""

    row: int
    """The index of the row that it was made of."""
    tokens: IntArray
    """Its token ids, an array of uint32."""
    loss_mask: bytearray
    """A byte for each token, 1 if it is trained and else 0."""
    spans: list[MessageSpan]
    """One span for each message that was rendered. It counts tokens from the example's first, and
    messages as they were read: chat messages as the harmony messages that they mean."""

    def __repr__(self) -> str:
        tokens, messages = counted(len(self.tokens), "token"), counted(len(self.spans), "message")
        trained = f"{sum(self.loss_mask):,} trained"
        return f"<Example of row {self.row}: {tokens}, {trained}, {messages}>"


class Batch(FlatExamples):
    """The examples of many rows, which :func:`render` makes: flat arrays, in the order of the rows.

    NumPy takes each array without a copy, as whatever reads the buffer protocol does. Each row has
    examples, an entry in ``errors``, or one in ``dropped``. With an example for each turn it may
    have several of these, since some of its turns are too long and others are not.

    >>> from openai_harmony.training import render
    >>> chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]
    >>> batch = render([{"messages": chat}, {"messages": []}], format="chat")
    >>> len(batch), batch.row[0], list(batch.loss_mask[-6:])
    (1, 0, [1, 1, 1, 1, 1, 1])
    >>> batch.errors
    [(1, InvalidRowError('Invalid row: messages is empty'))]
    """

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> list[Example]: ...
    def __getitem__(self, index: int | slice) -> Example | list[Example]:
        """An example by its index, a list of them by a slice; ``IndexError`` where there is none.

        Each has copies of its tokens and its mask.
        """
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        if isinstance(index, str):
            raise TypeError(f"a batch has examples, batch[0]; the column {index!r}: batch.to_arrow")
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"example {index} of {len(self)}")
        index %= len(self)
        first, end = self.offsets[index], self.offsets[index + 1]
        return Example(
            self.row[index], self.tokens[first:end], self.loss_mask[first:end], self._span(index)
        )

    def __iter__(self) -> Iterator[Example]:
        return (self[index] for index in range(len(self)))

    def to_arrow(self, columns: arrow.Columns = "trl") -> pa.Table:
        """The examples as a table, a row for each, with the columns that a trainer reads.

        Token ids and masks are views of this batch's arrays, which cannot grow while the table
        lives. A batch that :meth:`pack` made has a row for each pack, and says where its examples
        end: ``"trl"`` by ``seq_lengths``, ``"axolotl"`` by ``position_ids``, ``"torchtune"`` by
        ``input_pos`` and ``seq_lens``.

        Args:
            columns: The form of the trainer. Lists have an item for each token: ``"trl"``:
                ``input_ids``, ``labels`` (-100 where nothing is trained), ``assistant_masks``.
                ``"axolotl"``: ``input_ids``, ``attention_mask`` (ones), ``labels``.
                ``"torchtune"``: ``tokens``, ``mask`` (true where nothing is trained). ``"flat"``:
                ``tokens``, ``loss_mask``, ``row`` (a number), ``spans`` (lists of structs with the
                fields of :class:`openai_harmony.MessageSpan`). Of rows of preferences: ``"dpo"``:
                ``prompt_ids``, ``chosen_ids``, ``rejected_ids``; ``"kto"``: ``prompt_ids``,
                ``completion_ids``, ``label``.

        Raises:
            ValueError: There are no columns of this name, or not for such a batch: ``"flat"`` is
                not for packs, only ``"dpo"`` and ``"kto"`` are for preferences.
            ModuleNotFoundError: pyarrow is missing; the text names what to install.

        >>> from openai_harmony.training import render
        >>> chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]
        >>> table = render([chat], format="chat").to_arrow("trl")
        >>> table.column_names
        ['input_ids', 'labels', 'assistant_masks']
        >>> table["labels"][0].as_py()[-6:]
        [200005, 17196, 200008, 13225, 0, 200002]
        """
        return arrow.to_arrow(self, columns)

    def pack(self, size: int) -> Self:
        """The same examples in another order, so that neighbours fill rows of ``size`` tokens.

        Packing is best fit, the longest first, and never cuts an example. ``packs`` has which
        examples are together, and :meth:`to_arrow` makes a row of each pack. ``errors``,
        ``dropped`` and the other counts are those of this batch.

        Raises:
            ValueError: An example has more tokens than ``size``, or that is not a number from 1.

        >>> from openai_harmony.training import render
        >>> chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]
        >>> batch = render([chat, chat, chat], format="chat").pack(150)
        >>> list(batch.packs), batch.to_arrow("trl")["seq_lengths"].to_pylist()
        ([0, 2, 3], [[63, 63], [63]])
        """
        return packing.pack(self, size)

    def to_numpy(self) -> dict[str, np.ndarray[Any, Any]]:
        """``tokens``, ``offsets``, ``loss_mask`` and ``row`` as NumPy arrays, without a copy.

        ``ModuleNotFoundError`` if NumPy is missing; the text names what to install.

        >>> from openai_harmony.training import render
        >>> chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]
        >>> arrays = render([chat, chat], format="chat").to_numpy()
        >>> {name: str(array.dtype) for name, array in arrays.items()}
        {'tokens': 'uint32', 'offsets': 'int64', 'loss_mask': 'uint8', 'row': 'int64'}
        """
        return arrow.to_numpy(self)

    def write_megatron(self, prefix: str | os.PathLike[str]) -> None:
        """Writes the files of a data set of Megatron-LM, ``PREFIX.bin`` and ``PREFIX.idx``.

        The masks are next to it in the same form: ``PREFIX.loss_mask.bin`` and its ``.idx``.
        :class:`openai_harmony.training.megatron.MegatronWriter` writes many batches, and its module
        describes the files. ``OSError`` if they cannot be written.
        """
        megatron.write_megatron(self, prefix)

    def __repr__(self) -> str:
        trained = sum(self.loss_mask)
        return (
            f"<Batch: {counted(len(self), 'example')}, {counted(len(self.tokens), 'token')}, "
            f"{trained:,} trained, {counted(len(self.errors), 'error')}>"
        )
