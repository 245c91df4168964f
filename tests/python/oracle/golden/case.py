"""A golden case: what it is made of, and how the oracle fills and writes its folder."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openai_harmony import (
    Conversation,
    Message,
    RenderConversationConfig,
    RenderOptions,
    Role,
    load_harmony_encoding,
)

ENCODING = load_harmony_encoding("HarmonyGptOss")

#: The whole of a conversation is parsed, with no role given.
BACK = {"role": None}
#: System content without a line.
BARE = {
    "model_identity": None,
    "reasoning_effort": None,
    "conversation_start_date": None,
    "knowledge_cutoff": None,
    "channel_config": None,
}


@dataclass
class Case:
    """One folder below `tests/golden`.

    `render` and `parse` say what the case asks for (see tests/golden/README.md). A case that
    0.0.8 does not render takes its tokens from `text`, or from the listing of the guide.
    `difference` names the documented difference because of which 0.0.8 does not parse the tokens as
    the case expects; `asked` is the conversation to render with 0.0.8 in the place of one that it
    cannot express.
    """

    name: str
    about: str
    messages: list[dict[str, Any]]
    render: dict[str, Any] | None = None
    parse: dict[str, Any] | None = None
    guide: dict[str, Any] | None = None
    text: str | None = None
    tokens: list[int] | None = None
    difference: str | None = None
    asked: list[dict[str, Any]] | None = field(default=None, repr=False)

    def write(self, root: Path) -> None:
        """Fills the folder; `guide.txt` in it was put there by hand and is only read."""
        folder = root / self.name
        folder.mkdir(exist_ok=True)
        tokens = self._expected_tokens(folder)
        self._check_parse(tokens)
        options = {
            key: value
            for key in ("about", "render", "parse", "guide", "difference")
            if (value := getattr(self, key)) is not None
        }
        _write_json(folder / "options.json", options)
        _write_json(
            folder / "conversation.json", {"messages": [_canonical(m) for m in self.messages]}
        )
        (folder / "expected.txt").write_text(ENCODING.decode(tokens), encoding="utf-8", newline="")
        (folder / "tokens.json").write_text(json.dumps(tokens) + "\n", encoding="utf-8")

    def _expected_tokens(self, folder: Path) -> list[int]:
        if self.render is not None and "header_style" not in self.render:
            return render(_conversation(self.asked or self.messages), self.render)
        if self.tokens is not None:
            return self.tokens
        text = self.text if self.text is not None else (folder / "guide.txt").read_text("utf-8")
        return ENCODING.encode(text, allowed_special="all")

    def _check_parse(self, tokens: list[int]) -> None:
        if self.parse is None:
            return
        expected = [m.to_dict() for m in _conversation(self.messages).messages]
        role = self.parse["role"]
        try:
            parsed = ENCODING.parse_messages_from_completion_tokens(tokens, role and Role(role))
            agrees = [m.to_dict() for m in parsed] == expected
        except RuntimeError:
            agrees = False
        if agrees == (self.difference is not None):
            raise AssertionError(f"{self.name}: 0.0.8 {'agrees' if agrees else 'differs'}")


def render(conversation: Conversation, options: dict[str, Any]) -> list[int]:
    """The oracle's tokens."""
    renderer = options["renderer"]
    if renderer == "message":
        (message,) = conversation.messages
        has_tools = options["conversation_has_function_tools"]
        return ENCODING.render(message, RenderOptions(conversation_has_function_tools=has_tools))
    config = RenderConversationConfig(auto_drop_analysis=options["auto_drop_analysis"])
    if renderer == "completion":
        role = Role(options["next_role"])
        return ENCODING.render_conversation_for_completion(conversation, role, config)
    if renderer == "training":
        return ENCODING.render_conversation_for_training(conversation, config)
    return ENCODING.render_conversation(conversation, config)


def rule_case(name: str, about: str, *messages: dict[str, Any], **options: Any) -> Case:
    """A renderer rule's case; a conversation that parses back, if not told otherwise."""
    options = {"render": conversation(), "parse": BACK, **options}
    return Case(name, about, list(messages), **options)


def completion(auto_drop_analysis: bool = True) -> dict[str, Any]:
    """Options of `render_conversation_for_completion`."""
    return {
        "renderer": "completion",
        "next_role": "assistant",
        "auto_drop_analysis": auto_drop_analysis,
    }


def conversation(auto_drop_analysis: bool = True) -> dict[str, Any]:
    """Options of `render_conversation`."""
    return {"renderer": "conversation", "auto_drop_analysis": auto_drop_analysis}


def training(auto_drop_analysis: bool = True) -> dict[str, Any]:
    """Options of `render_conversation_for_training`."""
    return {"renderer": "training", "auto_drop_analysis": auto_drop_analysis}


def single(conversation_has_function_tools: bool = False) -> dict[str, Any]:
    """Options of `render`, for one message."""
    return {
        "renderer": "message",
        "conversation_has_function_tools": conversation_has_function_tools,
    }


def message(role: str, content: str | list[Any], **fields: str) -> dict[str, Any]:
    """A message in the JSON form; `fields` are name, channel, recipient and content_type."""
    return {"role": role, "content": content, **fields}


def call(function: str, arguments: str) -> dict[str, Any]:
    """A call of a function tool, its arguments as JSON."""
    return message(
        "assistant",
        arguments,
        channel="commentary",
        recipient=f"functions.{function}",
        content_type="<|constrain|>json",
    )


def system(**fields: Any) -> dict[str, Any]:
    """A system message as the guide shows it; a field of None leaves its line out."""
    content = {
        "model_identity": "You are ChatGPT, a large language model trained by OpenAI.",
        "reasoning_effort": "High",
        "conversation_start_date": "2025-06-28",
        "knowledge_cutoff": "2024-06",
        "channel_config": {
            "valid_channels": ["analysis", "commentary", "final"],
            "channel_required": True,
        },
        "type": "system_content",
    }
    return message("system", [{**content, **fields}])


def developer(**fields: Any) -> dict[str, Any]:
    """A developer message: instructions, tools, response_formats."""
    return message("developer", [{**fields, "type": "developer_content"}])


def functions(*tools: dict[str, Any]) -> dict[str, Any]:
    """The tools of a developer message that has only the namespace `functions`."""
    return {"functions": {"name": "functions", "tools": list(tools)}}


def _conversation(messages: list[dict[str, Any]]) -> Conversation:
    return Conversation.from_json(json.dumps({"messages": messages}))


def _canonical(message: dict[str, Any]) -> dict[str, Any]:
    """The message as `Message.to_dict` writes it, with what 0.0.8's form leaves out put back:
    the absent lines of system content (left out, Python would read their defaults), and response
    formats."""
    written = Message.from_dict(message).to_dict()
    if isinstance(message["content"], list):
        for part, asked in zip(written["content"], message["content"]):
            part.update({key: value for key, value in asked.items() if key not in part})
    return written


def _write_json(path: Path, value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    path.write_text(text, encoding="utf-8", newline="")
