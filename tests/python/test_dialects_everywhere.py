"""Every dialect of Rust is one of Python too: its module, the names in types, commands, fuzz targets, documents.

The dialects are read from Rust's table. What each of them does is tested elsewhere.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from openai_harmony import interop
from openai_harmony.cli import inputs
from openai_harmony.interop.error_body import Api
from openai_harmony.kinds import Form
from openai_harmony.show import forms

ROOT = Path(__file__).parents[2]
TABLE = re.search(
    r"^dialect::dialects! \{\n(.*?)^\}",
    (ROOT / "src/interop/mod.rs").read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)
assert TABLE is not None
DIALECTS = re.findall(r"^    \w+ = (\w+),$", TABLE[1], re.MULTILINE)


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_they_are_found() -> None:
    assert {"chat_completions", "ollama"} < set(DIALECTS)


def test_all_are_fuzzed() -> None:
    assert "for &dialect in Dialect::ALL {" in text("fuzz/fuzz_targets/read.rs")
    assert 'name = "read"' in text("fuzz/Cargo.toml")
    assert " read\n" in text("fuzz/run.sh")


def test_apis_of_errors() -> None:
    assert set(get_args(Api)) == set(DIALECTS)


@pytest.mark.parametrize("dialect", DIALECTS)
class TestEachDialect:
    def test_has_a_module(self, dialect: str) -> None:
        assert dialect in interop.__all__
        assert callable(getattr(interop, dialect).read)

    def test_is_recognized_by_the_commands(self, dialect: str) -> None:
        assert dialect in get_args(Form)
        assert dialect in inputs.APIS
        assert dialect in forms.READERS

    def test_is_in_the_reference(self, dialect: str) -> None:
        assert f"openai_harmony.interop.{dialect}.read\n" in text("docs/api/interop.md")

    def test_has_rows_of_fields(self, dialect: str) -> None:
        assert f"interop.{dialect}," in text("tests/python/test_interop_fields.py")

    def test_is_in_the_tests_of_options(self, dialect: str) -> None:
        assert f"({dialect}.read, " in text("tests/python/test_options_everywhere.py")
