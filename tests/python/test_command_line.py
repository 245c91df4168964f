"""`python -m openai_harmony`."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from openai_harmony import __main__, vocabulary


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "openai_harmony", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_writes_the_vocabulary(tmp_path: Path) -> None:
    done = run("vocabulary", str(tmp_path))
    written = tmp_path / "o200k_base.tiktoken"
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{written}\n", "")
    assert hashlib.sha256(written.read_bytes()).hexdigest() == vocabulary.SHA256
    assert list(tmp_path.iterdir()) == [written]
    assert written.stat().st_mode & 0o777 == 0o644


def test_replaces_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / vocabulary.FILE_NAME
    target.write_text("old")
    assert vocabulary.write_vocabulary(tmp_path) == target
    assert target.stat().st_size > 3_000_000


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["vocabulary", "{folder}/none"], 1, "no such directory: {folder}/none"),
        (["vocabulary", "{folder}/file"], 1, "not a directory: {folder}/file"),
        (["vocabulary", "{folder}/file/x"], 1, "no such directory: {folder}/file/x"),
        (["vocabulary", ""], 1, "no directory is named"),
        (["vocabulary"], 2, "the following arguments are required: DIR"),
        (["vocab"], 2, "invalid choice: 'vocab'"),
        ([], 2, "the following arguments are required: COMMAND"),
    ],
)
def test_bad_usage_is_an_error_of_one_line(
    arguments: list[str],
    code: int,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").touch()
    folder = str(tmp_path)
    given = [argument.format(folder=folder) for argument in arguments]
    with pytest.raises(SystemExit) as exited:
        sys.exit(__main__.main(given))
    assert exited.value.code == code
    last_line = capsys.readouterr().err.splitlines()[-1]
    assert "error: " in last_line
    assert said.format(folder=folder) in last_line


def test_a_corrupt_vocabulary_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(vocabulary, "SHA256", "0" * 64)
    assert __main__.main(["vocabulary", str(tmp_path)]) == 1
    assert "checksum is wrong" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_behind_by_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(vocabulary.os, "replace", refuse)
    with pytest.raises(OSError, match="disk is full"):
        vocabulary.write_vocabulary(tmp_path)
    assert list(tmp_path.iterdir()) == []
