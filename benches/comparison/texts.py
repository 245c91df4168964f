"""The texts: five kinds of what a chat carries, and what hurts a tokenizer.

Every writer is a stream of pieces without end, drawn from a seeded source of chance; no text is
a sentence repeated.
"""

from __future__ import annotations

import json
import sysconfig
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

from . import vocabulary_of_prose as words

_MODULES = [
    "argparse", "ast", "base64", "bdb", "calendar", "codecs", "collections/__init__", "configparser",
    "contextlib", "csv", "dataclasses", "datetime", "decimal", "difflib", "dis", "doctest",
    "email/message", "enum", "fractions", "functools", "gettext", "heapq", "html/parser",
    "http/client", "http/server", "imaplib", "inspect", "ipaddress", "json/decoder",
    "logging/__init__", "mailbox", "optparse", "os", "pathlib", "pdb", "pickle", "pickletools",
    "platform", "plistlib", "pprint", "pydoc", "queue", "random", "shutil", "smtplib", "socket",
    "ssl", "statistics", "string", "subprocess", "tarfile", "tempfile", "textwrap", "threading",
    "tokenize", "traceback", "turtle", "typing", "unittest/case", "unittest/mock", "urllib/parse",
    "urllib/request", "uuid", "warnings", "weakref", "xml/dom/minidom", "zipfile",
]  # fmt: skip


class Zipf:
    """Draws words as languages do: the n-th of the list about 1/n as often as the first."""

    def __init__(self, choices: list[str], exponent: float = 0.8) -> None:
        self._choices = choices
        self._weights = list(accumulate(1 / rank**exponent for rank in range(1, len(choices) + 1)))

    def draw(self, random: Random) -> str:
        return random.choices(self._choices, cum_weights=self._weights)[0]


_COMMON = Zipf(words.COMMON)
_PLAIN = Zipf(words.PLAIN + words.VERBS + words.ADJECTIVES, 0.3)
_ENDINGS = Zipf(words.ENDINGS, 1.5)


def name(random: Random) -> str:
    """A name that no vocabulary holds whole."""
    return "".join(random.choices(words.SYLLABLES, k=random.randint(2, 4))).capitalize()


def word(random: Random) -> str:
    """Half the words are of the most frequent.

    One piece in twenty is more than one token, as in the documentation of Python.
    """
    chance = random.random()
    if chance < 0.5:
        return _COMMON.draw(random)
    stem = _PLAIN.draw(random)
    if chance < 0.88:
        return stem
    if chance < 0.96:
        return stem + _ENDINGS.draw(random)
    if chance < 0.97:
        return random.choice(words.BEGINNINGS) + stem + _ENDINGS.draw(random)
    return name(random) if chance < 0.98 else number(random)


def number(random: Random) -> str:
    return random.choice(
        [
            str(random.randint(0, 3000)),
            f"{random.randint(1, 999)},{random.randint(0, 999):03}",
            f"{random.uniform(0, 100):.2f}",
            f"{random.randint(1, 100)}%",
        ]
    )


def sentence(random: Random) -> str:
    drawn = [word(random) for _ in range(max(3, int(random.gauss(15, 7))))]
    drawn[0] = drawn[0].capitalize()
    for at in range(3, len(drawn) - 1):
        if random.random() < 0.08:
            drawn[at] += random.choice([",", ",", ";", ":", " –", "'s", "’s"])
    if random.random() < 0.1:
        at = random.randrange(1, len(drawn))
        drawn[at] = random.choice(['"{}"', "({})", "“{}”", "isn't {}", "it’s {}"]).format(drawn[at])
    return " ".join(drawn) + random.choice([".", ".", ".", ".", "?", "!", "..."])


def prose(random: Random) -> Iterator[str]:
    while True:
        yield " ".join(sentence(random) for _ in range(random.randint(2, 7))) + "\n\n"


def code(random: Random) -> Iterator[str]:
    """Passages of the standard library of the Python that runs this."""
    library = Path(sysconfig.get_paths()["stdlib"])
    files = [library / f"{module}.py" for module in _MODULES]
    lines = [
        file.read_text(encoding="utf-8").splitlines(keepends=True)
        for file in files
        if file.is_file()
    ]
    while True:
        passages = []
        for source in lines:
            # Every line of every file once, in passages of 20 to 80 lines, before any again.
            at = 0
            while at < len(source):
                end = at + random.randint(20, 80)
                passages.append("".join(source[at:end]))
                at = end
        random.shuffle(passages)
        yield from passages


def cjk(random: Random) -> Iterator[str]:
    """Chinese, Japanese and Korean, a paragraph each at a time."""
    languages = [
        (Zipf(words.CHINESE, 0.6), "", "，", "。"),
        (Zipf(words.JAPANESE, 0.6), "", "、", "。"),
        (Zipf(words.KOREAN, 0.6), " ", ", ", ". "),
    ]
    first_han, last_han = 0x4E00, 0x9FA5
    while True:
        language, space, comma, stop = random.choice(languages)
        paragraph = ""
        for _ in range(random.randint(2, 6)):
            drawn = [language.draw(random) for _ in range(random.randint(5, 18))]
            if space == "" and random.random() < 0.5:
                drawn.append(chr(random.randint(first_han, last_han)))
            if random.random() < 0.3:
                drawn.insert(1, random.choice([number(random), name(random), "API", "2025年"]))
            half = len(drawn) // 2
            paragraph += space.join(drawn[:half]) + comma + space.join(drawn[half:]) + stop
        yield paragraph + "\n"


def record(random: Random) -> dict[str, Any]:
    """The arguments of a tool's call, or its result."""
    key = "_".join(random.choices(words.PLAIN, k=random.randint(1, 2)))
    return {
        "id": f"{random.getrandbits(128):032x}",
        "created_at": f"2025-{random.randint(1, 12):02}-{random.randint(1, 28):02}"
        f"T{random.randint(0, 23):02}:{random.randint(0, 59):02}:{random.randint(0, 59):02}Z",
        key: sentence(random),
        "url": f"https://{name(random).lower()}.example/{random.choice(words.PLAIN)}/{random.randint(1, 99999)}",
        "location": {
            "lat": round(random.uniform(-90, 90), 6),
            "lon": round(random.uniform(-180, 180), 6),
        },
        "tags": random.sample(words.ADJECTIVES, random.randint(0, 4)),
        "price": round(random.expovariate(0.01), 2),
        "in_stock": random.random() < 0.5,
        "next": None,
        "items": [
            {"name": name(random), "count": random.randint(0, 500)}
            for _ in range(random.randint(0, 4))
        ],
    }


def tool_traffic(random: Random) -> Iterator[str]:
    while True:
        indent = random.choice([None, None, 2])
        yield json.dumps(record(random), indent=indent, ensure_ascii=random.random() < 0.5) + "\n"


def chat(random: Random) -> Iterator[str]:
    """Markdown, lists, code, tables, emoji and the languages of the world in turn."""
    of_code, of_cjk, of_json = code(random), cjk(random), tool_traffic(random)
    while True:
        kind = random.randrange(8)
        if kind < 3:
            yield f"{sentence(random)} {random.choice(words.EMOJI)} {sentence(random)}\n\n"
        elif kind == 3:
            yield f"```python\n{next(of_code)[:600]}\n```\n\n"
        elif kind == 4:
            yield f"{next(of_cjk)}\n"
        elif kind == 5:
            items = (f"{n}. **{name(random)}**: {sentence(random)}\n" for n in range(1, 5))
            yield f"## {sentence(random)}\n\n{''.join(items)}\n"
        elif kind == 6:
            drawn = random.sample(words.ELSEWHERE, 8)
            yield f"> {' '.join(drawn)} – {number(random)} °C\n\n"
        else:
            yield f"```json\n{next(of_json)}```\n\n"


KINDS: dict[str, Callable[[Random], Iterator[str]]] = {
    "code": code,
    "prose": prose,
    "CJK": cjk,
    "JSON": tool_traffic,
    "chat": chat,
}

HOSTILE: dict[str, Callable[[int], str]] = {
    "letters": lambda length: "a" * length,
    "spaces": lambda length: " " * length,
    "digits": lambda length: ("0123456789" * (length // 10 + 1))[:length],
    "emoji": lambda length: ("🤷🏽‍♀️🔥👩‍💻🇯🇵é̀" * (length // 10 + 1))[:length],
}


def of_size(pieces: Iterator[str], size: int) -> str:
    """The next pieces, cut to this many bytes of UTF-8 (or up to three fewer)."""
    taken: list[str] = []
    length = 0
    while length < size:
        taken.append(next(pieces))
        length += len(taken[-1].encode())
    return "".join(taken).encode()[:size].decode(errors="ignore")
