"""Strings on their way in and out: every character, at every place of a block, and surrogates."""

from __future__ import annotations

import itertools
import sys
from random import Random

import pytest

from openai_harmony import (
    Author,
    Conversation,
    HarmonyEncoding,
    Message,
    Role,
    TextContent,
)
from oracle.seeds import some_of
from tables import table

LONG = 64
"""As many characters as a vector takes at most."""

WIDE = ["\x7f", "\x80", "\xff", "\u0100", "\u07ff", "\u0800", "\uffff", "\U00010000", "\U0010ffff"]
"""The first and the last character of each length, and of each width in which Python keeps them."""


class TestTextIn:
    @pytest.mark.parametrize("width", ["", "\u4e2d", "\U0001f600"])
    def test_every_character(self, encoding: HarmonyEncoding, width: str) -> None:
        code_points = [*range(0xD800), *range(0xE000, sys.maxunicode + 1)]
        for start in some_of(range(0, len(code_points), 20_000)):
            text = width + "".join(map(chr, code_points[start : start + 20_000]))
            tokens = encoding.encode(text, disallowed_special=())
            assert encoding.decode_bytes(tokens) == text.encode()

    @pytest.mark.parametrize("wide", WIDE)
    @pytest.mark.parametrize("before", [*range(34), LONG - 1, LONG])
    def test_any_place_of_a_block(self, encoding: HarmonyEncoding, wide: str, before: int) -> None:
        for behind in (0, 1, 31, 32, LONG):
            text = "a" * before + wide + "b" * behind
            assert encoding.decode_bytes(encoding.encode(text)) == text.encode()

    @pytest.mark.parametrize("width", ["", "\u4e2d", "\U0001f600"])
    def test_any_characters_together(self, encoding: HarmonyEncoding, width: str) -> None:
        """Four side by side, each of which may have any length."""
        if not width:
            fours = itertools.product(["a", "\x80", "\xff"], repeat=4)
        else:
            fours = itertools.product(["a", "é", "中", "\uffff", width], repeat=4)
        four = ["".join(each) for each in fours]
        # All of them side by side, and in every place of a block.
        for shift in range(4):
            text = "a" * LONG + "x" * shift + width + "".join(four)
            assert encoding.decode_bytes(encoding.encode(text)) == text.encode()

    @pytest.mark.parametrize(
        "padding", ["", "é" * LONG, "中" * LONG, "🤷" * LONG, "a" * (LONG + 31)]
    )
    @pytest.mark.parametrize(
        ("text", "same"),
        [
            *table("text", "surrogates"),
            ("\ud83d\ude00 a", "\U0001f600 a"),
            ("\ud83d\ud83d\ude00\ude00", "\ufffd\U0001f600\ufffd"),
        ],
    )
    def test_surrogates(
        self, encoding: HarmonyEncoding, text: str, same: str, padding: str
    ) -> None:
        texts = padding + text, padding + same
        assert len({tuple(encoding.encode(one)) for one in texts}) == 1
        messages = [Message.from_role_and_content("user", one) for one in texts]
        assert len({tuple(encoding.render(message)) for message in messages}) == 1

    @pytest.mark.parametrize("wide", WIDE)
    @pytest.mark.parametrize("length", [0, 1, 40, LONG])
    def test_in_messages(self, encoding: HarmonyEncoding, wide: str, length: int) -> None:
        text = "a" * length + wide
        tool = Author.new(Role.TOOL, "name" + wide)
        message = Message(author=tool, content=[TextContent(text=text)] * 2)
        message = message.with_channel("channel" + wide).with_recipient("to" + wide)
        # A hundred are rendered without the GIL.
        for messages in ([message], [message] * 100):
            tokens = encoding.render_conversation(Conversation.from_messages(messages))
            assert encoding.decode_utf8(tokens) == len(messages) * (
                f"<|start|>name{wide} to=to{wide}<|channel|>channel{wide}<|message|>{text}{text}"
                "<|end|>"
            )

    @pytest.mark.parametrize("widest", ["\xff", "\uffff", "\U0010ffff"])
    def test_random_texts_of_each_width_there_and_back(
        self, encoding: HarmonyEncoding, widest: str
    ) -> None:
        random = Random(widest)
        fitting = [wide for wide in WIDE if wide <= widest]
        for length in range(4 * LONG):
            text = "".join(random.choice([*fitting, "a", " ", "b"]) for _ in range(length))
            tokens = encoding.encode(text)
            assert encoding.decode_bytes(tokens) == text.encode()
            assert encoding.decode(tokens) == text


class TestTextOut:
    @pytest.mark.parametrize("wide", WIDE)
    def test_is_as_python_makes_it(self, encoding: HarmonyEncoding, wide: str) -> None:
        for before in (0, 1, 7, 8, 9, 100):
            for behind in (0, 1, 7, 8, 9, 17):
                text = "a" * before + wide + "é" + "b" * behind + wide
                decoded = encoding.decode(encoding.encode(text))
                assert decoded == text
                assert sys.getsizeof(decoded) == sys.getsizeof(text.encode().decode())
