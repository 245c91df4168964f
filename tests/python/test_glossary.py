"""glossary.md is followed by the names of the public API, in Python and in Rust."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

import pytest

import public_names
from public_names import ROOT, Name, words

HOSTS = ("python/openai_harmony/adapters/", "python/openai_harmony/training/megatron.py")
"""Names there are those of the packages that load them."""

PYTHON = [name for name in public_names.of_python() if not name.where.startswith(HOSTS)]
RUST = public_names.of_rust()
ALL = [*PYTHON, *RUST]

TWICE = {
    "RenderRows": "the same for Hugging Face's datasets and for Ray Data",
    "StreamableParser": "the extension's, which the package's derives from",
    "Tool": "in Rust also the view through which any form of a tool is rendered",
}
"""Names of two types, with the reason."""

SEVERAL = {"strict": "where several schemas can be held strictly, the option names them"}
"""Options that have several types, with the reason."""


class Row(NamedTuple):
    word: str
    other: list[str]
    kept: list[str]


def rows() -> list[Row]:
    text = (ROOT / "tests/python/glossary.md").read_text(encoding="utf-8")
    table = text.split("## Which word means what?\n")[1].split("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| `")]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    quoted = re.compile(r"`([^`]+)`")
    return [
        Row(word, quoted.findall(other), quoted.findall(kept))
        for first, _meaning, other, kept in cells
        for word in quoted.findall(first)[:1]
    ]


ROWS = rows()


def shown(name: Name) -> set[str]:
    """A name and its parameters."""
    return {name.last, *name.parameters}


def has(name: str, wanted: str) -> bool:
    """Whether the words of a name contain those of another, in a row."""
    return f"_{'_'.join(words(wanted))}_" in f"_{'_'.join(words(name))}_"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.word)
def test_a_word_is_in_use_and_no_other_stands_for_it(row: Row) -> None:
    used = {one for name in ALL for one in shown(name)}
    assert any(has(one, row.word) for one in used)
    others = {one for one in used for other in row.other if has(one, other)}
    assert others == set(row.kept)


def test_a_name_of_a_type_is_of_one_type() -> None:
    found: set[str] = set()
    for names in (PYTHON, RUST):
        places: dict[str, set[str]] = defaultdict(set)
        for name in names:
            if name.text[0].isupper() and "." not in name.text:
                places[name.text].add(name.where)
        twice = {name: where for name, where in places.items() if len(where) > 1}
        found |= set(twice)
    assert found == set(TWICE)


def test_options_of_one_name_have_one_type() -> None:
    structs = re.compile(r"^    pub struct (\w+) \{\n(.*?)^    \}", re.MULTILINE | re.DOTALL)
    kinds: dict[str, dict[str, str]] = defaultdict(dict)
    for file in (ROOT / "src").rglob("*.rs"):
        text = file.read_text(encoding="utf-8")
        for block in re.findall(r"^options! \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
            for struct, fields in structs.findall(block):
                for field, kind in re.findall(r"^ +pub (\w+): (.+?)(?: =.*|,)?$", fields, re.M):
                    kinds[field][struct] = re.sub(r"^Option<(.*)>$", r"\1", kind)
    several = {name: found for name, found in kinds.items() if len(set(found.values())) > 1}
    assert set(several) == set(SEVERAL), several


def test_arguments_have_one_order() -> None:
    python = {name.text: name for name in PYTHON if len(name.parameters) > 1}
    compared, wrong = 0, {}
    for rust in RUST:
        name = python.get(rust.text)
        if name is not None:
            compared += 1
            ours = [one for one in name.parameters if one in rust.parameters]
            theirs = [one for one in rust.parameters if one in name.parameters]
            if ours != theirs:
                wrong[rust.text] = (ours, theirs)
    assert compared > 10
    assert wrong == {}
