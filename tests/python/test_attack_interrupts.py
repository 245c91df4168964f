"""What signal handlers and objects' own code raise arrives, and does not wait for long."""

from __future__ import annotations

import itertools
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

from openai_harmony import Conversation, HarmonyEncoding, HarmonyError, StreamableParser
from openai_harmony.interop import chat_completions
from openai_harmony.rollout import Rollout
from openai_harmony.training import render

LONG = 1 << 22
"""Characters from which on a text is encoded in parts, of a quarter each."""


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
        turn = chat_completions.read({"messages": [], "logprobs": True})
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


@pytest.fixture
def alarms() -> Iterator[list[int]]:
    """Has a signal handled all the time, if it is possible; lists how often it was."""
    if not hasattr(signal, "setitimer"):
        pytest.skip("a system without interval timers")
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals are handled by the main thread")
    calls: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        calls.append(number)

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    try:
        yield calls
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def in_a_batch(encoding: HarmonyEncoding, threads: int | None = None) -> Callable[[str], list[int]]:
    """Encodes a text as the second of a batch."""

    def encode(text: str) -> list[int]:
        texts = ["One", text, "", "Two"]
        batch = encoding.encode_batch(texts, allowed_special="all", threads=threads)
        assert [list(batch[index]) for index in (0, 2, 3)] == [[5045], [], [13866]]
        return list(batch[1])

    return encode


class TestLongTexts:
    @pytest.mark.parametrize(
        "line", ["Some words of a line\n", "一二三四，五六七八九十。", "a1b2c3"]
    )
    def test_signals_are_handled_between_parts(
        self, encoding: HarmonyEncoding, alarms: list[int], line: str
    ) -> None:
        text = line * (2 * LONG // len(line) + 1)
        for encode in (encoding.encode, encoding.encode_ordinary, in_a_batch(encoding)):
            before = len(alarms)
            tokens = encode(text)
            # As a whole it would be one call before the next line of Python code.
            assert len(alarms) - before > 6
            assert len(tokens) > LONG // 4

    @pytest.mark.parametrize("threads", [None, 1])
    def test_what_a_handler_raises_is_passed_on(
        self, encoding: HarmonyEncoding, threads: int | None
    ) -> None:
        def interrupt(number: int, frame: FrameType | None) -> None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise KeyboardInterrupt("mine")

        def with_an_alarm(encode: Callable[[str], list[int]], text: str) -> None:
            # On a busy machine it may ring before the next line.
            signal.setitimer(signal.ITIMER_REAL, 1e-3)
            encode(text)

        text = "Some words of a line\n" * (2 * LONG // 20)
        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            for encode in (encoding.encode, in_a_batch(encoding, threads)):
                with pytest.raises(KeyboardInterrupt, match="mine"):
                    with_an_alarm(encode, text)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    @pytest.mark.parametrize(
        "line",
        [
            "The line's words, 12345 of them; and  more.\r\n",
            "é中🤷 \n",
            "中文，中文。\n",
            "x!\n\n  y",
            # All of it is one text, since one name may follow the other.
            "word<|end|>word",
        ],
    )
    def test_tokens_are_those_of_the_lines(self, encoding: HarmonyEncoding, line: str) -> None:
        # From a letter to what no letter follows.
        block = f"Begin {line * 1000} end\n"
        tokens = encoding.encode(block, allowed_special="all")
        count = 2 * LONG // len(block) + 1
        long = encoding.encode(block * count, allowed_special="all")
        assert long == list(itertools.chain.from_iterable([tokens] * count))
        assert in_a_batch(encoding)(block * count) == long

    def test_a_text_without_a_place_to_divide_is_encoded(self, encoding: HarmonyEncoding) -> None:
        text = "a" * (LONG + 1)
        assert encoding.decode_bytes(encoding.encode(text)) == text.encode()

    def test_a_surrogate_pair_across_two_parts_is_one_character(
        self, encoding: HarmonyEncoding
    ) -> None:
        part = LONG // 4
        text = "a " * (part // 2 - 1) + " \ud83d\ude00" + "b " * LONG
        assert text[part - 1 : part + 1] == "\ud83d\ude00"
        same = text.replace("\ud83d\ude00", "\U0001f600")
        assert encoding.encode(text) == encoding.encode(same)
        assert in_a_batch(encoding)(text) == encoding.encode(same)

    def test_special_tokens_are_found(self, encoding: HarmonyEncoding) -> None:
        text = "word " * LONG + "<|start|>"
        with pytest.raises(HarmonyError, match="disallowed special token '<|start|>'"):
            encoding.encode(text)
        with pytest.raises(HarmonyError, match="disallowed special token 'd w'"):
            encoding.encode(text, disallowed_special=["d w"])
        assert encoding.encode(text, allowed_special="all")[-1] == 200006

    def test_special_tokens_are_found_in_a_batch(self, encoding: HarmonyEncoding) -> None:
        long = "word " * LONG
        with pytest.raises(HarmonyError, match=r"^texts\[2\]: .*disallowed special token '<"):
            encoding.encode_batch(["a", long, f"{long}<|start|>", "<|end|>"])
        with pytest.raises(HarmonyError, match=r"^texts\[1\]: .*disallowed special token 'd w'"):
            encoding.encode_batch(["a", long], disallowed_special=["d w"])
        with pytest.raises(HarmonyError, match=r"^texts\[0\]: .*disallowed special token '<\|end"):
            encoding.encode_batch(["<|end|>", f"{long}<|start|>"])
