"""A server from its beginning to its end, without a process of its own: what it sets up, takes, says and closes."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from uvicorn import Config

from gateways import ask, says
from openai_harmony import serve
from openai_harmony.serve import run as runner
from openai_harmony.serve.configuration import Configuration
from openai_harmony.serve.connections import Connection, OutOfDescriptors
from openai_harmony.serve.engines import EngineError
from openai_harmony.serve.settings import Settings
from served_process import LOGGERS, NONE, until

if not hasattr(signal, "SIGHUP"):
    pytest.skip("this system has no SIGHUP", allow_module_level=True)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1:9"),
        ("a.example", "a.example:9"),
        ("::1", "[::1]:9"),
        ("::", "127.0.0.1:9"),
        ("0.0.0.0", "127.0.0.1:9"),
    ],
)
@pytest.mark.parametrize("engine", ["vllm=http://x", "none", "none=4096"])
@pytest.mark.parametrize("keys", [False, True])
def test_it_says_how_to_try_it(host: str, address: str, engine: str, keys: bool) -> None:
    where, how = runner.greeting(Settings(engine=engine, host=host), 9, keys)
    place, path = f"in front of {engine}", "/v1/chat/completions"
    if engine.startswith("none"):
        place, path = "without an engine, to render only", f"{path}/render"
    header = ' -H "Authorization: Bearer $KEY"' if keys else ""
    assert where == f"harmony serve: http://{address} {place}"
    assert how == (
        f"try it: curl http://{address}{path} -H 'Content-Type: application/json'{header} "
        '-d \'{"messages": [{"role": "user", "content": "Hello"}]}\''
    )


@pytest.mark.parametrize("started", [True, False])
def test_one_process(
    started: bool,
    process: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    served: list[Any] = []
    said: list[str] = []

    class Server:
        def __init__(self, config: Config) -> None:
            self.config, self.started = config, started

        def run(self, sockets: list[socket.socket]) -> None:
            served.extend([said.copy(), self.config, sockets])
            LOGGERS[0].info("it runs")

    monkeypatch.setattr("uvicorn.Server", Server)
    # An address of IPv6 has four parts.
    listening = SimpleNamespace(getsockname=lambda: ("::1", 5, 0, 0))
    monkeypatch.setattr(runner, "_listening", lambda settings: nullcontext(listening))
    assert runner.run(lambda: replace(NONE, host="::1"), said.append) is started
    before, config, sockets = served
    first = "harmony serve: http://[::1]:5 without an engine, to render only"
    assert (before, said[0], sockets) == (said, first, [listening])
    assert (config.http, config.ws, config.server_header) == (Connection, "none", False)
    assert config.timeout_graceful_shutdown > NONE.drain_timeout
    assert json.loads(capsys.readouterr().err)["event"] == "it runs"
    for number in (signal.SIGTERM, signal.SIGINT):
        handle: Any = signal.getsignal(number)
        with pytest.raises(SystemExit) as ended:
            handle(number, None)
        assert ended.value.code == 0


def test_several_processes(
    process: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begun: list[Any] = []
    said: list[str] = []

    class Parent:
        def __init__(
            self, config: Config, sockets: list[socket.socket], source: Any, file: Path
        ) -> None:
            port = sockets[0].getsockname()[1]
            for one in sockets:
                one.close()
            folder = Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])
            assert (file.parent, os.environ[runner._CONFIGURATION]) == (folder, str(file))
            begun.extend([config, port, Configuration.read(file), said.copy()])

        def run(self) -> None:
            begun.append("runs")
            LOGGERS[0].info("it runs")

    monkeypatch.setattr(runner, "Workers", Parent)
    settings = replace(NONE, workers=3, max_answers=5)
    assert runner.run(lambda: settings, said.append) is True
    config, port, (configuration, at), before, runs = begun
    assert (config.app, config.factory, config.workers) == (
        "openai_harmony.serve.run:worker",
        True,
        3,
    )
    assert (config.http, config.host, config.port) == (Connection, "127.0.0.1", port)
    assert (configuration.settings, at, before, runs) == (settings, 0.0, said, "runs")
    assert f":{port} " in said[0]
    assert json.loads(capsys.readouterr().err)["event"] == "it runs"
    # It is one to every worker.
    assert not Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]).exists()


def test_a_worker(process: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It goes by the file, logs as JSON, and forgets what killed processes were answering."""
    Configuration(replace(NONE, max_answers=5), ("ab",)).write(tmp_path / "configuration.json", 0.0)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as alive:
        for one in (dead, alive):
            (tmp_path / f"gauge_livesum_{one.pid}.db").touch()
        app = runner.worker()
        assert not (tmp_path / f"gauge_livesum_{dead.pid}.db").exists()
        assert (tmp_path / f"gauge_livesum_{alive.pid}.db").exists()
        alive.communicate(b"x")
        assert alive.returncode == 0
    assert app.state.gateway.settings.max_answers == 5
    assert app.state.door.keys == ("ab",)
    LOGGERS[0].info("it runs")
    assert json.loads(capsys.readouterr().err)["event"] == "it runs"


@pytest.mark.parametrize(
    ("soft", "hard", "most"),
    [
        (100, -1, 316),
        (100, 1000, 316),
        (100, 200, 200),
        (316, 1000, None),
        (400, -1, None),
        (-1, -1, None),
    ],
)
@pytest.mark.parametrize("refuses", [False, True])
def test_how_many_files_may_be_open(
    soft: int, hard: int, most: int | None, refuses: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    now = (soft, hard)

    def setrlimit(which: int, limits: tuple[int, int]) -> None:
        nonlocal now
        asked.append(limits)
        if refuses:
            raise ValueError("not allowed to")
        now = limits

    fake: Any = SimpleNamespace(RLIM_INFINITY=-1, RLIMIT_NOFILE=7)
    fake.getrlimit, fake.setrlimit = lambda which: now, setrlimit
    monkeypatch.setitem(sys.modules, "resource", fake)
    found = runner._allow_open_files(Settings(max_running=10, max_waiting=20))
    assert asked == ([] if most is None else [(most, hard)])
    expected = soft if most is None or refuses else most
    assert found == (math.inf if expected == -1 else expected)
    monkeypatch.setitem(sys.modules, "resource", None)
    assert runner._allow_open_files(NONE) == math.inf


def test_signals(
    process: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """`SIGTERM` and `SIGINT` end running answers once, and `SIGHUP` changes the settings."""
    monkeypatch.setattr(runner, "_DRAIN_SECONDS", 0.01)
    passed_on: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: passed_on.append(number))
    settings = replace(NONE, drain_timeout=0.05)
    other = Configuration.of(replace(settings, max_answers=2, header_timeout=7))
    found: list[Any] = [(None, 0.0), (other, time.monotonic() + 0.01)]
    app = runner._running(Configuration.of(settings), lambda: found.pop(0))
    gateway, ready = app.state.gateway, "/ready"
    assert (Connection.header_timeout, Connection.client_timeout) == (30, 60)

    async def run() -> None:
        loop = asyncio.get_running_loop()
        async with app.router.lifespan_context(app):
            assert isinstance(loop.get_exception_handler(), OutOfDescriptors)
            for left in (1, 0):
                signal.raise_signal(signal.SIGHUP)
                await until(lambda left=left: len(found) == left)
            await until(lambda: gateway.settings.max_answers == 2)
            assert Connection.header_timeout == 7
            assert (await ask(app, ready)).status == 200
            record = gateway.journal.begin("chat_completions", "/x", {})
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM):
                signal.raise_signal(number)
            await until(lambda: gateway.is_draining)
            answer = await ask(app, ready)
            assert (answer.status, answer.body) == (503, b"the server ends")
            await asyncio.wait_for(asyncio.shield(gateway.ending), 60)
            await until(lambda: len(waits(caplog)) > 2)
            gateway.journal.end(record)
            said = len(waits(caplog))
            await asyncio.sleep(0.03)
            assert len(waits(caplog)) == said

    asyncio.run(run())
    assert passed_on == [signal.SIGTERM, signal.SIGINT, signal.SIGTERM]
    first: Any = waits(caplog)[0]
    assert first.getMessage() == "the server ends: waiting for 1 requests"
    assert first.fields["oldest"][0]["path"] == "/x"
    assert not [one for one in caplog.records if one.levelno >= logging.ERROR]


def waits(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [one for one in caplog.records if "waiting for" in one.getMessage()]


def test_it_needs_no_package_for_traces_that_are_not_asked_for(
    process: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    runner._running(Configuration.of(NONE), lambda: (None, 0.0))


@dataclass
class Closed:
    """Stores and engines that say when they are closed."""

    seen: list[str] = field(default_factory=list)
    check_fails: bool = False

    def store(self) -> Any:
        return SimpleNamespace(close=lambda: self.seen.append("store"))

    def engine(self) -> Any:
        made = says()

        async def check() -> None:
            if self.check_fails:
                raise EngineError("away")

        async def aclose() -> None:
            self.seen.append("engine")

        made.check, made.aclose = check, aclose  # type: ignore[method-assign]
        return made


@pytest.mark.parametrize("fails", [False, True])
def test_a_check_closes_what_it_opens(
    fails: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = Closed(check_fails=fails)
    monkeypatch.setattr(runner, "open_store", lambda settings: closed.store())
    monkeypatch.setattr(runner, "connected", lambda settings: closed.engine())
    (tmp_path / "keys").write_text("alpha\nbeta\n")
    settings = replace(NONE, engine="x", api_key_file=str(tmp_path / "keys"))
    _, keys, store, engine = runner.check(settings)
    assert (keys, store) == ((True, "API keys: 2"), (True, "stores responses for 30 days"))
    assert engine == (
        (False, "engine: away")
        if fails
        else (True, "engine: test at here with gpt-oss-test, 131,072 tokens")
    )
    assert closed.seen == ["store", "engine"]
    monkeypatch.setattr(runner, "open_store", lambda settings: None)
    assert runner.check(settings)[2] == (True, "stores no responses")


def test_what_is_tried_out_before_processes_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """The store, which is closed again, and the engine, but for a model that each one loads."""
    closed, tried = Closed(), []
    monkeypatch.setattr(runner, "open_store", lambda settings: closed.store())
    monkeypatch.setattr(runner, "connected", lambda settings: tried.append(settings.engine))
    for engine in ("none", "transformers=x"):
        runner._try_out(Settings(engine=engine))
    assert (closed.seen, tried) == (["store"] * 2, ["none"])


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as tried:
            tried.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_an_address(host: str) -> None:
    """It can be had again at once, while closed connections still linger; a client may come early."""
    if ":" in host and not has_ipv6():
        pytest.skip("this machine has no IPv6")
    with runner._listening(replace(NONE, host=host)) as listening:
        port = listening.getsockname()[1]
        with socket.create_connection((host, port), timeout=60) as client:
            listening.accept()[0].close()
            assert client.recv(1) == b""
    with runner._listening(replace(NONE, host=host, port=port)) as again:
        assert again.getsockname()[1] == port
        with pytest.raises(OSError, match=rf"^{host}, port {port}: .*in use"):
            runner._listening(replace(NONE, host=host, port=port))


async def lifespan(app: Any) -> list[str]:
    """What an application answers to its beginning and its end."""
    events = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    sent: list[str] = []

    async def receive() -> dict[str, str]:
        return events.pop(0)

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, receive, send)
    return sent


@pytest.mark.parametrize("has_store", [False, True])
@pytest.mark.parametrize("fails", [False, True])
def test_an_application_closes_what_it_opens(
    fails: bool,
    has_store: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Also where only keys open it; an engine that is away is logged."""
    monkeypatch.setenv("HARMONY_API_KEYS", "alpha")
    closed = Closed(check_fails=fails)
    opened = closed.store() if has_store else None
    monkeypatch.setattr("openai_harmony.serve.application.open_store", lambda settings: opened)
    app = serve.app(closed.engine())
    monkeypatch.setattr(app.state.gateway.journal, "flush", lambda: closed.seen.append("spans"))
    assert asyncio.run(lifespan(app)) == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert closed.seen == ["engine", "spans", *(["store"] if has_store else [])]
    said = ["the engine does not answer yet: away"] if fails else []
    assert [record.getMessage() for record in caplog.records] == said


def test_spans_are_sent_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a provider that can; others have none."""
    trace = pytest.importorskip("opentelemetry.trace")
    sent: list[str] = []
    for provider in (
        SimpleNamespace(force_flush=lambda: sent.append("all"), get_tracer=lambda *of: None),
        SimpleNamespace(get_tracer=lambda *of: None),
    ):
        monkeypatch.setattr(trace, "get_tracer_provider", lambda one=provider: one)
        app = serve.app(says(), traces=True)
        assert asyncio.run(lifespan(app))[-1] == "lifespan.shutdown.complete"
    assert sent == ["all"]
