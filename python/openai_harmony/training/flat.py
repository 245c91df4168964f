"""Examples as flat arrays: what tables, files and packs are made of."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from typing_extensions import Self

from openai_harmony._arrays import IntArray
from openai_harmony.errors import HarmonyError
from openai_harmony.rendered import MessageSpan

_FIELDS_OF_A_SPAN = len(MessageSpan._fields) - 1
"""Rows have no ``source``."""


class FlatExamples:
    """The arrays of a :class:`openai_harmony.training.Batch`."""

    tokens: IntArray
    """The token ids of all examples, uint32."""
    offsets: IntArray
    """Where each example begins among the tokens, and the end of the last, int64: one more than
    there are examples. Example ``i`` is ``tokens[offsets[i]:offsets[i + 1]]``."""
    loss_mask: bytearray
    """A byte for each token: 1 if it is trained, else 0."""
    row: IntArray
    """The index of the row that each example was made of, int64."""
    preferred: list[bool]
    """Whether each example is a preferred answer, with ``format="preference"``; else empty."""
    errors: list[tuple[int, HarmonyError]]
    """Bad rows, each once, and what is wrong with them. They have no examples; but if turns of a
    row are too long, the others are examples."""
    dropped: list[int]
    """The row of each example that was left out, since it has more than ``max_tokens``."""
    truncated: list[int]
    """The row of each example that lost turns to ``max_tokens``."""
    unused: dict[str, int]
    """What does not reach the prompt, or not as written, and how often it was there:
    ``messages[].annotations``, ``tools[]: an earlier tool has this name``."""
    dropped_thoughts: int
    """The number of reasoning messages that were not rendered, since a model does not see those of
    completed turns (by ``config``). With an example for each turn it is 0."""
    packs: IntArray | None = None
    """Where each pack begins among the examples, and the end of the last, int64; ``None`` unless
    :meth:`pack` made this batch."""

    _spans: Any
    _span_offsets: Any

    def __init__(self, **fields: Any) -> None:
        """From the fields as the compiled function gives them."""
        vars(self).update(fields)

    def __len__(self) -> int:
        return len(self.row)

    @property
    def spans(self) -> list[list[MessageSpan]]:
        """The spans of the messages of each example, as :class:`Example` has them."""
        return [self._span(index) for index in range(len(self))]

    def _span(self, index: int) -> list[MessageSpan]:
        spans = []
        for span in range(self._span_offsets[index], self._span_offsets[index + 1]):
            begin = span * _FIELDS_OF_A_SPAN
            spans.append(MessageSpan(*self._spans[begin : begin + _FIELDS_OF_A_SPAN]))
        return spans

    def select(self, order: Sequence[int]) -> Self:
        """The examples with these indexes, in this order; all else is this batch's."""
        fields: dict[str, Any] = {**vars(self), "tokens": array("I"), "loss_mask": bytearray()}
        fields |= {"offsets": array("q", [0]), "row": array("q"), "_span_offsets": array("q", [0])}
        fields["packs"], fields["_spans"] = None, self._spans[:0]
        spans = fields["_spans"]
        fields["preferred"] = [self.preferred[index] for index in order if self.preferred]
        for index in order:
            begin, end = self.offsets[index], self.offsets[index + 1]
            fields["tokens"] += self.tokens[begin:end]
            fields["loss_mask"] += self.loss_mask[begin:end]
            fields["offsets"].append(len(fields["tokens"]))
            fields["row"].append(self.row[index])
            first, last = self._span_offsets[index], self._span_offsets[index + 1]
            spans += self._spans[first * _FIELDS_OF_A_SPAN : last * _FIELDS_OF_A_SPAN]
            fields["_span_offsets"].append(len(spans) // _FIELDS_OF_A_SPAN)
        return type(self)(**fields)

    def rows_of(self, columns: str) -> Sequence[int]:
        """Where each row of :meth:`to_arrow` begins among the examples, and the end of the last.

        A row is a pack, with ``"dpo"`` a pair of answers, else an example.
        """
        if columns == "dpo":
            return range(0, len(self) + 1, 2)
        return range(len(self) + 1) if self.packs is None else self.packs
