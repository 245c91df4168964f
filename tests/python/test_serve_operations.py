"""The gateway as its operators see it: keys, pages, settings, processes, the end."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import time
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

import fake_engines
from fake_engines import running
from gateways import BODIES, HELLO, Answer, ask, says, tokens
from openai_harmony import cli, serve
from openai_harmony.serve.configuration import Configuration
from openai_harmony.serve.engines import KINDS
from openai_harmony.serve.settings import Settings, read_file
from running_gateways import command, is_up
from tables import table

CHAT, RESPONSES, ANTHROPIC, OLLAMA, _ = BODIES


@pytest.fixture
def records(tmp_path: Path) -> Path:
    file = tmp_path / "recorded.jsonl"
    slow = "<|channel|>final<|message|>" + "word " * 40 + "<|return|>"
    lines = [{"match": "Slow", "text": slow, "delay": 0.05}, {"match": "Hello", "text": HELLO}]
    file.write_text("\n".join(map(json.dumps, lines)))
    return file


def asked(app: Any, path: str, body: Any = None, **headers: str) -> Answer:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return asyncio.run(ask(app, path, body, headers=given))


@pytest.fixture
def keys(tmp_path: Path) -> str:
    (tmp_path / "keys").write_text("# ours\nalpha\n\n  beta \n")
    return str(tmp_path / "keys")


def test_keys(keys: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARMONY_API_KEYS", "gamma, delta")
    app = serve.app(says(), api_key_file=keys)
    for key in ("alpha", "beta", "gamma", "delta"):
        assert asked(app, CHAT, BODIES[CHAT], authorization=f"Bearer {key}").status == 200
        assert asked(app, ANTHROPIC, BODIES[ANTHROPIC], x_api_key=key).status == 200
    both = {"authorization": "Bearer of-another", "x_api_key": "beta"}
    assert asked(app, ANTHROPIC, BODIES[ANTHROPIC], **both).status == 200
    for wrong in ({}, {"authorization": "Bearer alph"}, {"x_api_key": "# ours"}, {"x_api_key": ""}):
        for path in BODIES:
            refused = asked(app, path, BODIES[path], **wrong)
            assert refused.status == 401
        refused = asked(app, ANTHROPIC, BODIES[ANTHROPIC], **wrong)
        assert refused.json()["error"]["type"] == "authentication_error"
        error = asked(app, CHAT, BODIES[CHAT], **wrong).json()["error"]
        assert error["code"] == "invalid_api_key"
        assert "send it as `Authorization: Bearer KEY` or" in error["message"]
        for path in ("/v1/models", "/metrics", "/v1/responses/x", "/nothing"):
            assert asked(app, path, **wrong).status == 401
        assert asked(app, "/health", **wrong).status == 200


def test_other_machines_need_keys(keys: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"host: 0\.0\.0\.0 can be reached from other machines"):
        serve.app(says(), host="0.0.0.0")
    assert asked(serve.app(says(), host="0.0.0.0", api_key_file=keys), CHAT, {}).status == 401
    open_to_all = serve.app(says(), host="0.0.0.0", allow_anonymous=True)
    assert asked(open_to_all, CHAT, BODIES[CHAT], host="example.org").status == 200
    (tmp_path / "empty").write_text("# nothing\n")
    with pytest.raises(ValueError, match="has no key"):
        serve.app(says(), api_key_file=str(tmp_path / "empty"))
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"api_key_file: .*bytes is not text in UTF-8"):
        serve.app(says(), api_key_file=str(tmp_path / "bytes"))
    for key in (
        "two words",
        "schl\u00fcssel",
        "tab\tin-it",
        "a running=x",
        "a name=",
        "a name=b/c",
        "a name=b name=c",
        "a running=1 running=2",
    ):
        (tmp_path / "odd").write_text(f"alpha\n{key}\n", encoding="utf-8")
        with pytest.raises(
            ValueError, match=r"odd, line 2: expected a key of visible ASCII"
        ) as caught:
            serve.app(says(), api_key_file=str(tmp_path / "odd"))
        assert key not in str(caught.value)
    with pytest.raises(OSError, match="nowhere"):
        serve.app(says(), api_key_file=str(tmp_path / "nowhere"))


def test_a_file_of_keys_from_windows(tmp_path: Path) -> None:
    (tmp_path / "keys").write_bytes(b"\xef\xbb\xbfalpha\r\n\r\n# ours\r\nbeta")
    app = serve.app(says(), api_key_file=str(tmp_path / "keys"))
    for key in ("alpha", "beta"):
        assert asked(app, CHAT, BODIES[CHAT], x_api_key=key).status == 200
    assert asked(app, CHAT, BODIES[CHAT], x_api_key="").status == 401


def test_web_pages() -> None:
    app = serve.app(says())
    assert asked(app, CHAT, BODIES[CHAT], host="localhost:8000").status == 200
    assert asked(app, CHAT, BODIES[CHAT], host="[::1]:8000").status == 200
    assert asked(app, CHAT, BODIES[CHAT], origin="http://localhost:3000").status == 200
    assert asked(app, CHAT, BODIES[CHAT], origin="https://example.org").status == 403
    assert asked(app, CHAT, BODIES[CHAT], host="rebound.example.org").status == 403
    for broken in ("[::1", "", "[x]"):
        assert asked(app, CHAT, BODIES[CHAT], host=broken).status == 403
        assert asked(app, CHAT, BODIES[CHAT], origin=f"http://{broken}").status == 403
    assert asked(app, CHAT, BODIES[CHAT], origin="null").status == 403
    allowed = serve.app(says(), cors="https://example.org, https://example.com")
    answer = asked(allowed, CHAT, BODIES[CHAT], origin="https://example.com")
    assert answer.headers["access-control-allow-origin"] == "https://example.com"
    assert asked(allowed, CHAT, BODIES[CHAT], origin="https://example.net").status == 403
    assert "access-control-allow-origin" not in asked(app, CHAT, BODIES[CHAT]).headers


def test_a_client_that_names_no_host(records: Path) -> None:
    """As HTTP/1.0 allows; no browser does it."""
    with command("--engine", f"replay={records}") as (url, _):
        port = int(url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(b"GET /v1/models HTTP/1.0\r\n\r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 200 OK")


def test_behind_a_path_of_another_application(keys: str) -> None:
    routing = pytest.importorskip("starlette.routing")
    app = routing.Mount("/harmony", serve.app(says(), api_key_file=keys))
    assert asked(app, "/harmony/health").status == 200
    assert asked(app, f"/harmony{CHAT}", BODIES[CHAT], x_api_key="beta").status == 200
    for headers in ({}, {"x_api_key": "beta"}):
        error = asked(app, f"/harmony{ANTHROPIC}", {}, **headers).json()
        assert error["type"] == "error"
    wrong = asked(app, f"/harmony{OLLAMA}", {"input": "x"}, x_api_key="beta")
    assert (wrong.status, list(wrong.json())) == (400, ["error"])


def test_nothing_is_fetched_from_urls_in_bodies() -> None:
    async def run() -> None:
        async with running({"/x.png": {}}) as fake:
            seen: list[str] = []
            fake.paths["/x.png"] = lambda _: seen.append("asked") or []
            image = {"type": "image_url", "image_url": {"url": f"{fake.url}/x.png"}}
            body = {"messages": [{"role": "user", "content": [image]}]}
            assert (await ask(serve.app(says()), CHAT, body)).status == 400
            assert seen == []

    asyncio.run(run())


def test_completions_are_passed_on() -> None:
    paths = fake_engines.vllm(tokens(HELLO))

    async def run() -> None:
        async with running(paths) as fake:
            app = serve.app(f"auto={fake.url}")
            body = {"model": "m", "prompt": "Once", "stream": True}
            answer = await ask(app, "/v1/completions", body)
            assert answer.headers["content-type"].startswith("text/event-stream")
            assert answer.events()[0]["choices"][0]["token_ids"] == tokens(HELLO)[:2]
            assert fake.asked[-1] == ("/v1/completions", {**body, "max_tokens": 16})
            fake.paths["/v1/completions"] = 404
            assert (await ask(app, "/v1/completions", body)).status == 404
            figures = (await ask(app, "/metrics")).body.decode()
            assert (
                'harmony_requests_total{api="chat_completions",key="",status="200"} 1.0' in figures
            )

    asyncio.run(run())
    refused = asked(serve.app(says()), "/v1/completions", {"prompt": "x"})
    assert (refused.status, refused.json()["error"]["type"]) == (501, "server_error")


OF_SAMPLING = {"min_tokens": 3, "ignore_eos": True, "bad_words": ["no"]}
OF_REQUESTS = {
    "cache_salt": "salt",
    "priority": -1,
    "kv_transfer_params": {"a": [1]},
    "ec_transfer_params": {"b": None},
}
OF_ENGINES = {**OF_SAMPLING, **OF_REQUESTS, "stop_token_ids": [5]}


def told(form: str, paths: dict[str, Any], path: str) -> dict[str, Any]:
    """What an engine is asked if a body has all fields that only engines understand."""

    async def run() -> dict[str, Any]:
        async with running(paths) as fake:
            app = serve.app(f"{form}={fake.url}", trust_clients=True)
            answer = await ask(app, path, {**BODIES[path], **OF_ENGINES})
            assert answer.status == 200, answer.body
            await app.state.gateway.engine.aclose()
            return fake.asked[-1][1]

    return asyncio.run(run())


@pytest.mark.parametrize("path", BODIES)
def test_what_only_engines_understand_is_passed_on(path: str) -> None:
    asked = told("vllm", fake_engines.vllm(tokens(HELLO)), path)
    assert {name: asked[name] for name in OF_REQUESTS} == OF_REQUESTS
    sampling = asked["sampling_params"]
    assert {name: sampling[name] for name in OF_SAMPLING} == OF_SAMPLING
    assert sampling["stop_token_ids"] == [200002, 200012, 5]
    asked = told("vllm", fake_engines.vllm(tokens(HELLO), generates=False), path)
    assert {name: asked[name] for name in OF_ENGINES} == {
        **OF_ENGINES,
        "stop_token_ids": [200002, 200012, 5],
    }
    sampling = told("sglang", fake_engines.sglang(tokens(HELLO), cumulative=True), path)[
        "sampling_params"
    ]
    assert (sampling["min_new_tokens"], sampling["ignore_eos"]) == (3, True)
    assert sampling["stop_token_ids"] == [200002, 200012, 5]


def test_health_of_an_engine_that_comes_later() -> None:
    async def run() -> None:
        async with running({}) as fake:
            app = serve.app(f"auto={fake.url}")
            found = await ask(app, "/health")
            assert (found.status, found.json()["status"]) == (503, "unavailable")
            assert (await ask(app, CHAT, BODIES[CHAT])).status == 503
            fake.paths.update(fake_engines.vllm(tokens(HELLO)))
            await asyncio.sleep(1.1)  # so long the last answer counts
            found = await ask(app, "/health")
            assert (found.status, found.json()["engine"]) == (200, "vllm")
            assert (await ask(app, CHAT, BODIES[CHAT])).status == 200
            assert found.json()["model"] == "openai/gpt-oss-20b"
            await app.state.gateway.engine.aclose()

    asyncio.run(run())


def test_settings_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "serve.toml"
    file.write_text('engine = "vllm=http://x"\nmax-running = 3\nqueue_timeout = 2\n')
    settings = Settings(**read_file(file))
    assert (settings.max_running, settings.queue_timeout) == (3, 2.0)
    for text, said in (
        ("engin = 1", "engin is not a setting"),
        ("[serve]\nport = 1", "serve is not a setting"),
        ("max-running = 1\nmax_running = 2", "max_running is set twice"),
        ("=", "not TOML"),
    ):
        file.write_text(text)
        with pytest.raises(ValueError, match=said):
            read_file(file)


def test_paths_in_a_file_are_relative_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, elsewhere = tmp_path / "there", tmp_path / "elsewhere"
    there.mkdir()
    elsewhere.mkdir()
    (there / "keys.txt").write_text("alpha\n")
    file, url = there / "serve.toml", "sqlite:///x.sqlite"
    monkeypatch.chdir(elsewhere)
    for name, value, expected in (
        ("api-key-file", "keys.txt", str(there / "keys.txt")),
        ("api-key-file", "/etc/keys", "/etc/keys"),
        ("store", "x.sqlite", str(there / "x.sqlite")),
        ("store", "none", "none"),
        ("store", url, url),
        ("engine", "replay=x.jsonl", f"replay={there / 'x.jsonl'}"),
        ("engine", "transformers=openai/gpt-oss-20b", "transformers=openai/gpt-oss-20b"),
        ("model", "keys.txt", "keys.txt"),
    ):
        file.write_text(f'{name} = "{value}"\n')
        assert read_file(file) == {name.replace("-", "_"): expected}
        assert read_file(os.path.relpath(file)) == {
            name.replace("-", "_"): expected.replace(str(there), "../there")
        }
    file.write_text('engine = "none"\napi-key-file = "keys.txt"\n')
    assert len(Configuration.of(Settings(**read_file(file))).keys) == 1
    with pytest.raises(OSError, match=r"api_key_file: keys\.txt: No such file or directory"):
        Configuration.of(Settings(engine="none", api_key_file="keys.txt"))


@pytest.mark.parametrize(
    ("named", "said"),
    table("serve_operations", "wrong settings"),
)
def test_wrong_settings(named: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Settings(**named)


def test_every_setting_is_a_flag(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["serve", "--help"])
    shown = capsys.readouterr().out
    assert all(kind in shown.partition("Engines:")[2] for kind in KINDS)
    for name, field in Settings.model_fields.items():
        assert f"--{name.replace('_', '-')}" in shown
        assert str(field.description)[:30] in " ".join(shown.split())
    words = " ".join(shown.split())
    for said in (
        "--port N the port; 0: a free one (8000)",
        "--store-days DAYS days that a response is kept after its last use (30.0)",
        "--engine-key TEXT the API key for the engine --engine-timeout SECONDS seconds",
        "--spelled-markers read markers that ordinary tokens spell (fine-tunes) --max-answers N",
    ):
        assert said in words


def test_check(records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(tmp_path / "responses.sqlite")
    engine = f"replay={records}"
    arguments = ["--engine", engine, "--store", store, "--port", "0", "--check"]
    assert cli.main(["serve", *arguments]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "ok    listens on 127.0.0.1, port 0",
        "ok    no API keys: anyone who can connect can use it",
        "ok    at most 1,024 running, 1,024 waiting, 268,435,456 bytes of large bodies",
        "ok    stores responses for 30 days",
        f"ok    engine: replay at {records} with gpt-oss-20b, 131,072 tokens",
    ]
    shared = ["--workers", "3", "--max-running", "5"]
    assert cli.main(["serve", "--engine", "none", *shared, "--port", "0", "--check"]) == 0
    said = "at most 15 running, 3,072 waiting, 805,306,368 bytes of large bodies: 3 workers with 5"
    assert said in capsys.readouterr().out
    for engine, model, said in (
        ("none", (), "any model, 131,072 tokens"),
        ("none=4096", ("--model", "gpt-oss-120b"), "gpt-oss-120b, 4,096 tokens"),
    ):
        assert cli.main(["serve", "--engine", engine, *model, "--port", "0", "--check"]) == 0
        line = capsys.readouterr().out.splitlines()[-1]
        assert line == f"ok    no engine: renders and derenders for {said}"
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        bad = ["--engine", "vllm=http://127.0.0.1:9", "--store", f"{tmp_path}/no/x", "--port", port]
        assert cli.main(["serve", *bad, "--check"]) == 1
    address, _, _, stored, engine = capsys.readouterr().out.splitlines()
    assert address.startswith(f"BAD   127.0.0.1, port {port}: ")
    assert stored.startswith("BAD   the store of responses cannot be used: ")
    assert engine.startswith("BAD   engine: the engine vllm cannot be reached: ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    table("serve_operations", "wrong usage"),
)
def test_wrong_usage(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        port = [] if "--port" in arguments else ["--port", "0"]
        code: Any = cli.main(["serve", *port, *arguments])
    except SystemExit as ended:
        code = ended.code
    assert code in (1, 2)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("where", ["command line", "file"])
@pytest.mark.parametrize(
    ("setting", "value", "reason"),
    table("serve_operations", "a wrong setting is named as it was written"),
)
def test_a_wrong_setting_is_named_as_it_was_written(
    setting: str,
    value: Any,
    reason: str,
    where: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.txt").touch()
    Path("serve.toml").write_text("" if where == "command line" else f"{setting} = {value!r}\n")
    given = [f"--{setting}", str(value)] if where == "command line" else []
    try:
        code: Any = cli.main(["serve", "--config", "serve.toml", "--engine", "none", *given])
    except SystemExit as ended:
        code = ended.code
    said = capsys.readouterr().err
    assert (code in (1, 2), len(said.splitlines())) == (True, 1)
    if where == "file":
        assert f"error: serve.toml: {setting}: {reason}" in said
    else:
        assert f"error: --{setting}: {reason}" in said


def until_running(url: str, figure: str = "running 1.0", key: str = "-") -> None:
    """Waits until a request is answered, or until another figure."""
    deadline = time.monotonic() + 60
    while f"harmony_requests_{figure}\n" not in get(f"{url}/metrics", key).decode():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def get(url: str, key: str = "-") -> bytes:
    request = urllib.request.Request(url, headers={"x-api-key": key})
    with urllib.request.urlopen(request, timeout=60) as response:
        return bytes(response.read())


def post(url: str, path: str, body: Any) -> bytes:
    request = urllib.request.Request(f"{url}{path}", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=60) as response:
        return bytes(response.read())


def test_ends_when_running_answers_have_ended(records: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with command("--engine", f"replay={records}", "--log-contents", log=log) as (url, process):
        body = {"messages": [{"role": "user", "content": "Slow"}], "stream": True}
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(post, url, CHAT, body)
            until_running(url)
            process.send_signal(signal.SIGTERM)
            whole = slow.result(60)
        assert whole.count(b'"content":"') > 5
        assert b'"finish_reason":"stop"' in whole
        assert process.wait(60) == 0
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        [logged] = [line for line in lines if line["event"] == "request"]
        assert (logged["level"], logged["status"], logged["stop"]) == ("info", 200, ["stop"])
        assert "Slow" in logged["prompt"]


def test_requests_that_wait_are_a_figure(records: Path) -> None:
    with command("--engine", f"replay={records}", "--max-running", "1") as (url, _):
        body = {"messages": [{"role": "user", "content": "Slow"}]}
        until_running(url, "waiting 0.0")
        with ThreadPoolExecutor(2) as pool:
            answers = [pool.submit(post, url, CHAT, body) for _ in range(2)]
            until_running(url, "waiting 1.0")
            until_running(url, "running 2.0")
            assert all(b"word word" in answer.result(60) for answer in answers)
        until_running(url, "waiting 0.0")


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_ends_with_0_when_it_is_told_to(records: Path, number: int, workers: str) -> None:
    with command("--engine", f"replay={records}", "--workers", workers) as (url, process):
        assert b"Hi there." in post(url, CHAT, BODIES[CHAT])
        process.send_signal(number)
        assert process.wait(60) == 0


def test_ends_an_answer_that_takes_too_long_at_the_end(records: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    text = "<|channel|>final<|message|>" + "word " * 4000 + "<|return|>"
    records.write_text(json.dumps({"match": "Slow", "text": text, "delay": 0.05}))
    options = ("--engine", f"replay={records}", "--drain-timeout", "1")
    with command(*options, log=log) as (url, process):
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(post, url, RESPONSES, {"input": "Slow", "stream": True})
            until_running(url)
            process.send_signal(signal.SIGTERM)
            whole = slow.result(60)
        # Even then the stream has its last event.
        assert b"event: response.failed" in whole
        assert process.wait(60) == 0
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    [waits] = [line for line in lines if "waiting for" in line["event"]]
    assert waits["event"] == "the server ends: waiting for 1 requests"
    [oldest] = waits["oldest"]
    assert oldest["path"] == RESPONSES
    assert oldest["request"] in [line.get("request") for line in lines]


def test_ends_while_the_store_hangs(records: Path, tmp_path: Path) -> None:
    """A request that waits for the store is answered, however long the store may take."""
    file = tmp_path / "responses.sqlite"
    options = ("--store", str(file), "--store-timeout", "7", "--drain-timeout", "0")
    with command("--engine", f"replay={records}", *options) as (url, process):
        with closing(sqlite3.connect(file, isolation_level=None)) as lock:
            lock.execute("BEGIN EXCLUSIVE")
            with ThreadPoolExecutor(1) as pool:
                waits = pool.submit(post, url, RESPONSES, {"input": "Hello"})
                until_running(url)
                process.send_signal(signal.SIGTERM)
                with pytest.raises(urllib.error.HTTPError) as refused:
                    waits.result(60)
        with refused.value as error:
            assert error.code == 503
        assert process.wait(60) == 0


def test_several_processes(records: Path, tmp_path: Path) -> None:
    store = f"{tmp_path}/responses.sqlite"
    options = ["--engine", f"replay={records}", "--workers", "2", "--store", store]
    with command(*options) as (url, process):
        made = [json.loads(post(url, RESPONSES, {"input": "Hello"})) for _ in range(8)]
        previous = [{"input": "Hello", "previous_response_id": one["id"]} for one in made]
        with ThreadPoolExecutor(8) as pool:
            after = list(pool.map(lambda body: json.loads(post(url, RESPONSES, body)), previous))
        assert [one["status"] for one in after] == ["completed"] * 8
        figures = get(f"{url}/metrics").decode().splitlines()
        lines = dict(line.rsplit(" ", 1) for line in figures if line[0] != "#")
        assert lines['harmony_requests_total{api="responses",key="",status="200"}'] == "16.0"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_a_process_that_is_killed(records: Path, tmp_path: Path) -> None:
    """Another one takes its place, and what it was answering is not counted as running for ever."""
    if not Path("/proc").is_dir():
        pytest.skip("this system does not list the children of a process")
    log = tmp_path / "log"
    with command("--engine", f"replay={records}", "--workers", "2", log=log) as (url, process):
        body = {"messages": [{"role": "user", "content": "Slow"}], "stream": True}
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(post, url, CHAT, body)
            until_running(url)
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
            # The first is what multiprocessing itself begins.
            for child in map(int, children.split()[1:]):
                os.kill(child, signal.SIGKILL)
            with pytest.raises((OSError, http.client.HTTPException)):
                slow.result(60)
        deadline = time.monotonic() + 60
        while not is_up(url) or b"harmony_requests_running 0.0" not in get(f"{url}/metrics"):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        answer = json.loads(post(url, CHAT, BODIES[CHAT]))
        assert answer["choices"][0]["message"]["content"] == "Hi there."
        events = [json.loads(line)["event"] for line in log.read_text().splitlines()]
        assert any(re.fullmatch(r"worker \d+ died: (SIGKILL|no answer)", event) for event in events)
        figures = get(f"{url}/metrics").decode().splitlines()
        died = dict(
            line.rsplit(maxsplit=1)
            for line in figures
            if line.startswith("harmony_worker_deaths_to")
        )
        # One that is killed while another is replaced has not answered in time.
        assert {*died} <= {
            f'harmony_worker_deaths_total{{reason="{reason}"}}'
            for reason in ("SIGKILL", "no answer")
        }
        assert sum(map(float, died.values())) == len(children.split()) - 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_a_parent_that_is_killed(records: Path, tmp_path: Path) -> None:
    """Its workers end, too: they would keep the port from the next server."""
    log = tmp_path / "log"
    with command("--engine", f"replay={records}", "--workers", "2", log=log) as (url, process):
        process.kill()
        process.wait()
        deadline = time.monotonic() + 60
        while is_up(url):
            assert time.monotonic() < deadline
            time.sleep(0.1)
    events = [json.loads(line)["event"] for line in log.read_text().splitlines()]
    assert "the parent of this worker is gone" in events


def status(url: str, path: str, key: str, body: Any = None) -> int:
    """Of one request with this key."""
    raw = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{url}{path}", raw, headers={"x-api-key": key})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


def asked_again(process: Any, log: Path, said: str) -> None:
    """Sends `SIGHUP`, and waits until the log has another line with these words."""
    before = log.read_text().count(said)
    process.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + 60
    while log.read_text().count(said) <= before:
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.02)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")
@pytest.mark.parametrize("workers", [1, 2])
def test_keys_and_configuration_are_read_again(records: Path, tmp_path: Path, workers: int) -> None:
    """At one moment for all processes, and nothing that runs is ended.

    What cannot be read, or makes no sense, changes nothing.
    """
    keys, config, log = tmp_path / "keys", tmp_path / "serve.toml", tmp_path / "log"
    keys.write_text("alpha\n")
    config.write_text("max-answers = 1\n")
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    body = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}, image]}]}
    two = {**BODIES[CHAT], "n": 2}
    options = ("--api-key-file", str(keys), "--config", str(config), "--workers", str(workers))
    with command("--engine", f"replay={records}", *options, log=log) as (url, process):

        def of_all(path: str, key: str, body: Any = None) -> set[int]:
            return {status(url, path, key, body) for _ in range(4 * workers)}

        def settle(path: str, key: str, wanted: int, body: Any = None) -> None:
            """Until all processes go by the new configuration."""
            deadline = time.monotonic() + 60
            while of_all(path, key, body) | of_all(path, key, body) != {wanted}:
                assert time.monotonic() < deadline
                time.sleep(0.05)

        assert (of_all("/v1/models", "alpha"), of_all("/v1/models", "beta")) == ({200}, {401})
        assert (of_all(CHAT, "alpha", two), of_all(CHAT, "alpha", body)) == ({400}, {400})
        slow = {"messages": [{"role": "user", "content": "Slow"}]}
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(status, url, CHAT, "alpha", slow)
            until_running(url, key="alpha")
            keys.write_text("beta\n")
            config.write_text('max-answers = 2\nunsupported = "placeholder"\nport = 1\n')
            asked_again(process, log, "the configuration was read again")
            told = [json.loads(line) for line in log.read_text().splitlines()]
            [again] = [one for one in told if one["event"] == "the configuration was read again"]
            assert sorted(again["changed"]) == ["max-answers", "unsupported"]
            assert (again["keys"], again["keys_added"], again["keys_removed"]) == (1, 1, 1)
            settle("/v1/models", "alpha", 401)
            assert running.result(60) == 200
        # The command line counts, so the port did not change; what only a start changes is said.
        assert (of_all("/v1/models", "alpha"), of_all("/v1/models", "beta")) == ({401}, {200})
        assert (of_all(CHAT, "beta", two), of_all(CHAT, "beta", body)) == ({200}, {200})
        for wrong in ("max-answers = 0", "max-anwsers = 3", "=", 'engine = "x=y"'):
            config.write_text(f"{wrong}\n")
            if "engine" not in wrong:  # which the command line has
                asked_again(process, log, "the configuration stays as it is")
        assert "stays as it is: max-answers: Input should be greater than 0" in log.read_text()
        config.write_text('max-answers = 1\nstore = "none"\nstore-days = 3\n')
        asked_again(process, log, "these settings change only by a new start: store-days")
        keys.write_text("")
        asked_again(process, log, "the configuration stays as it is: api-key-file: ")
        settle(CHAT, "beta", 400, two)
        assert (of_all(CHAT, "beta", two), of_all(CHAT, "beta", BODIES[CHAT])) == ({400}, {200})


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")
def test_another_engine_without_an_end(records: Path, tmp_path: Path) -> None:
    """Answers that run keep the engine that they began with."""
    config, log, other = tmp_path / "serve.toml", tmp_path / "log", tmp_path / "other.jsonl"
    other.write_text(json.dumps({"match": "", "text": HELLO.replace("Hi there.", "Another.")}))
    config.write_text(f'engine = "replay={records}"\n')
    with command("--config", str(config), log=log) as (url, process):
        slow = {"messages": [{"role": "user", "content": "Slow"}]}
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(post, url, CHAT, slow)
            until_running(url)
            config.write_text(f'engine = "replay={other}"\n')
            asked_again(process, log, "the configuration was read again")
            assert b"Another." in post(url, CHAT, BODIES[CHAT])
            assert b"word word" in running.result(60)
        config.write_text('engine = "replay=nowhere.jsonl"\n')
        asked_again(process, log, "the configuration stays as it is")
        assert b"Another." in post(url, CHAT, BODIES[CHAT])


def test_a_thousand_streams_lose_nothing(records: Path) -> None:
    resource = pytest.importorskip("resource", reason="this system has no limit of open files")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 4500:
        pytest.skip(f"this system allows {hard} open files")
    # The server begins with a shell's limit, and raises it itself.
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    try:
        with command("--engine", f"replay={records}") as (url, _):
            resource.setrlimit(resource.RLIMIT_NOFILE, (4500, hard))
            port = int(url.rpartition(":")[2])
            alone = b"".join(content(post(url, CHAT, {**BODIES[CHAT], "stream": True})))
            assert asyncio.run(streams(port, 1000)) == {alone: 1000}
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def streams(port: int, count: int) -> dict[bytes, int]:
    """How often each stream came of so many at a time; all are asked before one is read."""
    body = json.dumps({**BODIES[CHAT], "stream": True}).encode()
    head = f"POST {CHAT} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n"
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(count)]
    for _, writer in opened:
        writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
    found: Counter[bytes] = Counter()
    for reader, writer in opened:
        found[b"".join(content(await asyncio.wait_for(reader.read(), 60)))] += 1
        writer.close()
    return dict(found)


def content(stream: bytes) -> list[bytes]:
    """The deltas of a stream, which have neither ids nor times."""
    return [line.partition(b'"choices":')[2] for line in stream.splitlines() if b"choices" in line]


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/chat/completions", CHAT),
        ("/v1/v1/chat/completions", CHAT),
        ("/v1/message", ANTHROPIC),
        ("/nothing", None),
    ],
)
def test_an_unknown_path_names_the_one_that_is_meant(path: str, meant: str | None) -> None:
    app = serve.app(says())
    error = asked(app, path, BODIES[CHAT]).json()["error"]
    meant = "" if meant is None else f"; did you mean {meant}?"
    assert error["message"] == f"no such path: POST {path}{meant}"
