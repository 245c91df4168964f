"""`harmony` and `python -m openai_harmony`."""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import openai_harmony
from chats import chats
from fences import commands
from openai_harmony import cli, vocabulary
from openai_harmony.cli.commands import COMMANDS
from openai_harmony.training import render
from openai_harmony.training.dataset import progress, write_dataset
from tables import table

COMMAND = [sys.executable, "-m", "openai_harmony"]


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    options = {"capture_output": True, "text": True, "timeout": 120, **options}
    return subprocess.run([*COMMAND, *arguments], check=False, **options)


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
    table("command_line", "bad usage is an error of one line"),
)
def test_bad_usage_is_an_error_of_one_line(
    arguments: list[str],
    code: int,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "rows.jsonl").touch()
    folder = str(tmp_path)
    given = [argument.format(folder=folder) for argument in arguments]
    with pytest.raises(SystemExit) as exited:
        sys.exit(cli.main(given))
    assert exited.value.code == code
    [line] = capsys.readouterr().err.splitlines()
    assert "error: " in line
    assert said.format(folder=folder) in line


def test_only_the_module_of_the_command_is_imported() -> None:
    code = """
import sys
from openai_harmony import cli
code = cli.main(["vocabulary", "/no/such/folder"])
commands = set(cli.run.COMMANDS)
loaded = {name for name in commands if f"openai_harmony.cli.{name}" in sys.modules}
print(code, loaded, len(commands) > 1, "openai_harmony.training" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1 {'vocabulary'} True False\n"


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_each_command_has_its_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited:
        cli.main([command, "--help"])
    said = capsys.readouterr().out
    assert exited.value.code == 0
    assert f"harmony {command}" in said


def test_nothing_fails_because_nobody_reads_the_report(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run(
            "vocabulary", str(tmp_path), capture_output=False, stdout=writer, stderr=subprocess.PIPE
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "o200k_base.tiktoken").is_file()


def test_a_corrupt_vocabulary_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(vocabulary, "SHA256", "0" * 64)
    assert cli.main(["vocabulary", str(tmp_path)]) == 1
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


def test_the_console_script_is_the_same() -> None:
    [script] = [
        entry
        for entry in importlib.metadata.distribution("openai-harmony").entry_points
        if entry.name == "harmony"
    ]
    assert (script.group, script.load()) == ("console_scripts", cli.main)
    done = run("--version")
    assert done.stdout == f"openai-harmony {openai_harmony.__version__}\n"


pa = pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")
pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow has no wheel for this Python")


def write_rows(path: Path, count: int) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in chats(count)))
    return str(path)


def test_dataset(tmp_path: Path, harmony: Any) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 20)
    with open(rows, "a") as file:
        file.write('{"messages": []}\n')
    out = str(tmp_path / "out.parquet")
    done = harmony("dataset", rows, out, "--format", "chat")
    assert done.code == 1
    assert "error: 1 of 21 rows are bad, 1 % allowed: see " in done.err
    done = harmony("dataset", rows, out, "--format", "chat", "--max-errors", "5%")
    assert (done.code, done.err) == (0, "")
    said = dict(line.split("  ", 1) for line in done.out.splitlines() if line[0] != " ")
    said = {name: value.strip() for name, value in said.items()}
    assert (said["rows"], said["examples"], said["errors"]) == ("21", "20", "1")
    assert re.fullmatch(r"median \d+, 95 % \d+, longest \d+", said["length"])
    assert said["written"].startswith(f"{out}, ")
    assert said["errors in"] == f"{out}.errors.jsonl"
    assert re.search("\n  invalid_row +1\n  first +", done.out)
    assert len(pq.read_table(out)) == 20
    done = harmony("dataset", rows, out, "--format", "chat")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[-1].endswith(" nothing to do: this output was complete")


@pytest.mark.parametrize(
    ("columns", "row", "suffix"),
    table("command_line", "rows of an output are shown"),
)
def test_rows_of_an_output_are_shown(
    columns: Any, row: Any, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    form = "preference" if row else "chat"
    row = row or {"question": "Hi", "answer": "Ho"}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    out = tmp_path / f"out{suffix}"
    write_dataset([tmp_path / "rows.jsonl"], out, format=form, columns=columns)
    assert cli.main(["show", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "<|start|>assistant«<|channel|>final<|message|>Ho<|return|>»" in shown
    assert ("«<|channel|>final<|message|>No<|return|>»" in shown) == (columns == "dpo")


def test_other_tables_are_not_shown(tmp_path: Path, harmony: Any) -> None:
    pq.write_table(pa.table({"x": [1]}), tmp_path / "x.parquet")
    done = harmony("show", str(tmp_path / "x.parquet"))
    assert done.code == 1
    assert "x.parquet: has no columns of examples (known: input_ids, labels; " in done.err
    (tmp_path / "y.parquet").write_text("no")
    assert "y.parquet: cannot be read: " in harmony("show", str(tmp_path / "y.parquet")).err


def test_an_example_is_shown_as_it_is_written(tmp_path: Path, harmony: Any) -> None:
    """With the date that data sets have: none."""
    chat = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]}
    (tmp_path / "chat.json").write_text(json.dumps(chat))
    [example] = render([chat], format="chat")
    done = harmony("show", "--ending", "training", "--to", "json", str(tmp_path / "chat.json"))
    assert json.loads(done.out)["tokens"] == list(example.tokens)


def test_dataset_from_standard_input(tmp_path: Path, harmony: Any) -> None:
    rows = Path(write_rows(tmp_path / "rows.jsonl", 20)).read_text()
    out = tmp_path / "out"
    done = harmony("dataset", "-", str(out), "--format", "chat", stdin=rows)
    assert (done.code, done.err) == (0, "")
    assert len(pq.read_table(out / "part-00000.parquet")) == 20
    done = harmony("dataset", "-", str(out), "--format", "chat", stdin=rows)
    again = "standard input cannot be read again: start over with --restart"
    assert (done.code, done.err.strip().split("error: ")[-1]) == (1, again)
    done = harmony("dataset", "-", str(out), "--format", "chat", "--restart", stdin=rows)
    assert (done.code, len(pq.read_table(out / "part-00000.parquet"))) == (0, 20)
    for _ in range(2):
        done = harmony("dataset", "-", str(tmp_path / "other"), stdin="")
        assert (done.code, done.err[-13:]) == (1, "no rows in -\n")


def test_dataset_stops_at_bad_rows(tmp_path: Path, harmony: Any) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 3)
    with open(rows, "a") as file:
        file.write("{}\n{}\n")
    arguments = ["dataset", rows, str(tmp_path / "out"), "--format", "chat", "--max-errors"]
    done = harmony(*arguments, "1")
    assert done.code == 1
    assert "error: 2 bad rows, 1 is allowed: see " in done.err
    assert done.err.endswith(f"; kept: {tmp_path / 'out'}\n")
    assert "error: 2 of 5 rows are bad, 39.5 % allowed" in harmony(*arguments, "39.5%").err
    for wrong in ("x", "101%", "%", "1.5"):
        done = harmony(*arguments, wrong)
        assert done.code == 2
        assert f"expected a number, a share such as 1%, or none, got {wrong}" in done.err
    assert harmony(*arguments, "2").code == 0
    assert harmony(*arguments, "none").code == 0


def test_options_reach_the_rendering(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 4)

    def tokens(*options: str) -> str:
        out = tmp_path / str(len(list(tmp_path.iterdir())))
        assert cli.main(["dataset", rows, f"{out}/", "--format", "chat", *options]) == 0
        return str(
            [row for path in sorted(out.glob("part*")) for row in pq.read_table(path).to_pylist()]
        )

    default = tokens()
    changes = table("command_line", "options reach the rendering, changes")
    changed = [tokens(*change) for change in changes]
    assert len({default, *changed}) == len(changes) + 1
    same = [
        ["--threads", "1"],
        ["--batch-rows", "1"],
        ["--shard-tokens", "300"],
        ["--turns", "all"],
    ]
    same += [["--thoughts", "drop"], ["--no-validate"]]
    same += [["--header-style", "recipient_in_channel"], ["--tool-schema", "full"]]
    assert {tokens(*options) for options in same} == {default}


@pytest.mark.parametrize("kind", ["SIGKILL", "SIGINT"])
def test_a_process_that_ends_in_the_middle(kind: str, tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 4000)
    options = ["--format", "chat", "--shard-tokens", "10_000"]
    out = tmp_path / "out"
    running = subprocess.Popen(
        [*COMMAND, "dataset", rows, str(out), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not (out / "part-00002.parquet").exists() and time.monotonic() < deadline:
        time.sleep(0.001)
    running.send_signal(getattr(signal, kind))
    said = running.communicate(timeout=60)
    if kind == "SIGINT":
        assert (running.returncode, said[0]) == (130, "")
        assert said[1].endswith(
            f"The same command resumes; kept: {out}.\npython -m openai_harmony: interrupted\n"
        )
    else:
        assert running.returncode == -signal.SIGKILL
    assert not json.loads((out / "_report.json").read_text())["complete"]
    left = {path.name: path.stat().st_mtime_ns for path in out.glob("part-*.parquet")}
    whole = tmp_path / "whole"
    for written in (out, whole):
        assert cli.main(["dataset", rows, str(written), *options]) == 0
    names = {path.name for path in whole.iterdir()}
    assert {path.name for path in out.iterdir()} == names
    assert len(names) > 20
    for name in names:
        assert (out / name).read_bytes() == (whole / name).read_bytes()
    # The shards that the state knew were not written again.
    unchanged = [name for name, at in left.items() if (out / name).stat().st_mtime_ns == at]
    assert len(unchanged) >= len(left) - 1 > 0


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("with_rich", [True, False])
def test_progress_on_a_terminal(with_rich: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if with_rich:
        pytest.importorskip("rich", reason="rich has no wheel for this Python")
    else:
        monkeypatch.setitem(sys.modules, "rich", None)
    counts = progress.Counts(rows=1234, errors={"invalid_row": 2})
    for size in (2**21, None):
        terminal = Terminal()
        with progress.shown(size, terminal) as update:
            update(2**20, counts)
        assert ("1,234 rows, 2 bad" in terminal.getvalue()) == with_rich
        assert with_rich or terminal.getvalue() == ""


def test_no_progress_elsewhere() -> None:
    stream = io.StringIO()
    with progress.shown(10, stream) as update:
        update(5, progress.Counts())
    assert stream.getvalue() == ""


def test_a_missing_package_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 2)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert cli.main(["dataset", rows, str(tmp_path / "out"), "--format", "chat"]) == 1
    assert "pyarrow is missing: pip install 'openai-harmony[training]'" in capsys.readouterr().err
    # Megatron's files need nothing.
    assert cli.main(["dataset", rows, str(tmp_path / "out.bin"), "--format", "chat"]) == 0


def test_the_commands_of_the_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(tmp_path / "chats.jsonl", 2)
    monkeypatch.chdir(tmp_path)
    for line in commands():
        name, *arguments = shlex.split(line)
        assert name == "harmony"
        assert cli.main(arguments) == 0
        shown = capsys.readouterr().out.split()
        assert shown[:5] == ["rows", "2", "examples", "2", "tokens"]


def test_the_command_alone_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("usage: ")
    assert "dataset" in shown.out
    assert shown.err == ""


URL = "s3://bucket/made"


@pytest.mark.parametrize(
    "arguments",
    table("command_line", "no url becomes a folder"),
    ids=" ".join,
)
def test_no_url_becomes_a_folder(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text(json.dumps(chats(1)[0]) + "\n")
    with pytest.raises(SystemExit) as ended:
        sys.exit(cli.main(arguments))
    assert ended.value.code in (1, 2)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


def test_a_strict_error_names_the_flag(tmp_path: Path, harmony: Any) -> None:
    (tmp_path / "cut.txt").write_text("<|channel|>final")
    done = harmony("parse", "--strict", str(tmp_path / "cut.txt"))
    assert done.code == 1
    assert "lenient parsing, without --strict, reads what there is" in done.err
