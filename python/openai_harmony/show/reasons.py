"""What each kind of repair means, in a line."""

from __future__ import annotations

from openai_harmony.kinds import RepairKind

REASONS: dict[RepairKind, str] = {
    "missing_message": "the message ended inside its header; the other words are its content",
    "glued_channel": "the channel's name has other text attached",
    "stray_text": "text between messages",
    "stray_stop": "a stop token between messages",
    "missing_start": "the header begins without <|start|>",
    "duplicate_start": "<|start|> twice; the last one counts",
    "duplicate_channel": "a second channel; the last known one counts",
    "duplicate_recipient": "a second recipient; the first that is not the assistant counts",
    "header_order": "header fields in another order, or with other spaces",
    "empty_channel": "<|channel|> without a channel after it",
    "missing_end": "a header inside content; the message ends there",
    "end_of_text": "<|endoftext|> instead of a stop token",
    "unknown_role": "a word that is not a role; read as a tool's name or the assistant",
    "missing_role": "no role; read as the assistant's",
    "unknown_token": "an id that the vocabulary does not have",
    "header_noise": "words in the header that are not a field",
    "truncated_header": "the header ends early",
    "missing_channel": "the channel's name without <|channel|>",
    "missing_header": "text without a header; read as the final answer",
    "bare_word": "a word without a marker, read as the content type or the recipient",
    "misplaced_recipient": "a tool's name where another field should be",
    "glued_recipient": "the recipient in another spelling, or with other text attached",
    "cut_character": "the first bytes of a character whose other bytes never came",
    "spelled_marker": "a marker spelled by ordinary tokens",
    "call_as_text": "a call that the API cannot deliver as one; its text is content",
    "foreign_author": "a message of another author than the assistant; not in the answer",
    "repaired_arguments": "arguments that were not an object; the call that was meant",
}
"""docs/parsing.md has an example of each."""
