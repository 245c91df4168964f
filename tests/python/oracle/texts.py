"""Random texts: words, code, scripts of the world, and all that is awkward for a tokenizer."""

from __future__ import annotations

from random import Random

from tables import table

MARKERS = table("oracle_texts", "markers")

PROSE = table("oracle_texts", "prose")

#: White space of every sort, marks that join or hide, controls, borders of planes.
AWKWARD = (
    " \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u3000"
    "\u0301\u0489\u200b\u200d\u00ad\u2060\ufe0f\ufeff\x00\x7f"
    "\ud7ff\ue000\uffff\ufffd\U00010000\U0001f3fd\U000e0041\U0010ffff"
    "ǅʰªⅧ²½_'\u2019\"\\/<|>{}"
)


def text(random: Random, longest: int = 6) -> str:
    """A text of up to `longest` pieces; empty now and then."""
    return "".join(piece(random) for _ in range(random.randint(0, longest)))


def piece(random: Random) -> str:
    kind = random.randrange(8)
    if kind < 3:
        return random.choice(PROSE) + random.choice(["", " ", "\n", "\n\n"])
    if kind == 3:
        return random.choice(MARKERS)
    if kind == 4:
        return random.choice(AWKWARD) * random.choice([1, 1, 2, 7])
    if kind == 5:
        return "".join(chr(code_point(random)) for _ in range(random.randint(1, 6)))
    if kind == 6:
        return random.choice("aZ9 \n.é") * random.randint(1, 40)
    return word(random) + " "


def code_point(random: Random) -> int:
    """Any code point but the surrogates."""
    code = random.choice(
        [random.randrange(0x80), random.randrange(0x3000), random.randrange(0x110000)]
    )
    return code if not 0xD800 <= code < 0xE000 else 0xFFFD


def word(random: Random) -> str:
    return "".join(
        random.choice("abcdefgilmnorstuvwxyzABCé_-.1") for _ in range(random.randint(1, 9))
    )


def with_surrogates(random: Random) -> str:
    """A text with halves of surrogate pairs, whole pairs among them."""
    halves = "\ud800\ud83d\udbff\udc00\ude00\udfff"
    return "".join(
        random.choice(halves) if random.random() < 0.5 else piece(random)
        for _ in range(random.randint(1, 6))
    )
