"""Many texts at once: `encode_batch`, `decode_batch` and `TokenBatch`."""

from __future__ import annotations

import copy
import pickle
import random
import re
import signal
import threading
import time
from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from openai_harmony import HarmonyEncoding, HarmonyError, TokenBatch
from openai_harmony.training import render

TEXTS = ["Hi", "", "Hello, world", "naïve café", "数字と文字", "😀 a\u200d", "\ud83d", "x" * 5000]


def some_texts(count: int) -> list[str]:
    drawn = random.Random(count)
    return ["".join(drawn.choices("abc \nßé漢😀", k=drawn.randint(0, 30))) for _ in range(count)]


class TestArrayOfOneText:
    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"allowed_special": "all"},
            {"disallowed_special": ()},
            {"allowed_special": {"<|end|>"}, "disallowed_special": ["<|call|>"]},
        ],
    )
    def test_it_has_the_tokens_of_the_list(
        self, encoding: HarmonyEncoding, options: dict[str, Any]
    ) -> None:
        for text in [*TEXTS, *some_texts(200), "a<|end|>b"]:
            try:
                expected = encoding.encode(text, **options)
            except HarmonyError as error:
                with pytest.raises(HarmonyError, match=re.escape(str(error))):
                    encoding.encode_array(text, **options)
                continue
            tokens = encoding.encode_array(text, **options)
            assert tokens == array("I", expected)
            assert tokens.typecode == encoding.encode_batch([text], **options).tokens.typecode

    def test_numpy_takes_it_without_a_copy(self, encoding: HarmonyEncoding) -> None:
        tokens = encoding.encode_array("Hello, world")
        viewed = np.frombuffer(tokens, np.uint32)
        viewed[0] = 7
        assert tokens[0] == 7

    def test_it_can_grow_and_is_its_callers(self, encoding: HarmonyEncoding) -> None:
        first, second = encoding.encode_array("Hi"), encoding.encode_array("Hi")
        first.append(1)
        assert (first.tolist(), second.tolist()) == ([12194, 1], [12194])


class TestEncode:
    @pytest.mark.parametrize("threads", [None, 1, 3])
    def test_threads_share_long_texts(self, encoding: HarmonyEncoding, threads: int) -> None:
        texts = ["", "".join(some_texts(9_000)), "x" * 200_000, "Hi", "".join(some_texts(9_001))]
        batch = encoding.encode_batch(texts, threads=threads)
        assert [list(tokens) for tokens in batch] == [encoding.encode(text) for text in texts]

    @pytest.mark.parametrize("threads", [None, 1, 2, 7])
    def test_it_is_encoding_one_by_one(self, encoding: HarmonyEncoding, threads: int) -> None:
        texts = TEXTS + some_texts(10_000)
        batch = encoding.encode_batch(texts, threads=threads)
        assert [list(tokens) for tokens in batch] == [encoding.encode(text) for text in texts]
        assert batch.offsets[0] == 0
        assert batch.offsets[-1] == len(batch.tokens)

    def test_any_iterable_of_strings(self, encoding: HarmonyEncoding) -> None:
        expected = encoding.encode_batch(["a", "b"])
        for texts in (("a", "b"), {"a": 1, "b": 2}, np.array(["a", "b"]), iter("ab")):
            assert encoding.encode_batch(texts) == expected

    def test_nothing(self, encoding: HarmonyEncoding) -> None:
        batch = encoding.encode_batch([])
        assert (len(batch), batch.tokens, batch.offsets) == (0, array("I"), array("q", [0]))
        assert encoding.decode_batch(batch) == []

    def test_special_tokens_are_those_of_encode(self, encoding: HarmonyEncoding) -> None:
        texts = ["a<|end|>", "<|start|>"]
        for options in (
            {"allowed_special": "all"},
            {"disallowed_special": ()},
            {"disallowed_special": None},
            {"allowed_special": {"<|end|>"}, "disallowed_special": ["<|call|>"]},
            {"allowed_special": ["<|end|>", "<|start|>"]},
        ):
            batch = encoding.encode_batch(texts, **options)
            expected = [encoding.encode(text, **options) for text in texts]
            assert list(map(list, batch)) == expected

    @pytest.mark.parametrize("threads", [1, 3])
    def test_the_first_text_with_a_disallowed_name_is_named(
        self, encoding: HarmonyEncoding, threads: int
    ) -> None:
        texts = ["Hi"] * 9000
        texts[5003] = "<|end|>"
        texts[5900] = "<|call|>"
        with pytest.raises(HarmonyError) as raised:
            encoding.encode_batch(texts, threads=threads)
        with pytest.raises(HarmonyError) as alone:
            encoding.encode(texts[5003])
        assert str(raised.value) == f"texts[5003]: {alone.value}"
        assert raised.value.kind == "disallowed_special"

    def test_what_an_iterator_raises_is_passed_on(self, encoding: HarmonyEncoding) -> None:
        def texts() -> Iterator[str]:
            yield "a"
            raise KeyboardInterrupt("mine")

        with pytest.raises(KeyboardInterrupt, match="mine"):
            encoding.encode_batch(texts())

    def test_other_threads_run_meanwhile(self, encoding: HarmonyEncoding) -> None:
        texts = some_texts(200) * 200
        counted = 0
        is_done = threading.Event()

        def count() -> None:
            nonlocal counted
            while not is_done.is_set():
                counted += 1

        counting = threading.Thread(target=count)
        counting.start()
        try:
            encoding.encode_batch(texts)
        finally:
            is_done.set()
            counting.join()
        assert counted > 0

    def test_a_signal_does_not_wait_for_the_end(self, encoding: HarmonyEncoding) -> None:
        if not hasattr(signal, "setitimer"):
            pytest.skip("a system without interval timers")
        read = 0
        # Without the signal the memory would fill.
        deadline = time.monotonic() + 5

        def texts() -> Iterator[str]:
            nonlocal read
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            while time.monotonic() < deadline:
                read += 1
                yield "some words of a text "

        class AlarmError(Exception):
            pass

        def handle(number: int, frame: object) -> None:
            raise AlarmError

        before = signal.signal(signal.SIGALRM, handle)
        try:
            with pytest.raises(AlarmError):
                encoding.encode_batch(texts())
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        assert read > 0


class TestDecode:
    @pytest.mark.parametrize("threads", [None, 1, 3])
    def test_it_is_decoding_one_by_one(
        self, encoding: HarmonyEncoding, threads: int | None
    ) -> None:
        drawn = random.Random(0)
        lists = [
            [drawn.randrange(201_000) for _ in range(drawn.randint(0, 20))] for _ in range(9000)
        ]
        lists = [[t for t in tokens if not 199_998 <= t < 200_013] for tokens in lists]
        for errors in ("replace", "ignore", "backslashreplace"):
            expected = [encoding.decode(tokens, errors) for tokens in lists]
            assert encoding.decode_batch(lists, errors, threads=threads) == expected

    def test_all_forms_of_a_batch(self, encoding: HarmonyEncoding) -> None:
        texts = [*TEXTS[:-2], *some_texts(100)]
        batch = encoding.encode_batch(texts)
        tokens, offsets = batch.tokens, batch.offsets
        for form in (
            batch,
            (tokens, offsets),
            (np.asarray(tokens), np.asarray(offsets)),
            (np.asarray(tokens, np.int64), np.asarray(offsets, np.int32)),
            (tokens.tolist(), offsets.tolist()),
            list(batch),
            [tokens.tolist() for tokens in batch],
            (tokens for tokens in batch),
            [np.asarray(tokens) for tokens in batch],
        ):
            assert encoding.decode_batch(form) == texts

    def test_a_training_batch(self, encoding: HarmonyEncoding) -> None:
        row = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hi"}]
        batch = render([row, row], format="chat")
        decoded = encoding.decode_batch(batch)
        assert decoded == [encoding.decode(example.tokens) for example in batch]

    def test_a_part_of_the_tokens(self, encoding: HarmonyEncoding) -> None:
        tokens = encoding.encode_ordinary("Hello, world")
        assert encoding.decode_batch((tokens, [1, 1, 2])) == ["", ","]
        assert encoding.decode_batch((tokens, [3])) == []

    @pytest.mark.parametrize("threads", [1, 3])
    def test_the_first_text_with_a_wrong_id_is_named(
        self, encoding: HarmonyEncoding, threads: int
    ) -> None:
        lists = [[1, 2]] * 6000
        lists[5002] = [1, 2, 999_999]
        lists[5500] = [888_888]
        flat = TokenBatch([t for tokens in lists for t in tokens], [0])
        for tokens in lists:
            flat.offsets.append(flat.offsets[-1] + len(tokens))
        for batch in (lists, flat):
            with pytest.raises(HarmonyError) as raised:
                encoding.decode_batch(batch, threads=threads)
            assert (
                str(raised.value)
                == "batch[5002]: Invalid token for decoding: 999999 (at tokens[2])"
            )
            assert (raised.value.kind, raised.value.token_index) == ("invalid_token", 2)

    def test_bytes_that_are_not_utf8(self, encoding: HarmonyEncoding) -> None:
        half = encoding.encode_ordinary("\U0001fae8")[:1]
        assert encoding.decode_batch([[12194], half]) == ["Hi", "\ufffd"]
        with pytest.raises(UnicodeDecodeError, match=r"batch\[1\]"):
            encoding.decode_batch([[12194], half], "strict")
        with pytest.raises(LookupError):
            encoding.decode_batch([half], "no such handler")

    def test_what_a_list_of_tokens_raises_is_passed_on(self, encoding: HarmonyEncoding) -> None:
        def tokens() -> Iterator[int]:
            yield 12194
            raise ZeroDivisionError("mine")

        with pytest.raises(ZeroDivisionError, match="^mine$"):
            encoding.decode_batch([tokens()])


class TestTokenBatch:
    @pytest.fixture
    def batch(self, encoding: HarmonyEncoding) -> TokenBatch:
        return encoding.encode_batch(["Hi", "", "Hello, world"])

    def test_items(self, batch: TokenBatch) -> None:
        assert [tokens.tolist() for tokens in batch] == [[12194], [], [13225, 11, 2375]]
        assert batch[-1] == batch[2]
        assert batch[-3] == batch[0]
        assert batch[1:] == [batch[1], batch[2]]
        assert (batch[::-2], batch[7:]) == ([batch[2], batch[0]], [])
        for index in (3, -4):
            with pytest.raises(IndexError, match=f"text {index} of 3"):
                batch[index]
        for wrong in ("x", 1.5):
            with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
                batch[wrong]  # type: ignore[call-overload]
        assert repr(batch) == "<TokenBatch: 3 texts, 4 tokens>"

    def test_numpy_takes_the_arrays_without_a_copy(self, batch: TokenBatch) -> None:
        tokens, offsets = np.asarray(batch.tokens), np.asarray(batch.offsets)
        assert (tokens.dtype, offsets.dtype) == (np.uint32, np.int64)
        batch.tokens[0] = 7
        batch.offsets[1] = 0
        assert (tokens[0], offsets[1]) == (7, 0)

    @pytest.mark.parametrize(
        "copied", [copy.copy, copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))]
    )
    def test_copies(self, batch: TokenBatch, copied: Any) -> None:
        again = copied(batch)
        assert again == batch
        assert again is not batch
        assert (again.tokens.typecode, again.offsets.typecode) == ("I", "q")

    def test_equality(self, batch: TokenBatch) -> None:
        assert batch != TokenBatch(batch.tokens, [0])
        assert batch != [batch[0], batch[1], batch[2]]
        with pytest.raises(TypeError):
            hash(batch)

    def test_it_is_made_of_arrays_or_bytes(
        self, batch: TokenBatch, encoding: HarmonyEncoding
    ) -> None:
        made = TokenBatch(batch.tokens, batch.offsets)
        assert made.tokens is batch.tokens
        assert TokenBatch(batch.tokens.tobytes(), batch.offsets.tobytes()) == batch
        assert TokenBatch(np.asarray(batch.tokens).tolist(), [0, 1, 1, 4]) == batch
        assert TokenBatch() == encoding.encode_batch([])


def test_threads_end_with_the_call(encoding: HarmonyEncoding) -> None:
    texts = some_texts(5000)
    before = threads_of_process()
    for _ in range(5):
        encoding.encode_batch(texts, threads=4)
    # They are told to end, and the system may take a moment to end them.
    deadline = time.monotonic() + 60
    while threads_of_process() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threads_of_process() <= before


def threads_of_process() -> int:
    try:
        with open("/proc/self/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("Threads:"))
    except OSError:
        pytest.skip("a system without /proc")
