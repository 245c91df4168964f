"""The golden cases of tests/golden; tests/library/golden.rs checks their files, too."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from openai_harmony import (
    Conversation,
    HarmonyEncoding,
    HeaderStyle,
    RenderConversationConfig,
    RenderOptions,
    Role,
)

ROOT = Path(__file__).parents[1] / "golden"
CASES = sorted(path for path in ROOT.iterdir() if path.is_dir() and path.name != "typescript")


def read(case: Path, name: str) -> str:
    return (case / name).read_bytes().decode("utf-8")


def options_of(case: Path) -> dict[str, Any]:
    options: dict[str, Any] = json.loads(read(case, "options.json"))
    return options


def cases_that_ask(option: str) -> pytest.MarkDecorator:
    cases = [case for case in CASES if option in options_of(case)]
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


@cases_that_ask("render")
def test_renders(case: Path, encoding: HarmonyEncoding) -> None:
    conversation = Conversation.from_json(read(case, "conversation.json"))
    tokens = render(encoding, conversation, **options_of(case)["render"])
    assert encoding.decode(tokens) == read(case, "expected.txt")
    assert tokens == json.loads(read(case, "tokens.json"))


def render(
    encoding: HarmonyEncoding, conversation: Conversation, *, renderer: str, **options: Any
) -> list[int]:
    if renderer == "message":
        (message,) = conversation.messages
        return encoding.render(message, RenderOptions(**options))
    next_role = options.pop("next_role") if renderer == "completion" else None
    assert options.keys() - {"header_style"} == {"auto_drop_analysis"}
    if "header_style" in options:
        options["header_style"] = HeaderStyle(options["header_style"])
    config = RenderConversationConfig(**options)
    if next_role is not None:
        return encoding.render_conversation_for_completion(conversation, Role(next_role), config)
    if renderer == "training":
        return encoding.render_conversation_for_training(conversation, config)
    assert renderer == "conversation"
    return encoding.render_conversation(conversation, config)


@cases_that_ask("parse")
def test_parses(case: Path, encoding: HarmonyEncoding) -> None:
    options = options_of(case)["parse"]
    assert options.keys() == {"role"}
    role = options["role"] and Role(options["role"])
    tokens = json.loads(read(case, "tokens.json"))
    parsed = encoding.parse_messages_from_completion_tokens(tokens, role)
    expected = Conversation.from_json(read(case, "conversation.json"))
    assert [m.to_dict() for m in parsed] == [m.to_dict() for m in expected.messages]


@cases_that_ask("guide")
def test_is_what_the_guide_shows(case: Path) -> None:
    listing, expected = read(case, "guide.txt").rstrip("\n"), read(case, "expected.txt")
    for difference in options_of(case)["guide"]["differs"]:
        listing, expected = DIFFERS[difference](listing), DIFFERS[difference](expected)
    assert listing == expected


def without_breaks(text: str) -> str:
    return re.sub(r"(<\|(?:end|call)\|>)\s+(?=<\|start\|>)", r"\1", text)


def recipient_behind_role(text: str) -> str:
    return re.sub(r"(<\|channel\|>\w+)( to=\S+)(?= <\|constrain)", r"\2\1", text)


def without_white_space(text: str) -> str:
    return re.sub(r"\s+", "", text)


#: In what a listing may differ from the tokens: each makes both sides equal in that.
DIFFERS = {
    "line breaks between messages": without_breaks,
    "recipient behind the channel": recipient_behind_role,
    "white space": without_white_space,
}
