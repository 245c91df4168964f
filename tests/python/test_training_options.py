"""The options of `training.render`, and the batches of `render_batches`."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from few_rows import CHAT, HARMONY, said, same
from openai_harmony import (
    Conversation,
    HarmonyEncoding,
    Message,
    ReasoningEffort,
    RenderConversationConfig,
    Role,
)
from openai_harmony.training import LossMask, render, render_batches

KEEP = RenderConversationConfig(auto_drop_analysis=False)


class TestOptions:
    def test_unknown_ones(self) -> None:
        with pytest.raises(TypeError, match="max_token"):
            render([], max_token=3)  # type: ignore[call-arg]
        known = r"^max_token: unknown option of render_batches \(known: batch_rows, .*, max_tokens,"
        with pytest.raises(TypeError, match=known):
            render_batches([], max_token=3)  # type: ignore[call-arg]

    def test_mask_and_config(self, encoding: HarmonyEncoding) -> None:
        conversation = Conversation.from_dict({"messages": HARMONY})
        mask = LossMask(channels=["final"], headers=False)
        for config in (KEEP, RenderConversationConfig()):
            batch = render([conversation], config=config, mask=mask)
            rendered = encoding.render_with_spans(conversation, config, ending="training")
            assert batch.tokens == rendered
            assert batch.loss_mask == rendered.loss_mask(mask)
            assert batch.spans == [rendered.spans]

    def test_turns(self, encoding: HarmonyEncoding) -> None:
        batch = render([CHAT], format="chat", examples="turns")
        trained = [
            encoding.decode([t for t, mask in zip(example.tokens, example.loss_mask) if mask])
            for example in batch
        ]
        assert trained == [
            "<|channel|>analysis<|message|>Easy.<|end|>"
            "<|start|>assistant<|channel|>final<|message|>Four.<|return|>",
            "<|channel|>analysis<|message|>Yes.<|end|>"
            "<|start|>assistant<|channel|>final<|message|>Yes.<|return|>",
        ]
        assert "Easy." not in encoding.decode(batch[1].tokens)
        assert list(batch.row) == [0, 0]

    def test_limits(self) -> None:
        whole = len(render([CHAT], format="chat").tokens)
        rows = [CHAT, CHAT[1:3]]
        limit = whole - 1
        assert [row for row, _ in render(rows, format="chat", max_tokens=limit).errors] == [0]
        dropped = render(rows, format="chat", max_tokens=limit, overflow="drop")
        assert (list(dropped.row), dropped.dropped, dropped.errors) == ([1], [0], [])
        cut = render(rows, format="chat", max_tokens=limit, overflow="truncate_turns")
        assert (list(cut.row), cut.truncated, cut.errors) == ([0, 1], [0], [])
        assert max(len(example.tokens) for example in cut) <= limit

    def test_date_and_identity(self, encoding: HarmonyEncoding) -> None:
        batch = render([CHAT], format="chat", date="2025-06-28", identity="You are Ada.")
        text = encoding.decode(batch[0].tokens)
        assert "You are Ada.\n" in text
        assert "Current date: 2025-06-28\n" in text
        assert "Current date" not in encoding.decode(render([CHAT], format="chat")[0].tokens)

    @pytest.mark.parametrize("effort", ["high", "High", "HIGH", ReasoningEffort.HIGH])
    def test_reasoning_effort(self, encoding: HarmonyEncoding, effort: Any) -> None:
        rows = [{"messages": CHAT}, {"messages": CHAT, "reasoning_effort": "low"}]
        own = render(rows, format="chat", reasoning_effort=effort)
        texts = [encoding.decode(example.tokens) for example in own]
        assert ["Reasoning: high" in text for text in texts] == [True, False]
        assert "Reasoning: low" in texts[1]
        [part] = render_batches(rows, format="chat", reasoning_effort=effort)
        assert part.tokens == own.tokens

    def test_turns_that_are_too_long(self) -> None:
        """They are named, and leave the others of their row."""
        long = [CHAT[1], {"role": "assistant", "content": "Four. " * 300}, *CHAT[3:]]
        batch = render([CHAT, long, CHAT], format="chat", examples="turns", max_tokens=250)
        assert list(batch.row) == [0, 0, 2, 2]
        [(row, error)] = batch.errors
        assert (row, error.kind) == (1, "too_many_tokens")
        text = r"Too many tokens: \d+ in the example of turns\[0\], more than max_tokens=250; "
        assert re.match(text + "1 later turn is too long as well$", str(error))
        turns = [*CHAT, *long[:2]]
        batch = render([turns], format="chat", examples="turns", max_tokens=250)
        assert list(batch.row) == [0, 0]
        assert "of turns[2], more" in said(batch)[0]

    def test_a_single_turn_is_not_cut(self) -> None:
        call = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}
        result = {"role": "tool", "content": "Done. " * 10}
        turn = [CHAT[1], *[call, result] * 20, CHAT[2]]
        batch = render([turn], format="chat", max_tokens=300, overflow="truncate_turns")
        assert re.search(
            "; it is a single turn, and truncate_turns leaves out whole turns only$", said(batch)[0]
        )

    @pytest.mark.parametrize("threads", [1, 2, 7, 10**9, None])
    def test_threads_change_nothing(self, threads: int | None) -> None:
        rows = [CHAT, None, json.dumps(CHAT), [CHAT[1]], {"messages": CHAT}] * 100
        batch = render(rows, format="chat", threads=threads)
        one = render(rows, format="chat", threads=1)
        assert said(batch) == said(one)
        batch.errors, one.errors = [], []
        assert same(batch, one)


class TestBatches:
    def test_zero_rows(self) -> None:
        batch = render([])
        assert (len(batch), list(batch.offsets), batch.errors) == (0, [0], [])
        assert (batch.tokens.typecode, batch.spans, list(batch)) == ("I", [], [])
        assert list(render_batches([])) == []
        assert list(render_batches(iter(()))) == []

    def test_they_are_parts_of_the_whole(self) -> None:
        rows = [CHAT, None, CHAT[:3], [CHAT[0]], CHAT[1:]] * 7
        whole = render(rows, format="chat", first_row=5)
        batches = list(render_batches(iter(rows), batch_rows=4, format="chat", first_row=5))
        assert len(batches) == 9
        joined = list(itertools.chain.from_iterable(batches))
        assert joined == list(whole)
        errors = [entry for batch in batches for entry in said(batch)]
        assert errors == said(whole)
        assert whole.errors[0][0] == 6

    def test_rows_are_read_as_batches_are_asked_for(self) -> None:
        read = 0

        def rows() -> Iterator[Any]:
            nonlocal read
            while True:
                read += 1
                yield CHAT

        batches = render_batches(rows(), batch_rows=3, format="chat")
        assert read == 0
        next(batches)
        assert read == 3
        next(batches)
        assert read == 6

    def test_lists_of_messages_are_rows(self) -> None:
        """A list with one message is a row, and a list of rows is no row."""
        message = Message.from_role_and_content(Role.ASSISTANT, "Hi")
        assert len(render([[message]])) == 1
        assert said(render([[[message]]])) == [
            "0: Invalid row: messages[0]: expected an object, got a list"
        ]
