"""Pictures drawn whole: each case in all ways, as `tests/pictures` has it.

Run this file to write them anew; `test_drawn.py` compares them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.padding import Padding

from openai_harmony import (
    Author,
    Conversation,
    DeveloperContent,
    HarmonyError,
    Message,
    Prefill,
    RenderConversationConfig,
    Role,
    StreamableParser,
    SystemContent,
    ToolDescription,
    load_harmony_encoding,
    show,
)
from openai_harmony.interop import chat_completions
from openai_harmony.show.html import difference_piece, picture_piece
from openai_harmony.show.lines import lines
from openai_harmony.show.terminal import write_styled
from openai_harmony.training import LossMask, render

FOLDER = Path(__file__).parents[1] / "pictures"
ENCODING = load_harmony_encoding("HarmonyGptOss")
say = Message.from_role_and_content


def sampled(text: str) -> list[int]:
    return ENCODING.encode(text, allowed_special="all")


def thinking() -> list[Message]:
    return [
        say("user", "2 + 2?"),
        say("assistant", "A sum.").with_channel("analysis"),
        say("assistant", "4.").with_channel("final"),
    ]


def long_thought() -> Conversation:
    """The indexes of what is dropped are those of other messages, which are repaired and trained."""
    noisy = say("assistant", "{}").with_channel("commentary").with_content_type("a b c")
    question, _, answer = thinking()
    thought = say("assistant", "A sum of two numbers.").with_channel("analysis")
    look = say("assistant", "2 + 2").with_channel("analysis").with_recipient("python")
    return Conversation.from_messages([noisy, question, thought, look, answer])


def tools() -> Conversation:
    """Each role and each part of a header."""
    system = SystemContent.new().with_conversation_start_date("2025-06-28")
    look = ToolDescription.new("look", "Looks.", {"type": "object", "properties": {}})
    developer = DeveloperContent.new().with_instructions("Be brief.").with_function_tools([look])
    call = say("assistant", "{}").with_channel("commentary").with_recipient("functions.look")
    result = Message.from_author_and_content(Author.new(Role.TOOL, "functions.look"), "rain")
    return Conversation.from_messages(
        [
            say("system", system),
            say("developer", developer),
            Message.from_author_and_content(Author.new(Role.USER, "Ada"), "Rain?"),
            call.with_content_type("<|constrain|>json"),
            result.with_channel("commentary").with_recipient("assistant"),
            say("assistant", "Rain\nall day."),
            say("assistant", "?").with_channel("odd"),
        ]
    )


def damaged() -> list[int]:
    """Repairs in several messages, tokens between messages, an unknown one, an open header."""
    text = (
        "<|channel|>analysis<|message|>Hm<|end|> stray<|start|>assistant<|channel|>final It is"
        "<|end|><|start|>assistant to=functions.f<|channel|>commentary<|message|>{}<|call|>"
        "<|end|><|start|>assistant<|channel|>final"
    )
    tokens = sampled(text)
    tokens.insert(4, 300_000)
    return tokens


def glyphs() -> list[int]:
    """What shares a cell, what is written by its code point, and bytes that are not text."""
    wizard = sampled("\U0001f9d9")
    said = (
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1eb\U0001f1f7\U0001f1e9\U0001f1ea\U0001f1ea "
        "\U0001f44d\U0001f3fb\U0001f44d\U0001f3ff\U0001f44d\U0001f400 e\u0301\u0903\u20dd \u0301 \U0001f1e6"
        " \u200dx\tx\n\x1b[0m\u202e\u2028\u2029\u00ad\ue000\u0378a\u200db\u200d<&>\"'"
    )
    ends = [*wizard[:1], *sampled("x"), *wizard[:-1], 200_007, *wizard[:1], 300_000, *wizard[1:2]]
    return [*sampled(said), *ends, *wizard[:2]]


def long() -> list[Message]:
    words = "a b c d e f g h i j k l m n o p " * 6
    return [
        say("user", words),
        say("assistant", "Short.").with_channel("final"),
        say("user", words),
        say("assistant", "Yes.").with_channel("final"),
    ]


def turn() -> Any:
    function = {"name": "f", "parameters": {"type": "object", "properties": {}}}
    body = {
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "frobnicate": "<1>",
    }
    return chat_completions.read(body, date="2025-06-28")


def reply(text: str) -> Any:
    made = turn().reply(ENCODING, model="m")
    made.feed(sampled(text))
    return made


def running(text: str, **options: Any) -> StreamableParser:
    parser = StreamableParser(ENCODING, "assistant", **options)
    with suppress(HarmonyError):
        parser.feed(sampled(text))
    return parser


def example() -> Any:
    row = [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4."}]
    return render([row], format="chat")[0]


KEEP = RenderConversationConfig(auto_drop_analysis=False)
TEN = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
CASES: dict[str, Callable[[], Any]] = {
    "dropped": lambda: show.picture(Conversation.from_messages(thinking())),
    "dropped-in-a-mask": lambda: show.picture(long_thought(), mask=LossMask()),
    "dropped-with-its-header": lambda: show.picture(
        long_thought(), config=RenderConversationConfig(header_style="recipient_in_channel")
    ),
    "an-open-header": lambda: show.picture(
        sampled("<|channel|>final<|message|>Hi<|end|><|start|>")
    ),
    "kept": lambda: show.picture(Conversation.from_messages(thinking()), config=KEEP, mask=True),
    "tools": lambda: show.picture(tools(), config=KEEP),
    "one-message": lambda: show.picture(thinking()[0]),
    "twelve": lambda: show.picture(thinking() * 4, config=KEEP),
    "more-than-twelve": lambda: show.picture(thinking() * 5, config=KEEP),
    "damaged": lambda: show.picture(
        damaged(), tools=["functions.f"], mask=[i % 2 for i, _ in enumerate(damaged())]
    ),
    "glyphs": lambda: show.picture(glyphs()),
    "a-preview-that-just-fits": lambda: show.picture(say("user", "abcdefghi " * 8 + "abcdefghij")),
    "from-start": lambda: show.picture(sampled("<|start|>user<|message|>Hi")),
    "only-a-header": lambda: show.picture(sampled("<|channel|>fin")),
    "nothing": lambda: show.picture([]),
    "turn": lambda: show.picture(turn()),
    "turn-as-it-is-not": lambda: show.picture(
        turn(), config=RenderConversationConfig(tool_schema="full")
    ),
    "turn-in-training": lambda: show.picture(turn(), ending="training", mask=True),
    "rendered": lambda: show.picture(ENCODING.render_with_spans(tools(), KEEP), mask=True),
    "reply": lambda: show.picture(reply('{"a": 1}<|call|><|start|>assistant<|channel|>final Hi')),
    "reply-without-repairs": lambda: show.picture(reply("{}<|call|>")),
    "parser": lambda: show.picture(running("<|channel|>final<|message|>Hel")),
    "parser-before-its-end": lambda: show.picture(
        running("<|channel|>final Hi", strict=False), mask=[0, 1, 1]
    ),
    "parser-in-a-header": lambda: show.picture(running("<|channel|>fin")),
    "parser-that-stopped": lambda: show.picture(
        running("<|channel|>final<|message|> Hi<|end|>stray"), mask=[1] * 6
    ),
    "parser-prefilled": lambda: show.picture(running("Hi", prefill=Prefill(channel="final"))),
    "example": lambda: show.picture(example()),
    "difference": lambda: show.diff(
        [*TEN, *range(100, 150), 20, 21, 19991, *range(200, 240)],
        [*TEN, 11, *range(100, 150), 22, 19991, *range(300, 340)],
        names=("<mine>", "theirs"),
    ),
    "difference-to-nothing": lambda: show.diff([], [200_006, 300_000]),
    "difference-none": lambda: show.diff(damaged(), damaged()),
}
CUT: dict[str, tuple[Callable[[], Any], int]] = {
    **{
        f"cut-to-{most}": (lambda: show.picture(long()), most)
        for most in (0, 64, 100, 139, 217, 218)
    },
    "cut-in-the-middle": (lambda: show.picture(thinking() * 5, config=KEEP), 120),
    "cut-nowhere": (lambda: show.picture(thinking() * 5, config=KEEP), 130),
    "cut-of-three": (lambda: show.picture(thinking(), config=KEEP), 0),
    "cut-by-none": (lambda: show.picture([say("user", "a " * 27 + "b"), *thinking()]), 0),
    "cut-after-one-that-just-fits": (
        lambda: show.picture([say("user", "a " * 35 + "b"), *long()[::2]]),
        122,
    ),
    "cut-beside-what-is-dropped": (lambda: show.picture([*long(), *thinking()]), 100),
}
"""With the most tokens that are drawn."""


class Recorder:
    """A console of rich that notes what it would draw, in rich's own markup."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def print(self, drawn: Any) -> None:
        text = drawn.renderable
        assert isinstance(drawn, Padding)
        assert (drawn.top, drawn.right, drawn.bottom, drawn.expand) == (0, 0, 0, False)
        assert text.overflow == "fold"
        self.said.append(f"{drawn.left}: {text.markup}")


def drawn(x: Any, most: int | None = None) -> str:
    """A thing in each way in which it can be drawn."""
    console = Recorder()
    if isinstance(x, show.Difference):
        ways = {"text": show.text(x), "ids": show.text(x, ids=True)}
        ways["html"] = difference_piece(x, style=False)
        write_styled(x.lines(), console)
    else:
        ways = {"text": show.text(x, max_tokens=most)}
        ways["html"] = picture_piece(x, max_tokens=most, style=False)
        if most is None:
            ways["ids"] = show.text(x, ids=True)
            ways["data"] = json.dumps(show.data(x), default=list)
            write_styled(lines(x), console)
    ways["html"] = re.sub(r"(?<=>)(?=<)", "\n", ways["html"])
    ways["terminal"] = "\n".join(console.said)
    return "".join(f"=== {name}\n{text.rstrip()}\n" for name, text in ways.items())


ALL: dict[str, Callable[[], str]] = {
    **{name: lambda make=make: drawn(make()) for name, make in CASES.items()},
    **{
        name: lambda make=make, most=most: drawn(make(), most) for name, (make, most) in CUT.items()
    },
}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, draw in ALL.items():
        (FOLDER / f"{name}.txt").write_text(draw(), encoding="utf-8")
