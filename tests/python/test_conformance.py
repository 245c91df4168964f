"""The corpus in conformance/, as its README says to test a parser; tests/library/conformance.rs reads it, too."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest

from openai_harmony import (
    ContentDelta,
    Event,
    Message,
    MessageEnd,
    MessageStart,
    Repair,
    StreamableParser,
    load_harmony_encoding,
)
from openai_harmony.kinds import RepairKind

FOLDER = Path(__file__).parents[2] / "conformance"
FILES = {
    name: json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    for name in ("headers", "outputs", "malformed")
}
CASES = [pytest.param(case, id=case["name"]) for file in FILES.values() for case in file["cases"]]
NAMES = {MessageStart: "start", ContentDelta: "content", MessageEnd: "end", Repair: "repair"}


def shown(repair: Repair, expected: dict[str, Any]) -> dict[str, Any]:
    return {
        name: list(repair.span) if name == "span" else getattr(repair, name) for name in expected
    }


def counted(events: list[Event]) -> list[list[Any]]:
    """The spans that cover the tokens: a repair with an index lies inside its message's."""
    return [
        [NAMES[type(event)], *event.span]
        for event in events
        if not (isinstance(event, Repair) and event.index is not None)
    ]


@pytest.mark.parametrize("size", [1, 3, 10_000])
@pytest.mark.parametrize("case", CASES)
def test_each_case_gives_its_messages_repairs_and_spans_in_any_chunks(
    case: dict[str, Any], size: int
) -> None:
    encoding = load_harmony_encoding("HarmonyGptOss")
    tokens = case.get("tokens") or encoding.encode(case["text"], allowed_special="all")
    parser = StreamableParser(encoding, case["role"], strict=False)
    events: list[Event] = []
    for start in range(0, len(tokens), size):
        events += parser.feed(tokens[start : start + size])
    events += parser.finish()
    assert parser.messages == [Message.from_dict(message) for message in case["messages"]]
    assert len(parser.repairs) == len(case["repairs"])
    repairs = [shown(*pair) for pair in zip(parser.repairs, case["repairs"])]
    assert repairs == case["repairs"]
    assert [event for event in events if isinstance(event, Repair)] == parser.repairs
    if size >= len(tokens) and "spans" in case:
        assert counted(events) == case["spans"]
    assert encoding.parse_messages_from_completion_tokens(tokens, case["role"], strict=False) == (
        parser.messages
    )

    if size == 1:
        whole = encoding.parse_with_repairs(tokens, case["role"])
        assert whole == (parser.messages, parser.repairs, parser.stop_tokens)
        ends = [event.stop_token for event in events if isinstance(event, MessageEnd)]
        assert parser.stop_tokens == ends


@pytest.mark.parametrize("name", FILES)
def test_each_file_follows_the_schema(name: str) -> None:
    schema = json.loads((FOLDER / "schema.json").read_text("utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    validator.validate(FILES[name])
    # The schema can refuse: a case says what it is, and nothing else.
    for wrong in ({"messages": None}, {"chanel": "final"}, {"tokens": [1], "text": "a"}):
        case = {**FILES[name]["cases"][0], **wrong}
        assert not validator.is_valid({**FILES[name], "cases": [case]})


def test_names_are_unique_and_the_readme_counts_right() -> None:
    readme = (FOLDER / "README.md").read_text("utf-8")
    for name, file in FILES.items():
        names = [case["name"] for case in file["cases"]]
        assert len(set(names)) == len(names)
        assert re.search(rf"\({name}.json\).*\| {len(names)} \|\n", readme)


def test_kinds_are_those_of_this_library() -> None:
    repairs = [
        repair for file in FILES.values() for case in file["cases"] for repair in case["repairs"]
    ]
    assert {repair["kind"] for repair in repairs} <= set(get_args(RepairKind))


def test_the_ten_headers_stand_in_both_places_and_differ() -> None:
    cases = {case["name"]: case for case in FILES["headers"]["cases"]}
    first = [name for name in cases if name.endswith("_first")]
    assert len({cases[name]["text"] for name in first}) == 10
    for name in first:
        behind = cases[name.removesuffix("first") + "behind_thought"]
        assert behind["text"].endswith("<|start|>assistant" + cases[name]["text"])
        assert behind["messages"][1:] == cases[name]["messages"]


def test_the_scoreboard_is_of_this_corpus_and_this_parser() -> None:
    peers = runpy.run_path(str(FOLDER / "peers.py"))
    data = json.loads((FOLDER / "scoreboard.json").read_text("utf-8"))
    assert peers["page"](data) == (FOLDER.parent / "docs" / "scoreboard.md").read_text("utf-8")
    cases = list(peers["cases"]())
    read, name = peers["messages_of"](FOLDER), peers["OURS"]
    assert [(case["name"], case["kind"], case["wanted"]) for case in cases] == [
        (row["case"], row["kind"], row["wanted"]) for row in data["cases"]
    ]
    for case, row in zip(cases, data["cases"]):
        verdict = peers["verdict"](case["wanted"], read(case))
        assert verdict == (row["peers"][name] if verdict == "same" else row["peers"][name][0])
