"""The wheel as it is published, beside the package whose module it has: what docs/compatibility.md says of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = os.environ.get("PACKAGE")
pytestmark = pytest.mark.skipif(not FOLDER, reason="make package builds the wheel")

WHOSE = "import openai_harmony as h; print(getattr(h, '__version__', 'original'))"


class Environment:
    """A virtual environment of its own."""

    def __init__(self, folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        self.python = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")

    def pip(self, *arguments: str) -> str:
        quiet = ["-m", "pip", "--disable-pip-version-check", "--quiet"]
        return self.run(*quiet, *arguments)

    def run(self, *arguments: str) -> str:
        done = subprocess.run([self.python, *arguments], capture_output=True, text=True)
        if "No matching distribution" in done.stderr:
            pytest.skip(f"no package index: {done.stderr.splitlines()[-1]}")
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def fails(self, code: str) -> bool:
        return subprocess.run([self.python, "-c", code], capture_output=True).returncode != 0


@pytest.fixture
def wheel() -> str:
    [path] = Path(str(FOLDER)).glob("*.whl")
    return str(path)


def test_alone(tmp_path: Path, wheel: str) -> None:
    own = Environment(tmp_path / "own")
    own.pip("install", wheel)
    assert own.run("-c", WHOSE).startswith("0.0.8")
    assert "show" in own.run("-m", "openai_harmony")
    # What to install for an extra is this package, not the one that has its module's name.
    name = Path(wheel).name.split("-")[0].replace("_", "-")
    assert own.run("-c", "from openai_harmony import _extras as e; print(e.DISTRIBUTION)") == name
    own.pip("uninstall", "-y", Path(wheel).name.split("-")[0])
    assert own.fails("import openai_harmony")


def test_the_one_installed_last_is_imported(tmp_path: Path, wheel: str) -> None:
    both = Environment(tmp_path / "both")
    both.pip("install", "openai-harmony==0.0.8")
    assert both.run("-c", WHOSE) == "original"
    both.pip("install", wheel)
    assert both.run("-c", WHOSE).startswith("0.0.8")
    # Uninstalling the other takes files of the same name with it, and installing again mends it.
    both.pip("uninstall", "-y", "openai-harmony")
    assert both.fails("from openai_harmony import load_harmony_encoding")
    both.pip("install", "--force-reinstall", "--no-deps", wheel)
    assert both.run("-c", WHOSE).startswith("0.0.8")


def test_a_pin_keeps_the_original_where_others_require_it(tmp_path: Path, wheel: str) -> None:
    both = Environment(tmp_path / "pinned")
    both.pip("install", "openai-harmony==0.0.8")
    both.pip("install", wheel)
    # What requires the original finds it installed, so that nothing is written over.
    both.pip("install", "openai-harmony>=0.0.3")
    assert both.run("-c", WHOSE).startswith("0.0.8")
