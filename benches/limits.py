"""The least that the work can cost, to show how close this project is to it.

A list of ints has to be made and a text copied, whoever makes the tokens; a call from Python
costs what a call costs. Each limit is measured with the cheapest built-in that does just that.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from random import Random
from time import process_time_ns
from typing import Any

from comparison import conversations, corpora, texts
from openai_harmony import Conversation, Role, StreamableParser, load_harmony_encoding

ENCODING = load_harmony_encoding("HarmonyGptOss")
ROUNDS = 31

Limit = tuple[str, Callable[[], Any], str, Callable[[], Any]]


def best(work: Callable[[], Any]) -> float:
    """Nanoseconds of the best round, each of a millisecond at least."""
    passes, times = 1, [0]
    while times[0] < 1_000_000:
        passes *= 2
        times = [timed(work, passes)]
    times += [timed(work, passes) for _ in range(ROUNDS)]
    return min(times) / passes


def timed(work: Callable[[], Any], passes: int) -> int:
    started = process_time_ns()
    for _ in range(passes):
        work()
    return process_time_ns() - started


def limits() -> list[Limit]:
    """What is measured, and the part of it that nobody can avoid."""
    found: list[Limit] = []
    for kind in ("prose", "CJK"):
        for size, (length, _) in corpora.SIZES.items():
            if size in ("400 B", "2 MB"):
                found += of_text(
                    f"{kind}, {size}", texts.of_size(texts.KINDS[kind](Random(1)), length)
                )
    return [*found, *of_conversation(), *of_stream()]


def of_text(label: str, text: str) -> list[Limit]:
    tokens = ENCODING.encode(text)
    data = text.encode()
    ids = array("I", tokens)
    work = f"encode {label}"

    def encode() -> list[int]:
        return ENCODING.encode(text)

    return [
        (work, encode, "the copy of the text", lambda: data[:-1]),
        (work, encode, "a list of ints that exist", lambda: list(tokens)),
        (work, encode, "a list of new ints", ids.tolist),
        (f"decode {label}", lambda: ENCODING.decode(tokens), "UTF-8 to str", data.decode),
    ]


def of_conversation() -> list[Limit]:
    conversation = Conversation.from_dict(conversations.hundred_and_two_messages())
    tokens = ENCODING.render_conversation(conversation)
    text = ENCODING.decode(tokens)
    messages = conversation.messages
    parsed = ENCODING.render_conversation(Conversation.from_messages(messages))
    return [
        (
            "render 102 messages",
            lambda: ENCODING.render_conversation_for_completion(conversation, Role.ASSISTANT),
            "encode their text",
            lambda: ENCODING.encode(text, disallowed_special=()),
        ),
        (
            "parse them",
            lambda: ENCODING.parse_messages_from_completion_tokens(parsed),
            "copy the messages",
            lambda: [message.model_copy() for message in messages],
        ),
    ]


def of_stream() -> list[Limit]:
    tokens = ENCODING.encode(conversations.one_long_message(), allowed_special="all")[:16_000]

    def process() -> None:
        parser = StreamableParser(ENCODING, Role.ASSISTANT)
        for token in tokens:
            parser.process(token)

    def call() -> None:
        fed: list[int] = []
        for token in tokens:
            fed.append(token)

    return [("process 16,000 tokens", process, "a call each", call)]


def shown(nanoseconds: float) -> str:
    scale, unit = (1e6, "ms") if nanoseconds >= 1e6 else (1e3, "µs")
    return f"{nanoseconds / scale:.3g} {unit}"


def main() -> None:
    print("| work | takes | limit | takes | share |\n|---|---|---|---|---|")
    for work, run, limit, run_limit in limits():
        takes, least = best(run), best(run_limit)
        print(f"| {work} | {shown(takes)} | {limit} | {shown(least)} | {least / takes:.0%} |")


if __name__ == "__main__":
    main()
