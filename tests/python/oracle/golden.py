"""Writes what 0.0.8 makes of the cases of tests/golden into their folders.

Run in tests/python, with an interpreter that has openai-harmony 0.0.8 (see oracle/__init__.py):

    TIKTOKEN_ENCODINGS_BASE=<folder with o200k_base.tiktoken> <interpreter> -m oracle.golden

Only `expected.txt`, `tokens.json` and the texts of `typescript/compat` are written. What 0.0.8 cannot render keeps its
`expected.txt`, which is then the guide's text. `git diff` shows what changed.
"""

from __future__ import annotations

import json
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

from .tool_schemas import developer_message

ROOT = Path(__file__).resolve().parents[2] / "golden"
ENCODING = load_harmony_encoding("HarmonyGptOss")
BEFORE, AFTER = "<|start|>developer<|message|>", "<|end|>"


def render(conversation: Conversation, options: dict[str, Any]) -> list[int]:
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


def write_case(folder: Path) -> None:
    options = json.loads((folder / "options.json").read_text("utf-8"))
    written = (folder / "conversation.json").read_text("utf-8")
    conversation, asked = Conversation.from_json(written), options.get("render")
    if asked is None or "header_style" in asked or "response_formats" in written:
        text = (folder / "expected.txt").read_bytes().decode("utf-8")
        tokens = ENCODING.encode(text, allowed_special="all")
    else:
        tokens = render(conversation, asked)
    if "parse" in options:
        role = options["parse"]["role"]
        try:
            parsed = ENCODING.parse_messages_from_completion_tokens(tokens, role and Role(role))
            agrees = [m.to_dict() for m in parsed] == [m.to_dict() for m in conversation.messages]
        except RuntimeError:
            agrees = False
        assert agrees == ("difference" not in options), f"{folder.name}: agrees is {agrees}"
    text = ENCODING.decode(tokens)
    (folder / "expected.txt").write_text(text, encoding="utf-8", newline="")
    (folder / "tokens.json").write_text(json.dumps(tokens) + "\n", encoding="utf-8")


def write_declarations(file: Path) -> None:
    """The section "# Tools" of each case."""
    frozen = json.loads(file.read_text("utf-8"))
    for case in frozen["cases"]:
        message = Message.from_dict(developer_message(case["namespaces"]))
        text = ENCODING.decode(ENCODING.render(message))
        case["text"] = text.removeprefix(BEFORE).removesuffix(AFTER)
    file.write_text(json.dumps(frozen, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for case in ROOT.glob("*/options.json"):
        write_case(case.parent)
    for file in (ROOT / "typescript" / "compat").glob("*.json"):
        write_declarations(file)
