"""What a peer is timed at.

A task has `units`, the number of things (texts, calls, tokens) that one pass does; `fresh()`,
which makes what a pass consumes, untimed; `run(fresh)`, the pass that is timed; and
`answer(fresh)`, a pass that keeps its results, for the comparison between peers.
"""

from __future__ import annotations

import gc
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from time import perf_counter_ns
from typing import Any, Callable, Dict, List, Optional

Json = Dict[str, Any]
CALLS = 200
"""How often a pass makes a call that is too short to be timed alone."""

CHUNK = 64


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

    def fresh(self) -> List[str]:
        return [text.decode() for text in self._texts]

    def run(self, fresh: List[str]) -> None:
        encode = self._encode
        for text in fresh:
            encode(text)

    def answer(self, fresh: List[str]) -> List[List[int]]:
        encode = self._encode
        return [encode(text) for text in fresh]


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

    def answer(self, fresh: Any) -> List[str]:
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

    def answer(self, fresh: Any) -> List[int]:
        return self._render(fresh, self._role)


class Parse(Task):
    """All tokens of a conversation at once, analysis included."""

    unit = "conversation"

    def __init__(self, peer: Any, given: Json) -> None:
        keep_all = peer.module.RenderConversationConfig(auto_drop_analysis=False)
        self._parse = peer.encoding.parse_messages_from_completion_tokens
        conversation = peer.module.Conversation.from_messages(
            [
                peer.module.Message.from_dict(dict(each))
                for each in given["conversation"]["messages"]
            ]
        )
        self._tokens = peer.encoding.render_conversation(conversation, keep_all)

    def run(self, fresh: Any) -> None:
        self._parse(self._tokens)

    def answer(self, fresh: Any) -> Any:
        return [self._tokens, [message.to_dict() for message in self._parse(self._tokens)]]


class Stream(Task):
    """One of the server loops over the first tokens of a completion."""

    unit = "token"

    def __init__(self, loop: Callable[[Any, List[int]], Any], peer: Any, given: Json) -> None:
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

    def _feed_all(self, encoding: Any, tokens: List[int]) -> Any:
        parser = self._parser(encoding, self._role)
        for chunk in self._chunks:
            parser.feed(chunk)
        return parser

    def answer(self, fresh: Any) -> Any:
        """As `process` answers, if the events tell of the same contents."""
        parser = self._parser(self._encoding, self._role)
        texts: Dict[int, str] = {}
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


class Load(Task):
    """Loading; the first time where the process has only imported the module."""

    def __init__(self, peer: Any, given: Json) -> None:
        self._load = peer.load

    def run(self, fresh: Any) -> None:
        self._load()

    def answer(self, fresh: Any) -> Any:
        return self._load().name


class Threads(Task):
    """The same task in several threads at once; a unit is one pass of one thread.

    The threads live on between rounds, as those of a server do, and rounds are long: waking up
    the threads takes as long as some renderings.
    """

    unit = "pass"
    threaded = True
    _ROUND_NS = 50_000_000

    def __init__(self, task: Task, count: int) -> None:
        self._task = task
        self._threads = ThreadPoolExecutor(count)
        task.run(task.fresh())
        fresh = task.fresh()
        started = perf_counter_ns()
        task.run(fresh)
        self._passes = max(1, self._ROUND_NS // (perf_counter_ns() - started))
        self._count = count
        self.units = count * self._passes

    def fresh(self) -> List[List[Any]]:
        return [[self._task.fresh() for _ in range(self._passes)] for _ in range(self._count)]

    def run(self, fresh: List[List[Any]]) -> None:
        # Waits for all.
        list(self._threads.map(self._run_all, fresh))

    def _run_all(self, share: List[Any]) -> None:
        for fresh in share:
            self._task.run(fresh)

    def answer(self, fresh: List[List[Any]]) -> Any:
        return self._task.answer(fresh[0][0])


def task(name: str, peer: Any, given: Json) -> Task:
    """The task of this name over a peer that is started, `Load`'s excepted."""
    if name.startswith("threads:"):
        _, count, inner = name.split(":")
        return Threads(task(inner, peer, given), int(count))
    if name == "new parser":
        parser, role = peer.module.StreamableParser, peer.module.Role.ASSISTANT
        encoding = peer.encoding
        return Calls(lambda: parser(encoding, role), lambda: parser(encoding, role).state.value)
    if name == "stop tokens":
        call = peer.encoding.stop_tokens_for_assistant_actions
        return Calls(call, lambda: sorted(call()))
    made: Optional[Callable[[Any, Json], Task]] = {
        "load": Load,
        "encode": Encode,
        "decode": Decode,
        "render": Render,
        "parse": Parse,
        "feed": Feed,
    }.get(name)
    return made(peer, given) if made else _stream(name, peer, given)


def _stream(name: str, peer: Any, given: Json) -> Task:
    from . import server_loops

    if name == "process":
        return Process(server_loops.process_only, peer, given)
    return Stream(getattr(server_loops, name), peer, given)


def settle() -> None:
    """Leaves the garbage collector no old work that it would do inside a measurement."""
    gc.collect()
    if hasattr(gc, "freeze") and sys.implementation.name == "cpython":
        gc.freeze()
