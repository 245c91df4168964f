"""OpenAI's own tests of 0.0.8, where a checkout of its repository is at hand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

#: The folder of a checkout of github.com/openai/harmony, tag v0.0.8.
VARIABLE = "OPENAI_HARMONY_UPSTREAM"


def test_the_suite_of_0_0_8_passes(tmp_path: Path) -> None:
    suite = Path(os.environ.get(VARIABLE, ""), "tests", "test_harmony.py")
    if not suite.is_file():
        pytest.skip(f"{VARIABLE} names no checkout of github.com/openai/harmony, tag v0.0.8")
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-c", os.devnull]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(suite)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert ran.stdout.splitlines()[-1].startswith("42 passed"), ran.stdout + ran.stderr
