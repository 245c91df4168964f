"""Pictures are drawn as `tests/pictures` has them; `drawn.py` writes what is there anew."""

from __future__ import annotations

import pytest

pytest.importorskip("rich")

from drawn import ALL, FOLDER


@pytest.mark.parametrize("name", ALL)
def test_a_picture_is_drawn_as_it_was(name: str) -> None:
    assert ALL[name]() == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def test_each_file_is_of_a_case() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(ALL)
