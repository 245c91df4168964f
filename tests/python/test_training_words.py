"""Whatever a row's shape, what is trained is what the assistant says in it: no word of anybody else, and none left out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from made_rows import anthropic_row, chat_row, preference_row, responses_row
from openai_harmony import load_harmony_encoding
from openai_harmony.training import render

ROWS = 2000
ENCODING = load_harmony_encoding("HarmonyGptOss")
SHAPES = Path(__file__).parents[1] / "training" / "shapes.txt"
OWN_NAMES = ["assistant", "gpt", "model", "bot", "ai", "chatgpt", "chatbot"]
CALLERS = ["function_call", "function-call", "tool_call", "tool-call"]
USERS = ["user", "human"]
RESULTS = ["tool", "function", "observation", "observations", "tool_response", "function_response"]
PAIRS = [
    ("chosen", "rejected"),
    ("chosen_messages", "rejected_messages"),
    ("chosen_response", "rejected_response"),
    ("preferred_output", "non_preferred_output"),
]
ANSWERS = ["completion", "output", "response", "answer", "solution", "generation", "target"]
THOUGHTS = ["thinking", "reasoning", "reasoning_content", "cot", "chain_of_thought", "Complex_CoT"]
THOUGHTS += ["deepseek_thinking_trajectory", "chosen_reasoning", "rejected_reasoning"]
ANSWER_COLUMNS = [*ANSWERS, *THOUGHTS, "answers", *(name for pair in PAIRS for name in pair)]
ITEMS = {
    "function_call": "assistant",
    "reasoning": "assistant",
    "function_call_output": "tool",
    "tool_result": "tool",
}
FLAGS = {"weight", "train", "training", "trainable", "loss", "loss_scale", "loss_weight"}


# What a reader of a row sees: written apart from the library's readers, and held against the words of made rows.


def own_values(row: Any, own: bool = False) -> Iterator[Any]:
    """The texts and objects that are the assistant's, without messages that are not to be trained."""
    if isinstance(row, str):
        if own:
            yield row
        if row.lstrip()[:1] in ("{", "["):
            with suppress(ValueError):
                yield from own_values(json.loads(row), own)
    elif isinstance(row, list):
        for item in row:
            yield from own_values(item, own)
    elif isinstance(row, dict):
        # Items of the Responses API without an author have a type.
        speaker = row.get("role") or row.get("from") or ITEMS.get(str(row.get("type")))
        if speaker is not None:
            own = speaker.lower() in (*OWN_NAMES, *CALLERS) and not is_untrained(row)
        if own:
            yield row
        for key, value in row.items():
            if key not in ("role", "from"):
                yield from own_values(value, own or (key == "assistant"))


def is_untrained(message: dict[str, Any]) -> bool:
    parts = message.get("content")
    holders = (
        [message, *(part for part in parts if isinstance(part, dict))]
        if isinstance(parts, list)
        else [message]
    )
    flags = [holder[name] for holder in holders for name in FLAGS & holder.keys()]
    return bool(message.get("masked")) or any(flag is not None and not flag for flag in flags)


def own_of_row(row: Any) -> list[Any]:
    """The same of a whole row: its answer columns have no speakers."""
    if not isinstance(row, dict):
        return list(own_values(row))
    names = [column.lower() for column in ANSWER_COLUMNS]
    found = []
    for column, value in row.items():
        if column != "history":
            found += own_values(value, column.lower() in names)
    history = row.get("history") or []
    with suppress(ValueError):
        for _, answered in json.loads(history) if isinstance(history, str) else history:
            found += own_values(answered, True)
    return found


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def trained(batch: Any) -> Iterator[tuple[int, str | None, str]]:
    """Of each trained message the row, the recipient's name and the text."""
    for example in batch:
        for span in example.spans:
            if any(example.loss_mask[span.start : span.end]):
                header = ENCODING.decode(example.tokens[span.start : span.content])
                found = re.search(r" to=(.*?)(?: |<\|)", header)
                name = found[1] if found else None
                yield example.row, name, ENCODING.decode(example.tokens[span.content : span.stop])


def foreign_words(row: Any, batch: Any, index: int = 0) -> list[str]:
    """What is trained of a row and is nothing that its assistant says."""
    own = own_of_row(row)
    texts = [value for value in own if isinstance(value, str)]
    objects = [without_nulls(value) for value in own if isinstance(value, dict)]
    foreign = []
    for at, name, text in trained(batch):
        if at != index:
            continue
        if name is None:
            pieces = [piece for piece in text.split("\n\n") if piece.strip()]
            foreign += [p for p in pieces if not any(p.strip() in known for known in texts)]
        else:
            called = name.removeprefix("functions.")
            # A name with a blank is written without it.
            named = [text.replace(" ", "_") for text in texts]
            is_known = any(text in (called, name) or f"={name}" in text for text in named)
            # Some models write nothing where a call has no arguments.
            is_said = text in texts or any(json.loads(text) == known for known in objects)
            is_said = is_said or (text == "{}" and "" in texts)
            foreign += [] if is_known and (is_said or any(text in t for t in texts)) else [text]
    return foreign


def shapes() -> list[Any]:
    cases = SHAPES.read_text(encoding="utf-8").split("\n## ")[1:]
    rows = [case.split("\n")[:2] for case in cases]
    return [pytest.param(*row.split(" ", 1), id=title) for title, row in rows]


@pytest.mark.parametrize(("form", "row"), shapes())
def test_the_shapes_of_trainers(form: Any, row: str) -> None:
    assert foreign_words(json.loads(row), render([row], format=form)) == []


MAKERS = [chat_row, preference_row, anthropic_row, responses_row]


@pytest.mark.parametrize("make", MAKERS)
def test_made_rows(make: Any) -> None:
    """Of rows with a mark at each word: nobody else's is trained, and all of the assistant's are."""
    made = [make(Random(seed)) for seed in range(ROWS)]
    batch = render([one.row for one in made], format=made[0].format)
    trained_texts: dict[int, str] = {}
    for row, _, text in trained(batch):
        trained_texts[row] = trained_texts.get(row, "") + text + "\n"
    errors = dict(batch.errors)
    for index, one in enumerate(made):
        shown = f"{index}: {json.dumps(one.row)}"
        if index in errors:
            # All of it is left out by flags.
            assert (errors[index].kind, one.words) == ("nothing_to_train", []), shown
            continue
        found = set(re.findall(r"[a-z]+\d+x", trained_texts.get(index, "")))
        assert found - set(one.thoughts) == set(one.words), shown
        said = {
            w
            for v in own_of_row(one.row)
            if isinstance(v, str)
            for w in re.findall(r"[a-z]+\d+x", v)
        }
        assert found <= said, shown
