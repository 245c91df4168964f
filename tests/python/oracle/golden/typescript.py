"""The texts of tools in tests/golden/typescript/compat: the section "# Tools" that 0.0.8 writes."""

from __future__ import annotations

import json
from pathlib import Path

from openai_harmony import HarmonyEncodingName, Message, load_harmony_encoding

from ..tool_schemas import TOPICS, Namespaces, developer_message

BEFORE, AFTER = "<|start|>developer<|message|>", "<|end|>"


def write(folder: Path) -> None:
    """Writes a file for each topic, its cases each with the text."""
    for topic, cases in TOPICS.items():
        answers = [{"namespaces": case, "text": section(case)} for case in cases()]
        frozen = {"generator": "tests/python/oracle/golden/typescript.py", "cases": answers}
        text = json.dumps(frozen, indent=1, ensure_ascii=False) + "\n"
        (folder / f"{topic}.json").write_text(text, encoding="utf-8")


def section(namespaces: Namespaces) -> str:
    encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
    message = Message.from_dict(developer_message(namespaces))
    text = encoding.decode(encoding.render(message))
    assert text.startswith(BEFORE), text
    assert text.endswith(AFTER), text
    return text[len(BEFORE) : -len(AFTER)]
