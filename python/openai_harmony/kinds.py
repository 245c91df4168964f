"""The kinds of errors and repairs, and the APIs, by name, as in the Rust enumerations."""

from __future__ import annotations

from typing import Literal, TypeAlias

Api: TypeAlias = Literal["chat_completions", "responses", "anthropic", "ollama"]
"""An API with a dialect in :mod:`openai_harmony.interop`."""

Form: TypeAlias = Literal[Api, "harmony", "tokens", "markers", "stripped", "plain", "answer"]
"""What a text can be: ``markers`` is text with the special tokens' names spelled, ``stripped`` text
whose special tokens were dropped, ``plain`` ordinary text, ``answer`` what an API answered, whole
or as the log of a stream."""

ErrorKind: TypeAlias = Literal[
    "unknown",
    "unknown_role",
    "tool_without_name",
    "misplaced_content",
    "unexpected_token",
    "unexpected_in_header",
    "empty_channel",
    "missing_role",
    "unexpected_eos",
    "finished",
    "invalid_token",
    "invalid_utf8",
    "disallowed_special",
    "unsafe_header_field",
    "invalid_schema",
    "invalid_response_format",
    "invalid_request",
    "unsupported_content",
    "unsupported_field",
    "invalid_row",
    "prompt_too_long",
    "too_many_tokens",
    "invalid_state",
    "invalid_logprobs",
    "invalid_rollout",
    "invalid_grammar",
    "nothing_to_train",
]
"""What ``HarmonyError.kind`` can be. ``unknown`` is an error that a caller created without a
kind."""

RepairKind: TypeAlias = Literal[
    "missing_message",
    "glued_channel",
    "stray_text",
    "stray_stop",
    "missing_start",
    "duplicate_start",
    "duplicate_channel",
    "duplicate_recipient",
    "header_order",
    "empty_channel",
    "missing_end",
    "end_of_text",
    "unknown_role",
    "missing_role",
    "unknown_token",
    "header_noise",
    "truncated_header",
    "missing_channel",
    "missing_header",
    "bare_word",
    "misplaced_recipient",
    "glued_recipient",
    "cut_character",
    "spelled_marker",
    "call_as_text",
    "foreign_author",
    "repaired_arguments",
]
"""What ``Repair.kind`` can be; docs/parsing.md has an example of each."""

__all__ = ["Api", "ErrorKind", "Form", "RepairKind"]
