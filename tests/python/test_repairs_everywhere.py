"""A kind of repair has a name in Python, a line that explains it, and a row in the guide: CONTRIBUTING.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from openai_harmony import RepairKind
from openai_harmony.show.reasons import REASONS

ROOT = Path(__file__).parents[2]


def of_rust() -> set[str]:
    source = (ROOT / "src/repair.rs").read_text("utf-8")
    [body] = re.findall(r"pub enum RepairKind \{\n(.*?)\n\}", source, re.DOTALL)
    variants = re.findall(r"^    ([A-Z]\w+)", body, re.MULTILINE)
    return {re.sub(r"(?<=.)(?=[A-Z])", "_", variant).lower() for variant in variants}


def of_the_guide() -> set[str]:
    guide = (ROOT / "docs/parsing.md").read_text("utf-8")
    return of_rust() & set(re.findall(r"`([a-z_]+)`", guide))


@pytest.mark.parametrize(
    ("file", "kinds"),
    [
        ("python/openai_harmony/kinds.py", set(get_args(RepairKind))),
        ("python/openai_harmony/show/reasons.py", set(REASONS)),
        ("docs/parsing.md", of_the_guide()),
    ],
)
def test_each_kind_is_there(file: str, kinds: set[str]) -> None:
    assert kinds == of_rust(), f"{file} differs from src/repair.rs"
