"""The C face gives what Python gives: `make capi` builds it and the program `drive`, and runs this."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openai_harmony import Conversation, load_harmony_encoding
from openai_harmony.interop import anthropic, chat_completions, ollama, responses

ROOT = Path(__file__).resolve().parents[2]
DRIVE = os.environ["HARMONY_DRIVE"]
ENCODING = load_harmony_encoding("HarmonyGptOss")
ENCODE, PARSE, RENDER, ANSWER, STREAM = range(1, 6)
DATE = "2026-01-01"
CALLED = (
    "<|channel|>analysis<|message|>Höhe 🦀<|end|><|start|>assistant<|channel|>commentary to=functions.f "
    '<|constrain|>json<|message|>{"a":1}<|call|>'
)
TOOL: dict[str, Any] = {"name": "f", "parameters": {"type": "object"}}
BODIES: list[tuple[Any, dict[str, Any]]] = [
    (
        chat_completions,
        {
            "messages": [{"role": "user", "content": "Hi"}],
            "tools": [{"type": "function", "function": TOOL}],
            "stream": True,
        },
    ),
    (responses, {"input": "Hi", "tools": [{"type": "function", **TOOL}], "stream": True}),
    (
        anthropic,
        {
            "messages": [{"role": "user", "content": "Hi"}],
            "max_tokens": 99,
            "stream": True,
            "tools": [{"name": "f", "input_schema": {"type": "object"}}],
        },
    ),
    (
        ollama,
        {
            "messages": [{"role": "user", "content": "Hi"}],
            "tools": [{"type": "function", "function": TOOL}],
        },
    ),
]


def packed(tokens: Any) -> bytes:
    return struct.pack(f"<{len(tokens)}I", *tokens)


def ask(requests: list[tuple[int, list[bytes]]], *wrapper: str) -> list[bytes | dict[str, Any]]:
    """What the program answers: bytes, or an error."""
    text = b"".join(
        struct.pack("<II", operation, len(parts))
        + b"".join(struct.pack("<I", len(part)) + part for part in parts)
        for operation, parts in requests
    )
    done = subprocess.run([*wrapper, DRIVE], input=text, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    answers: list[bytes | dict[str, Any]] = []
    at = 0
    while at < len(done.stdout):
        failed, length = struct.unpack_from("<II", done.stdout, at)
        part = done.stdout[at + 8 : at + 8 + length]
        answers.append(json.loads(part) if failed else part)
        at += 8 + length
    assert len(answers) == len(requests)
    return answers


def read(messages: Any) -> Any:
    return Conversation.from_dict({"messages": messages}).messages


def corpus() -> Iterator[tuple[str, list[int], dict[str, Any]]]:
    for file in ("malformed", "outputs"):
        for case in json.loads((ROOT / f"conformance/{file}.json").read_text("utf-8"))["cases"]:
            tokens = case.get("tokens") or ENCODING.encode(case["text"], allowed_special="all")
            options = {"role": case.get("role"), "strict": False, "tools": case.get("tools", [])}
            yield case["name"], tokens, options


def test_the_corpus() -> None:
    cases = list(corpus())
    requests = [
        (PARSE, [packed(tokens), json.dumps(options).encode()]) for _, tokens, options in cases
    ]
    for (name, tokens, options), said in zip(cases, ask(requests)):
        found = ENCODING.parse_with_repairs(tokens, options["role"], tools=options["tools"])
        assert isinstance(said, bytes), (name, said)
        parsed = json.loads(said)
        assert read(parsed["messages"]) == found.messages, name
        assert parsed["repairs"] == [
            {"kind": one.kind, "span": [*one.span], "index": one.index, "text": one.text}
            for one in found.repairs
        ], name


def test_the_golden_renderings() -> None:
    endings = {"conversation": "none", "completion": "completion", "training": "training"}
    requests, expected = [], []
    for folder in sorted((ROOT / "tests/golden").glob("*/tokens.json")):
        given = json.loads(folder.with_name("options.json").read_text("utf-8")).get("render", {})
        # A single message, and options that only Python names as it does, are not asked for.
        named = {"renderer", "next_role", "auto_drop_analysis"}
        if given.get("renderer") not in endings or set(given) - named:
            continue
        asked = {"ending": endings[given["renderer"]], "role": given.get("next_role", "assistant")}
        if not given.get("auto_drop_analysis", True):
            asked["config"] = {"thoughts": "keep"}
        conversation = folder.with_name("conversation.json").read_bytes()
        requests.append((RENDER, [conversation, json.dumps(asked).encode()]))
        expected.append((folder.parent.name, json.loads(folder.read_text())))
    assert len(requests) > 60
    for (name, tokens), said in zip(expected, ask(requests)):
        assert isinstance(said, bytes), (name, said)
        assert said.endswith(packed(tokens)), name


@pytest.mark.parametrize("step", [1, 5, 1000])
def test_requests_and_answers(step: int) -> None:
    requests, expected = [], []
    tokens = ENCODING.encode(CALLED, allowed_special="all")
    for number, (api, body) in enumerate(BODIES):
        turn = api.read(body, date=DATE)
        reply = turn.reply(ENCODING, model="m", id="x", created=1, prompt_tokens=7)
        frames = b""
        for at in range(0, len(tokens), step):
            frames += b"".join(map(reply.frame, reply.feed(tokens[at : at + step])))
            reply = type(reply).from_bytes(turn, ENCODING, reply.to_bytes())
        options = {"model": "m", "id": "x", "created": 1, "prompt_tokens": 7}
        requests.append(
            (
                ANSWER,
                [
                    struct.pack("<I", number),
                    json.dumps(body).encode(),
                    json.dumps({"date": DATE}).encode(),
                    json.dumps(options).encode(),
                    packed(tokens),
                    struct.pack("<I", step),
                ],
            )
        )
        expected.append((packed(turn.prompt(ENCODING)), frames))
    for (prompt, frames), said in zip(expected, ask(requests)):
        assert isinstance(said, bytes), said
        assert said.startswith(prompt)
        # Ids of items and times of events are made anew for each answer.
        assert all(
            line in said
            for line in frames.split(b"\n")
            if b'"id":"' not in line
            and b"item_id" not in line
            and b"_at" not in line
            and b"eval" not in line
        )


def test_a_stream_is_the_whole_and_may_move() -> None:
    cases = list(corpus())
    asked = [
        (STREAM, [packed(tokens), json.dumps(options).encode()]) for _, tokens, options in cases
    ]
    for (name, tokens, options), said in zip(cases, ask(asked)):
        assert isinstance(said, bytes), (name, said)
        *_, described = _values(said)
        found = ENCODING.parse_with_repairs(tokens, options["role"], tools=options["tools"])
        assert read(described["messages"]) == found.messages, name


def _values(text: bytes) -> Iterator[Any]:
    decoder, rest = json.JSONDecoder(), text.decode()
    while rest:
        value, end = decoder.raw_decode(rest)
        yield value
        rest = rest[end:]


@pytest.mark.parametrize(
    ("operation", "parts", "error"),
    [
        (
            PARSE,
            [packed([35, 200_002]), b'{"role": null, "strict": true}'],
            {"kind": "unexpected_token", "token_index": 0},
        ),
        (PARSE, [b"", b'{"stric": true}'], {"kind": "invalid_json"}),
        (RENDER, [b'{"messages": 1}', b""], {"kind": "invalid_json"}),
        (
            ENCODE,
            [b"\xff", struct.pack("<I", 0)],
            {"kind": "invalid_argument", "message": "not UTF-8 at byte 0"},
        ),
        (ENCODE, [b"x", struct.pack("<I", 7)], {"message": "special: expected 0 or 1, got 7"}),
        (
            ANSWER,
            [struct.pack("<I", 9), b"{}", b"", b"", b"", struct.pack("<I", 1)],
            {"message": "dialect: expected 0 to 3, got 9"},
        ),
        (
            ANSWER,
            [struct.pack("<I", 0), b'{"messages": 1}', b"", b"", b"", struct.pack("<I", 1)],
            {"kind": "invalid_request", "path": "messages", "status": 400},
        ),
        (
            ANSWER,
            [struct.pack("<I", 0), b'{"messages": [', b"", b"", b"", struct.pack("<I", 1)],
            {"status": 400},
        ),
    ],
)
def test_errors_name_what_is_wrong(
    operation: int, parts: list[bytes], error: dict[str, Any]
) -> None:
    [said] = ask([(operation, parts)])
    assert isinstance(said, dict)
    assert {**said, **error} == said


def test_valgrind_finds_nothing() -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    tokens = ENCODING.encode(CALLED, allowed_special="all")
    conversation = b'{"messages": [{"role": "user", "content": "Hi"}]}'
    requests: list[tuple[int, list[bytes]]] = [
        (ENCODE, ["Hi 🦀<|end|>".encode(), struct.pack("<I", 1)]),
        (PARSE, [packed(tokens), b""]),
        (RENDER, [conversation, b'{"prefill": {"channel": "final"}}']),
        (STREAM, [packed(tokens), b""]),
        (PARSE, [b"", b"{"]),
    ]
    for number, (_, body) in enumerate(BODIES):
        requests.append(
            (
                ANSWER,
                [
                    struct.pack("<I", number),
                    json.dumps(body).encode(),
                    b"",
                    b'{"model": "m"}',
                    packed(tokens),
                    struct.pack("<I", 7),
                ],
            )
        )
    found = ask(
        requests,
        "valgrind",
        "--quiet",
        "--leak-check=full",
        "--errors-for-leak-kinds=definite,indirect,possible",
        "--error-exitcode=9",
    )
    assert [type(one) for one in found] == [bytes] * 4 + [dict] + [bytes] * 4


LIBRARY = ROOT / "target/debug/libharmony.a"


def test_the_example_in_c(tmp_path: Path) -> None:
    libraries = [str(LIBRARY), "-lpthread", "-ldl", "-lm"]
    source = ["-I", str(ROOT / "capi/include"), str(ROOT / "examples/c/chat.c")]
    subprocess.run(["cc", *source, *libraries, "-o", str(tmp_path / "chat")], check=True)
    said = subprocess.run([tmp_path / "chat"], check=True, capture_output=True, text=True).stdout
    assert (said.split("\n")[0], said.endswith("data: [DONE]\n\n")) == ("72 tokens", True)


def test_the_example_in_go() -> None:
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    flags = {"CGO_CFLAGS": f"-I{ROOT / 'capi/include'}", "CGO_LDFLAGS": str(LIBRARY)}
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
