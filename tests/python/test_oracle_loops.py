"""Code written for 0.0.8 gets no less here: loops as servers have them, over malformed outputs.

The law of strict parsing is that it raises at a token only if 0.0.8 raised at that token or earlier
in the same message. What
begins at a <|start|> inside a header, which 0.0.8 reads as a part of it, is compared by itself, too.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from oracle import streams
from oracle.client import Oracle
from oracle.differences import ONLY_THERE
from oracle.expectation import expect
from oracle.headers import CHANNELS, CONTENT_TYPES, spells_marker
from oracle.loops import LOOPS
from oracle.malformed import malformed, spelled
from oracle.operations import Session
from oracle.seeds import randoms, share
from oracle.streams import START, Stream

ROOT = Path(__file__).parents[2]
#: No recipient here where 0.0.8 took a content type, or the role of a later header, for one.
NO_RECIPIENTS = [*CONTENT_TYPES, *streams.ROLE_WORDS]
#: Names a file in which the cases that only 0.0.8 refuses are counted by their difference.
COUNTS = "OPENAI_HARMONY_ORACLE_COUNTS"
#: An ordinary token, a line feed.
ORDINARY = 198

Json = Any


def cases(side: Oracle | Session, count: int) -> Iterator[tuple[str, Stream]]:
    """Random malformed outputs, and those that people reported."""

    def encode(text: str) -> list[int]:
        tokens: list[int] = side.ask("encode", text, "all", [])
        return tokens

    for seed, random in randoms(count):
        yield seed, malformed(random, encode)
    for path in sorted((ROOT / "conformance").glob("*.json")):
        for case in json.loads(path.read_text("utf-8")).get("cases", []):
            for role in ("assistant", None):
                if "text" in case:
                    yield f"{case['name']}, role {role}", Stream(encode(case["text"]), role)


def test_nothing_raises_earlier_than_in_0_0_8(oracle: Oracle, ours: Session) -> None:
    raised = 0
    for seed, stream in cases(oracle, 700):
        actual: list[int] = ours.ask("loop", "skipping", stream.tokens, stream.role, True)["errors"]
        raised += bool(actual)
        whole = oracle.ask("loop", "skipping", stream.tokens, stream.role, True)["errors"]
        starts, inside = start_tokens(stream, ours)
        assert not any(at in inside for at in actual), f"{seed}: {stream} at {actual}"
        # What 0.0.8 is fed to compare with: the stream, or what begins inside a header.
        for begin, end in zip([0, *inside], [*inside, len(stream.tokens) + 1]):
            role = stream.role if begin == 0 else None
            wanted = oracle.ask("loop", "skipping", stream.tokens[begin:], role, True)["errors"]
            reads_on = parted([begin + at for at in wanted], actual)
            if role is not None and reads_on is not None:
                end = min(end, reads_on)
            for at in (at for at in actual if begin <= at < end):
                message = max((start for start in starts if start <= at), default=0)
                others = [*whole, *(begin + other for other in wanted)]
                assert any(message <= other <= at for other in others), (
                    f"{seed}: {stream} at {at}, 0.0.8 behind token {begin} at {wanted}"
                )
            if role is not None and reads_on is not None:
                break
    assert raised > share(200)


def test_strict_raises_where_0_0_8_raises(oracle: Oracle, ours: Session) -> None:
    """Nothing raises that 0.0.8 reads; what only 0.0.8 refuses is a difference that says so.

    `OPENAI_HARMONY_ORACLE_COUNTS` names a file for the counts of docs/compatibility.md.
    """
    named = list(damaged(ours, 2000))
    bare = [(stream.tokens, stream.role) for _, stream in named]
    raised, only_there = 0, Counter[str]()
    for (seed, stream), wanted, actual in zip(
        named, oracle.ask("raised_at", bare), ours.ask("raised_at", bare), strict=True
    ):
        assert_no_earlier(wanted, actual, f"{seed}: {stream}\n{wanted} {actual}")
        raised += bool(wanted)
        if wanted and not actual:
            reasons = expect(oracle, stream).differences & ONLY_THERE
            assert reasons, f"{seed}: {stream}, 0.0.8 raised at {wanted}"
            only_there.update([*reasons, "any"])
    assert raised > len(named) / 3
    if COUNTS in os.environ:
        found = f"{len(named)} outputs, {raised} refused by 0.0.8: {only_there}\n"
        Path(os.environ[COUNTS]).write_text(found, "utf-8")


def damaged(side: Session, count: int) -> Iterator[tuple[str, Stream]]:
    """Random outputs: malformed ones, any tokens, spelled markers; and those that people reported."""

    def encode(text: str) -> list[int]:
        tokens: list[int] = side.ask("encode", text, "all", [])
        return tokens

    yield from cases(side, count)
    for seed, random in randoms(count // 4):
        yield seed, streams.stream(random, encode)
        yield seed, spelled(random, encode)


def test_spelled_markers_raise_nothing_that_0_0_8_did_not(oracle: Oracle, ours: Session) -> None:
    """They are text here and markers to 0.0.8, which must not cost a message."""
    read = 0
    for seed, random in randoms(1500):
        stream = spelled(random, lambda text: oracle.ask("encode", text, "all", []))
        wanted = oracle.ask("loop", "skipping", stream.tokens, stream.role, True)["errors"]
        actual = ours.ask("loop", "skipping", stream.tokens, stream.role, True)["errors"]
        read += not wanted
        assert_no_earlier(wanted, actual, f"{seed}: {stream}\n{wanted}\n{actual}")
    assert read > share(500)


def test_white_space_behind_an_empty_content_type_raises_nothing(
    oracle: Oracle, ours: Session
) -> None:
    """To 0.0.8 a vertical tab and what it takes out of the channel are a word: new seeds found it."""
    for header in ("\x0b<|channel|>fa<x", " \x0b<|channel|>fa<x", " \xa0<|channel|>a<b y"):
        text = f"<|start|><|constrain|>{header}<|message|>x<|end|>"
        tokens = oracle.ask("encode", text, "all", [])
        wanted = oracle.ask("loop", "skipping", tokens, None, True)["errors"]
        actual = ours.ask("loop", "skipping", tokens, None, True)["errors"]
        assert_no_earlier(wanted, actual, f"{header!r}: {wanted} {actual}")


def start_tokens(stream: Stream, ours: Session) -> tuple[list[int], list[int]]:
    """Where messages begin with <|start|>, and where it stands inside a header; in content it is text."""
    before = [ours.ask("start_parser", stream.role, True), *ours.ask("feed_each", stream.tokens)]
    states = [
        (place, snapshot["state"])
        for place, (token, snapshot) in enumerate(zip(stream.tokens, before))
        if token == START
    ]
    inside = [place for place, state in states if state == "Header" and place > 0]
    return [place for place, state in states if state != "Content" and place not in inside], inside


@pytest.mark.parametrize("name", LOOPS)
def test_loops_of_servers_get_no_less_than_from_0_0_8(
    name: str, oracle: Oracle, ours: Session
) -> None:
    texts = 0
    for seed, stream in cases(oracle, 400):
        _, inside = start_tokens(stream, ours)
        if inside:
            wanted, actual = (
                side.ask("loop", name, stream.tokens, stream.role, True) for side in (oracle, ours)
            )
            assert_no_earlier(wanted["errors"], actual["errors"], f"{seed}: {stream}")
            # The rest is a part of the header to 0.0.8.
            stream = Stream(stream.tokens[: inside[0]], stream.role)
        actual = ours.ask("loop", name, stream.tokens, stream.role, True)
        wanted = oracle.ask("loop", name, stream.tokens, stream.role, True)
        texts += len(wanted["chunks"])
        told = f"{seed}: {stream}\n{oracle.ask('decode', stream.tokens)!r}\n{wanted}\n{actual}"
        before, wanted_before, actual_before = stream, wanted, actual
        reads_on = parted(wanted["errors"], actual["errors"])
        if reads_on is not None:
            if stream.role is None and not any(at > reads_on for at in actual["errors"]):
                everything = unbroken("".join(text for _, _, text in actual["chunks"]))
                assert all(unbroken(text) in everything for _, _, text in wanted["chunks"]), told
            before = Stream(stream.tokens[:reads_on], stream.role)
            wanted_before = oracle.ask("loop", name, before.tokens, before.role, True)
            actual_before = ours.ask("loop", name, before.tokens, before.role, True)
        assert_no_less(
            wanted_before["chunks"], actual_before["chunks"], told, **peculiarities(before, oracle)
        )
        assert_no_earlier(wanted["errors"], actual["errors"], told)
        if wanted["raw"] is not None and actual["raw"] is None:
            # The end is well-formed here: a prompt's, or of a message that 0.0.8 could not read.
            is_prompt_end = oracle.ask("decode", stream.tokens[-2:]) in [
                f"<|start|>{role}" for role in streams.ROLE_WORDS
            ]
            reads_more = len(actual["chunks"]) > len(wanted["chunks"])
            assert is_prompt_end or reads_more, told
    assert texts > share(300)


def parted(wanted: list[int], actual: list[int]) -> int | None:
    """The first token at which 0.0.8 raised and we did not, since we read its header.

    0.0.8 resumes at the next <|start|>, even if that is content here. A role that it was given waits, and
    serves any later header that names no author.
    """
    return next((at for at in wanted if at not in actual), None)


def peculiarities(stream: Stream, oracle: Oracle) -> dict[str, bool]:
    """What explains other fields: `start-with-given-role` and `marker-spelled-in-header`."""
    ordinary = [token if token < 199_998 else ORDINARY for token in stream.tokens]
    return {
        "names_its_author": stream.role is not None and stream.tokens[:1] == [START],
        "spells": spells_marker(oracle.ask("decode", ordinary)),
    }


def assert_no_less(
    wanted: list[Json], actual: list[Json], told: str, *, names_its_author: bool, spells: bool
) -> None:
    """All texts of 0.0.8 are there in their order, with their channels and recipients."""
    rest = iter(actual)
    for channel, recipient, text in wanted:
        found = next(
            (other for other in rest if unbroken(other[2]).startswith(unbroken(text))), None
        )
        assert found is not None, f"{text!r} is lost\n{told}"
        if spells:
            continue
        if text:
            assert found[0] == channel or found[0] in CHANNELS or "<" in (found[0] or ""), told
        name, here = name_of(recipient), name_of(found[1])
        # With the marker as recipient, 0.0.8 took the next word for the content type.
        is_marker = name == "" and names_its_author
        # It took a content type for a recipient beside a channel, and the role of a later header.
        is_none = name in NO_RECIPIENTS and (name not in CONTENT_TYPES or channel is not None)
        assert is_none or is_marker or here == name, told


def name_of(recipient: str | None) -> str:
    """A recipient up to its first marker."""
    return (recipient or "").partition("<")[0].strip()


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
        _, inside = start_tokens(stream, ours)
        wanted = oracle.ask("parse", stream.tokens, stream.role, True)
        told = f"{seed}: {stream}\n{wanted}\n{actual}"
        if isinstance(wanted, list):
            read += 1
            assert isinstance(actual, list), told
            # A part of what is between is a part of the header to 0.0.8.
            assert inside or [texts(message) for message in actual] == [
                texts(message) for message in wanted
            ], told
    assert read > share(200)


def texts(message: Json) -> list[str]:
    return [part["text"] for part in message["content"]]
