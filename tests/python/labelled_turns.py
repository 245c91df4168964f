"""Turns with the verdict that a grammar of two tools has of them, in the forms that models write."""

from __future__ import annotations

from typing import Any, NamedTuple

RAIN: dict[str, Any] = {
    "name": "rain",
    "description": "Whether it rains.",
    "parameters": {
        "type": "object",
        "properties": {"in": {"type": "string", "description": "A city"}, "days": {"type": "integer"}},
        "required": ["in"],
        "additionalProperties": False,
    },
}  # fmt: skip
NOW: dict[str, Any] = {"name": "now", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}}  # fmt: skip
TOOLS: list[Any] = [RAIN, NOW, "python"]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"sum": {"type": "integer"}},
    "required": ["sum"],
    "additionalProperties": False,
}


class Labelled(NamedTuple):
    """A turn, the options of its grammar, and whether it is one."""

    text: str
    is_turn: bool
    options: dict[str, Any]
    only_schema: bool = False
    """What is wrong is against the schema alone, which `accepts` leaves to the engine."""


ARGUMENTS = '{"in":"Oslo"}'
JSON = " <|constrain|>json"
ANSWER = "<|channel|>final<|message|>It rains.<|return|>"
THOUGHT = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"
PREAMBLE = "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant"


def in_channel(name: str = "functions.rain", kind: str = JSON, channel: str = "commentary") -> str:
    return f"<|channel|>{channel} to={name}{kind}<|message|>"


def in_role(name: str = "functions.rain", kind: str = JSON, channel: str = "commentary") -> str:
    return f" to={name}<|channel|>{channel}{kind}<|message|>"


CALL = f"{in_channel()}{ARGUMENTS}<|call|>"
REQUIRED = {"tool_choice": "required"}


def turns() -> list[Labelled]:
    made: list[Labelled] = []

    def add(is_turn: bool, *texts: str, only_schema: bool = False, **options: Any) -> None:
        made.extend(Labelled(text, is_turn, options, only_schema) for text in texts)

    # Headers.
    for header in (in_channel, in_role):
        for channel in ("commentary", "analysis"):
            add(True, f"{header(channel=channel)}{ARGUMENTS}<|call|>")
            add(True, f"{header(channel=channel, kind='')}{ARGUMENTS}<|call|>")
        for kind in ("<|constrain|>json", " json", " code"):
            add(False, f"{header(kind=kind)}{ARGUMENTS}<|call|>")
            add(True, f"{header(kind=kind)}{ARGUMENTS}<|call|>", header_forms="all")
        add(False, f"{header(kind=' <|constrain|>yaml')}{ARGUMENTS}<|call|>")
        add(False, f"{header(channel='final')}{ARGUMENTS}<|call|>")
        add(False, f"{header('functions.snow')}{ARGUMENTS}<|call|>")
        add(False, f"{header('rain')}{ARGUMENTS}<|call|>")
        add(False, f"{header('functions.rain2')}{ARGUMENTS}<|call|>")
        add(False, f"{header('python')}print(1)<|call|>")
        add(
            True, f"{header('python', '')}print(1)<|call|>", f"{header('python', ' code')}1<|call|>"
        )
        add(True, f"{header('functions.now')}{{}}<|call|>")
    # What comes first, and what comes last.
    add(True, ANSWER, CALL, THOUGHT + ANSWER, PREAMBLE + CALL, THOUGHT * 3 + PREAMBLE + CALL)
    add(False, "", THOUGHT, PREAMBLE, "<|return|>", "<|call|>", "<|end|>", "It rains.<|return|>")
    add(False, ANSWER + ANSWER, CALL + CALL, CALL + "<|start|>assistant" + ANSWER, ANSWER[:-10])
    add(False, ANSWER.replace("return", "end"), ANSWER.replace("return", "call"))
    add(False, CALL.replace("call", "end"), CALL.replace("call", "return"))
    for last, stop in ((ANSWER, "<|return|>"), (CALL, "<|call|>")):
        ended = last.replace(stop, "<|end|>" + stop)
        add(False, ended)
        add(True, ended, THOUGHT + ended, header_forms="all")
        add(False, ended[: -len(stop)], ended + stop, header_forms="all")
        add(False, ended.replace("<|end|>", "<|end|><|end|>"), header_forms="all")
    add(
        False,
        THOUGHT.replace("end", "return") + ANSWER,
        THOUGHT.replace("assistant", "user") + ANSWER,
    )
    add(False, "<|channel|>analysis<|message|>Hm.<|end|>" + ANSWER, "<|start|>assistant" + ANSWER)
    add(False, "<|channel|>final<|message|>a<|channel|>b<|return|>")
    add(False, "<|channel|>other<|message|>a<|return|>", "<|channel|>final a<|return|>")
    # Options.
    add(True, CALL, THOUGHT + CALL, **REQUIRED)
    add(False, ANSWER, THOUGHT + ANSWER, THOUGHT, "", **REQUIRED)
    add(False, CALL, THOUGHT + CALL, tool_choice="none")
    add(True, ANSWER, tool_choice="none")
    add(True, CALL, tool_choice={"name": "rain"})
    add(False, f"{in_channel('functions.now')}{{}}<|call|>", ANSWER, tool_choice={"name": "rain"})
    add(True, f"{in_channel('functions.now')}{{}}<|call|>", ANSWER, tool_choice=["now"])
    add(False, CALL, tool_choice=["now"])
    add(True, THOUGHT + ANSWER, THOUGHT + CALL, thinking="required")
    add(False, ANSWER, CALL, PREAMBLE + THOUGHT + ANSWER, thinking="required")
    add(True, ANSWER, PREAMBLE + CALL, thinking="off")
    add(False, THOUGHT + ANSWER, PREAMBLE + THOUGHT + CALL, thinking="off")
    add(False, PREAMBLE + CALL, preambles=False)
    add(True, THOUGHT + CALL, preambles=False)
    add(True, ANSWER, THOUGHT + ANSWER, max_messages=2)
    add(False, THOUGHT + PREAMBLE + ANSWER, max_messages=2)
    # Arguments and answers.
    for bad in ("", "{", '{"in":', '{"in":"Oslo"', '{"in":"Oslo"}}', "Oslo", '{in:"Oslo"}', "[]"):
        add(False, f"{in_channel()}{bad}<|call|>")
    for bad in ('{"in":"a<|channel|>b"}', '{"in":"Oslo"} and', "null", '{"in":"Oslo",}'):
        add(False, f"{in_channel()}{bad}<|call|>")
    for bad in ("{}", '{"in":3}', '{"in":"Oslo","at":1}', '{"in":"Oslo","days":"1"}'):
        add(False, f"{in_channel()}{bad}<|call|>", only_schema=True)
    for space, most in (("compact", 0), ("bounded", 32), ("any", 99)):
        add(True, f'{in_channel()}{{{" " * most}"in":"a  b"}}<|call|>', json_space=space)
        if space != "any":
            add(False, f'{in_channel()}{{{" " * (most + 1)}"in":"a"}}<|call|>', json_space=space)
    add(
        True,
        f'{in_channel()}{{"in": "Oslo", "days": 3}}<|call|>',
        f'{in_channel()}{{"in":"\\u00e5 ⛅"}}<|call|>',
    )
    add(True, '<|channel|>final<|message|>{"sum":4}<|return|>', f'<|channel|>final{JSON}<|message|>{{"sum": 4}}<|return|>', response_schema=SCHEMA)  # fmt: skip
    add(False, "<|channel|>final<|message|>four<|return|>", response_schema=SCHEMA)
    add(False, '<|channel|>final<|message|>{"sum":"4"}<|return|>', only_schema=True, response_schema=SCHEMA)  # fmt: skip
    add(True, THOUGHT + CALL, response_schema=SCHEMA)
    for kind in (JSON, "<|constrain|>json", " json"):
        typed = f"<|channel|>final{kind}<|message|>It rains.<|return|>"
        add(True, typed, header_forms="all")
        add(False, typed, header_forms="all", response_choices=["It rains."])
    add(False, f"<|channel|>final{JSON}<|message|>4<|return|>")
    return made
