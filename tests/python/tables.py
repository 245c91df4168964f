"""The tables of tables/: a row of a test is a line of JSON, below the test's name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_suffix("")


def table(file: str, name: str) -> list[Any]:
    """The rows of a table. Lines that begin with # say something about the next one."""
    tables = {
        title.strip(): lines.splitlines()
        for section in (FOLDER / f"{file}.txt").read_text("utf-8").split("\n## ")[1:]
        for title, _, lines in [section.partition("\n")]
    }
    return [json.loads(line) for line in tables[name] if line and line[0] != "#"]
