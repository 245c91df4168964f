"""The object that `training.render` gives: flat arrays, examples, spans, copies."""

from __future__ import annotations

import copy
import pickle
from array import array
from typing import Any

import numpy as np
import pytest

from openai_harmony import HarmonyEncoding, InvalidRowError, MessageSpan
from openai_harmony.training import Batch, Example, render

USER = {"role": "user", "content": "Hi"}
ANSWER = {"role": "assistant", "channel": "final", "content": "Hello"}
ROWS: list[Any] = [[USER, ANSWER], None, [USER], [USER, ANSWER, USER, ANSWER]]


@pytest.fixture
def batch() -> Batch:
    return render(ROWS)


def test_the_arrays(batch: Batch, encoding: HarmonyEncoding) -> None:
    types = [array.typecode for array in (batch.tokens, batch.offsets, batch.row)]
    assert types == ["I", "q", "q"]
    assert isinstance(batch.loss_mask, bytearray)
    assert (list(batch.row), list(batch.offsets)) == ([0, 3], [0, 12, 36])
    assert len(batch.tokens) == len(batch.loss_mask) == batch.offsets[-1]
    text = "<|start|>user<|message|>Hi<|end|><|start|>assistant<|channel|>final<|message|>Hello"
    assert encoding.decode(batch.tokens[:12]) == f"{text}<|return|>"


def test_examples(batch: Batch) -> None:
    first, second = batch
    assert isinstance(first, Example)
    assert (first.row, second.row) == (0, 3)
    assert first.tokens == batch.tokens[:12]
    assert first.loss_mask == batch.loss_mask[:12]
    assert list(first.loss_mask) == [0] * 7 + [1] * 5
    assert (batch[-1], batch[-2]) == (second, first)
    assert batch[:] == [first, second]
    assert (batch[1:], batch[::-1], batch[5:]) == ([second], [second, first], [])
    for index in (2, -3):
        with pytest.raises(IndexError, match=f"example {index} of 2"):
            batch[index]
    with pytest.raises(TypeError, match="batch.to_arrow"):
        batch["x"]  # type: ignore[call-overload]


def test_spans_count_from_the_first_token_of_the_example(batch: Batch) -> None:
    expected = [MessageSpan(0, 0, 3, 4, 5), MessageSpan(1, 5, 10, 11, 12)]
    assert batch[0].spans == expected
    assert batch.spans == [expected, batch[1].spans]
    assert [span.message for span in batch[1].spans] == [0, 1, 2, 3]
    assert batch[1].spans[0] == expected[0]
    assert batch[1].spans[-1].end == len(batch[1].tokens)


def test_what_became_of_the_other_rows(batch: Batch) -> None:
    assert [(row, error.kind) for row, error in batch.errors] == [
        (1, "invalid_row"),
        (2, "nothing_to_train"),
    ]
    assert (batch.dropped, batch.truncated, batch.unused) == ([], [], {})
    assert repr(batch) == "<Batch: 2 examples, 36 tokens, 14 trained, 2 errors>"


def test_numpy_takes_the_arrays_without_a_copy(batch: Batch) -> None:
    for given, dtype in (
        (batch.tokens, np.uint32),
        (batch.offsets, np.int64),
        (batch.loss_mask, np.uint8),
        (batch.row, np.int64),
    ):
        seen: Any = np.frombuffer(given, dtype)
        assert seen.tolist() == list(given)
        given[0] = 7
        assert seen[0] == 7
    assert np.asarray(batch.tokens).dtype == np.uint32
    assert np.asarray(batch.offsets).dtype == np.int64
    assert memoryview(batch.loss_mask).format == "B"


@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        lambda batch: pickle.loads(pickle.dumps(batch)),
        lambda batch: pickle.loads(pickle.dumps(batch, protocol=0)),
    ],
)
def test_copies(batch: Batch, copied: Any) -> None:
    again = copied(batch)
    assert again is not batch
    assert list(again) == list(batch)
    assert (again.offsets, again.row, again.spans) == (batch.offsets, batch.row, batch.spans)
    assert again.tokens.typecode == "I"
    [(row, error), _] = again.errors
    assert (row, type(error), str(error)) == (1, InvalidRowError, str(batch.errors[0][1]))
    assert (error.kind, error.path) == ("invalid_row", "")
    assert repr(again) == repr(batch)


def test_a_deep_copy_shares_nothing(batch: Batch) -> None:
    again = copy.deepcopy(batch)
    again.tokens[0] = 0
    again.errors.clear()
    assert batch.tokens[0] != 0
    assert batch.errors


def test_the_path_of_an_error_is_pickled() -> None:
    batch = render([{"messages": [{"role": "robot", "content": "x"}]}])
    again = pickle.loads(pickle.dumps(batch))
    assert again.errors[0][1].path == batch.errors[0][1].path == "messages[0].role"


def test_fields_that_say_nothing_are_counted() -> None:
    answer = {"role": "assistant", "content": "4.", "mood": 2}
    row = [dict(USER, mood=1), answer, dict(USER, score=3)]
    assert render([row, row], format="chat").unused == {
        "messages after the assistant's last": 2,
        "messages[].mood": 4,
        "messages[].score": 2,
    }


def test_an_array_is_not_emptied_by_what_holds_it(batch: Batch) -> None:
    """An exported buffer outlives its batch."""
    tokens = np.frombuffer(batch.tokens, np.uint32)
    expected = array("I", batch.tokens)
    del batch
    assert tokens.tolist() == expected.tolist()
