"""What the oracle and this project are both asked, by the same code on either side.

An operation takes and gives JSON values only. Whatever it raises becomes an answer too, so that
errors are compared like results.
"""

from __future__ import annotations

import base64
import copy
import json
import pickle
import re
from typing import Any

import openai_harmony
from openai_harmony import (
    Conversation,
    Message,
    RenderConversationConfig,
    RenderOptions,
    Role,
    StreamableParser,
    load_harmony_encoding,
)

from . import loops, objects, playing

Json = Any
WAYS_TO_COPY = (copy.copy, copy.deepcopy)
#: The families of errors that callers distinguish; any other has its own name.
FAMILIES = (RuntimeError, ValueError, TypeError, OverflowError, KeyError, AttributeError)


class Session:
    """One side: an encoding, and the parser that is being fed."""

    def __init__(self) -> None:
        self.encoding = load_harmony_encoding("HarmonyGptOss")
        self.parser: StreamableParser | None = None

    def ask(self, operation: str, *arguments: Json) -> Json:
        """The operation's value, or {"error": text, "family": name}."""
        try:
            return getattr(self, operation)(*arguments)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # A panic of 0.0.8's is not an Exception.
            return error_of(error)

    def class_of_error(self, operation: str, *arguments: Json) -> str | None:
        """The name of what the operation raises."""
        try:
            getattr(self, operation)(*arguments)
        except Exception as error:
            return type(error).__name__
        return None

    # Text and tokens.

    def encode(self, text: str, allowed: Json, disallowed: Json) -> list[int]:
        return self.encoding.encode(
            text,
            allowed_special=allowed,
            disallowed_special=disallowed,
        )

    def decode(self, tokens: list[int]) -> str:
        return self.encoding.decode(tokens)

    def decode_utf8(self, tokens: list[int]) -> str:
        return self.encoding.decode_utf8(tokens)

    def bytes_of_each(self, tokens: list[int]) -> list[list[int] | None]:
        """The bytes of each token, None for an id that does not exist."""
        return [self._bytes_of(token) for token in tokens]

    def _bytes_of(self, token: int) -> list[int] | None:
        try:
            return list(self.encoding._inner.decode_bytes([token]))
        except RuntimeError:
            return None

    def is_special_token(self, token: int) -> bool:
        return self.encoding.is_special_token(token)

    def special_tokens(self) -> list[str]:
        return sorted(self.encoding.special_tokens_set)

    def encode_equal_letters(self, count: int) -> int:
        """How many tokens they make."""
        return len(self.encoding.encode("a" * count))

    def stop_tokens(self) -> list[int]:
        return sorted(self.encoding.stop_tokens())

    def orders_of_stop_tokens(self) -> int:
        """In how many orders the stop tokens come, asked many times."""
        return len({tuple(self.encoding.stop_tokens()) for _ in range(100)})

    def stop_tokens_for_assistant_actions(self) -> list[int]:
        return sorted(self.encoding.stop_tokens_for_assistant_actions())

    # Rendering.

    def render_conversation(
        self, conversation: Json, renderer: str, next_role: str, auto_drop_analysis: bool | None
    ) -> list[int]:
        """`renderer` is completion, conversation or training; `auto_drop_analysis` None leaves
        the configuration out."""
        built = Conversation.from_json(json.dumps(conversation))
        config = None
        if auto_drop_analysis is not None:
            config = RenderConversationConfig(auto_drop_analysis=auto_drop_analysis)
        if renderer == "completion":
            role = Role(next_role)
            return self.encoding.render_conversation_for_completion(built, role, config)
        if renderer == "training":
            return self.encoding.render_conversation_for_training(built, config)
        return self.encoding.render_conversation(built, config)

    def render(self, message: Json, has_function_tools: bool | None) -> list[int]:
        options = None
        if has_function_tools is not None:
            options = RenderOptions(conversation_has_function_tools=has_function_tools)
        return self.encoding.render(Message.from_dict(message), options)

    def play(self, conversation: Json) -> Json:
        """The example and its mask by `playing.mask`, with no message dropped."""
        return playing.mask(self.encoding, Conversation.from_json(json.dumps(conversation)))

    # Objects.

    def pickle_of(self, name: str, protocol: int) -> str:
        """One of `objects`, pickled."""
        return base64.b64encode(pickle.dumps(objects.made(name), protocol)).decode()

    def unpickled(self, name: str, pickled: str) -> Json:
        """What such a pickle is good for here, and whether it equals a new object."""
        loaded = pickle.loads(base64.b64decode(pickled))
        return {
            "equal": objects.seen(loaded) == objects.seen(objects.made(name)),
            **objects.used(self.encoding, loaded),
            **{way.__name__: objects.used(self.encoding, way(loaded)) for way in WAYS_TO_COPY},
        }

    def pickled(self) -> str:
        """The name of the encoding, pickled and back."""
        name: str = pickle.loads(pickle.dumps(self.encoding)).name
        return name

    def model_dump_json(self, message: Json) -> str:
        return Message.from_dict(message).model_dump_json()

    def exports(self) -> list[str]:
        return openai_harmony.__all__

    # Parsing.

    def parse(self, tokens: list[int], role: str | None, strict: bool) -> list[Json]:
        messages = self.encoding.parse_messages_from_completion_tokens(
            tokens, role_of(role), strict=strict
        )
        return [message.to_dict() for message in messages]

    def loop(self, name: str, tokens: list[int], role: str | None, strict: bool) -> Json:
        """The outcome of one of `loops`."""
        return loops.LOOPS[name](self.encoding, tokens, role_of(role), strict)

    def raised_at(self, streams: list[tuple[list[int], str | None]]) -> list[list[int]]:
        """The tokens of each stream at which strict parsing raises; their number for the end."""
        return [self._raised_at(tokens, role) for tokens, role in streams]

    def _raised_at(self, tokens: list[int], role: str | None) -> list[int]:
        parser, raised = StreamableParser(self.encoding, role_of(role)), []
        for index, token in enumerate(tokens):
            try:
                parser.process(token)
            except Exception:
                raised.append(index)
        try:
            parser.process_eos()
        except Exception:
            raised.append(len(tokens))
        return raised

    def start_parser(self, role: str | None, strict: bool) -> Json:
        """A new parser takes the place of the one before; gives its first snapshot."""
        self.parser = StreamableParser(self.encoding, role_of(role), strict=strict)
        return self.snapshot(None)

    def feed_each(self, tokens: list[int]) -> list[Json]:
        """The snapshot after each token."""
        return [self.feed_together([token]) for token in tokens]

    def feed_together(self, tokens: list[int]) -> Json:
        """The snapshot after all the tokens, with the last error among them."""
        assert self.parser is not None
        raised = None
        for token in tokens:
            try:
                self.parser.process(token)
            except Exception as error:
                raised = error_of(error)
        return self.snapshot(raised)

    def end_of_stream(self) -> Json:
        assert self.parser is not None
        try:
            self.parser.process_eos()
        except Exception as error:
            return self.snapshot(error_of(error))
        return self.snapshot(None)

    def messages(self) -> list[Json]:
        assert self.parser is not None
        return [message.to_dict() for message in self.parser.messages]

    def tokens(self) -> list[int]:
        assert self.parser is not None
        return list(self.parser.tokens)

    def snapshot(self, raised: Json | None) -> Json:
        """All that a caller can see of the parser in passing."""
        parser = self.parser
        assert parser is not None
        return {
            "error": raised,
            "state": parser.state.value,
            "last_content_delta": parser.last_content_delta,
            "current_content": parser.current_content,
            "current_role": None if parser.current_role is None else parser.current_role.value,
            "current_channel": parser.current_channel,
            "current_recipient": parser.current_recipient,
            "current_content_type": parser.current_content_type,
            "state_data": parser.state_data,
            "message_count": len(parser.messages),
        }


def role_of(role: str | None) -> Role | None:
    return None if role is None else Role(role)


def error_of(error: BaseException) -> Json:
    family = next((f for f in FAMILIES if isinstance(error, f)), type(error))
    # 0.0.8 does not say in which message, or at which token.
    text = re.sub(r" \(in messages\[\d+\]\)$", "", str(error))
    text = re.sub(r" \((\".*\" )?at tokens\[\d+\]\)$", "", text)
    return {"error": text, "family": family.__name__}
