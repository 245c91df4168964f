"""A batch as the arrays of other packages: tables of pyarrow, arrays of NumPy.

Token ids and masks are not copied: an Arrow buffer is a view of the batch's array, and token ids
are below 2^31, so the same bytes are int32, the type that trainers read. Only offsets (int32 in
Arrow's lists) and columns that a batch does not have, ``labels`` and masks of bits, are computed.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from openai_harmony._extras import needed
from openai_harmony.errors import quoted
from openai_harmony.rendered import MessageSpan
from openai_harmony.training.flat import FlatExamples

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

Columns: TypeAlias = Literal["trl", "axolotl", "torchtune", "flat", "dpo", "kto"]
"""The trainers, or formats, that a table can have the columns of."""

IGNORED = -100
"""The label of a token that is not trained."""

_ROWS = 1024
"""The rows of a data set that are taken as one table."""

LONGEST = 2**31 - 1
"""The tokens that the offsets of one Arrow list array can count."""


def arrow_stream(rows: Any) -> Any:
    """What gives the rows as an Arrow stream, if Arrow has a type for them, else ``None``."""
    if hasattr(rows, "__arrow_c_stream__"):
        return rows
    if hasattr(rows, "__arrow_c_array__"):
        pa = needed("pyarrow", "training")
        return pa.chunked_array([pa.array(rows)])
    # A data set of Hugging Face's in the format "arrow" iterates over tables of one row.
    if not (hasattr(rows, "with_format") and hasattr(rows, "iter")):
        return None
    first: Any = next(iter(rows), None)
    if not hasattr(first, "__arrow_c_stream__"):
        return None
    pa = needed("pyarrow", "training")
    tables = rows.iter(batch_size=_ROWS)
    batches = (batch for table in tables for batch in table.to_batches())
    return pa.RecordBatchReader.from_batches(first.schema, batches)


def to_arrow(batch: FlatExamples, columns: Columns = "trl") -> pa.Table:
    """The batch as a table with a row for each example; ``Batch.to_arrow`` describes it."""
    checked_columns(columns)
    if len(batch) and (columns in PREFERENCES) != bool(batch.preferred):
        raise ValueError(f"columns: {columns!r} is {_FOR[columns in PREFERENCES]}")
    if columns == "dpo" and batch.preferred != [True, False] * (len(batch) // 2):
        raise ValueError(
            "columns: 'dpo' is for rows with 'chosen' and 'rejected'; 'kto' for others"
        )
    if columns == "flat" and batch.packs is not None:
        raise ValueError("columns: 'flat' says where each example is from, which packs do not")
    lists = _Lists(batch, columns)
    made = {name: lists.examples(of(lists)) for name, of in _TOKENS.get(columns, {}).items()}
    if columns in _OTHERS:
        made |= _OTHERS[columns](lists)
    if batch.packs is not None:
        made |= _OF_PACKS[columns](lists, batch.packs)
    return lists.pa.table(made)


PREFERENCES = ("dpo", "kto")
"""The columns of rows of preferences."""

_FOR = {
    True: "for rows of preferences: render them with format='preference'",
    False: "not for preferences, of which it would train both answers: 'dpo' and 'kto' are",
}


def checked_columns(columns: Columns) -> None:
    """``ValueError`` if there are no columns of this name."""
    if columns not in get_args(Columns):
        known = ", ".join(map(repr, get_args(Columns)))
        raise ValueError(f"columns: expected one of {known}, got {quoted(columns)}")


def to_numpy(batch: FlatExamples) -> dict[str, np.ndarray[Any, Any]]:
    """The batch's arrays as NumPy sees them, without a copy; ``Batch.to_numpy`` describes them."""
    asarray = needed("numpy", "training").asarray
    return {
        "tokens": asarray(batch.tokens),
        "offsets": asarray(batch.offsets),
        "loss_mask": asarray(batch.loss_mask),
        "row": asarray(batch.row),
    }


class _Lists:
    """Makes columns of a batch: lists with an item for each token."""

    def __init__(self, batch: FlatExamples, columns: Columns) -> None:
        self.batch = batch
        self.ends = array("q", map(batch.offsets.__getitem__, batch.rows_of(columns)))
        self.pa = needed("pyarrow", "training")
        self.pc = needed("pyarrow.compute", "training")

    def _view(self, array: Any, kind: Any, length: int) -> Any:
        buffer = self.pa.py_buffer(array)
        return self.pa.Array.from_buffers(kind, length, [None, buffer])

    def tokens(self) -> Any:
        """The token ids, int32."""
        return self._view(self.batch.tokens, self.pa.int32(), len(self.batch.tokens))

    def loss_mask(self, kind: Any) -> Any:
        """A byte for each token, 1 if it is trained, as a type of one byte."""
        return self._view(self.batch.loss_mask, kind, len(self.batch.loss_mask))

    def labels(self) -> Any:
        """The token ids where they are trained, else -100."""
        ignored = self.pa.scalar(IGNORED, self.pa.int32())
        return self.pc.if_else(self._is(1), self.tokens(), ignored)

    def _is(self, byte: int) -> Any:
        """A bit for each token: whether its mask is this byte."""
        kind = self.pa.uint8()
        return self.pc.equal(self.loss_mask(kind), self.pa.scalar(byte, kind))

    def ignored(self) -> Any:
        """A bit for each token, set if it is not trained."""
        return self._is(0)

    def ones(self) -> Any:
        """A 1 for each token."""
        return self.pa.repeat(self.pa.scalar(1, self.pa.int8()), len(self.batch.tokens))

    def rows(self) -> Any:
        """The row that each example came from."""
        return self._view(self.batch.row, self.pa.int64(), len(self.batch))

    def examples(self, values: Any) -> Any:
        """The values of all tokens, cut into a list for each example, or for each pack."""
        ends = self.ends
        offsets = self._view(ends, self.pa.int64(), len(ends))
        pieces = []
        for start, stop in pieces_of(ends, LONGEST):
            own = self.pc.subtract(offsets.slice(start, stop - start + 1), ends[start])
            inside = values.slice(ends[start], ends[stop] - ends[start])
            pieces.append(self.pa.ListArray.from_arrays(own.cast(self.pa.int32()), inside))
        return self.pa.chunked_array(pieces, self.pa.list_(values.type))

    def lengths(self, packs: Any) -> Any:
        """The lengths of the examples of each pack, int32."""
        offsets = self._view(self.batch.offsets, self.pa.int64(), len(self.batch.offsets))
        lengths = self.pc.subtract(offsets.slice(1), offsets.slice(0, len(self.batch)))
        lengths = lengths.cast(self.pa.int32())
        return self.pa.ListArray.from_arrays(self.pa.array(packs, self.pa.int32()), lengths)

    def positions(self) -> Any:
        """The place of each token in its example, int32."""
        np = needed("numpy", "training")
        offsets = np.asarray(self.batch.offsets)
        begins = np.repeat(offsets[:-1], np.diff(offsets))
        return self.pa.array((np.arange(len(begins)) - begins).astype(np.int32))

    def prompts_and_answers(self) -> tuple[Any, Any]:
        """The tokens of each example up to the first that is trained, and the others."""
        bounds = [0]
        for begin, end in pairwise(self.batch.offsets):
            bounds += [self.batch.loss_mask.find(1, begin, end), end]
        lists = self.pa.ListArray.from_arrays(self.pa.array(bounds, self.pa.int32()), self.tokens())
        return lists.take(self._every(2)), lists.take(self.pc.add(self._every(2), 1))

    def pairs(self) -> dict[str, Any]:
        """The prompt and both answers of each row."""
        prompts, answers = self.prompts_and_answers()
        sides = {"prompt_ids": prompts[::2], "chosen_ids": answers[::2]}
        return {**sides, "rejected_ids": answers[1::2]}

    def labelled(self) -> dict[str, Any]:
        """The prompt and the answer of each row, and whether it is preferred."""
        prompts, answers = self.prompts_and_answers()
        label = self.pa.array(self.batch.preferred, self.pa.bool_())
        return {"prompt_ids": prompts, "completion_ids": answers, "label": label}

    def _every(self, step: int) -> Any:
        return self.pa.array(range(0, step * len(self.batch), step), self.pa.int64())

    def spans(self) -> Any:
        """The spans of each example, indexes of its tokens."""
        pa, flat = self.pa, self.batch._spans
        names = [name for name in MessageSpan._fields if name != "source"]
        fields = {
            name: pa.array(flat[index :: len(names)]).cast(pa.int32())
            for index, name in enumerate(names)
        }
        structs = pa.StructArray.from_arrays(list(fields.values()), list(fields))
        offsets = pa.array(self.batch._span_offsets).cast(pa.int32())
        return pa.ListArray.from_arrays(offsets, structs)


def pieces_of(ends: Sequence[int], longest: int) -> Iterator[tuple[int, int]]:
    """Cuts the examples that offsets delimit into pieces of at most ``longest`` tokens.

    Yields the first and the last boundary of each piece; an example that is longer is a piece of
    its own.
    """
    start = 0
    for stop in range(1, len(ends)):
        last = stop == len(ends) - 1
        if last or ends[stop + 1] - ends[start] > longest:
            yield start, stop
            start = stop


_TOKENS: dict[str, dict[str, Callable[[_Lists], Any]]] = {
    # TRL 1 reads `labels` as they are; before, packing dropped them and kept the masks.
    "trl": {
        "input_ids": _Lists.tokens,
        "labels": _Lists.labels,
        "assistant_masks": lambda lists: lists.loss_mask(lists.pa.int8()),
    },
    "axolotl": {
        "input_ids": _Lists.tokens,
        "attention_mask": _Lists.ones,
        "labels": _Lists.labels,
    },
    "torchtune": {"tokens": _Lists.tokens, "mask": _Lists.ignored},
    "flat": {
        "tokens": _Lists.tokens,
        "loss_mask": lambda lists: lists.loss_mask(lists.pa.uint8()),
    },
}
"""For each trainer its columns, and what they have for each token."""

_OTHERS: dict[str, Callable[[_Lists], dict[str, Any]]] = {
    "flat": lambda lists: {"row": lists.rows(), "spans": lists.spans()},
    "dpo": _Lists.pairs,
    "kto": _Lists.labelled,
}
"""Columns that have no item for each token."""

_OF_PACKS: dict[str, Callable[[_Lists, Any], dict[str, Any]]] = {
    "trl": lambda lists, packs: {"seq_lengths": lists.lengths(packs)},
    "axolotl": lambda lists, packs: {"position_ids": lists.examples(lists.positions())},
    "torchtune": lambda lists, packs: {
        "input_pos": lists.examples(lists.positions()),
        "seq_lens": lists.lengths(packs),
    },
}
"""What says where each example of a pack ends, for each trainer."""

__all__ = ["IGNORED", "PREFERENCES", "Columns", "checked_columns"]
