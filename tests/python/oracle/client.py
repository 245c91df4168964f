"""Starts the oracle's process and asks it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

INTERPRETER = "OPENAI_HARMONY_ORACLE_PYTHON"
VOCABULARY = "TIKTOKEN_ENCODINGS_BASE"
#: Why the Makefile could not install the oracle.
MISSING = "OPENAI_HARMONY_ORACLE_MISSING"


class Oracle:
    """openai-harmony 0.0.8 in a process of its own; asked like `operations.Session`."""

    def __init__(self, interpreter: str) -> None:
        # Only the server's own folder on the path: this project's module must not be found.
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        self._process = subprocess.Popen(
            [interpreter, "-m", "oracle.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=Path(__file__).parents[1],
            text=True,
        )

    def ask(self, operation: str, *arguments: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([operation, *arguments]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the oracle died, asked for {operation} of {arguments}")
        return json.loads(answer)

    def close(self) -> None:
        # Its loop ends with its input.
        self._process.communicate(timeout=30)


def reason_to_skip() -> str | None:
    """Why there is no oracle here, or None."""
    interpreter = os.environ.get(INTERPRETER)
    if not interpreter:
        why = os.environ.get(MISSING) or f"{INTERPRETER} names no interpreter that has it"
        return f"no oracle, openai-harmony 0.0.8: {why}"
    if not Path(os.environ.get(VOCABULARY, ""), "o200k_base.tiktoken").is_file():
        return f"no oracle: {VOCABULARY} names no folder with o200k_base.tiktoken"
    probe = "from importlib.metadata import version; print(version('openai-harmony'))"
    found = subprocess.run([interpreter, "-c", probe], capture_output=True, text=True, check=False)
    if found.stdout.strip() != "0.0.8":
        said = found.stdout.strip() or found.stderr.strip()
        return f"no oracle: {interpreter} has no openai-harmony 0.0.8: {said[-200:]}"
    return None
