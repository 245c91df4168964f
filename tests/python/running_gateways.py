"""`harmony serve` in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def command(*options: str, log: Path | None = None) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The running command, and its address from the line that it prints.

    Its log goes to a file: nobody would read a pipe, which stops the server once it is full.
    """
    line = [sys.executable, "-m", "openai_harmony", "serve", "--port", "0", *options]
    with (
        open(log or os.devnull, "w", encoding="utf-8") as errors,
        subprocess.Popen(line, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        assert process.stdout is not None
        try:
            found = process.stdout.readline()
            assert found.startswith("harmony serve: http://127.0.0.1:"), found
            assert process.stdout.readline().startswith("try it: curl http://127.0.0.1:")
            url = found.split()[2]
            deadline = time.monotonic() + 60
            while not is_up(url):
                assert process.poll() is None, "the server ended"
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield url, process
        finally:
            if process.poll() is None:
                process.kill()


def is_up(url: str) -> bool:
    try:
        return bool(urllib.request.urlopen(f"{url}/health", timeout=5).status == 200)
    except OSError:  # refused, broken off or too slow
        return False
