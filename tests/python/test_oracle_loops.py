"""Code written for 0.0.8 gets no less here: loops as servers have them, over malformed outputs.

The law of strict parsing is that it raises at a token only if 0.0.8 raised at that token or earlier
in the same message. The exceptions are <|start|> inside a header, after which a new message is
compared by itself, and ids that do not exist, of which these streams have none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

import pytest

from oracle import streams
from oracle.client import Oracle
from oracle.loops import LOOPS
from oracle.malformed import malformed
from oracle.operations import Session
from oracle.seeds import randoms
from oracle.streams import START, Stream

ROOT = Path(__file__).parents[2]
#: No recipient here, since 0.0.8 took a content type, or the role of a later header, for one.
NO_RECIPIENTS = ["json", "code", "text", *streams.ROLE_WORDS]
CHANNELS = ["analysis", "commentary", "final"]

Json = Any


def cases(oracle: Oracle, count: int) -> Iterator[tuple[str, Stream]]:
    """Random malformed outputs, and those that people reported."""

    def encode(text: str) -> list[int]:
        tokens: list[int] = oracle.ask("encode", text, "all", [])
        return tokens

    for seed, random in randoms(count):
        yield seed, malformed(random, encode)
    for name in ("cases", "outputs"):
        lines = (ROOT / "tests" / "repairs" / f"{name}.jsonl").read_text("utf-8").splitlines()
        for number, line in enumerate(lines):
            case = json.loads(line)
            for role in ("assistant", None):
                if "text" in case:
                    stream = Stream(encode(case["text"]), role)
                    yield f"{name}.jsonl, line {number + 1}, role {role}", stream


def broken_off(stream: Stream, errors: list[int]) -> Optional[int]:
    """The first <|start|> at which our parser raised: only in a header does it."""
    return next((at for at in errors if stream.tokens[at : at + 1] == [START]), None)


def test_nothing_raises_earlier_than_in_0_0_8(oracle: Oracle, ours: Session) -> None:
    raised = 0
    for seed, stream in cases(oracle, 700):
        actual: list[int] = ours.ask("loop", "skipping", stream.tokens, stream.role, True)["errors"]
        raised += bool(actual)
        # What 0.0.8 is fed to compare with: the stream, or what begins inside a header.
        begin, role = 0, stream.role
        whole = oracle.ask("loop", "skipping", stream.tokens, role, True)["errors"]
        while True:
            wanted = oracle.ask("loop", "skipping", stream.tokens[begin:], role, True)["errors"]
            if role_waits(Stream([], role), wanted, actual):
                break
            end = broken_off(stream, actual)
            here = actual if end is None else actual[: actual.index(end)]
            for at in here:
                message = last_start(stream.tokens, at)
                others = [*whole, *(begin + other for other in wanted)]
                assert any(message <= other <= at for other in others), (
                    f"{seed}: {stream} at {at}, 0.0.8 behind token {begin} at {wanted}"
                )
            if end is None:
                break
            begin, role = end, None
            actual = actual[actual.index(end) + 1 :]
    assert raised > 200


def last_start(tokens: list[int], at: int) -> int:
    """Where the message begins that this token is in, or stands after."""
    return max(
        (place for place in range(min(at + 1, len(tokens))) if tokens[place] == START), default=0
    )


@pytest.mark.parametrize("name", LOOPS)
def test_loops_of_servers_get_no_less_than_from_0_0_8(
    name: str, oracle: Oracle, ours: Session
) -> None:
    texts = 0
    for seed, stream in cases(oracle, 400):
        actual = ours.ask("loop", name, stream.tokens, stream.role, True)
        end = broken_off(stream, actual["errors"])
        if end is not None:
            stream = Stream(stream.tokens[:end], stream.role)
            actual = ours.ask("loop", name, stream.tokens, stream.role, True)
        wanted = oracle.ask("loop", name, stream.tokens, stream.role, True)
        texts += len(wanted["chunks"])
        told = f"{seed}: {stream}\n{oracle.ask('decode', stream.tokens)!r}\n{wanted}\n{actual}"
        # Where 0.0.8 could not read a header, it resumes at a <|start|> that is content here; and
        # the role that it was given waits, see `role_waits`.
        reads_on = bool(wanted["errors"]) and actual["errors"][:1] != wanted["errors"][:1]
        if reads_on and stream.role is None:
            everything = "".join(text for _, _, text in actual["chunks"])
            assert all(unbroken(text) in unbroken(everything) for _, _, text in wanted["chunks"]), (
                told
            )
        elif not reads_on:
            assert_no_less(wanted["chunks"], actual["chunks"], told)
        assert_no_earlier(wanted["errors"], actual["errors"], told)
        if wanted["raw"] is not None and actual["raw"] is None:
            # The end is well-formed here: a prompt's, or of a message that 0.0.8 could not read.
            is_prompt_end = oracle.ask("decode", stream.tokens[-2:]) in [
                f"<|start|>{role}" for role in streams.ROLE_WORDS
            ]
            reads_more = len(actual["chunks"]) > len(wanted["chunks"])
            assert is_prompt_end or reads_more, told
    assert texts > 300


def role_waits(stream: Stream, wanted: list[int], actual: list[int]) -> bool:
    """Whether 0.0.8 raised in the first header, which we read.

    The role that it was given waits, then, and serves any later header that names no author.
    """
    return stream.role is not None and bool(wanted) and actual[:1] != wanted[:1]


def assert_no_less(wanted: list[Json], actual: list[Json], told: str) -> None:
    """All texts of 0.0.8 are there in their order, with their channels and recipients."""
    rest = iter(actual)
    for channel, recipient, text in wanted:
        found = next(
            (other for other in rest if unbroken(other[2]).startswith(unbroken(text))), None
        )
        assert found is not None, f"{text!r} is lost\n{told}"
        if text:
            assert found[0] == channel or found[0] in CHANNELS or "<" in found[0], told
        name = (recipient or "").partition("<")[0].strip()
        assert name in NO_RECIPIENTS or (found[1] or "").partition("<")[0] == name, told


def unbroken(text: str) -> str:
    """A text without what stands for broken characters.

    0.0.8 has no delta for the last of them, nor for what follows it at the end of a message.
    """
    return text.replace("\ufffd", "")


def assert_no_earlier(wanted: list[int], actual: list[int], told: str) -> None:
    assert not actual or (wanted and wanted[0] <= actual[0]), told


def test_whole_sequences_get_no_less_than_from_0_0_8(oracle: Oracle, ours: Session) -> None:
    """Parsing a whole sequence: strictly, and against 0.0.8's leniency."""
    read = 0
    for seed, stream in cases(oracle, 400):
        actual = ours.ask("parse", stream.tokens, stream.role, True)
        errors = ours.ask("loop", "skipping", stream.tokens, stream.role, True)["errors"]
        if broken_off(stream, errors[:1]) is not None:
            continue
        wanted = oracle.ask("parse", stream.tokens, stream.role, True)
        told = f"{seed}: {stream}\n{wanted}\n{actual}"
        if isinstance(wanted, list):
            read += 1
            assert isinstance(actual, list), told
            assert [texts(message) for message in actual] == [
                texts(message) for message in wanted
            ], told
    assert read > 200


def texts(message: Json) -> list[str]:
    return [part["text"] for part in message["content"]]
