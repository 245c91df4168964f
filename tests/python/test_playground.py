"""The playground's questions and its application, without a browser; tests/browser has one."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from openai_harmony import cli, load_harmony_encoding
from openai_harmony.interop import chat_completions
from openai_harmony.playground.steps import Refused, answer, prompt

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from openai_harmony.playground.app import app

ENCODING = load_harmony_encoding("HarmonyGptOss")
PAGE = Path(cli.__file__).parents[1] / "playground" / "page"
EXAMPLES = json.loads((PAGE / "examples.json").read_text(encoding="utf-8"))
BODIES = {one["name"]: json.dumps(one["value"]) for one in EXAMPLES["bodies"]}
SAMPLES = {one["name"]: one["value"] for one in EXAMPLES["samples"]}
CHAT = BODIES["chat completions with a tool"]


class TestPrompt:
    @pytest.mark.parametrize("name", list(BODIES))
    def test_of_each_example(self, name: str) -> None:
        made = prompt({"body": BODIES[name], "date": "2026-01-01"})
        assert made["count"] > 20
        assert "harmony-show" in made["html"]
        assert "<style" not in made["html"]
        forms = {
            "conversation in": "harmony",
            "Responses": "responses",
            "Ollama": "ollama",
            "Anthropic": "anthropic",
        }
        expected = next((form for word, form in forms.items() if word in name), "chat_completions")
        assert (made["form"], made["notes"]) == (expected, [])

    def test_counts_what_is_rendered(self) -> None:
        turn = chat_completions.read(json.loads(CHAT), date="2026-01-01")
        assert prompt({"body": CHAT, "date": "2026-01-01"})["count"] == len(turn.prompt(ENCODING))

    def test_switches(self) -> None:
        body = BODIES["a conversation in this library's JSON"]
        plain = prompt({"body": body, "ending": "training"})
        assert "dropped" in plain["html"]
        assert ' trained"' not in plain["html"]
        kept = prompt(
            {"body": body, "ending": "training", "config": {"thoughts": "keep"}, "mask": True}
        )
        assert "dropped" not in kept["html"]
        assert ' trained"' in kept["html"]
        both = prompt({"body": body, "against": {"thoughts": "keep"}})
        assert "class=sides" in both["difference"]

    @pytest.mark.parametrize(
        ("asked", "said"),
        [
            ({}, "body: expected a text"),
            ({"body": ""}, "the request: empty"),
            (
                {"body": '{"messages": 1}'},
                "the request: Invalid request: messages: expected a list",
            ),
            ({"body": CHAT, "config": {"x": 1}}, "config.x: expected one of thoughts, "),
            ({"body": CHAT, "config": {"thoughts": "x"}}, "thoughts"),
            ({"body": CHAT, "ending": "x"}, "ending: expected one of completion, training, none"),
        ],
    )
    def test_what_is_refused(self, asked: dict[str, Any], said: str) -> None:
        with pytest.raises(Refused) as raised:
            prompt(asked)
        assert said in str(raised.value)
        assert "\n" not in str(raised.value)


class TestAnswer:
    @pytest.mark.parametrize("name", list(SAMPLES))
    def test_of_each_sample(self, name: str) -> None:
        made = answer({"body": CHAT, "sampled": SAMPLES[name]})
        assert made.get("error") is None
        assert bool(made["repairs"]) == name.startswith("damage")
        assert made["messages"] or "cut off" in name
        assert "<script" not in made["html"]

    def test_token_by_token(self) -> None:
        sampled = SAMPLES["a thought and a call"]
        whole = answer({"body": CHAT, "sampled": sampled})
        tokens = ENCODING.encode(sampled, allowed_special="all")
        assert whole["count"] == whole["upto"] == len(tokens)
        seen: list[Any] = []
        for upto in range(len(tokens) + 1):
            made = answer({"body": CHAT, "sampled": sampled, "upto": upto})
            assert made["upto"] == upto
            assert made["repairs"] == [], "a header that has not all arrived is not cut off"
            seen += made["chunks"][len(made["chunks"]) - made["fresh"] :]
        assert seen == whole["chunks"]
        assert whole["chunks"][-1]["choices"][0]["finish_reason"] == "tool_calls"
        assert (
            answer({"body": CHAT, "sampled": sampled, "upto": 3})["token"] == '200008 "<|message|>"'
        )

    def test_a_prompt_that_cannot_be_rendered(self) -> None:
        tool = {"type": "function", "function": {"name": "f", "description": "x" * 2**21}}
        body = json.dumps({"messages": [{"role": "user", "content": "Hi"}], "tools": [tool]})
        with pytest.raises(Refused):
            prompt({"body": body})
        assert answer({"body": body, "sampled": "<|channel|>final<|message|>4."})["chunks"]

    def test_strict(self) -> None:
        sampled = SAMPLES["damage: no header after the thought"]
        made = answer({"body": CHAT, "sampled": sampled, "strict": True})
        assert made["error"]
        assert made["repairs"] == []

    def test_of_a_conversation_there_are_no_chunks(self) -> None:
        body = BODIES["a conversation in this library's JSON"]
        made = answer({"body": body, "sampled": "<|channel|>final<|message|>4.<|return|>"})
        assert made["chunks"] is None
        assert made["messages"][0]["channel"] == "final"

    def test_anything_may_be_sampled(self) -> None:
        for sampled in (
            "",
            "no markers",
            "{}",
            '{"a": 1}',
            '{"messages": []}',
            "\0",
            "<|end|>",
            "1 2",
        ):
            answer({"body": CHAT, "sampled": sampled})
        many = answer({"body": CHAT, "sampled": "<|message|>" + "word " * 3000})
        assert (len(many["chunks"]), many["earlier"] > 2000) == (300, True)
        with pytest.raises(
            Refused, match="sampled: 30,000 tokens, of which the playground takes 20,000"
        ):
            answer({"body": CHAT, "sampled": "1 " * 30_000})
        with pytest.raises(Refused, match="sampled: expected a text"):
            answer({"body": CHAT})


def asked(
    method: str, path: str, body: bytes = b"", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """What the application answers."""
    given = {"host": "127.0.0.1:8000", "content-type": "application/json", **headers}
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app()(scope, receive, send))
    head = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], head, b"".join(one.get("body", b"") for one in sent)


class TestApp:
    def test_files(self) -> None:
        for path in ("/", "/playground.js", "/playground.css", "/show.css", "/examples.json"):
            status, head, body = asked("GET", path)
            assert (status, bool(body)) == (200, True)
            assert "default-src 'none'" in head["content-security-policy"]
        assert asked("GET", "/../app.py")[0] == 404

    def test_nothing_is_from_elsewhere(self) -> None:
        for path in ("/", "/playground.js", "/playground.css", "/show.css"):
            text = asked("GET", path)[2].decode()
            assert not re.search(r"https?:|//[a-z]+\.|@import", text.replace("// ", ""))

    def test_questions(self) -> None:
        status, _, raw = asked("POST", "/api/prompt", json.dumps({"body": CHAT}).encode())
        assert (status, json.loads(raw)["form"]) == (200, "chat_completions")
        status, _, raw = asked(
            "POST", "/api/answer", json.dumps({"body": CHAT, "sampled": "1"}).encode()
        )
        assert (status, json.loads(raw)["count"]) == (200, 1)

    @pytest.mark.parametrize(
        ("body", "headers", "status", "said"),
        [
            (b"{}", {"content-type": "text/plain"}, 415, "expected application/json"),
            (b"{", {}, 400, "not JSON"),
            (b"[" * 99_999, {}, 400, "not JSON"),
            (b"[]", {}, 400, "expected an object"),
            (b"{}", {}, 422, "body: expected a text"),
            (b" " * 5_000_000, {}, 413, "longer than 4 MiB, the most that the playground takes"),
        ],
    )
    def test_refusals(self, body: bytes, headers: dict[str, str], status: int, said: str) -> None:
        got, _, raw = asked("POST", "/api/prompt", body, **headers)
        assert (got, said in json.loads(raw)["error"]) == (status, True)

    def test_other_hosts(self) -> None:
        assert asked("GET", "/", host="evil.example")[0] == 400
        assert asked("GET", "/", host="localhost:1")[0] == 200


def test_the_command(tmp_path: Path) -> None:
    running = subprocess.Popen(
        [sys.executable, "-m", "openai_harmony", "playground", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert running.stdout is not None
        address = running.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        with urllib.request.urlopen(address, timeout=60) as response:
            assert b"harmony" in response.read()
    finally:
        running.terminate()
        running.communicate(timeout=60)


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert cli.main(["playground", "--no-browser", "--port", str(port)]) == 1
    assert f"port {port}: " in capsys.readouterr().err
    assert cli.main(["playground", "--no-browser", "--port", "99999"]) == 1


def test_needs_its_packages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert cli.main(["playground"]) == 1
    assert "uvicorn is missing: pip install 'openai-harmony[serve]'" in capsys.readouterr().err
