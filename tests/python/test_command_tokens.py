"""`harmony show`, `render`, `parse`, `count`, `diff`, `completion`: what they read and write."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from openai_harmony import (
    Conversation,
    Message,
    RenderConversationConfig,
    SystemContent,
    ThoughtPolicy,
    load_harmony_encoding,
    show,
)
from openai_harmony.cli import sources
from openai_harmony.cli.commands import COMMANDS
from openai_harmony.interop import anthropic, chat_completions, ollama, responses
from openai_harmony.kinds import Form
from openai_harmony.show import forms, picture
from openai_harmony.show.forms import Recognized, UnknownForm, recognize
from tables import table

COMMAND = [sys.executable, "-m", "openai_harmony"]
ENCODING = load_harmony_encoding("HarmonyGptOss")
DATE = "2026-01-01"
CHAT = {"messages": [{"role": "user", "content": "Hi"}], "temperature": 0.5}
BODIES: dict[str, tuple[Any, dict[str, Any]]] = {
    "chat_completions": (chat_completions, CHAT),
    "responses": (responses, {"input": "Hi", "instructions": "Be brief."}),
    "anthropic": (
        anthropic,
        {"messages": CHAT["messages"], "max_tokens": 9, "system": "Be brief."},
    ),
    "ollama": (ollama, {"messages": CHAT["messages"], "options": {"num_predict": 3}}),
}
OWN = Conversation.from_messages(
    [
        Message.from_role_and_content("system", SystemContent.new()),
        Message.from_role_and_content("user", "2 + 2?"),
        Message.from_role_and_content("assistant", "A sum.").with_channel("analysis"),
        Message.from_role_and_content("assistant", "4.").with_channel("final"),
    ]
)
SAMPLED = "<|channel|>analysis<|message|>Sum.<|end|><|start|>assistant<|channel|>final 4.<|return|>"
TOKENS = ENCODING.encode(SAMPLED, allowed_special="all")


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes a file and returns its name."""
    monkeypatch.chdir(tmp_path)

    def write(text: Any, name: str = "in") -> str:
        if isinstance(text, Conversation):
            text = text.to_json()
        if not isinstance(text, (str, bytes)):
            text = json.dumps(text)
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    return write


ANSWERS = [
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary<|message|>I look."
    "<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>"
    '{"a":1}<|call|>',
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>4.<|return|>",
]


class TestForms:
    @pytest.mark.parametrize("dialect", list(BODIES))
    def test_the_requests_of_every_api(self, dialect: str, given: Any, harmony: Any) -> None:
        module, body = BODIES[dialect]
        prompt = module.read(body, date=DATE).prompt(ENCODING)
        said = harmony("render", given(body), "--date", DATE)
        assert (said.code, said.out) == (0, " ".join(map(str, prompt)) + "\n")
        assert f"prompt of {dialect}" in harmony("show", "in", "--date", DATE).out

    @pytest.mark.parametrize(
        ("text", "form"),
        [
            *table("command_tokens", "others"),
            (OWN.to_json(), "harmony"),
            (json.dumps(OWN.to_dict()["messages"]), "harmony"),
        ],
    )
    def test_others(self, text: str, form: str) -> None:
        found = recognize(text, date=DATE)
        assert found.form == form
        if form in ("tokens", "markers"):
            assert found.value == ([0] if text == "0" else TOKENS)
        if form == "stripped":
            assert found.value[-1].text == "4."
        assert form in get_args(Form)
        assert recognize(b"\xef\xbb\xbf" + text.encode(), date=DATE).form == form

    @pytest.mark.parametrize("is_streamed", [False, True])
    @pytest.mark.parametrize("dialect", list(BODIES))
    @pytest.mark.parametrize("said", ANSWERS)
    def test_the_answers_of_every_api(
        self, dialect: str, is_streamed: bool, said: str, given: Any, harmony: Any
    ) -> None:
        module, body = BODIES[dialect]
        thinking = {"thinking": {"type": "enabled", "budget_tokens": 2000}, "max_tokens": 4000}
        function = {"name": "f", "parameters": {"type": "object"}}
        tool: dict[str, Any] = {
            "responses": {"type": "function", **function},
            "anthropic": {"name": "f", "input_schema": {"type": "object"}},
        }.get(dialect, {"type": "function", "function": function})
        wanted = {"tools": [tool], **(thinking if dialect == "anthropic" else {})}
        turn = module.read({**body, **wanted, "stream": is_streamed}, date=DATE)
        reply = turn.reply(ENCODING, model="m")
        chunks = [*reply.feed(ENCODING.encode(said, allowed_special="all")), *reply.finish("stop")]
        whole = json.dumps(reply.response()).encode()
        log = b"".join(map(reply.frame, chunks)) if is_streamed else whole
        found = json.loads(harmony("parse", given(log)).out)
        assert [
            (one.get("channel"), one.get("recipient"), one["content"][0]["text"])
            for one in found["messages"]
        ] == [(one.channel, one.recipient, one.text) for one in reply.messages]
        assert harmony("render", given(log), "--to", "text").out == f"<|start|>assistant{said}\n"

    @pytest.mark.parametrize(
        ("text", "tokens"),
        table("command_tokens", "an engines token ids"),
    )
    def test_an_engines_token_ids(self, text: str, tokens: list[int]) -> None:
        assert recognize(text) == Recognized("tokens", tokens)

    def test_text_without_markers_is_not_parsed_strictly(self, given: Any, harmony: Any) -> None:
        said = harmony("parse", "--strict", given("analysisSum.assistantfinal4."))
        assert (said.code, "--strict needs token ids" in said.err) == (1, True)

    @pytest.mark.parametrize(
        ("text", "form", "said"),
        [
            ("<|start|>user", "tokens", "expected token ids: numbers"),
            ('"Hi"', "responses", "expected an object or a list"),
            ('{"a": 1}', "tokens", "expected a list of token ids, or an object with 'tokens'"),
            ("Hi\0", "plain", "binary data; expected JSON, token ids or text"),
        ],
    )
    def test_what_is_not_of_the_form_is_refused(self, text: str, form: Any, said: str) -> None:
        with pytest.raises(UnknownForm, match=f"^{said}"):
            recognize(text.encode(), form)

    def test_the_most_messages(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(forms, "MOST_MESSAGES", 2)
        assert recognize(json.dumps({"messages": CHAT["messages"] * 2})).form == "chat_completions"
        with pytest.raises(UnknownForm, match="^messages: 3 messages; the limit is 2; "):
            recognize(json.dumps({"messages": CHAT["messages"] * 3}))

    def test_each_unknown_field_is_noted_each_time(self) -> None:
        own = '{"messages": [{"role": "user", "content": "Hi", "channel": "final", "mood": 1}]}'
        assert [len(recognize(own).notes) for _ in range(2)] == [1, 1]

    def test_what_is_said_of_the_form_counts(self, given: Any, harmony: Any) -> None:
        said = harmony("render", "--as", "plain", given("200006 <|start|>"))
        assert said.out == " ".join(map(str, ENCODING.encode_ordinary("200006 <|start|>"))) + "\n"
        said = harmony("render", "--as", "anthropic", given(CHAT), "--date", DATE)
        assert said.out.split() == [
            str(token) for token in anthropic.read(CHAT, date=DATE).prompt(ENCODING)
        ]

    def test_what_is_left_out_is_noted(self, given: Any, harmony: Any) -> None:
        said = harmony("count", given({**CHAT, "frobnicate": 1}))
        assert (said.code, said.err) == (0, "in: note: frobnicate: not used\n")

    def test_standard_input_and_lines(self, harmony: Any) -> None:
        lines = f"{json.dumps(CHAT)}\n\n{OWN.to_json()}\n{TOKENS}\n"
        said = harmony("count", "--to", "json", stdin=lines)
        counts = [json.loads(line)["tokens"] for line in said.out.splitlines()]
        assert counts[2] == len(TOKENS)
        assert len(counts) == 3
        said = harmony("count", "--total", "-", stdin=lines)
        assert said.out == f"{sum(counts)}\n"
        bad = harmony("count", "-", stdin=lines + '{"messages": 1}\n')
        assert bad.code == 1
        assert "standard input:5: Invalid request: messages: expected a list" in bad.err


BAD: list[tuple[Any, str]] = [
    *table("command_tokens", "bad"),
    (b"\x00\x01\x02", "in: binary data; expected JSON, token ids or text"),
    (b"PAR1\xff\xfe", "in: byte 4 is not UTF-8"),
    ("[" * 99_999, "in: not JSON that can be read: nested too deeply"),
    ("5" * 9999, "in: tokens[0]: so large a number is not a token id"),
    ({"messages": [{}] * 100_001}, "in: messages: 100,001 messages; the limit is 100,000"),
]


@pytest.mark.parametrize("command", ["show", "render", "count", "parse"])
@pytest.mark.parametrize(("text", "said"), BAD, ids=range(len(BAD)))
def test_bad_input_is_one_line(
    command: str, text: Any, said: str, given: Any, harmony: Any
) -> None:
    done = harmony(command, given(text))
    assert (done.code, done.out) == (1, "")
    assert len(done.err.splitlines()) == 1
    assert said in done.err
    assert len(done.err) < 400


def test_no_files(harmony: Any, tmp_path: Path) -> None:
    none = tmp_path / "none"
    assert harmony("show", str(none)).err.endswith(f"error: {none}: No such file or directory\n")
    assert harmony("show", str(tmp_path)).err.endswith(
        "has no files of examples (.parquet, .arrow, .bin)\n"
    )
    missing = tmp_path / "none" / "out"
    done = harmony("render", "-o", str(missing), "-", stdin="1 2")
    assert (done.code, "no such folder: " in done.err) == (1, True)


def test_a_terminal_as_input(harmony: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(io.BytesIO()))
    done = harmony("show")
    assert done.code == 2
    assert "no FILE, and standard input is a terminal" in done.err


def test_too_long(given: Any, harmony: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MOST_BYTES", 1000)
    for text in (
        "1 " * 600,
        '{"messages":\n[' + " " * 1000,
        json.dumps(CHAT) + "\n" + " " * 2000 + "1",
    ):
        done = harmony("count", given(text))
        assert done.code == 1
        assert "longer than 0 MiB, the most that one input may have; `harmony dataset`" in done.err
    # Of lines each may be as long.
    assert harmony("count", "--total", given((json.dumps(CHAT) + "\n") * 99)).code == 0


def test_nothing_is_written_by_halves(given: Any, harmony: Any) -> None:
    given("before", "out")
    good, bad = json.dumps(CHAT), '{"messages": 1}'
    assert harmony("render", "-o", "out", given(f"{good}\n{bad}\n")).code == 1
    assert Path("out").read_text() == "before"
    assert harmony("render", "-o", "out", given(good), "--date", DATE).code == 0
    assert Path("out").read_text() == harmony("render", "in", "--date", DATE).out
    assert sorted(path.name for path in Path().iterdir()) == ["in", "out"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name")
def test_a_device_is_written_to(given: Any, harmony: Any) -> None:
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE) as reader:
        assert harmony("render", "-o", "pipe", given("1 2")).code == 0
        assert reader.communicate()[0] == b"1 2\n"
    os.symlink("file", "link")
    assert harmony("render", "-o", "link", "in").code == 0
    assert (os.readlink("link"), Path("file").read_text()) == ("file", "1 2\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is full")
def test_a_full_disk(given: Any, harmony: Any) -> None:
    done = harmony("render", "-o", "/dev/full", given("1 2"))
    assert (done.code, done.err.partition(": ")[2]) == (1, "error: No space left on device\n")


@pytest.mark.skipif(sys.platform == "win32", reason="no shell that closes streams")
@pytest.mark.parametrize(
    ("closed", "code", "said"),
    [
        (">&-", 1, "error: standard output is closed\n"),
        ("<&-", 2, "error: no FILE, and standard input is closed (python -m openai_harmony show"),
    ],
)
def test_a_closed_stream(closed: str, code: int, said: str) -> None:
    done = subprocess.run(
        f"{' '.join(COMMAND)} show {closed}", shell=True, capture_output=True, text=True
    )
    assert done.returncode == code
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("given_option", "said"),
    [
        ("--idz", "--idz: did you mean --ids?"),
        ("--frob", "--frob (python -m openai_harmony show --help)"),
        ("--ids=1", "ignored explicit argument"),
    ],
)
def test_a_misspelt_option(given_option: str, said: str, harmony: Any) -> None:
    done = harmony("show", given_option)
    assert done.code == 2
    assert said in done.err
    assert len(done.err.splitlines()) == 1


def test_a_pipe_that_closes(tmp_path: Path) -> None:
    (tmp_path / "in").write_text((json.dumps(CHAT) + "\n") * 2000)
    done = subprocess.run(
        f"{' '.join(COMMAND)} render in | head -n 1; echo ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[1:] == ["0"]


def test_an_output_of_ascii(tmp_path: Path) -> None:
    (tmp_path / "in").write_text(SAMPLED)
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [*COMMAND, "show", "in"], cwd=tmp_path, env=environment, capture_output=True, check=True
    )
    assert b"\\u25cf 0 assistant" in done.stdout


PAGE = (
    "<!doctype html>\n<meta charset=utf-8>\n<title>harmony</title>\n",
    '<meta name=viewport content="width=device-width">\n',
)


class TestShow:
    def test_text(self, given: Any, harmony: Any) -> None:
        said = harmony("show", "--ids", given(SAMPLED))
        assert "● 1 assistant · final · 8 tokens" in said.out
        assert "<|channel|>[200005]" in said.out
        assert "▲ missing_message: " in said.out

    def test_files_have_what_is_printed(self, given: Any, harmony: Any) -> None:
        drawn = picture(TOKENS)
        for flags, said in (
            (["--to", "html"], "".join([*PAGE, show.html(drawn), "\n"])),
            (["--to", "json"], json.dumps(show.data(drawn)) + "\n"),
            ([], show.text(drawn)),
            (["--ids"], show.text(drawn, ids=True)),
        ):
            name = given(" ".join(map(str, TOKENS)))
            assert harmony("show", *flags, name).out == said
            assert harmony("show", *flags, "-o", "out", name).out == ""
            assert Path("out").read_text() == said

    def test_all_tokens_are_shown_for_0(self, given: Any, harmony: Any) -> None:
        name = given("12194 " * 2100)
        assert "left out" in harmony("show", "--max-tokens", "100", name).out
        whole = harmony("show", "--max-tokens", "0", name)
        assert (whole.code, "left out" in whole.out) == (0, False)
        assert (
            "å"
            in harmony(
                "show",
                "--to",
                "json",
                given({"messages": [{"role": "user", "name": "å", "content": "x"}]}),
            ).out
        )

    def test_html_and_json(self, given: Any, harmony: Any) -> None:
        evil = Message.from_role_and_content("user", "<script>alert(1)</script>")
        page = harmony("show", "--to", "html", given(Conversation.from_messages([evil]))).out
        assert page.startswith("<!doctype html>")
        assert "<script" not in page
        found = json.loads(harmony("show", "--to", "json", given(OWN)).out)
        assert found["tokens"] == ENCODING.render_conversation_for_completion(OWN, "assistant")
        assert [one.get("dropped", False) for one in found["messages"]] == [
            False,
            False,
            True,
            False,
            False,
        ]
        rendered = ENCODING.render_with_spans(OWN)
        spans = [
            [one[key] for key in ("start", "content", "stop", "end")]
            for one in found["messages"]
            if "start" in one
        ]
        assert spans == [list(span[1:5]) for span in rendered.spans]

    def test_masks(self, given: Any, harmony: Any) -> None:
        said = harmony("show", "--mask", "--ending", "training", "--thoughts", "keep", given(OWN))
        config = ["--channels", "final"]
        fewer = harmony(
            "show", "--mask", *config, "--ending", "training", "--thoughts", "keep", "in"
        )
        assert "· 15 trained" in said.out
        assert "· 8 trained" in fewer.out
        assert harmony("show", *config, "in").code == 2
        # Without --ending an answer is shown as it is trained.
        answered = {"messages": [*CHAT["messages"], {"role": "assistant", "content": "Ho"}]}
        assert (
            "«<|channel|>final<|message|>Ho<|return|>»"
            in harmony("show", "--mask", given(answered)).out
        )
        assert "--mask needs a conversation" in harmony("show", "--mask", given("1 2")).err

    def test_long_ones_are_cut(self, given: Any, harmony: Any) -> None:
        name = given({"messages": [{"role": "user", "content": "word " * 30_000}]})
        assert "tokens left out" in harmony("show", name).out
        assert "tokens left out" not in harmony("show", "--max-tokens", "0", name).out


class TestRender:
    def test_writes(self, given: Any, harmony: Any) -> None:
        name = given(OWN)
        tokens = ENCODING.render_conversation_for_completion(OWN, "assistant")
        assert json.loads(harmony("render", "--to", "json", name).out) == tokens
        assert harmony("render", "--to", "text", name).out == ENCODING.decode(tokens) + "\n"

    @pytest.mark.parametrize(
        "flags",
        [
            ["--ending", "training"],
            ["--ending", "none"],
            ["--thoughts", "keep"],
            ["--header-style", "recipient_in_channel", "--thoughts", "keep", "--no-validate"],
        ],
    )
    def test_flags(self, flags: list[str], given: Any, harmony: Any) -> None:
        said = harmony("render", *flags, given(OWN))
        assert said.code == 0
        assert said.out != harmony("render", "in").out

    def test_what_cannot_be_rendered(self, given: Any, harmony: Any) -> None:
        tool = {"messages": [{"role": "tool", "content": "x", "channel": "commentary"}]}
        done = harmony("render", given(tool))
        assert done.code == 1
        assert done.err.startswith(("pytest: error: in: ", "python -m openai_harmony: error: in: "))
        for command in ("show", "count", "diff"):
            other = harmony(command, "in", *(["in"] if command == "diff" else []))
            assert (other.code, len(other.err.splitlines())) == (1, 1)


class TestParse:
    def test_lenient_strict_and_stripped(self, given: Any, harmony: Any) -> None:
        said = json.loads(harmony("parse", given(SAMPLED)).out)
        assert [one["channel"] for one in said["messages"]] == ["analysis", "final"]
        assert [one["kind"] for one in said["repairs"]] == ["missing_message"]
        assert harmony("parse", "--check", "in").code == 3
        assert (
            harmony("parse", "--check", given("<|channel|>final<|message|>4.<|return|>")).code == 0
        )
        strict = harmony(
            "parse", "--to", "text", "--strict", given("<|channel|>final<|message|>a<|end|>stray")
        )
        assert (strict.code, strict.out) == (1, "")
        assert "in: " in strict.err
        stripped = harmony("parse", "--to", "text", given("analysisSum.assistantfinal4."))
        assert stripped.out == "assistant analysis: Sum.\nassistant final: 4.\n"
        text = given("Look. to=bash{}")
        named = harmony(
            "parse", "--as", "stripped", "--tool", "functions.bash", "--to", "text", text
        )
        assert named.out == "assistant analysis: Look.\nassistant - to functions.bash: {}\n"

    def test_text(self, given: Any, harmony: Any) -> None:
        said = harmony("parse", "--to", "text", given(SAMPLED))
        assert said.out == (
            "assistant analysis: Sum.\nassistant final: 4.\n"
            "repaired tokens 11 to 13: missing_message\n"
        )

    def test_roles_and_tools(self, given: Any, harmony: Any) -> None:
        name = given("<|channel|>commentary to=bash<|message|>ls<|call|>")
        plain = json.loads(harmony("parse", name).out)["messages"][0]
        known = json.loads(harmony("parse", "--tool", "functions.bash", name).out)["messages"][0]
        assert (plain["recipient"], known["recipient"]) == ("bash", "functions.bash")
        said = json.loads(harmony("parse", "--role", "user", given("<|message|>Hi<|end|>")).out)
        assert said["messages"][0]["role"] == "user"
        wrong = harmony("parse", "--tool", "", "in")
        assert (wrong.code, len(wrong.err.splitlines())) == (1, 1)

    def test_a_body_is_not_output(self, given: Any, harmony: Any) -> None:
        done = harmony("parse", given(CHAT))
        assert (
            done.code,
            "expected tokens or text, got a body of chat_completions" in done.err,
        ) == (1, True)


class TestCount:
    def test_of_messages(self, given: Any, harmony: Any) -> None:
        said = harmony("count", given(OWN))
        rendered = ENCODING.render_with_spans(OWN)
        numbers = [int(line.split()[0]) for line in said.out.splitlines()]
        assert numbers == [*(span.end - span.start for span in rendered.spans), len(rendered)]
        assert said.out.splitlines()[-1].endswith("  in")

    def test_of_text(self, given: Any, harmony: Any) -> None:
        said = harmony("count", "--as", "plain", "--to", "json", given("Hello world"))
        assert json.loads(said.out) == {"tokens": 2, "messages": []}

    def test_of_tokens(self, given: Any, harmony: Any) -> None:
        said = json.loads(harmony("count", "--to", "json", given(" ".join(map(str, TOKENS)))).out)
        blocks = picture(TOKENS).blocks
        assert said["tokens"] == len(TOKENS)
        assert [one["tokens"] for one in said["messages"]] == [
            block.end - block.start for block in blocks
        ]

    def test_json_has_letters_as_they_are(self, given: Any, harmony: Any) -> None:
        named = {"messages": [{"role": "user", "name": "Åsa", "content": "Hej på dig"}]}
        assert "user:Åsa" in harmony("count", "--to", "json", given(named)).out
        text = "<|channel|>final<|message|>på<|return|>"
        assert '"på"' in harmony("parse", "--to", "json", given(text)).out

    @pytest.mark.parametrize("command", ["count", "parse"])
    def test_writes_its_output(self, command: str, given: Any, harmony: Any) -> None:
        said = harmony(command, given(SAMPLED)).out
        assert (harmony(command, "-o", "out", "in").out, Path("out").read_text()) == ("", said)


@pytest.mark.parametrize("value", [CHAT, OWN])
def test_flags_change_the_rendering_that_an_input_has(value: Any, given: Any, harmony: Any) -> None:
    """Of a request that of servers, of a conversation that of 0.0.8."""
    tool = {"type": "function", "function": {"name": "f", "parameters": {"$defs": {"a": {}}}}}
    if value is CHAT:
        value = {**CHAT, "tools": [tool]}
        turn = chat_completions.read(value, date=DATE)
        said, config = turn.conversation, turn.config
    else:
        said, config = value, RenderConversationConfig()
    expected = {
        word: ENCODING.render_conversation_for_completion(
            said, "assistant", config.model_copy(update={"thoughts": ThoughtPolicy(word)})
        )
        for word in ("keep", "drop")
    }
    name = given(value)
    for word, tokens in expected.items():
        done = harmony("render", "--thoughts", word, "--date", DATE, name)
        assert done.out.split() == [str(token) for token in tokens]


def test_strict_parsing_begins_where_the_tokens_do(given: Any, harmony: Any) -> None:
    said = harmony("parse", "--to", "text", "--strict", given("<|start|>user<|message|>Hi<|end|>"))
    assert (said.code, said.out) == (0, "user -: Hi\n")
    said = harmony(
        "parse", "--to", "text", "--strict", given("<|channel|>final<|message|>Hi<|return|>")
    )
    assert (said.code, said.out) == (0, "assistant final: Hi\n")


class TestDiff:
    def test_exit_codes(self, given: Any, harmony: Any) -> None:
        name = given(OWN)
        same = harmony("diff", name, name)
        assert (same.code, same.out.startswith("equal · ")) == (0, True)
        ids = given(harmony("render", name).out, "ids")
        assert harmony("diff", name, ids).code == 0
        settings = harmony("diff", name, name, "--b-thoughts", "keep")
        assert settings.code == 3
        assert "A sum." in settings.out

    def test_writes(self, given: Any, harmony: Any) -> None:
        a, b = given("1 2 3", "a"), given("1 3", "b")
        said = json.loads(harmony("diff", "--to", "json", a, b).out)
        assert said == {"equal": False, "differences": [{"a": [1, 2], "b": [1, 1]}]}
        page = harmony("diff", "--to", "html", a, b).out
        assert page.startswith("<!doctype html>\n<meta charset=utf-8>\n<title>")
        assert "class=sides" in page
        same = harmony("diff", a, b).out
        assert (harmony("diff", "-o", "out", a, b).out, Path("out").read_text()) == ("", same)
        assert harmony("diff", "--ids", a, b).out != same
        both = harmony("diff", "-", "-", stdin="1 2 3")
        assert (both.code, both.out) == (0, 'equal · 3 tokens\n  "#$\n')
        assert "b: has several inputs" in harmony("diff", a, given("[1]\n[2]\n", "b")).err


class TestCompletion:
    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_of_each_shell(self, shell: str, harmony: Any) -> None:
        pytest.importorskip("argcomplete")
        said = harmony("completion", shell)
        assert said.code == 0
        assert "harmony" in said.out

    def test_needs_its_package(self, harmony: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "argcomplete", None)
        done = harmony("completion", "bash")
        assert done.code == 1
        assert "pip install 'openai-harmony[cli]'" in done.err

    @pytest.mark.parametrize(
        ("line", "expected"),
        [
            ("harmony sh", {"show"}),
            ("harmony show --header", {"--header-style"}),
            (
                "harmony show --header-style ",
                {"recipient_in_role", "recipient_in_channel"},
            ),
            ("harmony parse --st", {"--strict"}),
        ],
    )
    def test_answers_the_shell(self, line: str, expected: set[str], tmp_path: Path) -> None:
        pytest.importorskip("argcomplete")
        answers = tmp_path / "answers"
        environment = {
            **os.environ,
            "_ARGCOMPLETE": "1",
            "_ARGCOMPLETE_STDOUT_FILENAME": str(answers),
            "_ARGCOMPLETE_IFS": "\n",
            "COMP_LINE": line,
            "COMP_POINT": str(len(line)),
        }
        subprocess.run(COMMAND, env=environment, check=True, capture_output=True)
        assert {one.strip() for one in answers.read_text().split("\n")} == expected


def test_the_commands_of_the_guide(
    given: Any, harmony: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    [examples] = re.findall(r"^```sh\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)
    for name in ("request.json", "ours.json", "chat.json", "chats.jsonl"):
        given(CHAT, name)
    given({"messages": [*CHAT["messages"], {"role": "assistant", "content": "Hi"}]}, "rows.jsonl")
    given("200006 1428", "theirs.txt")
    given(SAMPLED, "sampled.txt")
    for line in examples.splitlines():
        command, _, file = line.partition(" < ")
        name, *arguments = shlex.split(command, comments=True)
        done = harmony(*arguments, stdin=Path(file).read_bytes() if file else None)
        assert (name, done.code, done.err) == ("harmony", 3 if "diff" in arguments else 0, ""), line
        assert done.out or "-o" in arguments
    for name in COMMANDS:
        assert f"| `{name}` |" in guide


def test_the_first_command_of_the_readme(harmony: Any) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    [(body, command)] = re.findall(r"^echo '(.*)' \| harmony (.*)$", readme, re.MULTILINE)
    done = harmony(*shlex.split(command), stdin=body.encode())
    assert (done.code, done.err) == (0, "")
    assert "<|start|>user<|message|>What is 2 + 2?<|end|>" in done.out
