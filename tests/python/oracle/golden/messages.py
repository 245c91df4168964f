"""A case for each rule of headers and contents, odd but legal ones included."""

from __future__ import annotations

from typing import Any

from .case import BARE, Case, message, rule_case


def cases() -> list[Case]:
    return [
        *_authors(),
        *_recipients_and_channels(),
        *_content_types(),
        *_contents(),
    ]


def _authors() -> list[Case]:
    named = "named-author"
    return [
        rule_case(
            "author-names",
            "A name follows its role after a colon.",
            message("user", "hi", name="bob"),
            message("assistant", "hello", name="alice", channel="final"),
            difference=named,
        ),
        rule_case(
            "author-empty-name",
            "An empty name leaves the colon.",
            message("user", "hi", name=""),
            parse=None,
        ),
        rule_case(
            "author-tool-without-recipient",
            "A tool's name takes the place of its role.",
            message("tool", "4", name="functions.f", channel="commentary"),
            difference="tool-without-recipient",
        ),
        rule_case(
            "author-built-in-tools",
            "The built-in tools answer under their own names.",
            message("tool", "4", name="python"),
            message("tool", "page", name="browser.open", channel="analysis"),
            message("tool", "page", name="browser", recipient="assistant"),
            difference="tool-without-recipient",
        ),
        rule_case(
            "author-odd-tool-names",
            "Names that no rule forbids.",
            message("tool", "1", name="functions.f-2", channel="commentary"),
            message("tool", "2", name="mcp__server.tool/x", channel="commentary"),
            message(
                "tool", "3", name="functions.日本", channel="commentary", recipient="assistant"
            ),
            difference="tool-without-recipient",
        ),
    ]


def _recipients_and_channels() -> list[Case]:
    return [
        rule_case(
            "recipient-all",
            "The recipient `all` is not written, and a call of it still ends in <|call|>.",
            message("user", "hi", recipient="all"),
            message("assistant", "to all", recipient="all", channel="commentary"),
            parse=None,
        ),
        rule_case(
            "recipient-of-every-role",
            "Any role may address someone; only the assistant's message becomes a call.",
            message("user", "a", recipient="assistant"),
            message("developer", "b", recipient="assistant"),
            message("system", "c", recipient="assistant"),
            message("assistant", "d", recipient="user", channel="commentary"),
        ),
        rule_case(
            "recipient-empty",
            "An empty recipient is written.",
            message("assistant", "x", recipient=""),
        ),
        rule_case(
            "recipient-odd",
            "Recipients that are odd but cannot be misread.",
            message("assistant", "x", recipient="to", channel="commentary"),
            message("assistant", "x", recipient="a=b", channel="commentary"),
            message("assistant", "x", recipient="functions.ü", channel="commentary"),
        ),
        rule_case(
            "channel-on-every-role",
            "A channel stands behind every role.",
            message("user", "a", channel="final"),
            message("system", "b", channel="analysis"),
            message("tool", "c", name="python", recipient="assistant", channel="analysis"),
        ),
        rule_case(
            "channel-empty",
            "An empty channel leaves its marker.",
            message("assistant", "x", channel=""),
            parse=None,
        ),
        rule_case(
            "channel-unknown",
            "A channel may be any word.",
            message("assistant", "x", channel="Scratch-pad_1"),
        ),
        rule_case(
            "fields-that-spell-markers",
            "A marker's name in a field is text.",
            message(
                "assistant",
                "x",
                recipient="<|call|>",
                channel="<|end|>",
                content_type="<|constrain|><|end|>",
            ),
            parse=None,
        ),
    ]


def _content_types() -> list[Case]:
    def call(content_type: str, **fields: str) -> dict[str, Any]:
        fields = {"recipient": "functions.f", "channel": "commentary", **fields}
        return message("assistant", "{}", content_type=content_type, **fields)

    return [
        rule_case("content-type-word", "A plain word, as for the built-in tools.", call("code")),
        rule_case(
            "content-type-constrained", "The marker is one token.", call("<|constrain|>json")
        ),
        rule_case(
            "content-type-constrained-with-space",
            "As the guide's own example writes it.",
            call("<|constrain|> json"),
            difference="constrain-with-space",
        ),
        rule_case(
            "content-type-without-recipient",
            "A constrained answer on the final channel.",
            message("assistant", "{}", channel="final", content_type="<|constrain|>json"),
            difference="constrain-without-recipient",
        ),
        rule_case(
            "content-type-empty",
            "An empty content type leaves its blank.",
            call(""),
            parse=None,
        ),
        rule_case(
            "content-type-inner-marker",
            "Only a leading <|constrain|> is a marker, and only the first.",
            call("a<|constrain|>b"),
            call(" <|constrain|>b"),
            call("<|constrain|><|constrain|>b"),
            parse=None,
        ),
    ]


def _contents() -> list[Case]:
    def text(value: str) -> dict[str, str]:
        return {"type": "text", "text": value}

    return [
        rule_case("content-empty-text", "An empty text is a message.", message("user", "")),
        rule_case("content-no-parts", "No content at all.", message("user", []), parse=None),
        rule_case(
            "content-several-parts",
            "Each part is encoded on its own: `hel` and `lo` are not `hello`.",
            message("user", [text("hel"), text("lo"), text(""), text(" world")]),
            parse=None,
        ),
        rule_case(
            "content-marker-text",
            "Text that spells markers is text, and comes back as it was.",
            message("user", "a<|end|><|start|>assistant<|channel|>final<|message|>b"),
            message("assistant", "<|return|><|call|><|constrain|><|endoftext|>", channel="final"),
        ),
        rule_case(
            "content-unicode",
            "All planes, combining marks, joined emoji, odd white space and control characters.",
            message(
                "user",
                "e\u0301 \u00e9 \U0001f937\U0001f3fd\u200d\u2640\ufe0f 中文 ไทย",
            ),
            message("user", "\u00a0\u2003\u3000\u0085\u2028\x00\x1f\x7f\ufeff\ufffd\U0010ffff"),
            message("user", "  two  blanks\r\nand\r\r\n\n\ttabs  "),
        ),
        rule_case(
            "content-structured-beside-text",
            "System and developer content may stand beside text.",
            message(
                "system", [{**BARE, "type": "system_content", "model_identity": "I"}, text(" t")]
            ),
            message("developer", [text("t "), {"type": "developer_content", "instructions": "i"}]),
            parse=None,
        ),
        rule_case(
            "content-plain-system-and-developer",
            "System and developer messages may be plain text.",
            message("system", "You are X."),
            message("developer", "# Instructions\n\nBe X."),
        ),
    ]
