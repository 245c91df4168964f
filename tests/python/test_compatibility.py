"""docs/compatibility.md lists the differences that the tests know, and no others.

Those that 0.0.8 can be asked about are tested beside it (test_oracle_differences.py). Here are the
rest: what this project does.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import Self

from openai_harmony import (
    Conversation,
    DeveloperContent,
    HarmonyEncoding,
    HarmonyError,
    Message,
    ReasoningEffort,
    RenderConversationConfig,
    Role,
    StreamableParser,
    SystemContent,
    ToolDescription,
    UnknownFieldWarning,
    WrongTypeError,
)
from oracle.differences import ELSEWHERE, IN_PARSING, ONLY_THERE

DOCUMENT = Path(__file__).parents[2] / "docs" / "compatibility.md"


def names(text: str) -> set[str]:
    found = re.findall(r"^\| `([a-z0-9-]+)`(?: †)? \|", text, flags=re.MULTILINE)
    assert len(set(found)) == len(found)
    return set(found)


def test_the_document_names_what_is_tested() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    tested = {name[len("test_here_") :] for name in globals() if name.startswith("test_here_")}
    here = {name.replace("_", "-") for name in tested}
    assert names(text) == set(IN_PARSING) | set(ELSEWHERE) | here
    assert names(text.partition("## Strict parsing")[2].partition("## ")[0]) == set(IN_PARSING)
    assert set(re.findall(r"`([a-z0-9-]+)` † \|", text)) == ONLY_THERE


def leniently(encoding: HarmonyEncoding, text: str) -> StreamableParser:
    parser = StreamableParser(encoding, Role.ASSISTANT, strict=False)
    parser.feed(encoding.encode(text, allowed_special="all"))
    parser.finish()
    return parser


def test_here_lenient_fields(encoding: HarmonyEncoding) -> None:
    text = ' to=functions.f<|channel|>commentary <|constrain|>json{"a":1}<|call|>'
    [message] = leniently(encoding, text).messages
    assert (message.recipient, message.channel) == ("functions.f", "commentary")
    assert message.content_type == "<|constrain|>json"
    assert message.content[0].text == '{"a":1}'


def test_here_lenient_channel(encoding: HarmonyEncoding) -> None:
    [message] = leniently(encoding, "The capital is Paris.<|return|>").messages
    assert (message.channel, message.content[0].text) == ("final", "The capital is Paris.")


def test_here_lenient_white_space(encoding: HarmonyEncoding) -> None:
    [message] = leniently(encoding, "<|channel|>analysis two  blanks,\n a line<|end|>").messages
    assert message.content[0].text == "two  blanks,\n a line"


def test_here_lenient_everywhere(encoding: HarmonyEncoding) -> None:
    whole = "<|channel|>analysis<|message|>t<|end|>"
    parser = leniently(encoding, f"{whole}<|start|>assistant<|channel|>final oops<|end|>")
    assert [message.content[0].text for message in parser.messages] == ["t", "oops"]
    assert [repair.kind for repair in parser.repairs] == ["missing_message"]


def with_tool(parameters: dict[str, Any]) -> Message:
    tool = ToolDescription.new("f", "Does.", parameters=parameters)
    content = DeveloperContent.new().with_function_tools([tool])
    return Message.from_role_and_content(Role.DEVELOPER, content)


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def test_here_schema_depth(encoding: HarmonyEncoding) -> None:
    assert encoding.render(with_tool(nested(63)))
    itself: dict[str, Any] = {"type": "object"}
    itself["properties"] = {"a": itself}
    for schema in (nested(64), nested(10_000), itself):
        with pytest.raises(ValueError, match=r"parameters.*\bnested\b"):
            encoding.render(with_tool(schema))


def test_here_render_errors(encoding: HarmonyEncoding) -> None:
    with pytest.raises(HarmonyError, match="Tools should have a name!") as raised:
        encoding.render(Message.from_role_and_content(Role.TOOL, "1"))
    assert raised.value.kind == "tool_without_name"
    misplaced = Message.from_role_and_content(Role.USER, SystemContent.new())
    with pytest.raises(HarmonyError, match="may only appear in system messages") as raised:
        encoding.render(misplaced)
    assert raised.value.kind == "misplaced_content"
    assert issubclass(HarmonyError, RuntimeError)


def test_here_embedded_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_ENCODINGS_BASE", os.devnull)
    assert HarmonyEncoding("HarmonyGptOss").encode("Hello, world") == [13225, 11, 2375]


def test_here_flat_or_nested() -> None:
    flat = {"role": "user", "content": "Hi"}
    author_nested = {"author": {"role": "user"}, "content": [{"type": "text", "text": "Hi"}]}
    message = Message.from_role_and_content(Role.USER, "Hi")
    assert Message.from_dict(flat) == Message.from_dict(author_nested) == message
    assert Message.model_validate({"author": {"role": "user"}, "content": "Hi"}) == message


def test_here_encoding_constructor(encoding: HarmonyEncoding) -> None:
    class Named(HarmonyEncoding):
        def __new__(cls, label: str) -> Self:
            return super().__new__(cls, encoding._inner)

        def __init__(self, label: str) -> None:
            self.label = label

    named = Named("mine")
    assert (named.name, named.label) == ("HarmonyGptOss", "mine")
    assert HarmonyEncoding("HarmonyGptOss").encode("x") == named.encode("x")


def test_here_plain_roles(encoding: HarmonyEncoding) -> None:
    conversation = Conversation.from_messages([Message.from_role_and_content("user", "Hi")])
    prompt = encoding.render_conversation_for_completion(conversation, "assistant")
    assert prompt == encoding.render_conversation_for_completion(conversation, Role.ASSISTANT)
    tokens = encoding.encode("<|message|>4<|end|>", allowed_special="all")
    [message] = encoding.parse_messages_from_completion_tokens(tokens, "assistant")
    assert message.author.role is Role.ASSISTANT
    assert StreamableParser(encoding, "user").current_role is Role.USER


def test_here_strict_options() -> None:
    with pytest.raises(ValueError, match="analyses"):
        RenderConversationConfig(analyses="keep")  # type: ignore[call-arg]


def test_here_wrong_types(encoding: HarmonyEncoding) -> None:
    message = Message.from_role_and_content(Role.USER, "Hi")
    message.channel = 5  # type: ignore[assignment]
    conversation = Conversation.from_messages([message])
    for kind in (TypeError, ValueError):
        with pytest.raises(kind, match=r"^messages\[0\]\.channel: .* got int$"):
            encoding.render_conversation(conversation)


def test_here_missing_fields() -> None:
    for kind in (KeyError, ValueError):
        with pytest.raises(kind, match="content"):
            Message.from_dict({"role": "user"})


@pytest.mark.parametrize("wrong", [None, [], "x", 5])
def test_here_wrong_json(wrong: Any) -> None:
    for model in (Message, Conversation, SystemContent, DeveloperContent):
        with pytest.raises(WrongTypeError, match="expected an object"):
            model.from_dict(wrong)


def test_here_omitted_lines() -> None:
    content = SystemContent.new().with_reasoning_effort(None)
    message = Message.from_role_and_content(Role.SYSTEM, content)
    assert Message.from_json(message.to_json()) == message


def test_here_eager_effort() -> None:
    with pytest.raises(ValueError, match="enormous"):
        SystemContent.new().with_reasoning_effort("enormous")


def test_here_effort_names() -> None:
    assert ReasoningEffort("high") is ReasoningEffort("High") is ReasoningEffort.HIGH


def test_here_unknown_fields() -> None:
    data = {"messages": [{"role": "user", "content": "x", "chanel": "final"}]}
    with pytest.warns(UnknownFieldWarning, match=r"'chanel' in messages\[\*\]"):
        Conversation.from_dict(data)
    with pytest.raises(ValueError, match=r"messages\[0\]\.chanel: unknown field"):
        Conversation.from_dict(data, strict=True)
