"""PostgreSQL for tests."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def postgresql() -> Iterator[tuple[str, int]]:
    """The address and the process of a server, if Debian's package is there."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if not found:
        pytest.skip("PostgreSQL is not installed (Debian: apt install postgresql)")
    folder = Path("/tmp") / f"harmony-postgresql-{os.getpid()}"
    programs, data = found[-1].parent, folder / "data"
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    run = {"check": True, "capture_output": True}
    options = f"-p {port} -h 127.0.0.1 -k {folder}"
    initdb = [f"{programs}/initdb", "-D", str(data), "-A", "trust", "-U", "postgres"]
    start = [f"{programs}/pg_ctl", "-D", str(data), "-w", "-o", options, "-l", f"{folder}/log"]
    subprocess.run([*as_user, *initdb], **run)  # type: ignore[call-overload]
    subprocess.run([*as_user, *start, "start"], **run)  # type: ignore[call-overload]
    try:
        process = int((data / "postmaster.pid").read_text().split()[0])
        yield f"postgresql+psycopg://postgres@127.0.0.1:{port}/postgres", process
    finally:
        stop = [f"{programs}/pg_ctl", "-D", str(data), "-m", "immediate", "stop"]
        subprocess.run([*as_user, *stop], **run)  # type: ignore[call-overload]
        shutil.rmtree(folder)
