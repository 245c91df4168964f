"""No document tells people to install a name from an index that is not this project's there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tables import table

ROOT = Path(__file__).parents[2]
INSTALLS = re.compile(r"(?:pip|pipx|uv|uvx|cargo)\b[^`\n]*?\b(?:install|add)\b([^`\n]*)")
ORIGINAL = "openai-harmony==0.0.8"
"""The published package is installed on purpose, and by its version, to compare with it or to go back to it."""


def unsafe(text: str, name: str, state: str) -> list[str]:
    """The names of this project that commands in the text take from an index."""
    found = []
    for arguments in INSTALLS.findall(text):
        words = re.findall(r"[^\s'\"]+", arguments.replace(ORIGINAL, "").split("&&")[0])
        names = [re.split(r"[\[<>=~!@;]", word)[0] for word in words]
        found += [one for one in names if one == "openai-harmony" or one == name]
    return [one for one in found if not (one == name and state == "registered")]


def documents() -> list[Path]:
    """What people read: text that is committed, without tests and changes that name commands of old."""
    listed = subprocess.run(
        ["git", "ls-files", "*.md", "*.yml", "*.yaml", "*.ipynb", "*.toml", "examples", ".github"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    return [ROOT / one for one in listed if not one.startswith("tests/")]


def test_documents_install_no_name_that_is_not_registered() -> None:
    name, _, state = (ROOT / ".ci/distribution").read_text("utf-8").split()
    files = documents()
    assert ROOT / "README.md" in files
    wrong = {
        str(path): hits
        for path in files
        if path.exists() and (hits := unsafe(path.read_text("utf-8", "replace"), name, state))
    }
    assert not wrong


@pytest.mark.parametrize(
    ("text", "state", "expected"),
    table("names", "what counts as such a command"),
)
def test_what_counts_as_such_a_command(text: str, state: str, expected: list[str]) -> None:
    assert unsafe(text, "ours", state) == expected
