"""Malformed outputs: well-formed conversations with one or more things wrong, each from a seed."""

from __future__ import annotations

from random import Random

from tables import table

from .streams import (
    CALL,
    CHANNEL,
    CONSTRAIN,
    END,
    MESSAGE,
    RETURN,
    START,
    Encode,
    Stream,
)

MARKERS = [START, END, MESSAGE, CHANNEL, CONSTRAIN, RETURN, CALL]
#: <|endoftext|> and a special token that means nothing.
OTHERS = [199999, 200013]
CHANNELS = ["analysis", "commentary", "final"]
HEADERS = table("oracle_malformed", "headers")
CONTENTS = table("oracle_malformed", "contents")
AUTHORS = table("oracle_malformed", "authors")
#: What is glued to a header's words, and put between messages.
JUNK = [
    "__X", "?", "?commentary?", "assistant", "final", " answer", " to=", " to=f", "json", " json",
    " I must", "{\"a\":1}", " ", "\n", "\u00a0", "<b", "<|channel", " assistant",
]  # fmt: skip

#: What headers with spelled markers are made of; those between `[` and `]` are spelled.
SPELLED_PARTS = [
    "[<|channel|>]", "[<|channel|>]", "[<|constrain|>]", "[<|constrain|>]", "<|channel|>", "<|channel|>",
    "<|constrain|>", "<|end|>", " ", " ", " ", "\n", "\x0b", "<", "a<b", "f", "x.y", "to=", "to=f",
    "json", "final", "Final", "user", "tool", "assistant", "functions.f",
]  # fmt: skip


def malformed(random: Random, encode: Encode) -> Stream:
    """A conversation with up to four things wrong."""
    role = random.choice(["assistant", "assistant", "assistant", None, "tool"])
    tokens = _conversation(random, encode, role)
    for _ in range(random.choice([0, 1, 1, 1, 2, 2, 3, 4])):
        _spoil(random, tokens, encode)
    return Stream(tokens, role)


def spelled(random: Random, encode: Encode) -> Stream:
    """A message in whose header ordinary tokens spell markers."""
    role = random.choice([None, None, "assistant", "tool"])
    tokens = [START] if role is None else []
    for part in random.choices(SPELLED_PARTS, k=random.randint(1, 7)):
        if part[0] == "[":
            tokens += encode(part[1:3]) + encode(part[3:-1])
        else:
            tokens += encode(part)
    return Stream([*tokens, MESSAGE, *encode("x"), END], role)


def _conversation(random: Random, encode: Encode, role: str | None) -> list[int]:
    tokens: list[int] = []
    for index in range(random.randint(1, 3)):
        if index > 0 or role is None:
            author = random.choice(AUTHORS[:5] if random.random() < 0.9 else AUTHORS)
            tokens += encode("<|start|>" + author)
        stop = random.choice([END, END, RETURN, CALL])
        tokens += encode(f"{random.choice(HEADERS)}<|message|>{random.choice(CONTENTS)}")
        tokens.append(stop)
    return tokens


def _spoil(random: Random, tokens: list[int], encode: Encode) -> None:
    """One change in place, most of them where there is structure."""
    if not tokens:
        return
    structure = [at for at, token in enumerate(tokens) if token >= 199998] or [0]
    at = random.choice(structure) if random.random() < 0.7 else random.randrange(len(tokens))
    at = min(len(tokens) - 1, max(0, at + random.choice([0, 0, 0, 1, -1])))
    kind = random.randrange(10)
    if kind == 0:
        del tokens[at]
    elif kind == 1:
        tokens.insert(at, tokens[at])
    elif kind == 2:
        other = random.choice(structure)
        tokens[at], tokens[other] = tokens[other], tokens[at]
    elif kind == 3:
        tokens.insert(at, random.choice(MARKERS + OTHERS if random.random() < 0.3 else MARKERS))
    elif kind == 4:
        tokens[at] = random.choice(MARKERS)
    elif kind == 5:
        del tokens[at:]
    elif kind == 6:
        length = random.randint(1, 6)
        tokens[at:at] = tokens[at : at + length]
    elif kind == 7:
        tokens[at:at] = encode(random.choice(HEADERS) + random.choice(["", "<|message|>"]))
    elif kind == 8:
        # Markers spelled, as in outputs whose special tokens were written as text.
        marker = random.choice(["<|channel|>", "<|message|>", "<|end|>", "<|constrain|>"])
        tokens[at:at] = encode(marker[:2]) + encode(marker[2:])
    else:
        tokens[at:at] = encode(random.choice(JUNK))
