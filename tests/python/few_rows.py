"""Rows of a few messages for the tests of `training.render`, and how its batches are compared."""

from __future__ import annotations

from openai_harmony.training import Batch

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "2 + 2?"},
    {"role": "assistant", "reasoning_content": "Easy.", "content": "Four."},
    {"role": "user", "content": "Sure?"},
    {"role": "assistant", "reasoning_content": "Yes.", "content": "Yes."},
]
HARMONY = [
    {"role": "user", "content": "2 + 2?"},
    {"role": "assistant", "channel": "analysis", "content": "Easy."},
    {"role": "assistant", "channel": "final", "content": "Four."},
]


def same(left: Batch, right: Batch) -> bool:
    """Whether two batches have the same examples, and no errors."""
    return (left.tokens, left.offsets, left.loss_mask, left.row, left.spans) == (
        right.tokens,
        right.offsets,
        right.loss_mask,
        right.row,
        right.spans,
    ) and not (left.errors or right.errors)


def said(batch: Batch) -> list[str]:
    """The errors of a batch, each with its row."""
    return [f"{row}: {error}" for row, error in batch.errors]
