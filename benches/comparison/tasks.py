"""What a peer is timed at.

A task has `units`, the number of things (texts, calls, tokens) that one pass does; `fresh()`,
which makes what a pass consumes, untimed; `run(fresh)`, the pass that is timed; and
`answer(fresh)`, a pass that keeps its results, for the comparison between peers.
"""

from __future__ import annotations

import gc
import hashlib
import sys
from bisect import bisect_right
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from itertools import cycle, islice, pairwise, repeat
from time import perf_counter_ns
from typing import Any

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
        from . import requests

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


class Load(Task):
    """Loading; the first time where the process has only imported the module."""

    def __init__(self, peer: Any, given: Json) -> None:
        self._load = peer.load

    def run(self, fresh: Any) -> None:
        self._load()

    def answer(self, fresh: Any) -> Any:
        return self._load().name


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


class Threads(Task):
    """The same task in several threads at once; a unit is one pass of one thread.

    A round gives the times of several windows, in all of which all threads are at work. What it
    takes to wake up the threads is no part of it: they live on in a server. A window is short,
    since both cores of a shared machine are seldom free for long.
    """

    unit = "pass"
    threaded = True
    _ROUND_NS = 50_000_000
    _WINDOW_NS = 10_000_000
    #: What a thread has for its passes, one after the other and then again: more than a core keeps
    #: in its cache, and quickly made again for each round.
    _DISTINCT = 50

    def __init__(self, task: Task, count: int) -> None:
        self._task = task
        self._threads = ThreadPoolExecutor(count)
        self._count = count
        task.run(task.fresh())
        fresh = task.fresh()
        started = perf_counter_ns()
        task.run(fresh)
        self._passes = max(3, self._ROUND_NS // (perf_counter_ns() - started))

    def fresh(self) -> list[list[Any]]:
        distinct = min(self._passes, self._DISTINCT)
        return [[self._task.fresh() for _ in range(distinct)] for _ in range(self._count)]

    def round(self, passes: int, clock: Clock) -> list[float]:
        """However many `passes` are wanted, a round is long."""
        return throughput(list(self._threads.map(self._run_all, self.fresh())), self._WINDOW_NS)

    def _run_all(self, share: list[Any]) -> list[int]:
        """When the first pass began, and when each of them ended."""
        moments = [perf_counter_ns()]
        for fresh in islice(cycle(share), self._passes):
            self._task.run(fresh)
            moments.append(perf_counter_ns())
        return moments

    def answer(self, fresh: list[list[Any]]) -> Any:
        return self._task.answer(fresh[0][0])


def throughput(threads: list[list[int]], width: int) -> list[float]:
    """The time per pass, all threads together, in each window of so many nanoseconds; of all the
    time in which all are at work, if that is shorter. Of each thread the moments are given at which
    its passes end, that at which the first begins before them. Nothing if they never were at work together, as
    may happen on a busy machine."""
    started = max(moments[0] for moments in threads)
    ended = min(moments[-1] for moments in threads)
    width = min(width, ended - started)
    if width <= 0:
        return []
    edges = range(started, ended + 1, width)
    done = [sum(passes_until(moments, edge) for moments in threads) for edge in edges]
    return [width / (after - before) for before, after in pairwise(done)]


def passes_until(moments: list[int], moment: int) -> float:
    """How many passes were done by then, the share of the one under way included."""
    index = bisect_right(moments, moment) - 1
    if index == len(moments) - 1:
        return float(index)
    return index + (moment - moments[index]) / (moments[index + 1] - moments[index])


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
    if name.startswith("rows"):
        from . import datasets

        return datasets.TASKS[name](peer, given)
    made: Callable[[Any, Json], Task] | None = {
        "load": Load,
        "hash": Hash,
        "encode": Encode,
        "decode": Decode,
        "render": Render,
        "parse": Parse,
        "request": Request,
        "feed": Feed,
    }.get(name)
    return made(peer, given) if made else _stream(name, peer, given)


def _stream(name: str, peer: Any, given: Json) -> Task:
    from . import server_loops

    if name == "process":
        return Process(server_loops.process_only, peer, given)
    if name in ("reply", "reply, feed alone"):
        from . import replies

        return (replies.Answered if name == "reply" else replies.Fed)(peer, given)
    return Stream(getattr(server_loops, name), peer, given)


def settle() -> None:
    """Leaves the garbage collector no old work that it would do inside a measurement."""
    gc.collect()
    if hasattr(gc, "freeze") and sys.implementation.name == "cpython":
        gc.freeze()
