"""What a peer is timed at.

A task has `units`, the number of things (texts, calls, tokens) that one pass does; `fresh()`,
which makes what a pass consumes, untimed; `run(fresh)`, the pass that is timed;
`answer(fresh)`, a pass that keeps its results, for the comparison between peers; and `plain(answer)`, which
makes JSON values of them.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable
from importlib.util import find_spec
from itertools import repeat
from typing import Any

from . import requests

Json = dict[str, Any]
CALLS = 200
"""How often a pass makes a call that is too short to be timed alone."""

CHUNK = 64


Clock = Callable[[], int]


class Task:
    unit = "call"
    units = 1
    threaded = False

    def fresh(self) -> Any:
        return None

    def run(self, fresh: Any) -> None:
        raise NotImplementedError

    def answer(self, fresh: Any) -> Any:
        raise NotImplementedError

    def plain(self, answer: Any) -> Any:
        return answer

    def round(self, passes: int, clock: Clock) -> list[float]:
        """The times of a round of so many passes, in nanoseconds per unit."""
        prepared = [self.fresh() for _ in range(passes)]
        started = clock()
        for fresh in prepared:
            self.run(fresh)
        return [(clock() - started) / (passes * self.units)]


class Encode(Task):
    """Texts to lists.

    Each pass has new `str` objects: CPython keeps the UTF-8 form of one that was asked for it,
    and no text of a server comes twice as the same object.
    """

    unit = "text"

    def __init__(self, peer: Any, given: Json) -> None:
        self._encode = peer.encode
        self._texts = [text.encode() for text in given["texts"]]
        self.units = len(self._texts)

    def fresh(self) -> list[str]:
        return [text.decode() for text in self._texts]

    def run(self, fresh: list[str]) -> None:
        encode = self._encode
        for text in fresh:
            encode(text)

    def answer(self, fresh: list[str]) -> list[list[int]]:
        encode = self._encode
        return [encode(text) for text in fresh]


class EncodeArray(Encode):
    """Texts to arrays of uint32, or to bytes that are one."""

    def __init__(self, peer: Any, given: Json) -> None:
        super().__init__(peer, given)
        self._encode = peer.encode_array

    def plain(self, answer: list[Any]) -> list[list[int]]:
        return [array("I", bytes(memoryview(tokens))).tolist() for tokens in answer]


class Decode(Task):
    unit = "text"

    def __init__(self, peer: Any, given: Json) -> None:
        self._decode = peer.decode
        self._tokens = [peer.encode(text) for text in given["texts"]]
        self.units = len(self._tokens)

    def run(self, fresh: Any) -> None:
        decode = self._decode
        for tokens in self._tokens:
            decode(tokens)

    def answer(self, fresh: Any) -> list[str]:
        return [self._decode(tokens) for tokens in self._tokens]


class Render(Task):
    """Each pass has a new conversation, as each request of a server does."""

    unit = "conversation"

    def __init__(self, peer: Any, given: Json) -> None:
        self._module = peer.module
        self._render = peer.encoding.render_conversation_for_completion
        self._role = peer.module.Role.ASSISTANT
        self._conversation = given["conversation"]

    def fresh(self) -> Any:
        message = self._module.Message
        return self._module.Conversation.from_messages(
            [message.from_dict(dict(each)) for each in self._conversation["messages"]]
        )

    def run(self, fresh: Any) -> None:
        self._render(fresh, self._role)

    def answer(self, fresh: Any) -> list[int]:
        return self._render(fresh, self._role)


class Request(Task):
    """The JSON text of a request to the tokens of its prompt."""

    unit = "request"

    def __init__(self, peer: Any, given: Json) -> None:
        has_interop = find_spec("openai_harmony.interop") is not None
        self._prompt = requests.by_interop if has_interop else requests.by_hand
        self._peer, self._text = peer, given["request"]

    def run(self, fresh: Any) -> None:
        self._prompt(self._peer.module, self._peer.encoding, self._text)

    def answer(self, fresh: Any) -> list[int]:
        return self._prompt(self._peer.module, self._peer.encoding, self._text)


class Parse(Task):
    """All tokens of a conversation at once, analysis included."""

    unit = "conversation"

    def __init__(self, peer: Any, given: Json) -> None:
        keep = peer.module.RenderConversationConfig(auto_drop_analysis=False)
        self._parse = peer.encoding.parse_messages_from_completion_tokens
        conversation = peer.module.Conversation.from_messages(
            [
                peer.module.Message.from_dict(dict(each))
                for each in given["conversation"]["messages"]
            ]
        )
        self._tokens = peer.encoding.render_conversation(conversation, keep)

    def run(self, fresh: Any) -> None:
        self._parse(self._tokens)

    def answer(self, fresh: Any) -> Any:
        return [self._tokens, [message.to_dict() for message in self._parse(self._tokens)]]


class Stream(Task):
    """One of the server loops over the first tokens of a completion."""

    unit = "token"

    def __init__(self, loop: Callable[[Any, list[int]], Any], peer: Any, given: Json) -> None:
        self._loop, self._encoding = loop, peer.encoding
        self._tokens = peer.encoding.encode(given["stream"], allowed_special="all")
        limit = given.get("tokens", len(self._tokens))
        if len(self._tokens) < limit:
            raise ValueError(f"the stream has {len(self._tokens)} tokens, not {limit}")
        del self._tokens[limit:]
        self.units = len(self._tokens)

    def run(self, fresh: Any) -> None:
        self._loop(self._encoding, self._tokens)

    def answer(self, fresh: Any) -> Any:
        return [self._tokens, self._loop(self._encoding, self._tokens)]


class Process(Stream):
    """Nothing but `process`."""

    def answer(self, fresh: Any) -> Any:
        parser = self._loop(self._encoding, self._tokens)
        messages = [message.to_dict() for message in parser.messages]
        return [self._tokens, messages, parser.current_content]


class Feed(Process):
    """`feed` in chunks, its events included."""

    def __init__(self, peer: Any, given: Json) -> None:
        super().__init__(self._feed_all, peer, given)
        self._parser = peer.module.StreamableParser
        self._role = peer.module.Role.ASSISTANT
        starts = range(0, len(self._tokens), CHUNK)
        self._chunks = [self._tokens[start : start + CHUNK] for start in starts]

    def _feed_all(self, encoding: Any, tokens: list[int]) -> Any:
        parser = self._parser(encoding, self._role)
        for chunk in self._chunks:
            parser.feed(chunk)
        return parser

    def answer(self, fresh: Any) -> Any:
        """As `process` answers, if the events tell of the same contents."""
        parser = self._parser(self._encoding, self._role)
        texts: dict[int, str] = {}
        for chunk in self._chunks:
            for event in parser.feed(chunk):
                texts[event.index] = texts.get(event.index, "") + getattr(event, "text", "")
        messages = [message.to_dict() for message in parser.messages]
        contents = ["".join(part["text"] for part in each["content"]) for each in messages]
        if contents != [texts[index] for index in range(len(contents))]:
            raise ValueError("the events do not tell of the messages' contents")
        return [self._tokens, messages, parser.current_content]


class Calls(Task):
    """A short call, many times a pass."""

    units = CALLS

    def __init__(self, call: Callable[[], Any], answer: Callable[[], Any]) -> None:
        self._call, self._answer = call, answer

    def run(self, fresh: Any) -> None:
        call = self._call
        for _ in repeat(None, CALLS):
            call()

    def answer(self, fresh: Any) -> Any:
        return self._answer()


class Hash(Task):
    """Work that needs neither the interpreter nor much memory: how two threads of it get on tells
    what the machine gives."""

    unit = "MB"

    def __init__(self, peer: Any, given: Json) -> None:
        self._data = bytes(1_000_000)

    def run(self, fresh: Any) -> None:
        hashlib.blake2b(self._data).digest()

    def answer(self, fresh: Any) -> Any:
        return hashlib.blake2b(self._data).hexdigest()
