"""Rows of a data set, JSON texts, to the tokens and masks of training examples.

0.0.8 knows no masks, so it renders alone. tiktoken does not even render: it is given the texts that
rendering would write.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from . import texts
from .tasks import Task

Json = dict[str, Any]
ROWS = 10_000


def ten_thousand_conversations() -> Json:
    """Instructions, then one to three turns of question, thought and answer: the rows and, for those
    who only encode, the text of each as it is rendered."""
    random = Random(10_000)
    rows, rendered = [], []
    for _ in range(ROWS):
        messages = [{"role": "developer", "content": texts.sentence(random)}]
        for _ in range(random.randint(1, 3)):
            messages.append({"role": "user", "content": _sentences(random, 2)})
            for channel, count in (("analysis", 3), ("final", 4)):
                said = _sentences(random, random.randint(1, count))
                messages.append({"role": "assistant", "channel": channel, "content": said})
        rows.append(json.dumps({"messages": messages}, ensure_ascii=False))
        rendered.append(_rendered(messages))
    return {"rows": rows, "rendered": rendered}


def _sentences(random: Random, count: int) -> str:
    return " ".join(texts.sentence(random) for _ in range(count))


def _rendered(messages: list[Json]) -> str:
    parts = []
    for message in messages:
        channel = f"<|channel|>{message['channel']}" if "channel" in message else ""
        parts.append(f"<|start|>{message['role']}{channel}<|message|>{message['content']}<|end|>")
    return "".join(parts)[: -len("<|end|>")] + "<|return|>"


class Rows(Task):
    """All rows by one call of this project."""

    unit = "row"

    def __init__(self, peer: Any, given: Json) -> None:
        from openai_harmony import training

        self._render = training.render
        # All that was said, as the others render it.
        self._config = peer.module.RenderConversationConfig(auto_drop_analysis=False)
        self._rows = [row.encode() for row in given["rows"]]
        self._threads = given.get("threads", 1)
        self.threaded = "threads" in given
        self.units = len(self._rows)

    def fresh(self) -> list[str]:
        return [row.decode() for row in self._rows]

    def run(self, fresh: list[str]) -> None:
        self._render(fresh, config=self._config, threads=self._threads)

    def answer(self, fresh: list[str]) -> list[list[int]]:
        batch = self._render(fresh, config=self._config, threads=self._threads)
        if batch.errors or not all(any(example.loss_mask) for example in batch):
            raise ValueError("every row has something to train")
        return [example.tokens.tolist() for example in batch]


class RowsOneByOne(Task):
    """Each row by 0.0.8, without a mask."""

    unit = "row"

    def __init__(self, peer: Any, given: Json) -> None:
        self._read = peer.module.Conversation.from_json
        self._render = peer.encoding.render_conversation_for_training
        self._config = peer.module.RenderConversationConfig(auto_drop_analysis=False)
        self._rows = given["rows"]
        self.units = len(self._rows)

    def run(self, fresh: Any) -> None:
        for row in self._rows:
            self._render(self._read(row), self._config)

    def answer(self, fresh: Any) -> list[list[int]]:
        return [self._render(self._read(row), self._config) for row in self._rows]


class EncodedAlone(Task):
    """The texts that rendering would write, by whoever encodes."""

    unit = "row"

    def __init__(self, peer: Any, given: Json) -> None:
        self._encode = peer.encoding.encode
        self._texts = [text.encode() for text in given["rendered"]]
        self.units = len(self._texts)

    def fresh(self) -> list[str]:
        return [text.decode() for text in self._texts]

    def run(self, fresh: list[str]) -> None:
        for text in fresh:
            self._encode(text, allowed_special="all")

    def answer(self, fresh: list[str]) -> list[list[int]]:
        return [self._encode(text, allowed_special="all") for text in fresh]


TASKS = {"rows": Rows, "rows one by one": RowsOneByOne, "rows, texts encoded alone": EncodedAlone}
