"""The loops of real servers, one token at a time, as they run on every version.

Each gives what the server would have sent on, so that the versions can be compared.
"""

from __future__ import annotations

from typing import Any

from openai_harmony import Role, StreamableParser, StreamState


def process_only(encoding: Any, tokens: list[int]) -> Any:
    """Reads all tokens and asks nothing meanwhile."""
    parser = StreamableParser(encoding, Role.ASSISTANT)
    for token in tokens:
        parser.process(token)
    return parser


def loop_a(encoding: Any, tokens: list[int]) -> list[tuple[Any, ...]]:
    """Looks at the fields, the messages so far and the sort of the token after each token."""
    parser = StreamableParser(encoding, Role.ASSISTANT)
    sent: list[tuple[Any, ...]] = []
    complete = 0
    for token in tokens:
        parser.process(token)
        channel = parser.current_channel
        recipient = parser.current_recipient
        delta = parser.last_content_delta
        if len(parser.messages) > complete:
            complete += 1
            sent.append(("complete", complete))
        if not encoding.is_special_token(token) and delta:
            sent.append((channel, recipient, delta))
    return sent


def loop_b(encoding: Any, tokens: list[int]) -> int:
    """Looks at the state after each token; gives how many tokens were content."""
    parser = StreamableParser(encoding, Role.ASSISTANT)
    content_tokens = 0
    for token in tokens:
        parser.process(token)
        if parser.state == StreamState.CONTENT:
            content_tokens += 1
    return content_tokens


def loop_with_content(encoding: Any, tokens: list[int]) -> int:
    """Looks at the content so far after each token; gives the sum of the lengths seen."""
    parser = StreamableParser(encoding, Role.ASSISTANT)
    seen = 0
    for token in tokens:
        parser.process(token)
        seen += len(parser.current_content)
    return seen
