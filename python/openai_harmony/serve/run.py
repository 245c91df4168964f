"""Runs the application: the socket, the processes, and the line that says how to try it."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette

from openai_harmony.serve.application import application, open_store, take
from openai_harmony.serve.configuration import Configuration, Source
from openai_harmony.serve.connections import Connection, OutOfDescriptors, limit
from openai_harmony.serve.engines import EngineError
from openai_harmony.serve.engines.none import NoEngine
from openai_harmony.serve.gateway import connected
from openai_harmony.serve.journal import LOG, forget_the_dead, log_to_stderr
from openai_harmony.serve.settings import Settings
from openai_harmony.serve.store import StoreError
from openai_harmony.serve.traces import export_traces
from openai_harmony.serve.workers import Workers, end_after_parent, take_hup

_DRAIN_SECONDS = 5.0
"""So often a server that ends says what it waits for."""
_MOST_NAMED = 5
"""How many of the requests that it waits for are named."""
_CONFIGURATION = "HARMONY_SERVE_CONFIGURATION"
"""The environment variable that names the file by which worker processes get the configuration."""
Again = Callable[[], tuple["Configuration | None", float]]
"""What reads the configuration again, and when it counts."""


def run(source: Callable[[], Settings], say: Callable[[str], object]) -> bool:
    """Serves until it is ended, by ``SIGTERM`` or ``Ctrl-C``.

    Running answers then have ``drain_timeout`` seconds.

    Args:
        source: Reads the settings: now, and again at each ``SIGHUP``.
        say: Takes the lines that say where it is.

    Returns:
        Whether it has served; if it could not start, its log says why.

    Raises:
        ValueError: A setting that makes no sense.
        OSError: The address cannot be had, or a file cannot be read.
        EngineError: A model that cannot be loaded.
        StoreError: The database cannot be used.
    """
    configuration = Configuration.of(source())
    settings = configuration.settings
    options: dict[str, Any] = {
        "http": Connection,
        # Where a package for websockets is installed, uvicorn would answer requests to upgrade.
        "ws": "none",
        # uvloop would close new connections without a word where no file can be opened.
        "loop": "asyncio",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        # Nothing here asks for a client's address.
        "proxy_headers": False,
        "timeout_keep_alive": 65,
        # Until then every answer has ended by itself, or by `_drained`.
        "timeout_graceful_shutdown": round(settings.drain_timeout) + 5,
    }
    with _listening(settings) as listening:
        host, port = listening.getsockname()[:2]
        lines = greeting(settings, port, bool(configuration.keys))
        again = Source(configuration, source)
        if settings.workers == 1:
            log_to_stderr()
            app = _running(configuration, lambda: (again.again(), 0.0))
            _say(say, lines)
            server = uvicorn.Server(uvicorn.Config(app, **options))
            # uvicorn ends well, and then raises the signal that ended it once more.
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: sys.exit(0))
            server.run(sockets=[listening])
            return server.started
    # What makes no sense to one process is found here: it would end each of them, again and again.
    _try_out(settings)
    # uvicorn's processes share a socket that it makes itself.
    _say(say, lines)
    # Five seconds are too few for a worker that starts on a busy machine.
    options["timeout_worker_healthcheck"] = 20
    shared = {"workers": settings.workers, "factory": True, "host": host, "port": port}
    with tempfile.TemporaryDirectory(prefix="harmony-serve-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        file = Path(folder) / "configuration.json"
        os.environ[_CONFIGURATION] = str(file)
        configuration.write(file, 0.0)
        config = uvicorn.Config("openai_harmony.serve.run:worker", **shared, **options)
        log_to_stderr()
        Workers(config, [config.bind_socket()], again, file).run()
    return True


def _try_out(settings: Settings) -> None:
    if (store := open_store(settings)) is not None:
        store.close()
    # A model is large: only the processes load it.
    if not settings.engine.startswith("transformers="):
        connected(settings)


def _allow_open_files(settings: Settings) -> float:
    """A request takes two connections, its client's and the engine's; shells often allow 1,024.

    Returns how many files may be open.
    """
    try:
        import resource
    except ModuleNotFoundError:  # Windows has no such limit
        return math.inf
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * (settings.max_running + settings.max_waiting) + 256
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        # The system may allow less than it says.
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return math.inf if soft == resource.RLIM_INFINITY else soft


def _say(say: Callable[[str], object], lines: list[str]) -> None:
    for line in lines:
        say(line)


def worker() -> Starlette:
    """The application of a worker process."""
    log_to_stderr()
    end_after_parent()
    forget_the_dead()
    file = Path(os.environ[_CONFIGURATION])
    configuration, _ = Configuration.read(file)
    return _running(configuration, lambda: Configuration.read(file))


def _running(configuration: Configuration, again: Again) -> Starlette:
    """The application of a process: it goes by another configuration after each `SIGHUP`.

    And it ends running answers well when the process ends and their time is up: uvicorn takes
    signals itself, and at the end cancels what still runs, of which no client would get a last
    event.
    """
    settings = configuration.settings
    limit(settings, _allow_open_files(settings))
    if settings.traces:
        export_traces()
    app = application(None, configuration)
    inner: Any = app.router.lifespan_context
    gateway = app.state.gateway

    def drain(loop: asyncio.AbstractEventLoop) -> None:
        if not gateway.is_draining:
            gateway.is_draining = True
            loop.call_later(settings.drain_timeout, gateway.ending.set_result, None)
            say_what_is_left(loop)

    def say_what_is_left(loop: asyncio.AbstractEventLoop) -> None:
        if running := gateway.journal.running():
            text = "the server ends: waiting for %d requests"
            about = {"oldest": running[:_MOST_NAMED]}
            LOG.warning(text, len(running), extra={"fields": about})
            loop.call_later(_DRAIN_SECONDS, say_what_is_left, loop)

    def read_again(loop: asyncio.AbstractEventLoop) -> None:
        found, at = again()
        if found is not None:
            loop.call_later(max(at - time.monotonic(), 0.0), change, found)

    def change(found: Configuration) -> None:
        take(app, found)
        limit(found.settings, _allow_open_files(found.settings))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[Any]:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(OutOfDescriptors())

        def chained(number: int, before: Any) -> None:
            def handle(number: int, frame: Any) -> None:
                loop.call_soon_threadsafe(drain, loop)
                before(number, frame)

            signal.signal(number, handle)

        take_hup(loop, partial(read_again, loop))
        for number in (signal.SIGTERM, signal.SIGINT):
            if callable(before := signal.getsignal(number)):
                chained(number, before)
        async with inner(app) as state:
            yield state

    app.router.lifespan_context = lifespan
    return app


def greeting(settings: Settings, port: int, keys: bool) -> list[str]:
    """Where it is, and how to try it."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{'127.0.0.1' if host in ('0.0.0.0', '[::]') else host}:{port}"
    header = ' -H "Authorization: Bearer $KEY"' if keys else ""
    place, path = f"in front of {settings.engine}", "/v1/chat/completions"
    if settings.engine.partition("=")[0] == "none":
        place, path = "without an engine, to render only", f"{path}/render"
    return [
        f"harmony serve: {address} {place}",
        f"try it: curl {address}{path} -H 'Content-Type: application/json'{header} "
        '-d \'{"messages": [{"role": "user", "content": "Hello"}]}\'',
    ]


def check(settings: Settings) -> list[tuple[bool, str]]:
    """What the server would do, line by line, with whether it can.

    ``ValueError`` and ``OSError`` as of :func:`run`.
    """
    keys = Configuration.of(settings).keys
    return [
        _checked_address(settings),
        (
            True,
            f"API keys: {len(keys)}" if keys else "no API keys: anyone who can connect can use it",
        ),
        _checked_store(settings),
        asyncio.run(_checked_engine(settings)),
    ]


def _checked_address(settings: Settings) -> tuple[bool, str]:
    try:
        _listening(settings).close()
    except OSError as error:
        return False, str(error)
    return True, f"listens on {settings.host}, port {settings.port}"


def _checked_store(settings: Settings) -> tuple[bool, str]:
    try:
        store = open_store(settings)
    except StoreError as error:
        return False, f"{error}: {error.reason}"
    if store is None:
        return True, "stores no responses"
    store.close()
    return True, f"stores responses for {settings.store_days:g} days"


async def _checked_engine(settings: Settings) -> tuple[bool, str]:
    try:
        engine = connected(settings)
        try:
            await engine.check()
            model = settings.model or engine.model or "a model without a name"
            where = f"engine: {engine.name} at {engine.address} with {model}"
            if isinstance(engine, NoEngine):
                where = f"no engine: renders and derenders for {settings.model or 'any model'}"
            return True, f"{where}, {engine.context:,} tokens"
        finally:
            await engine.aclose()
    except EngineError as error:
        return False, f"engine: {error}"


def _listening(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    found = socket.socket(family)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((settings.host, settings.port))
        found.listen(2048)
    except OSError as error:
        found.close()
        raise OSError(f"{settings.host}, port {settings.port}: {error}") from error
    return found
