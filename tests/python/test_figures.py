"""Figures of the documents come from the results of the benchmarks, all of them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benches"))

import figures  # noqa: E402
import results  # noqa: E402

FIGURES = figures.Figures(results.read())
WRITTEN = "make figures writes the figures from benches/results.json"
BY_HAND = re.compile(
    r"\d[\d,.]*\s?(?:×|µs\b|ms\b|ns\b|KiB\b)|\d times (?:faster|less|more)|\d a second"
)


def by_hand(text: str) -> list[str]:
    return BY_HAND.findall(figures.MARKED.sub("", text))


@pytest.mark.parametrize("name", figures.DOCUMENTS)
def test_documents_have_the_measured_figures(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert figures.MARKED.search(text), name
    assert figures.rendered(text, FIGURES) == text, WRITTEN
    changed = figures.MARKED.sub(lambda mark: mark[0].replace(mark[3], "9,999×"), text, count=1)
    assert figures.rendered(changed, FIGURES) == text
    # At the beginning of a line, a comment makes the whole line HTML.
    inline = [one for one in figures.MARKED.finditer(text) if "\n" not in one[3]]
    assert [one[0] for one in inline if text[one.start() - 1] == "\n"] == []


def test_the_picture_has_them() -> None:
    assert (ROOT / figures.PICTURE).read_text(encoding="utf-8") == FIGURES.picture(), WRITTEN


@pytest.mark.parametrize("name", ["README.md", "docs/performance.md", "benches/README.md"])
def test_no_figure_is_written_by_hand(name: str) -> None:
    assert by_hand((ROOT / name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("text", ["53× faster", "in 20 µs", "1.5 ms", "10 times less", "31 KiB"])
def test_a_figure_by_hand_is_found(text: str) -> None:
    assert by_hand(f"It is {text}.")


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(1.99, "1.9×"), (9.99, "9.9×"), (19.9, "19×"), (8387.9, "8,387×"), (0.979, "0.97×")],
)
def test_ratios_are_rounded_down(ratio: float, text: str) -> None:
    assert figures.times(ratio) == text


def test_each_part_says_when_and_with_what_it_was_measured() -> None:
    for part, measured in results.read().items():
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", measured["date"]), part
        assert measured["machine"]
        assert {"Python", "openai-harmony"} <= measured["packages"].keys()
