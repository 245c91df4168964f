"""Each documented difference from 0.0.8 really occurs, and is the one that is meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from oracle.client import Oracle
from oracle.differences import ELSEWHERE, IN_PARSING, fixed_part
from oracle.expectation import expect
from oracle.operations import Session
from oracle.streams import Part, Stream, to_tokens
from tables import table

ROOT = Path(__file__).parents[2]
BROKEN = 50378  # F0 9F A4, the beginning of an emoji.
UNKNOWN = 300_000

#: Difference, the role given, and the stream: text whose markers are tokens, and token ids.
STREAMS: list[tuple[str, str | None, list[Part]]] = table("oracle_differences", "streams")


#: Two differences at once: what follows the first channel was a part of a word.
DOUBLED: list[tuple[str, list[Part]]] = [
    ("final", ["<|channel|>commentary<|channel|>final<|message|>x<|end|>"]),
    ("commentary", ["<|channel|>commentary<|channel|>foo<|message|>x<|end|>"]),
    ("foo", ["<|channel|>foo<|channel|>bar<|message|>x<|end|>"]),
    ("final", ["<|channel|><|channel|>final<|message|>x<|end|>"]),
    ("commentary", [" to=f<|channel|>commentary<|channel|>commentary json<|message|>x<|end|>"]),
]


@pytest.mark.parametrize(("channel", "parts"), DOUBLED)
def test_doubled_channel(channel: str, parts: list[Part], oracle: Oracle, ours: Session) -> None:
    tokens = to_tokens(parts, lambda text: oracle.ask("encode", text, "all", []))
    stream = Stream(tokens, "assistant")
    expected = expect(oracle, stream)
    assert "doubled-channel" in expected.differences
    actual = watched(ours, stream)
    assert actual == (expected.snapshots, expected.messages)
    assert actual[1][0]["channel"] == channel
    assert actual != watched(oracle, stream)


@pytest.mark.parametrize(("difference", "role", "parts"), STREAMS)
def test_in_parsing(
    difference: str, role: str | None, parts: list[Part], oracle: Oracle, ours: Session
) -> None:
    stream = Stream(to_tokens(parts, lambda text: oracle.ask("encode", text, "all", [])), role)
    expected = expect(oracle, stream)
    published, actual = watched(oracle, stream), watched(ours, stream)
    assert expected.differences - {"content-tokens-as-fed"} <= {difference}
    assert actual == (expected.snapshots, expected.messages)
    assert actual != published


def test_marker_spelled_in_header(oracle: Oracle, ours: Session) -> None:
    """The marker's letters, not its token."""
    spelled = oracle.ask("encode", " a<|channel|>b", [], [])
    stream = Stream(
        [*spelled, *oracle.ask("encode", "<|message|>x<|end|>", "all", [])], "assistant"
    )
    expected = expect(oracle, stream)
    assert expected.differences == {"marker-spelled-in-header"}
    assert watched(ours, stream) == (expected.snapshots, expected.messages)
    assert watched(oracle, stream) != (expected.snapshots, expected.messages)
    assert expected.messages[0]["recipient"] == "a<|channel|>b"


#: What comes before the fields of a header, and the role given.
AUTHORS = table("oracle_differences", "authors")


@pytest.mark.parametrize("word", ["json", "code", "text"])
@pytest.mark.parametrize(("role", "author"), AUTHORS)
def test_a_content_type_without_a_channel_is_read_as_in_0_0_8(
    role: str | None, author: str, word: str, oracle: Oracle, ours: Session
) -> None:
    """Alone it is the recipient, behind another word the content type."""
    for fields in ("", " to=f", " a", " a b", f" {word}", f" to={word}"):
        for header in (f"{author}{fields} {word}", f"{author} {word}{fields}"):
            text = f"{header}<|message|>x<|end|>"
            stream = Stream(oracle.ask("encode", text, "all", []), role)
            assert watched(ours, stream) == watched(oracle, stream), text
            whole = ["parse", stream.tokens, role, True]
            assert ours.ask(*whole) == oracle.ask(*whole), text


def test_each_is_shown_and_documented() -> None:
    shown = {difference for difference, _, _ in STREAMS}
    shown |= {"marker-spelled-in-header", "doubled-channel"}
    assert shown == set(IN_PARSING)
    tests = {name[len("test_elsewhere_") :] for name in globals() if "elsewhere" in name}
    assert tests == {name.replace("-", "_") for name in ELSEWHERE}
    page = (ROOT / "docs" / "compatibility.md").read_text("utf-8")
    assert [name for name in (*IN_PARSING, *ELSEWHERE) if f"| `{name}` " not in page] == []


def watched(side: Any, stream: Stream) -> tuple[list[Any], list[Any]]:
    """All that is seen of a stream, errors by the part of their text that is kept."""
    snapshots = [
        side.ask("start_parser", stream.role, True),
        *side.ask("feed_each", stream.tokens),
        side.ask("end_of_stream"),
    ]
    for snapshot in snapshots:
        if snapshot["error"] is not None:
            snapshot["error"]["error"] = fixed_part(snapshot["error"]["error"])
    return snapshots, side.ask("messages")


def said(message: dict[str, Any]) -> tuple[str | None, str | None, str | None, str]:
    """Channel, recipient, content type and text."""
    (part,) = message["content"]
    return (
        message.get("channel"),
        message.get("recipient"),
        message.get("content_type"),
        part["text"],
    )


def leniently(side: Any, oracle: Oracle, text: str) -> list[Any]:
    tokens = oracle.ask("encode", text, "all", [])
    return [said(message) for message in side.ask("parse", tokens, "assistant", False)]


def test_elsewhere_lenient_channel(oracle: Oracle, ours: Session) -> None:
    text = "The capital is Paris.<|return|>"
    assert leniently(oracle, oracle, text) == [(None, None, None, "The capital is Paris.")]
    assert leniently(ours, oracle, text) == [("final", None, None, "The capital is Paris.")]


def test_elsewhere_lenient_everywhere(oracle: Oracle, ours: Session) -> None:
    text = (
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final Hi.<|return|>"
    )
    thought = ("analysis", None, None, "Hm.")
    assert leniently(oracle, oracle, text) == [thought]
    assert leniently(ours, oracle, text) == [thought, ("final", None, None, "Hi.")]


def test_elsewhere_lenient_fields(oracle: Oracle, ours: Session) -> None:
    text = "<|channel|>commentary to=functions.f <|constrain|>json{}<|call|>"
    as_content = ("commentary", None, None, "to=functions.f <|constrain|>json{}")
    assert leniently(oracle, oracle, text) == [as_content]
    call = ("commentary", "functions.f", "<|constrain|>json", "{}")
    assert leniently(ours, oracle, text) == [call]


def test_elsewhere_lenient_white_space(oracle: Oracle, ours: Session) -> None:
    text = "<|channel|>final one\n\n  two<|return|>"
    assert leniently(oracle, oracle, text) == [("final", None, None, "one two")]
    assert leniently(ours, oracle, text) == [("final", None, None, "one\n\n  two")]


def developer(**tool: Any) -> dict[str, Any]:
    """A developer message with one function."""
    namespaces = {"functions": {"name": "functions", "tools": [{"name": "f", **tool}]}}
    return {"role": "developer", "content": [{"type": "developer_content", "tools": namespaces}]}


def test_elsewhere_description_none(oracle: Oracle, ours: Session) -> None:
    assert oracle.ask("render", developer(description=None), None)["family"] == "ValueError"
    uncommented = oracle.ask("render", developer(description=""), None)
    assert ours.ask("render", developer(description=None), None) == uncommented


def test_elsewhere_schema_depth(oracle: Oracle, ours: Session) -> None:
    def nested(depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string"}
        for _ in range(depth):
            schema = {"type": "object", "properties": {"a": schema}}
        return developer(description="", parameters=schema)

    assert ours.ask("render", nested(50), None) == oracle.ask("render", nested(50), None)
    assert "recursion limit" in oracle.ask("render", nested(63), None)["error"]
    assert isinstance(ours.ask("render", nested(63), None), list)
    assert ours.ask("render", nested(64), None)["family"] == "ValueError"


def test_elsewhere_render_errors(oracle: Oracle, ours: Session) -> None:
    nameless = {"role": "tool", "content": "1"}
    assert oracle.ask("class_of_error", "render", nameless, None) == "RuntimeError"
    assert ours.ask("class_of_error", "render", nameless, None) == "HarmonyError"
    assert ours.ask("render", nameless, None) == oracle.ask("render", nameless, None)


def test_elsewhere_equal_letters(oracle: Oracle, ours: Session) -> None:
    assert oracle.ask("encode_equal_letters", 1_300_000)["family"] == "PanicException"
    assert ours.ask("encode_equal_letters", 1_300_000) == 162_500


def test_elsewhere_error_wording(oracle: Oracle, ours: Session) -> None:
    for arguments in (["decode_utf8", [BROKEN]], ["encode", "<|end|>", [], "all"]):
        published, actual = oracle.ask(*arguments), ours.ask(*arguments)
        assert published["error"] != actual["error"]
        assert fixed_part(published["error"]) == fixed_part(actual["error"]) != actual["error"]


def test_elsewhere_exports(oracle: Oracle, ours: Session) -> None:
    assert set(oracle.ask("exports")) < set(ours.ask("exports"))
    assert "RenderConversationConfig" in set(ours.ask("exports")) - set(oracle.ask("exports"))


def test_elsewhere_lone_surrogates(oracle: Oracle, ours: Session) -> None:
    def user(text: str) -> dict[str, Any]:
        return {"role": "user", "content": text}

    assert oracle.ask("render", user("a\ud800b"), None)["family"] == "ValueError"
    assert ours.ask("render", user("a\ud800b"), None) == oracle.ask(
        "render", user("a\ufffdb"), None
    )


def test_elsewhere_model_dump_json(oracle: Oracle, ours: Session) -> None:
    message = {"role": "user", "content": "hello"}
    assert '"content":[{}]' in oracle.ask("model_dump_json", message)
    assert '"text":"hello"' in ours.ask("model_dump_json", message)


def test_elsewhere_pickle(oracle: Oracle, ours: Session) -> None:
    assert oracle.ask("pickled")["family"] == "TypeError"
    assert ours.ask("pickled") == "HarmonyGptOss"


def test_elsewhere_stop_token_order(oracle: Oracle, ours: Session) -> None:
    assert oracle.ask("orders_of_stop_tokens") > 1
    assert ours.ask("orders_of_stop_tokens") == 1


@pytest.mark.parametrize("token", [-1, 2**32, 2**70])
def test_elsewhere_token_out_of_range(oracle: Oracle, ours: Session, token: int) -> None:
    for arguments in (
        ["decode", [token]],
        ["parse", [token], None, True],
        ["is_special_token", token],
    ):
        assert oracle.ask(*arguments)["family"] == "OverflowError"
        answer = ours.ask(*arguments)
        assert answer["family"] == "ValueError"
        assert str(token) in answer["error"]
