"""A conversation played as a server would: what the model samples is what a loss mask trains."""

from __future__ import annotations

from typing import Any

from openai_harmony import Conversation, Message, RenderConversationConfig, Role

KEEP = RenderConversationConfig(auto_drop_analysis=False)


def mask(encoding: Any, conversation: Conversation) -> tuple[list[int], list[int]]:
    """The tokens of the training example, and 1 for each that was sampled at its place.

    Where the next message is the assistant's, the server renders what there is for completion, and
    the model writes messages until it samples a stop token for actions.
    """
    tokens = encoding.render_conversation_for_training(conversation, KEEP)
    trained = [0] * len(tokens)
    stops = encoding.stop_tokens_for_assistant_actions()
    place = None
    for index, message in enumerate(conversation.messages):
        if message.author.role != Role.ASSISTANT:
            place = None
            continue
        written = _sampled(encoding, message)
        if place is None:
            history = Conversation.from_messages(conversation.messages[:index])
            prompt = encoding.render_conversation_for_completion(history, Role.ASSISTANT, KEEP)
            assert tokens[: len(prompt)] == prompt
            place = len(prompt)
            # The prompt ends with them.
            assert written[:2] == prompt[-2:]
            written = written[2:]
        for token in written:
            # Not if it was sampled and something else is there now: the `<|return|>` of a history.
            trained[place] = int(tokens[place] == token)
            place += 1
        if written[-1] in stops:
            place = None
    return tokens, trained


def _sampled(encoding: Any, message: Message) -> list[int]:
    """A message as the model writes it: its answers end with `<|return|>`."""
    [returned] = encoding.encode("<|return|>", allowed_special="all")
    written: list[int] = encoding.render(message)
    if message.channel == "final" and message.recipient is None:
        written[-1] = returned
    return written
