"""Runs the application: the socket, the processes, and the line that says how to try it."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import socket
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import uvicorn
from starlette.applications import Starlette

from openai_harmony.serve.application import application, open_store
from openai_harmony.serve.connections import Connection, OutOfDescriptors, limit
from openai_harmony.serve.doorkeeper import api_keys
from openai_harmony.serve.engines import EngineError, connect
from openai_harmony.serve.journal import LOG, forget_the_dead, log_to_stderr
from openai_harmony.serve.settings import Settings, from_text, to_text
from openai_harmony.serve.store import StoreError
from openai_harmony.serve.workers import Workers, take_hup

_DRAIN_SECONDS = 5.0
"""So often a server that ends says what it waits for."""
_SETTINGS = "HARMONY_SERVE_SETTINGS"
"""The environment variable by which worker processes get the settings."""


def run(settings: Settings, say: Callable[[str], object]) -> bool:
    """Serves until it is ended, by ``SIGTERM`` or ``Ctrl-C``.

    Running answers then have ``drain_timeout`` seconds.

    Returns:
        Whether it has served; if it could not start, its log says why.

    Raises:
        ValueError: A setting that makes no sense.
        OSError: The address cannot be had, or a file cannot be read.
        EngineError: A model that cannot be loaded.
        StoreError: The database cannot be used.
    """
    keys = api_keys(settings.api_key_file)
    settings.refuse_open_door(bool(keys))
    limit(settings, _allow_open_files(settings))
    options: dict[str, Any] = {
        "http": Connection,
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "timeout_keep_alive": 65,
        # Until then every answer has ended by itself, or by `_drained`.
        "timeout_graceful_shutdown": round(settings.drain_timeout) + 5,
    }
    with _listening(settings) as listening:
        host, port = listening.getsockname()[:2]
        lines = greeting(settings, port, bool(keys))
        if settings.workers == 1:
            log_to_stderr()
            app = _drained(application(settings.engine, settings), settings)
            _say(say, lines)
            server = uvicorn.Server(uvicorn.Config(app, **options))
            server.run(sockets=[listening])
            return server.started
    # What makes no sense to one process is found here: it would end each of them, again and again.
    _try_out(settings)
    # uvicorn's processes share a socket that it makes itself.
    os.environ[_SETTINGS] = to_text(settings)
    _say(say, lines)
    shared = {"workers": settings.workers, "factory": True, "host": host, "port": port}
    with tempfile.TemporaryDirectory(prefix="harmony-serve-") as figures:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = figures
        config = uvicorn.Config("openai_harmony.serve.run:worker", **shared, **options)
        log_to_stderr()
        Workers(config, [config.bind_socket()]).run()
    return True


def _try_out(settings: Settings) -> None:
    if (store := open_store(settings)) is not None:
        store.close()
    # A model is large: only the processes load it.
    if not settings.engine.startswith("transformers="):
        connect(settings.engine, timeout=settings.engine_timeout, key=settings.engine_key)


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
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return math.inf if soft == resource.RLIM_INFINITY else soft


def _say(say: Callable[[str], object], lines: list[str]) -> None:
    for line in lines:
        say(line)


def worker() -> Starlette:
    """The application of a worker process."""
    log_to_stderr()
    forget_the_dead()
    settings = from_text(os.environ[_SETTINGS])
    limit(settings, _allow_open_files(settings))
    return _drained(application(settings.engine, settings), settings)


def _drained(app: Starlette, settings: Settings) -> Starlette:
    """Ends running answers well when the process shall end and their time is up.

    uvicorn takes signals itself, and at the end cancels what still runs, of which no client would
    get a last event.
    """
    inner: Any = app.router.lifespan_context
    gateway = app.state.gateway

    def end() -> None:
        if not gateway.ending.done():
            gateway.ending.set_result(None)

    def drain(loop: asyncio.AbstractEventLoop) -> None:
        if not gateway.is_draining:
            gateway.is_draining = True
            loop.call_later(settings.drain_timeout, end)
            say_what_is_left(loop)

    def say_what_is_left(loop: asyncio.AbstractEventLoop) -> None:
        limits = gateway.limits
        if limits.running:
            text = "the server ends: waiting for %d running answers (%d requests wait)"
            LOG.warning(text, limits.running, limits.waiting)
            loop.call_later(_DRAIN_SECONDS, say_what_is_left, loop)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[Any]:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(OutOfDescriptors())

        def chained(number: int, before: Any) -> None:
            def handle(number: int, frame: Any) -> None:
                loop.call_soon_threadsafe(drain, loop)
                before(number, frame)

            signal.signal(number, handle)

        take_hup(loop, app.state.keys.read_again)
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
    return [
        f"harmony serve: {address} in front of {settings.engine}",
        f"try it: curl {address}/v1/chat/completions -H 'Content-Type: application/json'{header} "
        '-d \'{"messages": [{"role": "user", "content": "Hello"}]}\'',
    ]


def check(settings: Settings) -> list[tuple[bool, str]]:
    """What the server would do, line by line, with whether it can.

    ``ValueError`` and ``OSError`` as of :func:`run`.
    """
    keys = api_keys(settings.api_key_file)
    settings.refuse_open_door(bool(keys))
    return [
        _checked_address(settings),
        (True, f"API keys: {len(keys)}" if keys else "no API keys: everyone who connects may ask"),
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
        engine = connect(settings.engine, timeout=settings.engine_timeout, key=settings.engine_key)
        try:
            await engine.check()
            model = settings.model or engine.model or "a model without a name"
            where = f"{engine.name} at {engine.address}"
            return True, f"engine: {where} with {model}, {engine.context:,} tokens"
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
