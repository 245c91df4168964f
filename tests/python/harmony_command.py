"""What a `harmony` command says, in this process."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from openai_harmony import cli


@dataclass
class Said:
    code: int
    out: str
    err: str


@pytest.fixture
def harmony(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    def run(*arguments: str, stdin: str | bytes | None = None) -> Said:
        if stdin is not None:
            raw = stdin.encode() if isinstance(stdin, str) else stdin
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(raw))))
        try:
            code = cli.main(arguments)
        except SystemExit as exited:
            code = int(exited.code or 0)
        return Said(code, *capsys.readouterr())

    return run
