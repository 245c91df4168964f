"""Rows in the shapes of trainers' data sets, made at random, each word with its speaker's mark."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tables import table

OWN_NAMES = ["assistant", "gpt", "model", "bot", "chatgpt"]
CALLERS = ["function_call", "function-call", "tool_call"]
USERS = ["user", "human"]
RESULTS = table("made_rows", "results")
PAIRS = [
    ("chosen", "rejected"),
    ("chosen_messages", "rejected_messages"),
    ("chosen_response", "rejected_response"),
    ("preferred_output", "non_preferred_output"),
]
QUESTIONS = ["prompt", "instruction", "question", "query", "problem"]
ANSWERS = ["completion", "output", "response", "answer", "solution", "generation", "target"]
TRAINED_BY = ["weight", "train", "training", "trainable", "loss", "loss_scale", "loss_weight"]
TOOLS = [
    {"name": "find", "parameters": {"type": "object", "properties": {"of": {"type": "string"}}}}
]


@dataclass
class Made:
    """A row, and the words that are trained in it, or may be."""

    format: str
    row: Any
    words: list[str] = field(default_factory=list)
    """Those of answers and calls, which are trained."""
    thoughts: list[str] = field(default_factory=list)
    """Those of thoughts, which are trained unless they are dropped."""


class Maker:
    """Makes rows. Words are numbered, so each is in one place."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self._count = 0
        self.own: dict[str, str] = {}
        """The assistant's words: `answer`, `call` or `thought`."""
        # A data set names its members alike.
        self.who, self.text = random.choice([("role", "content"), ("from", "value")])
        self.assistant, self.user = random.choice(OWN_NAMES), random.choice(USERS)
        self.result, self.caller = random.choice(RESULTS), random.choice(CALLERS)

    def word(self, kind: str) -> str:
        self._count += 1
        made = f"{kind}{self._count}x"
        if kind in ("answer", "call", "thought"):
            self.own[made] = kind
        return made

    def content(self, text: str) -> Any:
        if self.who == "role" and self.random.random() < 0.2:
            key = self.random.choice(["text", "value"])
            return [{"type": "text", key: text}]
        return text

    def other(self, kind: str, name: str) -> dict[str, Any]:
        message = {self.who: name, self.text: self.content(f"{self.word(kind)} said")}
        if self.random.random() < 0.1:
            message[self.random.choice(TRAINED_BY)] = self.random.choice([False, 0])
        return message

    def flagged(self, message: dict[str, Any], before: set[str]) -> dict[str, Any]:
        """Sometimes with a flag, by which the words since then are not trained."""
        roll = self.random.random()
        if roll < 0.1:
            name = self.random.choice([*TRAINED_BY, "masked"])
            message[name] = self.random.choice([True, 1] if name == "masked" else [False, 0])
            for word in set(self.own) - before:
                del self.own[word]
        elif roll < 0.2:
            message[self.random.choice(TRAINED_BY)] = self.random.choice([True, 1, 1.0])
        return message

    def answer(self, *, flags: bool = True) -> dict[str, Any]:
        before = set(self.own)
        text = f"{self.word('answer')} it is"
        message: dict[str, Any] = {self.who: self.assistant}
        match self.random.randrange(6):
            case 0:
                key = self.random.choice(["thinking", "reasoning_content", "reasoning"])
                message[key] = f"{self.word('thought')} hm"
            case 1:
                marks = [("<think>", "</think>"), ("[THINK]", "[/THINK]")]
                begin, end = self.random.choice(marks)
                text = f"{begin}\n{self.word('thought')} hm\n{end}\n\n{text}"
            case 2 if self.who == "role":
                thought = {"type": "reasoning", "value": f"{self.word('thought')} hm"}
                message[self.text] = [thought, {"type": "text", "value": text}]
        message.setdefault(self.text, self.content(text))
        return self.flagged(message, before) if flags else message

    def calls(self, count: int, *, flags: bool = True) -> list[dict[str, Any]]:
        """Messages that call, all calls in one or each in its own."""
        before = set(self.own)
        arguments = [{"of": self.word("call")} for _ in range(count)]
        given: list[Any] = arguments
        if self.random.random() < 0.5:
            given = [json.dumps(each) for each in arguments]
        functions = [{"name": "find", "arguments": each} for each in given]
        match self.random.randrange(4 if self.who == "role" else 2):
            case 0:
                return [{self.who: self.caller, self.text: json.dumps(each)} for each in functions]
            case 1:
                text = json.dumps(functions if count > 1 else functions[0])
                return [{self.who: self.caller, self.text: text}]
            case 2:
                parts = [{"type": "tool_call", "value": json.dumps(each)} for each in functions]
                return [{self.who: self.assistant, self.text: parts}]
        calls = [{"type": "function", "function": each} for each in functions]
        message: dict[str, Any] = {self.who: self.assistant, "tool_calls": calls}
        if self.random.random() < 0.5:
            blank = self.random.choice([None, "", "\n\n"])
            message[self.text] = (
                blank if self.random.random() < 0.5 else f"{self.word('answer')} first"
            )
        if self.random.random() < 0.3:
            message["reasoning_content"] = f"{self.word('thought')} hm"
        return [self.flagged(message, before) if flags else message]

    def turn(self) -> list[dict[str, Any]]:
        """A question, calls with their results, and no answer yet."""
        messages = [self.other("asked", self.user)]
        for _ in range(self.random.choice([0, 0, 1, 2])):
            count = self.random.choice([1, 1, 2, 3])
            messages += self.calls(count)
            messages += [self.other("result", self.result) for _ in range(count)]
        return messages

    def prompt(self) -> list[dict[str, Any]]:
        messages = []
        if self.random.random() < 0.3:
            messages.append(self.other("system", "system"))
        for _ in range(self.random.choice([0, 0, 1, 2])):
            messages += [*self.turn(), self.answer()]
        return messages + self.turn()

    def listed(self, messages: list[Any]) -> Any:
        return json.dumps(messages) if self.random.random() < 0.1 else messages

    def made(self, form: str, row: Any, trained: dict[str, str] | None = None) -> Made:
        if isinstance(row, dict):
            tools: Any = json.dumps(TOOLS) if self.random.random() < 0.5 else TOOLS
            row = {**row, "tools": tools, "id": self.word("id"), "score": 0.5}
        own = self.own if trained is None else trained
        made = Made(form, row)
        for word, kind in own.items():
            (made.thoughts if kind == "thought" else made.words).append(word)
        return made


def chat_row(random: Random) -> Made:
    """A conversation, or a question with its answer."""
    maker = Maker(random)
    match random.randrange(6):
        case 0:
            return maker.made("chat", [*maker.prompt(), maker.answer()])
        case 1:
            return _question(maker)
        case 2:
            before = maker.prompt()
            # What a prompt has is not trained.
            maker.own.clear()
            answer = maker.answer()
            completion = random.choice([maker.listed([answer]), [answer]])
            return maker.made("chat", {"prompt": before, "completion": completion})
        case 3:
            pairs = []
            for _ in range(random.randint(1, 3)):
                asked, said = f"{maker.word('asked')} ?", f"{maker.word('answer')} ."
                pairs.append({random.choice(USERS): asked, "assistant": said})
            return maker.made("chat", {"conversations": pairs})
    name = random.choice(["messages", "conversations", "conversation"])
    return maker.made("chat", {name: maker.listed([*maker.prompt(), maker.answer()])})


def _question(maker: Maker) -> Made:
    random = maker.random
    question = random.choice(QUESTIONS)
    row: dict[str, Any] = {question: f"{maker.word('asked')} ?"}
    if question == "instruction" and random.random() < 0.5:
        row["input"] = f"{maker.word('asked')} !"
    if random.random() < 0.5:
        row[random.choice(["system", "system_prompt"])] = f"{maker.word('system')} be"
    if random.random() < 0.3:
        row["history"] = [
            [f"{maker.word('asked')} ?", f"{maker.word('answer')} ."] for _ in range(2)
        ]
    thought = f"<think>{maker.word('thought')}</think>" if random.random() < 0.3 else ""
    row[random.choice(ANSWERS)] = f"{thought}{maker.word('answer')} it is"
    return maker.made("chat", row)


def preference_row(random: Random) -> Made:
    """Two answers to a prompt, or one with its label."""
    maker = Maker(random)
    before = maker.prompt()
    earlier = set(maker.own)

    def answer() -> Any:
        return maker.calls(1, flags=False) if random.random() < 0.3 else [maker.answer(flags=False)]

    chosen, rejected = answer(), answer()
    own = {word: kind for word, kind in maker.own.items() if word not in earlier}
    pair = random.choice(PAIRS)
    list_name = random.choice(["prompt", "messages", "conversations"])
    row: dict[str, Any]
    match random.randrange(7):
        case 0:
            row = {name: [*before, *said] for name, said in zip(pair, (chosen, rejected))}
        case 1:
            name, said = random.choice(["label", "kto_tag"]), random.choice([chosen, rejected])
            is_mine = [json.dumps(said).find(word) >= 0 for word in own]
            own = {word: kind for (word, kind), mine in zip(own.items(), is_mine) if mine}
            row = {"messages": [*before, *said], name: random.choice([True, False])}
        case 2:
            row = {"messages": [*before, *chosen], "rejected_messages": [*before, *rejected]}
        case 3:
            # It replaces what follows the last question, where no result may be.
            asked = [maker.other("asked", maker.user)]
            row = {"messages": [*asked, *chosen], "rejected_response": rejected}
        case 4:
            # The API's own, whose prompt is in an object.
            row = {"input": {"messages": before}}
            row |= {"preferred_output": chosen, "non_preferred_output": rejected}
        case 5:
            question = random.choice(QUESTIONS)
            row = {question: f"{maker.word('asked')} ?"}
            own = {}
            for name in pair:
                word = maker.word("answer")
                row[name], own[word] = f"{word} it is", "answer"
        case _:
            single = len(chosen) == len(rejected) == 1 and random.random() < 0.5
            row = {list_name: before}
            for name, said in zip(pair, (chosen, rejected)):
                row[name] = said[0] if single else said
    return maker.made("preference", row, own)


def anthropic_row(random: Random) -> Made:
    """A body of the Messages API with its answer."""
    maker = Maker(random)
    maker.who, maker.assistant = "role", "assistant"
    messages: list[dict[str, Any]] = []
    for _ in range(random.randint(1, 3)):
        asked: list[Any] = [{"type": "text", "text": f"{maker.word('asked')} ?"}]
        for call in range(random.choice([0, 0, 1, 2])):
            before, used = set(maker.own), {"of": maker.word("call")}
            blocks: list[Any] = [
                {"type": "tool_use", "id": f"c{call}", "name": "find", "input": used}
            ]
            if random.random() < 0.5:
                blocks.insert(0, {"type": "text", "text": f"{maker.word('answer')} first"})
            if random.random() < 0.5:
                thought = f"{maker.word('thought')} hm"
                blocks.insert(0, {"type": "thinking", "thinking": thought, "signature": ""})
            called = maker.flagged({"role": "assistant", "content": blocks}, before)
            messages += [{"role": "user", "content": asked}, called]
            result = f"{maker.word('result')} said"
            asked = [{"type": "tool_result", "tool_use_id": f"c{call}", "content": result}]
        messages.append({"role": "user", "content": asked})
        before = set(maker.own)
        said = {"role": "assistant", "content": f"{maker.word('answer')} it is"}
        messages.append(maker.flagged(said, before))
    tools = [{"name": "find", "input_schema": TOOLS[0]["parameters"]}]
    row = {"messages": messages, "tools": tools, "max_tokens": 9}
    made = maker.made("anthropic", [])
    made.row = {**row, "system": f"{maker.word('system')} be"}
    return made


def responses_row(random: Random) -> Made:
    """A body of the Responses API whose last items are the answer."""
    maker = Maker(random)
    maker.who, maker.assistant = "role", "assistant"
    items: list[dict[str, Any]] = []
    for turn in range(random.randint(1, 3)):
        items.append({"role": "user", "content": f"{maker.word('asked')} ?"})
        for call in range(random.choice([0, 0, 1, 2])):
            name = f"c{turn}{call}"
            if random.random() < 0.5:
                text = {"type": "reasoning_text", "text": f"{maker.word('thought')} hm"}
                items.append({"type": "reasoning", "summary": [], "content": [text]})
            before, used = set(maker.own), json.dumps({"of": maker.word("call")})
            called = {"type": "function_call", "call_id": name, "name": "find", "arguments": used}
            items.append(maker.flagged(called, before))
            result = f"{maker.word('result')} said"
            items.append({"type": "function_call_output", "call_id": name, "output": result})
        before = set(maker.own)
        content: Any = f"{maker.word('answer')} it is"
        if random.random() < 0.5:
            content = [{"type": "output_text", "text": content, "annotations": []}]
        said = {"type": "message", "role": "assistant", "content": content}
        items.append(maker.flagged(said, before))
    made = maker.made("responses", [])
    made.row = {"input": items, "tools": [{"type": "function", **TOOLS[0]}]}
    made.row["instructions"] = f"{maker.word('system')} be"
    return made
