"""Files of many inputs, a line each: one bad line, many notes, what is read another way than was said."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from harmony_command import Said
from openai_harmony import StreamableParser, load_harmony_encoding, training
from openai_harmony.cli.commands import COMMANDS
from openai_harmony.cli.flags import ROWS as FLAGS
from openai_harmony.interop import Turn, chat_completions
from openai_harmony.kinds import Form
from openai_harmony.show.forms import UnknownForm, recognize
from openai_harmony.training import write_dataset
from tables import table

ENCODING = load_harmony_encoding("HarmonyGptOss")
CHAT = {"messages": [{"role": "user", "content": "Hi"}]}
ROW = {"messages": [*CHAT["messages"], {"role": "assistant", "content": "Hello!"}]}
BAD = [
    '{"messages": [',
    '{"messages": 1}',
    '{"messages": [{"role": "nobody", "content": ""}]}',
    "x",
]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def lines(*texts: Any, name: str = "in") -> str:
        written = [text if isinstance(text, str) else json.dumps(text) for text in texts]
        Path(name).write_text("".join(f"{text}\n" for text in written), "utf-8")
        return name

    return lines


# A file that begins with plain text is one text.
@pytest.mark.parametrize(("at", "bad"), [(0, bad) for bad in BAD[:3]] + [(3, bad) for bad in BAD])
def test_a_bad_line_is_reported_and_the_others_counted(
    at: int, bad: str, write: Any, harmony: Any
) -> None:
    lines: list[Any] = [CHAT, CHAT, CHAT]
    lines.insert(at, bad)
    said = harmony("count", "--to", "json", write(*lines))
    assert said.code == 1
    assert len(said.out.splitlines()) == 3
    [line] = said.err.splitlines()
    assert line.startswith(f"harmony: error: in:{at + 1}: ")


def test_a_row_of_training_is_known(write: Any, harmony: Any) -> None:
    row = {"instruction": "Double it", "output": "4"}
    said = harmony("count", write(CHAT, row, CHAT))
    assert said.err.rstrip().endswith("'tokens'; training rows are read with --format chat")


def test_show_goes_on_after_a_bad_line(write: Any, harmony: Any) -> None:
    said = harmony("show", write(CHAT, BAD[1], CHAT))
    assert (said.code, said.out.count("prompt of chat_completions")) == (1, 2)
    assert said.err.startswith("harmony: error: in:2: Invalid request: messages: expected a list")


def test_a_line_that_cannot_be_rendered_is_a_bad_line(write: Any, harmony: Any) -> None:
    nameless = {"messages": [{"role": "tool", "content": "x", "channel": "commentary"}]}
    for command in ("count", "show"):
        said = harmony(command, write(CHAT, nameless, CHAT))
        assert said.code == 1
        assert said.err == "harmony: error: in:2: Tools should have a name! (in messages[0])\n"


def test_many_bad_lines_are_counted(write: Any, harmony: Any) -> None:
    said = harmony("count", "--total", write(CHAT, *BAD[1:2] * 50))
    lines = said.err.splitlines()
    assert (len(lines), lines[-1]) == (21, "harmony: error: 30 more bad lines")
    assert int(said.out) == len(chat_completions.read(CHAT).prompt(ENCODING))


def test_twenty_bad_lines_are_each_reported(write: Any, harmony: Any) -> None:
    said = harmony("count", write(*BAD[1:2] * 20))
    assert [
        line.startswith(f"harmony: error: in:{at}: ")
        for at, line in enumerate(said.err.splitlines(), 1)
    ] == [True] * 20


def test_a_new_file_has_the_rights_of_any_other(write: Any, harmony: Any) -> None:
    before = os.umask(0o027)
    try:
        assert harmony("count", "-o", "out", write(CHAT)).code == 0
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    if os.name == "posix":
        assert os.stat("out").st_mode & 0o777 == 0o640
    assert harmony("count", "--total", "--to", "json", "in").out == (
        f'{{"tokens": {len(chat_completions.read(CHAT).prompt(ENCODING))}}}\n'
    )


def test_what_cannot_be_written_leaves_no_file(
    write: Any, harmony: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = write(CHAT)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert harmony("count", "-o", "out", name).code == 1
    assert os.listdir() == ["in"]


def test_a_request_has_a_date_only_in_prompts(write: Any, harmony: Any) -> None:
    name = write(ROW)
    for ending, date in (("training", None), ("none", "today"), ("completion", "today")):
        turn = chat_completions.read(ROW, date=date)  # type: ignore[arg-type]
        ended: Any = {"ending": ending}
        shown = ENCODING.render_with_spans(turn.conversation, turn.config, **ended)
        said = harmony("render", "--ending", ending, name)
        assert said.out.split() == [str(token) for token in shown.tokens]


EXAMPLE = {"tokens": [12194, 12194], "loss_mask": [0, 1]}


@pytest.mark.parametrize(
    ("text", "form", "said"),
    [
        (json.dumps(EXAMPLE), None, "1 trained"),
        (json.dumps(EXAMPLE), "tokens", "1 trained"),
        (json.dumps(EXAMPLE), "plain", "tokens · "),
        (json.dumps({**EXAMPLE, "loss_mask": 1}), None, "tokens · 2 tokens"),
        ('[1, "labels"]', None, "tokens[1]: expected a token id, got str"),
    ],
)
def test_an_example_of_a_data_set_is_known_by_its_columns(
    text: str, form: str | None, said: str, write: Any, harmony: Any
) -> None:
    shown = harmony("show", *(["--as", form] if form else []), write(text))
    assert said in shown.out + shown.err
    assert ("trained" in shown.out) == ("trained" in said)


def test_two_examples_in_a_line_are_several_inputs(write: Any, harmony: Any) -> None:
    pair = {"prompt_ids": [200006, 1428], "chosen_ids": [12194], "rejected_ids": [13225]}
    said = harmony("diff", write(pair), "in")
    assert (said.code, "in: has several inputs in its line; expected a single one" in said.err) == (
        1,
        True,
    )


def test_one_value_on_many_lines_is_one_input(write: Any, harmony: Any) -> None:
    assert harmony("count", "--total", write(json.dumps(CHAT, indent=1))).code == 0
    inner = '{"role": "user", "content": "Hi"}'
    said = harmony("count", "--total", write('{"messages": [', inner, "]}"))
    assert (said.code, said.err) == (0, "")
    said = harmony("count", write("", '{"messages": [', "", inner + ",", "}"))
    assert "not JSON: line 5, column 1" in said.err


def test_notes_are_printed_once(write: Any, harmony: Any) -> None:
    noted = {"messages": [{**CHAT["messages"][0], "x": 1}] * 3, "frobnicate": 1, "tool": []}
    said = harmony("count", "--total", write(*[noted] * 100))
    assert said.err.splitlines() == [
        "in:1: note: messages[0].x: not used",
        "in:1: note: frobnicate: not used",
        "in:1: note: tool: not used; did you mean tools?",
        "note: 497 more like these",
    ]


@pytest.mark.parametrize(
    ("form", "text", "said"),
    table("command_lines", "another form than was said is an error"),
)
def test_another_form_than_was_said_is_an_error(
    form: str, text: str, said: str, write: Any, harmony: Any
) -> None:
    done = harmony("count", "--as", form, write(text))
    assert (done.code, f"error: {said}" in done.err) == (1, True), done.err


ALIKE: list[Any] = table("command_lines", "alike")


@pytest.mark.parametrize("value", ALIKE, ids=range(len(ALIKE)))
def test_text_and_bytes_are_read_alike(value: Any) -> None:
    text = json.dumps(value)
    for form in (None, *get_args(Form)):
        assert read_as(text, form) == read_as(text.encode(), form), form


def read_as(text: Any, form: Any) -> Any:
    """All that can be seen of what a text is recognized as, or why it is not."""
    try:
        found = recognize(text, form, date=None)
    except UnknownForm as error:
        return str(error)
    value = found.value
    return found.form, found.notes, value.prompt(ENCODING) if isinstance(value, Turn) else value


TOOLS = [{"type": "function", "function": {"name": "rain", "parameters": {"type": "object"}}}]
CALLING = table("command_lines", "calling")[0]
COUNTED: list[Any] = table("command_lines", "counted")


@pytest.mark.parametrize(
    "flags", [[], ["--ending", "none"], ["--header-style", "recipient_in_role"]]
)
@pytest.mark.parametrize("index", range(len(COUNTED)))
def test_counts_are_those_of_the_picture(
    index: int, flags: list[str], write: Any, harmony: Any
) -> None:
    """Which are made another way."""
    name = write(COUNTED[index])
    counts = json.loads(harmony("count", "--to", "json", *flags, name).out)
    picture = json.loads(harmony("show", "--to", "json", *flags, name).out)
    blocks = [block for block in picture["messages"] if "start" in block]
    assert [one["tokens"] for one in counts["messages"]] == [
        block["end"] - block["start"] for block in blocks
    ]
    total = harmony("count", "--total", *flags, name).out
    assert int(total) == counts["tokens"] == len(picture["tokens"])
    shown = harmony("show", *flags, name).out
    for one in counts["messages"]:
        assert f"● {one['heading']} · {one['tokens']} token" in shown


@pytest.mark.parametrize("output", ["out.parquet", "out.arrow", "out.bin", "out/"])
def test_outputs_of_data_sets_are_shown(output: str, write: Any, harmony: Any) -> None:
    pytest.importorskip("pyarrow")
    write_dataset([write(ROW, ROW, name="in.jsonl")], output, format="chat")
    said = harmony("show", output)
    assert (said.code, said.err) == (0, "")
    assert said.out.count(" 6 trained") == 2
    assert int(harmony("count", "--total", output).out) == 2 * len(
        training.render([ROW], format="chat").tokens
    )


def test_a_file_that_is_no_output_says_so(write: Any, harmony: Any, tmp_path: Path) -> None:
    Path("x.bin").write_bytes(b"12345678" * 9)
    Path("x.idx").write_bytes(b"12345678" * 9)
    for name, reason in (("x.bin", "x.idx is not an index"), (str(tmp_path), "x.idx is not an")):
        said = harmony("show", name)
        assert (said.code, reason in said.err, len(said.err.splitlines())) == (1, True, 1)


@pytest.mark.parametrize("columns", ["trl", "torchtune", "flat"])
def test_examples_of_a_batch_are_shown(columns: Any, write: Any, harmony: Any) -> None:
    pytest.importorskip("pyarrow")
    batch = training.render([ROW], format="chat")
    [row] = batch.to_arrow(columns=columns).to_pylist()
    name = write(row)
    assert " 6 trained" in harmony("show", name).out
    example = batch[0]
    own = {"tokens": list(example.tokens), "loss_mask": list(example.loss_mask)}
    assert harmony("show", write(own)).out.count(" 6 trained") == 1


def test_rows_of_preferences_are_two_examples(write: Any, harmony: Any) -> None:
    row = {"prompt_ids": [200006, 1428], "chosen_ids": [12194], "rejected_ids": [13225]}
    said = harmony("count", "--to", "json", write(row, row))
    assert [json.loads(line)["tokens"] for line in said.out.splitlines()] == [3, 3, 3, 3]


ROWS: dict[str, list[Any]] = dict(table("command_lines", "rows"))
"""Good rows and bad ones of each format."""


@pytest.mark.parametrize("more", [[], ["--examples", "turns"]])
@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json", "rows.jsonl.gz", "-"])
@pytest.mark.parametrize("form", (FLAGS["format"].value or {})["choices"])
def test_rows_are_shown_and_counted_as_they_are_trained(
    form: Any,
    name: str,
    more: list[str],
    write: Any,
    harmony: Any,
) -> None:
    if more and form == "preference":
        pytest.skip("preferences have one example for each answer")
    rows = ROWS[form]
    if name == "rows.json":
        Path(name).write_text(json.dumps(rows), "utf-8")
    else:
        write(*rows, name="rows.jsonl")
        raw = Path("rows.jsonl").read_bytes()
        Path("rows.jsonl.gz").write_bytes(gzip.compress(raw))
    batch = training.render(rows, format=form, **{"examples": "turns"} if more else {})
    assert batch.errors
    assert len(batch)
    arguments = ("--to", "json", "--format", form, *more, name)

    def said(*command: str) -> Said:
        return harmony(*command, stdin=raw if name == "-" else None)  # type: ignore[no-any-return]

    shown = said("show", "--mask", *arguments)
    pictures = [json.loads(line) for line in shown.out.splitlines()]
    assert [(one["tokens"], one["mask"]) for one in pictures] == [
        (list(example.tokens), list(example.loss_mask)) for example in batch
    ]
    where = "standard input" if name == "-" else name
    assert shown.code == 1
    assert [line.partition(": Invalid")[0] for line in shown.err.splitlines()] == [
        f"harmony: error: {where}:{row + 1}" + (f": {error}" if "Invalid" not in str(error) else "")
        for row, error in batch.errors
    ]
    counted = said("count", *arguments)
    counts = [json.loads(line)["tokens"] for line in counted.out.splitlines()]
    assert counts == [len(example.tokens) for example in batch]
    total = said("count", "--total", *arguments[2:])
    assert (int(total.out), total.err) == (len(batch.tokens), shown.err)


def test_rows_go_by_the_flags_of_data_sets(write: Any, harmony: Any) -> None:
    write({"ask": "2 + 2?", "reply": "Four."}, name="rows.jsonl")
    flags = ["--map", "prompt=ask", "--map", "completion=reply", "--date", "2026-01-31"]
    flags += ["--identity", "You are Pat.", "--reasoning-effort", "high", "--no-stop-tokens"]
    said = harmony("show", "--format", "chat", *flags, "rows.jsonl")
    assert (said.code, said.err) == (0, "")
    for text in ("You are Pat.", "Current date: 2026-01-31", "Reasoning: high", "Four.»<|return|>"):
        assert text in said.out
    # Each example of several has a name, and the two of a pair are known.
    write({"prompt": "2 + 2?", "chosen": "4.", "rejected": "5."}, name="pairs.jsonl")
    said = harmony("count", "--format", "preference", "pairs.jsonl")
    assert [line.split("  ")[-1] for line in said.out.splitlines() if "pairs" in line] == [
        "pairs.jsonl:1 chosen",
        "pairs.jsonl:1 rejected",
    ]
    long = {"messages": [*ROW["messages"], *ROW["messages"]]}
    said = harmony("count", "--format", "chat", "--examples", "turns", write(long, name="x.jsonl"))
    assert "x.jsonl:1 example 2" in said.out
    counts = [line.split()[0] for line in said.out.splitlines()]
    rendered = training.render([long], format="chat", examples="turns")
    spans = [[span.end - span.start for span in example.spans] for example in rendered]
    assert counts == [str(n) for sizes in spans for n in (*sizes, sum(sizes))]
    assert said.out.splitlines()[0].endswith("  0 system")


def test_rows_of_parquet(write: Any, harmony: Any) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"said": [ROW["messages"]] * 2}), write(name="rows.parquet"))
    said = harmony("show", "--format", "chat", "--map", "messages=said", "rows.parquet")
    assert (said.code, said.out.count(" 6 trained")) == (0, 2)


def test_what_of_rows_is_not_used_is_noted_once(write: Any, harmony: Any) -> None:
    row = {"messages": [{**CHAT["messages"][0], "x": 1}, ROW["messages"][1]]}
    said = harmony("count", "--format", "chat", write(row, row, name="rows.jsonl"))
    assert (said.code, said.err) == (0, "rows.jsonl: note: messages[].x\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    table("command_lines", "flags of rows that make no sense"),
)
def test_flags_of_rows_that_make_no_sense(
    arguments: list[str], said: str, write: Any, harmony: Any
) -> None:
    found = harmony(*arguments, write(ROW, name="in.jsonl"))
    assert (found.code in (1, 2), found.out, said in found.err) == (True, "", True)


def test_a_row_of_another_format_names_the_flag(write: Any, harmony: Any) -> None:
    name = write(
        {"messages": [{"role": "assistant", "content": "Hi", "thinking": ""}]}, name="x.jsonl"
    )
    for command in (["count", "--format", "harmony", name], ["dataset", name, "out.parquet"]):
        said = harmony(*command)
        assert (said.code, "for chat messages use --format chat" in said.err) == (1, True)
    pair = write({"prompt": "x", "chosen": "y", "rejected": "z"}, name="pair.jsonl")
    assert "use --format preference" in harmony("show", "--format", "chat", pair).err
    assert (
        "name the columns with --map"
        in harmony("show", "--format", "chat", write({"x": 1}, name="y.jsonl")).err
    )


def test_saved_replies_and_parsers_are_shown(write: Any, harmony: Any) -> None:
    sampled = ENCODING.encode("<|channel|>final<|message|>Four.", allowed_special="all")
    reply = chat_completions.read(CHAT).reply(ENCODING, model="gpt-oss-20b")
    reply.feed(sampled)
    parser = StreamableParser(ENCODING, "assistant")
    parser.feed(sampled)
    for saved in (reply.to_bytes(), parser.to_bytes()):
        said = harmony("show", write(saved.decode()))
        assert (said.code, said.err) == (0, "")
        assert "assistant · final" in said.out


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["serve", "--engin", "vllm=http://127.0.0.1:1"], "--engine"),
        (["serve", "--engien", "vllm=http://127.0.0.1:1"], "--engine"),
        (["serve", "--prot", "1"], "--port"),
        (["cuont", "x"], "count"),
        (["count", "--totl", "x"], "--total"),
    ],
)
def test_a_misspelt_flag_names_the_one_that_is_meant(
    arguments: list[str], meant: str, harmony: Any
) -> None:
    said = harmony(*arguments)
    assert said.code == 2
    assert f"did you mean {meant}?" in said.err


def test_a_misspelt_setting_names_the_one_that_is_meant(write: Any, harmony: Any) -> None:
    said = harmony("serve", "--check", "--config", write('engin = "none"', name="serve.toml"))
    assert said.code == 2
    assert "did you mean engine?" in said.err


HEAVY = {"pydantic", "importlib.metadata", "numpy", "pyarrow", "rich", "ssl", "asyncio"}
"""What takes longer to import than all that a help text needs."""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ([], "usage:"),
        (["--help"], "usage:"),
        # The settings of `serve` are a model, from which its flags are made.
        *(([command, "--help"], "usage:") for command in sorted(COMMANDS) if command != "serve"),
        *(("harmony " + words, None) for words in ("", "co", "count --", "dataset --overflow ")),
    ],
)
def test_help_and_completion_import_no_models(
    line: list[str] | str, said: str | None, tmp_path: Path
) -> None:
    """They take most of the time of `--help`, and of each tab in a shell."""
    out = tmp_path / "completed"
    env = {**os.environ}
    if isinstance(line, str):
        # How argcomplete's script asks; without a file it writes to descriptor 8.
        env |= {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line))}
        env |= {"_ARGCOMPLETE_STDOUT_FILENAME": str(out), "_ARGCOMPLETE_IFS": "\n"}
    code = (
        "import atexit, sys, openai_harmony.cli as cli\n"
        "import os\n"
        "def report(): print(*sorted(set(sys.modules)), sep='\\n', file=sys.stderr)\n"
        "ends = os._exit\n"
        "os._exit = lambda code: (report(), sys.stderr.flush(), ends(code))\n"
        "atexit.register(report)\n"
        f"cli.main({line if isinstance(line, list) else []!r})\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    loaded = set(done.stderr.splitlines())
    assert "openai_harmony.cli.run" in loaded
    assert loaded & HEAVY == set()
    assert (said in done.stdout) if said else out.read_text().strip()
