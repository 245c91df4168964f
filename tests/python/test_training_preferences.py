"""Rows of preferences, of other APIs, and messages that are left out of the loss."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from openai_harmony import HarmonyEncodingName, load_harmony_encoding
from openai_harmony.training import Example, render
from openai_harmony.training.dataset import write_dataset
from tables import table

ENCODING = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
USER = {"role": "user", "content": "2 + 2?"}
RIGHT: dict[str, Any] = {"role": "assistant", "content": "4."}
WRONG: dict[str, Any] = {"role": "assistant", "thinking": "Hm.", "content": "5."}
END = "<|start|>user<|message|>2 + 2?<|end|><|start|>assistant"
FOUR = "<|channel|>final<|message|>4.<|return|>"
FIVE = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>5.<|return|>"


def trained(example: Example) -> str:
    return ENCODING.decode([t for t, m in zip(example.tokens, example.loss_mask) if m])


class TestPreferences:
    ROWS: tuple[dict[str, Any], ...] = (
        {"prompt": [USER], "chosen": [RIGHT], "rejected": [WRONG]},
        {"prompt": "2 + 2?", "chosen": [RIGHT], "rejected": [WRONG]},
        {"chosen": [USER, RIGHT], "rejected": [USER, WRONG], "score": 3},
        {"prompt": json.dumps([USER]), "chosen": json.dumps([RIGHT]), "rejected": [WRONG]},
    )

    @pytest.mark.parametrize("row", ROWS[:3])
    def test_dpo(self, row: Any) -> None:
        pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")
        batch = render([row, row], format="preference")
        assert (list(batch.row), batch.preferred) == ([0, 0, 1, 1], [True, False] * 2)
        table = batch.to_arrow("dpo")
        assert table.column_names == ["prompt_ids", "chosen_ids", "rejected_ids"]
        for read in table.to_pylist():
            texts = [ENCODING.decode(tokens) for tokens in read.values()]
            assert texts[0].endswith(END)
            assert texts[1:] == [FOUR, FIVE]
            for answer, example in zip(("chosen_ids", "rejected_ids"), batch):
                assert read["prompt_ids"] + read[answer] == list(example.tokens)

    def test_kto(self) -> None:
        pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")
        rows = [
            {"prompt": [USER], "completion": [RIGHT], "label": True},
            {"prompt": "2 + 2?", "completion": "5.", "label": False},
        ]
        table = render(rows, format="preference").to_arrow("kto").to_pydict()
        assert table["label"] == [True, False]
        assert [ENCODING.decode(tokens) for tokens in table["completion_ids"]] == [
            FOUR,
            FOUR.replace("4", "5"),
        ]
        pairs = render(self.ROWS[:1], format="preference").to_arrow("kto")
        assert pairs["label"].to_pylist() == [True, False]

    def test_both_answers_or_none(self) -> None:
        long = {"prompt": [USER], "chosen": [RIGHT], "rejected": [{**RIGHT, "content": "4 " * 99}]}
        options: dict[str, Any] = {"format": "preference", "max_tokens": 99}
        batch = render([long, self.ROWS[0]], overflow="drop", **options)
        assert (batch.dropped, list(batch.row), batch.preferred) == ([0], [1, 1], [True, False])
        for overflow in ("error", "truncate_turns"):
            batch = render([long, self.ROWS[0]], overflow=overflow, **options)
            assert [error.kind for _, error in batch.errors] == ["too_many_tokens"]
            assert list(batch.row) == [1, 1]

    def test_columns_are_for_their_rows(self) -> None:
        pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")
        batch = render(self.ROWS[:1], format="preference")
        with pytest.raises(ValueError, match="'trl' is not for preferences"):
            batch.to_arrow("trl")
        with pytest.raises(ValueError, match="'dpo' is for rows of preferences"):
            render([[USER, RIGHT]], format="chat").to_arrow("dpo")
        labels = render([{"prompt": "?", "completion": "!", "label": True}], format="preference")
        with pytest.raises(ValueError, match="'dpo' is for rows with 'chosen' and 'rejected'"):
            labels.to_arrow("dpo")
        with pytest.raises(ValueError, match="preferences are not packed"):
            batch.pack(100)

    def test_a_data_set(self, tmp_path: Path) -> None:
        pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow has no wheel for this Python")
        rows = [self.ROWS[index % 3] for index in range(50)]
        path = tmp_path / "in.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        options: dict[str, Any] = {"format": "preference", "columns": "dpo"}
        state = write_dataset([path], tmp_path / "out", shard_tokens=1000, **options)
        shards = [pq.read_table(path) for path in sorted((tmp_path / "out").glob("part-*"))]
        assert len(shards) > 3
        assert sum(map(len, shards)) == 50
        assert state.examples == 100
        expected = render(rows, format="preference").to_arrow("dpo").to_pylist()
        assert [row for shard in shards for row in shard.to_pylist()] == expected
        for wrong in ({"columns": "trl"}, {"format": "chat"}):
            with pytest.raises(
                ValueError,
                match="^columns: the format 'preference' and the columns 'dpo' and 'kto' need",
            ):
                write_dataset([path], tmp_path / "no", **{**options, **wrong})
        with pytest.raises(ValueError, match="^format: Megatron's files have no place"):
            write_dataset([path], tmp_path / "no.bin", format="preference")


class TestLoss:
    @pytest.mark.parametrize(
        "left_out",
        [{"weight": 0}, {"weight": 0.0}, {"train": False}, {"masked": True}, {"loss": 0}],
    )
    def test_a_message_that_is_left_out(self, left_out: Any) -> None:
        question = {"role": "user", "content": "3 + 3?"}
        answer = {"role": "assistant", "content": "6."}
        rows = [[USER, {**RIGHT, **left_out}, question, answer], [USER, RIGHT, question, answer]]
        masked, whole = render(rows, format="chat")
        assert masked.tokens == whole.tokens
        assert trained(masked) == "<|channel|>final<|message|>6.<|return|>"
        assert trained(whole) == "<|channel|>final<|message|>4." + trained(masked)
        turns = render([{"messages": rows[0]}], format="chat", examples="turns")
        assert [trained(example) for example in turns] == [trained(masked)]


class TestApis:
    ANTHROPIC: Any = table("training_preferences", "testapis anthropic")[0]
    RESPONSES: Any = table("training_preferences", "testapis responses")[0]
    CHAT: ClassVar[Any] = dict(table("training_preferences", "testapis chat"))

    @pytest.mark.parametrize(("row", "form"), [(ANTHROPIC, "anthropic"), (RESPONSES, "responses")])
    @pytest.mark.parametrize("options", [{}, {"reasoning_effort": "high", "date": "2026-01-02"}])
    def test_the_same_conversation(self, row: Any, form: Any, options: Any) -> None:
        chat = render([self.CHAT], format="chat", **options)
        # What other columns are called does not matter.
        others = {"score": 3, "meta.source": "web", "tags[]": ["x"]}
        row = {**row, **others}
        batch = render([row, json.dumps(row)], format=form, **options)
        assert not batch.errors
        assert (batch[0].tokens, batch[0].loss_mask) == (chat[0].tokens, chat[0].loss_mask)
        assert batch[1].tokens == chat[0].tokens
        assert batch.unused == dict.fromkeys(["id", *others], 2)

    def test_from_arrow(self) -> None:
        pa = pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")
        row = {"id": 3, "messages": [USER, {"role": "assistant", "content": "4."}]}
        batch = render(pa.Table.from_pylist([row]), format="anthropic")
        assert (trained(batch[0]), batch.errors) == (FOUR, [])
