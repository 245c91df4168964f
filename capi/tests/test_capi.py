"""The C face gives what Python gives: `make capi` builds it, and runs this and the program `every.c`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from ctypes import CDLL, Structure, byref, c_size_t, c_uint32, c_void_p, string_at
from pathlib import Path
from typing import Any

import pytest

from openai_harmony import Conversation, load_harmony_encoding
from openai_harmony.interop import anthropic, chat_completions, ollama, responses

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "target/debug"
C = CDLL(str(BUILT / "libharmony.so"))
ENCODING = load_harmony_encoding("HarmonyGptOss")
DATE = "2026-01-01"
CALLED = (
    "<|channel|>analysis<|message|>Höhe 🦀<|end|><|start|>assistant<|channel|>commentary to=functions.f "
    '<|constrain|>json<|message|>{"a":1}<|call|>'
)
FUNCTION: dict[str, Any] = {"name": "f", "parameters": {"type": "object"}}
ANTHROPIC = {"name": "f", "input_schema": {"type": "object"}}
TOOLS = [{"type": "function", "function": FUNCTION}]
ASKED = {"messages": [{"role": "user", "content": "Hi"}], "stream": True}
BODIES: list[tuple[Any, dict[str, Any]]] = [
    (chat_completions, {**ASKED, "tools": TOOLS}),
    (responses, {"input": "Hi", "tools": [{"type": "function", **FUNCTION}], "stream": True}),
    (anthropic, {**ASKED, "tools": [ANTHROPIC], "max_tokens": 99}),
    (ollama, {**ASKED, "tools": TOOLS}),
]


class Output(Structure):
    """A HarmonyBuffer or HarmonyTokens."""

    _fields_ = (("data", c_void_p), ("len", c_size_t), ("capacity", c_size_t))

    def bytes(self, size: int = 1) -> bytes:
        copied = string_at(self.data, self.len * size) if self.len else b""
        C.harmony_buffer_free(byref(self)) if size == 1 else C.harmony_tokens_free(byref(self))
        return copied

    def tokens(self) -> list[int]:
        return memoryview(self.bytes(4)).cast("I").tolist()


class FailedError(Exception):
    """An error of the library, as its JSON."""


def call(name: str, *given: Any) -> None:
    """Calls a function. Texts, JSON and token ids are a pointer and a length."""
    arguments: list[Any] = []
    for one in given:
        if isinstance(one, dict):
            one = json.dumps(one).encode()
        if isinstance(one, list):
            arguments += [(c_uint32 * len(one))(*one), c_size_t(len(one))]
        elif isinstance(one, bytes):
            arguments += [one, c_size_t(len(one))]
        else:
            arguments.append(byref(one) if isinstance(one, Output) else one)
    function = C[name]
    function.restype = c_void_p
    if error := function(*arguments):
        said = Output()
        C.harmony_error_json(c_void_p(error), byref(said))
        C.harmony_error_free(c_void_p(error))
        raise FailedError(json.loads(said.bytes()))


def asked(name: str, *given: Any) -> bytes:
    said = Output()
    call(name, *given, said)
    return said.bytes()


@contextmanager
def made(kind: str, name: str, *given: Any) -> Iterator[c_void_p]:
    handle = c_void_p()
    call(name, *given, byref(handle))
    yield handle
    C[f"harmony_{kind}_free"](handle)


def read(messages: Any) -> Any:
    return Conversation.from_dict({"messages": messages}).messages


def corpus() -> Iterator[tuple[str, list[int], dict[str, Any]]]:
    for file in ("malformed", "outputs"):
        for case in json.loads((ROOT / f"conformance/{file}.json").read_text("utf-8"))["cases"]:
            tokens = case.get("tokens") or ENCODING.encode(case["text"], allowed_special="all")
            options = {"role": case.get("role"), "strict": False, "tools": case.get("tools", [])}
            yield case["name"], tokens, options


CASES = list(corpus())


def parse_all() -> list[bytes]:
    return [asked("harmony_parse", tokens, options) for _, tokens, options in CASES]


def test_the_corpus_whole_and_as_a_stream_that_moves() -> None:
    for (name, tokens, options), said in zip(CASES, parse_all()):
        found = ENCODING.parse_with_repairs(tokens, options["role"], tools=options["tools"])
        parsed = json.loads(said)
        assert read(parsed["messages"]) == found.messages, name
        repairs = [
            (one["kind"], *one["span"], one["index"], one["text"]) for one in parsed["repairs"]
        ]
        assert repairs == [(one.kind, *one.span, one.index, one.text) for one in found.repairs], (
            name
        )
        events, middle = [], len(tokens) // 2
        with made("parser", "harmony_parser_new", options) as parser:
            for token in tokens[:middle]:
                events += json.loads(asked("harmony_parser_feed", parser, [token]))
            saved = asked("harmony_parser_save", parser)
        with made("parser", "harmony_parser_restore", saved) as parser:
            events += json.loads(asked("harmony_parser_feed", parser, tokens[middle:]))
            events += json.loads(asked("harmony_parser_finish", parser))
            described = json.loads(asked("harmony_parser_describe", parser))
        assert described["messages"] == parsed["messages"], name
        ends = [event["index"] for event in events if event["type"] == "message_end"]
        assert ends == [*range(len(found.messages))], name


def test_threads_and_a_child_give_the_same() -> None:
    with ThreadPoolExecutor(4) as threads:
        one, *others = [each.result() for each in [threads.submit(parse_all) for _ in range(4)]]
    assert others == [one] * 3
    child = os.fork()
    if child == 0:
        os._exit(parse_all() != one)
    assert os.waitpid(child, 0)[1] == 0


def test_the_golden_renderings() -> None:
    endings = {"conversation": "none", "completion": "completion", "training": "training"}
    compared = 0
    for folder in sorted((ROOT / "tests/golden").glob("*/tokens.json")):
        given = json.loads(folder.with_name("options.json").read_text("utf-8")).get("render", {})
        # A single message, and options that only Python names as it does, are not asked for.
        named = {"renderer", "next_role", "auto_drop_analysis"}
        if given.get("renderer") not in endings or set(given) - named:
            continue
        options = {"ending": endings[given["renderer"]], "role": given.get("next_role")}
        if not given.get("auto_drop_analysis", True):
            options["config"] = {"thoughts": "keep"}
        tokens = Output()
        conversation = folder.with_name("conversation.json").read_bytes()
        spans = json.loads(asked("harmony_render", conversation, options, tokens))
        expected = json.loads(folder.read_text())
        assert tokens.tokens() == expected, folder.parent.name
        assert max((span["end"] for span in spans), default=0) <= len(expected)
        compared += 1
    assert compared > 60


@pytest.mark.parametrize("step", [1, 5, 1000])
@pytest.mark.parametrize("dialect", range(4))
def test_requests_and_answers(dialect: int, step: int) -> None:
    api, body = BODIES[dialect]
    tokens = ENCODING.encode(CALLED, allowed_special="all")
    pieces = [tokens[at : at + step] for at in range(0, len(tokens), step)]
    options = {"model": "m", "id": "x", "created": 1, "prompt_tokens": 7}
    turn = api.read(body, date=DATE)
    reply = turn.reply(ENCODING, **options)
    with made("turn", "harmony_turn_read", dialect, body, {"date": DATE}) as read_turn:
        prompt = Output()
        call("harmony_turn_prompt", read_turn, prompt, None)
        assert prompt.tokens() == turn.prompt(ENCODING)
        described = json.loads(asked("harmony_turn_describe", read_turn))
        assert described["sampling"] == turn.sampling
        assert asked("harmony_turn_grammar", read_turn, 0).decode() == turn.grammar().to_lark()
        begin = made("reply", "harmony_turn_reply", read_turn, options)
        for piece in pieces:
            expected = b"".join(map(reply.frame, reply.feed(piece)))
            reply = type(reply).from_bytes(turn, ENCODING, reply.to_bytes())
            with begin as handle:
                assert without_ids(asked("harmony_reply_feed", handle, piece)) == without_ids(
                    expected
                )
                saved = asked("harmony_reply_save", handle)
            begin = made("reply", "harmony_reply_restore", read_turn, saved)
        expected = b"".join(map(reply.frame, [*reply.finish("stop"), None]))
        with begin as handle:
            assert without_ids(asked("harmony_reply_finish", handle, 0, b"")) == without_ids(
                expected
            )
            described = json.loads(asked("harmony_reply_describe", handle))
    assert read(described["messages"]) == reply.messages
    assert described["usage"] == reply.usage._asdict()


def without_ids(frames: bytes) -> list[bytes]:
    """The lines without ids of items and times of events, which are made anew for each answer."""
    made_anew = (b'"id":"', b"item_id", b"_at", b"eval")
    return [line for line in frames.split(b"\n") if not any(name in line for name in made_anew)]


NOWHERE = c_void_p()
STRICT = {"role": None, "strict": True}
NO_LIST = {"kind": "invalid_request", "path": "messages", "status": 400}
ERRORS: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("parse", [[35, 200_002], STRICT], {"kind": "unexpected_token", "token_index": 0}),
    ("parse", [[], {"stric": True}], {"kind": "invalid_json"}),
    ("render", [{"messages": 1}, b"", None], {"kind": "invalid_json"}),
    ("encode", [b"\xff", 0], {"kind": "invalid_argument", "message": "not UTF-8 at byte 0"}),
    ("encode", [b"x", 7], {"message": "special: expected 0 to 1, got 7"}),
    ("turn_read", [9, b"{}", b""], {"message": "dialect: expected 0 to 3, got 9"}),
    ("turn_read", [0, {"messages": 1}, b""], NO_LIST),
    ("turn_read", [0, b'{"messages": [', b""], {"status": 400}),
    ("encode", [NOWHERE, c_size_t(5), 0], {"message": "an input is NULL"}),
    ("decode", [c_void_p(64), c_size_t(2**62)], {"kind": "invalid_argument"}),
    ("decode", [c_void_p(65), c_size_t(1)], {"kind": "invalid_argument"}),
    ("parser_feed", [NOWHERE, [1]], {"message": "the handle is NULL"}),
    ("turn_grammar", [NOWHERE, 0], {"message": "the handle is NULL"}),
]


@pytest.mark.parametrize(("name", "given", "error"), ERRORS)
def test_errors_name_what_is_wrong(name: str, given: list[Any], error: dict[str, Any]) -> None:
    with pytest.raises(FailedError) as failed:
        asked(f"harmony_{name}", *given)
    [said] = failed.value.args
    assert {**said, **error} == said


def test_outputs_are_checked_and_freed_once_more() -> None:
    for name in ("buffer", "tokens", "turn", "reply", "parser", "engine", "error"):
        C[f"harmony_{name}_free"](None)
    with pytest.raises(FailedError, match="an output is NULL"):
        call("harmony_encode", b"x", 0, None)
    with pytest.raises(FailedError, match="the place of a handle is NULL"):
        call("harmony_parser_new", b"", None)
    room = Output()
    C.harmony_buffer_reserve(byref(room), c_size_t(2**64 - 1))
    assert (room.data, room.len, room.capacity) == (None, 0, 0)


LINK = ["-I", str(ROOT / "capi/include"), str(BUILT / "libharmony.a"), "-lpthread", "-ldl", "-lm"]


def built(source: Path, to: Path) -> str:
    strict = ["-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *strict, str(source), *LINK, "-o", str(to)], check=True)
    return str(to)


def test_valgrind_finds_nothing(tmp_path: Path) -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    leaks = ["--leak-check=full", "--errors-for-leak-kinds=definite,indirect,possible"]
    program = built(ROOT / "capi/tests/every.c", tmp_path / "every")
    command = ["valgrind", "--quiet", "--error-exitcode=9", *leaks, program]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_example_in_c(tmp_path: Path) -> None:
    program = built(ROOT / "examples/c/chat.c", tmp_path / "chat")
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    assert (said.split("\n")[0], said.endswith("data: [DONE]\n\n")) == ("72 tokens", True)


def test_the_example_in_go() -> None:
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    flags = {"CGO_CFLAGS": f"-I{ROOT / 'capi/include'}", "CGO_LDFLAGS": LINK[2]}
    done = subprocess.run(
        ["go", "run", "."],
        cwd=ROOT / "examples/go",
        env={**os.environ, **flags},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("72 tokens\n")
    assert "invalid_request: Invalid request: messages: expected a list" in done.stdout
