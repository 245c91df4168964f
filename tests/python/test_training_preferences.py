"""Rows of preferences, of other APIs, and messages that are left out of the loss."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from openai_harmony import HarmonyEncodingName, load_harmony_encoding
from openai_harmony.training import Example, render
from openai_harmony.training.dataset import write_dataset

ENCODING = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
USER = {"role": "user", "content": "2 + 2?"}
RIGHT: dict[str, Any] = {"role": "assistant", "content": "4."}
SYSTEM = {"role": "system", "content": "Count."}
WRONG: dict[str, Any] = {"role": "assistant", "thinking": "Hm.", "content": "5."}
END = "<|start|>user<|message|>2 + 2?<|end|><|start|>assistant"
FOUR = "<|channel|>final<|message|>4.<|return|>"
FIVE = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>5.<|return|>"


def trained(example: Example) -> str:
    return ENCODING.decode([t for t, m in zip(example.tokens, example.loss_mask) if m])


def one(row: Any) -> str:
    batch = render([row], format="chat")
    assert not batch.errors, batch.errors
    [example] = batch
    return trained(example)


def error(row: Any, form: Any = "chat") -> str:
    [(index, error)] = render([row], format=form).errors
    assert index == 0
    return str(error)


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

    @pytest.mark.parametrize(
        ("prompt", "asked"),
        [
            ("2 + 2?", [USER]),
            ([USER], [USER]),
            ([USER], [{**USER, "name": None}]),
            ([USER], [{"content": "2 + 2?", "role": "user"}]),
            ("2 + 2?", [{"role": "user", "content": [{"type": "text", "text": "2 + 2?"}]}]),
            ("2 + 2? ", [{"from": "human", "value": "2 + 2?"}]),
            ([USER], [SYSTEM, USER]),
            ("2 + 2?", [SYSTEM, USER]),
            ([SYSTEM, USER], [USER]),
        ],
    )
    def test_answers_that_repeat_the_prompt(self, prompt: Any, asked: list[Any]) -> None:
        row = {"prompt": prompt, "chosen": [*asked, RIGHT], "rejected": [*asked, WRONG]}
        batch = render([row], format="preference")
        assert not batch.errors
        assert len(batch) == 2
        for example in batch:
            text = ENCODING.decode(list(example.tokens))
            assert text.count("2 + 2?") == 1
            assert text.count("Count.") == (SYSTEM in [*asked, *prompt])
        row = {"prompt": prompt, "completion": [*asked, RIGHT], "label": True}
        [example] = render([row], format="preference")
        assert ENCODING.decode(list(example.tokens)).count("2 + 2?") == 1

    def test_answers_to_another_prompt(self) -> None:
        other = {"role": "user", "content": "3 + 3?"}
        row: Any = {"prompt": [USER], "chosen": [other, RIGHT], "rejected": [USER, WRONG]}
        assert "chosen: repeats a different prompt" in error(row, "preference")
        for prompt, said in ((5, "prompt: expected a list"), ([], "prompt is empty")):
            row = {"prompt": prompt, "chosen": [USER, RIGHT], "rejected": [USER, WRONG]}
            assert said in error(row, "preference")

    def test_answers_with_from(self) -> None:
        row = {"prompt": "2 + 2?", "chosen": [{"from": "gpt", "value": "4."}], "rejected": [WRONG]}
        assert not render([row], format="preference").errors

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

    def test_the_prompt_of_several_turns_is_not_trained(self) -> None:
        history = [USER, WRONG, USER]
        row = {"prompt": history, "chosen": [RIGHT], "rejected": [WRONG]}
        assert [trained(example) for example in render([row], format="preference")] == [FOUR, FIVE]
        whole = {"chosen": [*history, RIGHT], "rejected": [*history, WRONG]}
        assert (
            render([whole], format="preference").tokens == render([row], format="preference").tokens
        )

    @pytest.mark.parametrize(
        ("row", "said"),
        [
            ({"prompt": [USER], "chosen": [RIGHT]}, "rejected is missing"),
            ({"prompt": [USER], "rejected": [RIGHT]}, "chosen is missing"),
            ({"prompt": [USER]}, "chosen is missing; preferences are `chosen` and `rejected`"),
            ({"prompt": [USER], "completion": [RIGHT]}, "chosen is missing; preferences are"),
            ({"prompt": [USER], "completion": [RIGHT], "label": "yes"}, "label: expected true"),
            ({"prompt": [USER], "chosen": [RIGHT], "rejected": []}, "rejected is empty"),
            (
                {"chosen": [USER, RIGHT], "rejected": [{**USER, "content": "?"}, RIGHT]},
                "the two answers have different prompts",
            ),
            (
                {
                    "prompt": [USER],
                    "chosen": [
                        {
                            "role": "assistant",
                            "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}],
                        },
                        {"role": "tool", "content": "4"},
                        RIGHT,
                    ],
                    "rejected": [RIGHT],
                },
                "the answer has tool results",
            ),
        ],
    )
    def test_bad_rows(self, row: Any, said: str) -> None:
        batch = render([row, self.ROWS[0]], format="preference")
        assert said in str(batch.errors[0][1])
        assert list(batch.row) == [1, 1]
        assert batch.preferred == [True, False]

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

    def test_all_that_a_message_says_is_left_out(self) -> None:
        call = {"function": {"name": "f", "arguments": "{}"}}
        asked = {"role": "assistant", "thinking": "Hm.", "tool_calls": [call], "weight": 0}
        row = [USER, asked, {"role": "tool", "content": "4"}, {**RIGHT, "weight": 1, "train": True}]
        assert one(row) == FOUR
        assert "Nothing" in error([USER, {**RIGHT, "weight": 0}])

    def test_other_weights_are_errors(self) -> None:
        for weight in (0.5, 2, "1"):
            assert "messages[1].weight: expected true, false, 0 or 1" in error(
                [USER, {**RIGHT, "weight": weight}]
            )
        assert one([USER, {**RIGHT, "weight": None, "train": None}]) == FOUR


def test_a_column_that_is_no_effort_is_counted() -> None:
    for reasoning in ("because", ["a"], {"steps": 3}, 5):
        batch = render([{"messages": [USER, RIGHT], "reasoning": reasoning}], format="chat")
        assert (trained(batch[0]), batch.unused) == (FOUR, {"reasoning: not read here": 1})
    high = render([{"messages": [USER, RIGHT], "reasoning": {"effort": "high"}}], format="chat")
    assert "Reasoning: high" in ENCODING.decode(high[0].tokens)


def test_a_result_that_is_an_object_is_its_json() -> None:
    call = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}
    for result in (
        {"role": "tool", "content": {"rain": True, "mm": 1.50}},
        {"from": "observation", "value": {"rain": True, "mm": 1.50}},
    ):
        batch = render([[USER, call, result, RIGHT]], format="chat")
        assert '<|message|>{"rain":true,"mm":1.5}<|end|>' in ENCODING.decode(batch[0].tokens)
    assert "expected" in error([{**USER, "content": {"a": 1}}, RIGHT])


class TestApis:
    ANTHROPIC: Any = {  # noqa: RUF012
        "id": 7,
        "system": "Be brief.",
        "messages": [
            USER,
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Add.", "signature": ""},
                {"type": "tool_use", "id": "a", "name": "sum", "input": {"of": [2, 2]}},
            ]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "4"}]},
            {"role": "assistant", "content": "4."},
        ],
        "tools": [{"name": "sum", "input_schema": {"type": "object"}}],
    }  # fmt: skip
    RESPONSES: Any = {  # noqa: RUF012
        "id": "x",
        "instructions": "Be brief.",
        "input": [
            {"type": "message", "role": "user", "content": "2 + 2?"},
            {"type": "reasoning", "id": "r", "summary": [], "content": [{"type": "reasoning_text", "text": "Add."}]},
            {"type": "function_call", "call_id": "a", "name": "sum", "arguments": '{"of":[2,2]}'},
            {"type": "function_call_output", "call_id": "a", "output": "4"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "4."}]},
        ],
        "tools": [{"type": "function", "name": "sum", "parameters": {"type": "object"}}],
    }  # fmt: skip
    CHAT: Any = {  # noqa: RUF012
        "messages": [
            {"role": "system", "content": "Be brief."},
            USER,
            {"role": "assistant", "thinking": "Add.", "tool_calls": [
                {"function": {"name": "sum", "arguments": '{"of":[2,2]}'}}]},
            {"role": "tool", "content": "4"},
            RIGHT,
        ],
        "tools": [{"type": "function", "function": {"name": "sum", "parameters": {"type": "object"}}}],
    }  # fmt: skip

    @pytest.mark.parametrize(("row", "form"), [(ANTHROPIC, "anthropic"), (RESPONSES, "responses")])
    @pytest.mark.parametrize("options", [{}, {"reasoning_effort": "high", "date": "2026-01-02"}])
    def test_the_same_conversation(self, row: Any, form: Any, options: Any) -> None:
        chat = render([self.CHAT], format="chat", **options)
        # What other columns are called does not matter.
        row = {**row, "score": 3, "meta.source": "web", "tags[]": ["x"]}
        batch = render([row, json.dumps(row)], format=form, **options)
        assert not batch.errors
        assert (batch[0].tokens, batch[0].loss_mask) == (chat[0].tokens, chat[0].loss_mask)
        assert batch[1].tokens == chat[0].tokens
        assert batch.unused == {}

    def test_from_arrow(self) -> None:
        pa = pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")
        row = {"id": 3, "messages": [USER, {"role": "assistant", "content": "4."}]}
        batch = render(pa.Table.from_pylist([row]), format="anthropic")
        assert (trained(batch[0]), batch.errors) == (FOUR, [])

    def test_bad_rows(self) -> None:
        assert "this is a body of another API" in error(self.RESPONSES, "anthropic")
        assert "this is a body of another API" in error(self.ANTHROPIC, "responses")
        thought = {**self.RESPONSES, "input": self.RESPONSES["input"][:2]}
        assert "input[1]: ends in a thought" in error(thought, "responses")
        assert "messages[0].role" in error(
            {"messages": [{"role": "x", "content": ""}]}, "anthropic"
        )
        assert "Nothing" in error({"messages": [USER]}, "anthropic")
        assert "expected an object" in error([USER], "anthropic")
