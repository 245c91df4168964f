"""What objects' own code raises arrives."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from openai_harmony import Conversation, HarmonyEncoding, StreamableParser
from openai_harmony.interop import chat_completions
from openai_harmony.rollout import Rollout
from openai_harmony.training import render


class TestBuffers:
    @pytest.mark.skipif(
        sys.version_info < (3, 12), reason="PEP 688, `__buffer__`, is of Python 3.12"
    )
    @pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, SystemExit, ValueError])
    def test_what_its_code_raises_is_passed_on(
        self, encoding: HarmonyEncoding, error: type[BaseException]
    ) -> None:
        class Tokens:
            def __buffer__(self, flags: int) -> memoryview:
                raise error("mine")

            def __iter__(self) -> Iterator[int]:
                return iter([200006])

        tokens: Any = Tokens()
        for read in (encoding.decode, StreamableParser(encoding, "user").feed):
            with pytest.raises(error, match="mine"):
                read(tokens)

    @pytest.mark.skipif(
        sys.version_info < (3, 12), reason="PEP 688, `__buffer__`, is of Python 3.12"
    )
    @pytest.mark.parametrize("error", [BufferError, TypeError])
    def test_without_a_buffer_it_is_iterated(
        self, encoding: HarmonyEncoding, error: type[BaseException]
    ) -> None:
        class Tokens:
            def __buffer__(self, flags: int) -> memoryview:
                raise error("no such buffer")

            def __iter__(self) -> Iterator[int]:
                return iter([13225])

        tokens: Any = Tokens()
        assert encoding.decode(tokens) == "Hello"

    def test_what_an_iterator_raises_is_passed_on(self, encoding: HarmonyEncoding) -> None:
        def tokens() -> Iterator[int]:
            yield 13225
            raise KeyboardInterrupt("mine")

        with pytest.raises(KeyboardInterrupt, match="mine"):
            encoding.decode(tokens())

    def test_what_a_number_raises_is_passed_on(self, encoding: HarmonyEncoding) -> None:
        class Number:
            def __index__(self) -> int:
                raise KeyboardInterrupt("mine")

            def __float__(self) -> float:
                raise KeyboardInterrupt("mine")

        number: Any = Number()
        turn = chat_completions.read(
            {"messages": [{"role": "user", "content": "Hi"}], "logprobs": True}
        )
        rollout = Rollout(Conversation.from_messages([]), encoding)
        for call in (
            lambda: encoding.encode_batch(["a"], threads=number),
            lambda: encoding.decode_batch(([1], [0, number])),
            lambda: turn.reply(encoding, model="m").feed([200005], [number]),
            lambda: rollout.sampled([200005], [number]),
            lambda: render([], max_tokens=number),
        ):
            with pytest.raises(KeyboardInterrupt, match="mine"):
                call()
