"""The colours of pictures: any text in them can be read, in the light scheme and in the dark one."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

import openai_harmony

Colour = tuple[float, ...]

CSS = files(openai_harmony).joinpath("show/style.css").read_text(encoding="utf-8")
LEAST = 4.5
"""Of WCAG 2, for text of this size."""


def named(name: str, scheme: int) -> list[Colour]:
    found = re.findall(rf"--{name}: light-dark\(#(\w{{6}}), #(\w{{6}})\)", CSS)
    assert found
    return [tuple(bytes.fromhex(pair[scheme])) for pair in found]


def share(selector: str) -> float:
    """How much of its hue a background has, or its opacity."""
    [number] = re.findall(
        rf"{re.escape(selector)} {{[^}}]*?(?:--hue(?:, #888)?\) |opacity: \.)(\d+)", CSS
    )
    return int(number) / 100


def mixed(over: Colour, under: Colour, part: float) -> Colour:
    return tuple(one * part + other * (1 - part) for one, other in zip(over, under))


def light(colour: Colour) -> float:
    parts = [one / 255 for one in colour]
    red, green, blue = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Colour, other: Colour) -> float:
    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1])
def test_contrast(scheme: int) -> None:
    [paper], [text] = named("paper", scheme), named("text", scheme)
    [faint], [alarm] = named("faint", scheme), named("alarm", scheme)
    for hue in [*named("hue", scheme), alarm]:
        card = mixed(hue, paper, share(".harmony-show details.message"))
        token = mixed(hue, card, share(".harmony-show i.t:nth-child(odd)"))
        left = share(".harmony-show .dropped")
        dropped = [mixed(colour, paper, left) for colour in (text, token)]
        for what, pair in {
            "content": (text, token),
            "dropped content": (dropped[0], dropped[1]),
            "what is repaired": (alarm, token),
            "special tokens": (faint, card),
            "names": (hue, card),
        }.items():
            assert contrast(*pair) >= LEAST, (what, hue)
