"""Random token streams: what models write, the same with mistakes, headers of all sorts, and noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from . import texts

Encode = Callable[[str], list[int]]

START, END, MESSAGE, CHANNEL, CONSTRAIN, RETURN, CALL = (
    200006, 200007, 200008, 200005, 200003, 200002, 200012,
)  # fmt: skip
STOPS = [END, RETURN, CALL]
STOP_NAMES = ["<|end|>", "<|return|>", "<|call|>"]
MARKER_IDS = [*STOPS, START, MESSAGE, CHANNEL, CONSTRAIN]
#: <|endoftext|>, <|startoftext|>, and ids that have no meaning.
OTHER_SPECIALS = [199999, 199998, 200000, 200004, 200013, 201088]
#: Ids that do not exist.
UNKNOWN = [201089, 300000, 2**32 - 1]
#: Tokens of single bytes that are not UTF-8 by themselves: continuations, lead bytes, FF.
BROKEN_UTF8 = [115, 121, 50378, 52622, 222, 223, 255, 187, 188]

ROLES = [None, "assistant", "assistant", "user", "tool", "developer", "system"]

ROLE_WORDS = ["user", "assistant", "system", "developer", "tool"]
HEADER_WORDS = [
    *ROLE_WORDS,
    "user:bob",
    "assistant:",
    "functions.f",
    "functions.f:x",
    "python",
    "browser",
    "bob",
    "to=functions.f",
    "to=python",
    "to=",
    "to=assistant",
    "to",
    "all",
    "json",
    "code",
    "final",
    "analysis",
    'odd"\\word',
    "ü\u0301",
    "a<b",
    "nb\u00a0sp",
]
HEADER_MARKERS = [
    "<|channel|>",
    "<|channel|>final",
    "<|channel|>analysis",
    "<|constrain|>",
    "<|constrain|>json",
]
BLANKS = [" ", " ", " ", "", "  ", "\t", "\n", "\r\n", "\x0b", "\x0c", "\u3000"]

Part = str | int


@dataclass
class Stream:
    """Tokens, and the role that the parser is given."""

    tokens: list[int]
    role: str | None


def stream(random: Random, encode: Encode) -> Stream:
    """One of the kinds below."""
    role = random.choice(ROLES)
    kind = random.randrange(10)
    if kind == 0:
        tokens = noise(random)
    elif kind < 4:
        tokens = to_tokens(odd_headers(random, role), encode)
    else:
        tokens = to_tokens(well_formed(random, role, markers=kind % 2 == 0), encode)
        if kind >= 7:
            for _ in range(random.randint(1, 4)):
                spoil(random, tokens)
    return Stream(tokens, role)


def to_tokens(parts: list[Part], encode: Encode) -> list[int]:
    """Strings are encoded with their markers as special tokens; numbers are tokens."""
    tokens: list[int] = []
    for part in parts:
        tokens += encode(part) if isinstance(part, str) else [part]
    return tokens


def well_formed(random: Random, role: str | None, markers: bool = True) -> list[Part]:
    """Messages as a model or a renderer writes them; the last may be cut off in its content.

    `markers` says whether marker tokens, stop tokens apart, occur in contents.
    """
    parts: list[Part] = []
    for index in range(random.randint(1, 4)):
        if index > 0 or role is None:
            parts.append("<|start|>" + _role_words(random))
        parts.append(_fields(random) + "<|message|>")
        parts += content(random, texts.MARKERS if not markers else STOP_NAMES)
        parts.append(random.choice(STOPS))
    if random.random() < 0.15:
        parts.pop()
    elif random.random() < 0.15:
        parts += [START, *random.choice([[], ["assistant"], ["user"], ["functions.f"]])]
    return parts


def _role_words(random: Random) -> str:
    return random.choice([*ROLE_WORDS, "assistant", "assistant", "functions.f to=assistant"])


def _fields(random: Random) -> str:
    channel = random.choice(
        ["", "<|channel|>analysis", "<|channel|>commentary", "<|channel|>final"]
    )
    return random.choice(
        [
            channel,
            channel,
            f"{channel} to=functions.f <|constrain|>json",
            f" to=functions.f{channel} <|constrain|>json",
            f"{channel} to=functions.f<|constrain|>json",
            f"{channel} to=browser.search code",
            f" to=python{channel}",
        ]
    )


def content(random: Random, without: list[str]) -> list[Part]:
    """Text; its markers are the tokens; now and then tokens that are not UTF-8 by themselves."""
    parts: list[Part] = [_text(random, 4, without)]
    while random.random() < 0.3:
        broken = random.choice(BROKEN_UTF8)
        parts += [broken] * random.choice([1, 1, 2])
        parts.append(random.choice(["", "x", " and", "é", "🤷🏽", _text(random, 1, without)]))
    return parts


def _text(random: Random, longest: int, without: list[str]) -> str:
    text = texts.text(random, longest)
    for marker in without:
        text = text.replace(marker, "")
    return text


def odd_headers(random: Random, role: str | None) -> list[Part]:
    """Messages with headers of any words and markers, in any order."""
    parts: list[Part] = []
    for index in range(random.randint(1, 3)):
        if index > 0 or role is None or random.random() < 0.1:
            parts.append("<|start|>")
        parts += odd_header(random)
        parts += ["<|message|>", random.choice(["", "text", "{}"]), random.choice(STOPS)]
    return parts


def odd_header(random: Random) -> list[Part]:
    parts: list[Part] = []
    if random.random() < 0.6:
        parts.append(random.choice(ROLE_WORDS))
    for _ in range(random.choice([0, 1, 2, 2, 3, 4])):
        parts += [random.choice(BLANKS), _header_part(random)]
    return [*parts, random.choice(["", "", " ", "\u00a0"])]


def _header_part(random: Random) -> Part:
    kind = random.randrange(40)
    if kind == 0:
        return random.choice([*STOPS, START, *OTHER_SPECIALS])
    if kind == 1:
        return random.choice(UNKNOWN)
    if kind == 2:
        return random.choice(BROKEN_UTF8)
    if kind < 16:
        return random.choice(HEADER_MARKERS)
    return random.choice(HEADER_WORDS)


def spoil(random: Random, tokens: list[int]) -> None:
    """One change, in place."""
    if not tokens:
        return
    place = random.randrange(len(tokens))
    kind = random.randrange(5)
    if kind == 0:
        del tokens[place]
    elif kind == 1:
        other = random.randrange(len(tokens))
        tokens[place], tokens[other] = tokens[other], tokens[place]
    elif kind == 2:
        tokens.insert(place, tokens[place])
    else:
        tokens.insert(place, _any_token(random))


def noise(random: Random) -> list[int]:
    return [_any_token(random) for _ in range(random.randint(0, 25))]


def _any_token(random: Random) -> int:
    if random.random() < 0.1:
        return random.choice(UNKNOWN)
    if random.random() < 0.1:
        return random.choice(OTHER_SPECIALS)
    if random.random() < 0.2:
        return random.choice(BROKEN_UTF8)
    return random.choice([*MARKER_IDS, random.randrange(300), random.randrange(200_000)])
