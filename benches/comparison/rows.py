"""The rows: which work, on which inputs, against whom, and the floor of each."""

from __future__ import annotations

from .corpora import HOSTILE_LENGTHS, hostile_input, text_input
from .measures import Cores, Extra, Faster, Growth, Options
from .texts import HOSTILE, KINDS

Row = Cores | Extra | Faster | Growth

STREAMS = ("one long message", "many short messages")


def _texts(*sizes: str) -> tuple[str, ...]:
    return tuple(text_input(kind, size) for size in sizes for kind in KINDS)


def _first(tokens: int) -> Options:
    """Only so many of the stream's tokens."""
    return (("tokens", tokens),)


def _grown(
    stream: str, small: int, large: int
) -> tuple[str, tuple[str, Options], tuple[str, Options]]:
    label = f"{stream}, {small:,} to {large:,} tokens"
    return label, (stream, _first(small)), (stream, _first(large))


def _doubled(kind: str) -> tuple[str, tuple[str, Options], tuple[str, Options]]:
    small, large = (hostile_input(kind, length) for length in HOSTILE_LENGTHS)
    return f"{small} to {large}", (small, ()), (large, ())


#: As fast as the best peer, but for what times of two programs differ by chance.
FIRST = 0.97
TOKENIZERS = {"gigatoken": FIRST, "fastokens": FIRST}

TEXT: tuple[Row, ...] = (
    *(
        Faster(
            f"{task}, {size}",
            task,
            _texts(size),
            # CJK decides; more needs a C++ library to convert strings (docs/lab-book.md).
            TOKENIZERS if task == "encode, arrays" else {"0.0.8": 10, "tiktoken": 6, **TOKENIZERS},
        )
        for task in ("encode", "encode, arrays")
        for size in ("400 B", "20 KB", "2 MB")
    ),
    # What a peer prepares in its first call is done, and the text is new to it.
    *(
        Faster(
            f"{task}, first pass, {size}",
            task,
            _texts(size),
            TOKENIZERS,
            cold=True,
            options=(("called before", True),),
        )
        for task in ("encode", "encode, arrays")
        for size in ("400 B", "20 KB", "2 MB")
    ),
    Faster(
        "decode",
        "decode",
        _texts("400 B", "2 MB"),
        {"0.0.8": 3, "tiktoken": None, "gigatoken": None, "fastokens": None},
    ),
    Growth(
        "encode, hostile text twice as long",
        "encode",
        tuple(_doubled(kind) for kind in HOSTILE),
        2.5,
    ),
    Faster(
        "encode, hostile letters", "encode", (hostile_input("letters", 40_000),), {"0.0.8": 200}
    ),
    Faster(
        "encode, other hostile text",
        "encode",
        tuple(hostile_input(kind, 40_000) for kind in HOSTILE if kind != "letters"),
        {"0.0.8": None},
    ),
)

CONVERSATIONS: tuple[Row, ...] = (
    Faster("render, 7 messages", "render", ("7 messages, 4 tools",), {"0.0.8": 30}),
    Faster("render, 102 messages", "render", ("102 messages",), {"0.0.8": 40}),
    Faster("request to prompt", "request", ("request of 7 messages, 4 tools",), {"0.0.8": 20}),
    Faster("parse, 102 messages", "parse", ("102 messages",), {"0.0.8": 60}),
)

STREAMING: tuple[Row, ...] = (
    Faster("process", "process", STREAMS, {"0.0.8": 10}, options=_first(16_000)),
    Growth(
        "process, longer stream",
        "process",
        tuple(_grown(stream, 1_000, 16_000) for stream in STREAMS),
        1.3,
    ),
    Faster("server loop A", "loop_a", ("8 messages",), {"0.0.8": 8}),
    Faster("server loop B", "loop_b", STREAMS[:1], {"0.0.8": 1_000}, options=_first(8_000)),
    Growth("server loop B, longer stream", "loop_b", (_grown(STREAMS[0], 1_000, 8_000),), 1.3),
    Faster(
        "process and current_content",
        "loop_with_content",
        STREAMS[:1],
        {"0.0.8": 5},
        options=_first(8_000),
    ),
    Faster(
        "feed, chunks of 64, against process",
        "feed",
        STREAMS,
        {"0.0.8": 20},
        instead="process",
        options=_first(16_000),
    ),
    *(
        Extra(
            f"chunks of an answer, JSON-ready, {size} a feed",
            "reply",
            "reply, feed alone",
            "a thought and an answer",
            (("size", size),),
            limit,
        )
        for size, limit in ((1, 4), (16, 1.5))
    ),
    Faster("new parser", "new parser", ("",), {"0.0.8": 50}),
    Faster("stop_tokens_for_assistant_actions", "stop tokens", ("",), {"0.0.8": 50}),
)

DATASET = "10,000 conversations"

DATASETS: tuple[Row, ...] = (
    Faster(
        "rows to tokens and masks",
        "rows",
        (DATASET,),
        {"0.0.8": 60},
        instead="rows one by one",
    ),
    Faster(
        "rows to tokens and masks, against encoding alone",
        "rows",
        (DATASET,),
        {"tiktoken": 3},
        instead="rows, texts encoded alone",
    ),
    Extra(
        "rows to tokens and masks, beside encoding alone",
        "rows",
        "rows, texts encoded alone",
        DATASET,
        (),
        2,
        name="encoding alone",
    ),
    Cores("rows to tokens and masks, two cores", "rows", DATASET, 0.85),
)

# Texts of some microseconds are encoded without releasing the GIL: see "two threads" in
# benches/README.md.
THREADED_TEXTS = ("chat, 20 KB", "prose, 2 MB")

THREADS: tuple[Row, ...] = (
    Faster("two threads, render", "threads:2:render", ("102 messages",), {"0.0.8": 100}),
    Faster("two threads, encode", "threads:2:encode", THREADED_TEXTS, {"0.0.8": 20}),
)

ROWS: tuple[Row, ...] = (*TEXT, *CONVERSATIONS, *STREAMING, *DATASETS, *THREADS)
