"""Runs the application: the socket, the processes, and the line that says how to try it."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import socket
import stat
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

import uvicorn

from openai_harmony.serve.application import application, open_store, take
from openai_harmony.serve.configuration import Configuration, Source
from openai_harmony.serve.connections import Connections, OutOfDescriptors
from openai_harmony.serve.engines import EngineError
from openai_harmony.serve.engines.none import NoEngine
from openai_harmony.serve.gateway import connected
from openai_harmony.serve.journal import LOG, forget_the_dead, log_to_stderr
from openai_harmony.serve.refusals import StoreError
from openai_harmony.serve.settings import Settings
from openai_harmony.serve.traces import export_traces
from openai_harmony.serve.websocket import protocol
from openai_harmony.serve.workers import Workers, follow

_DRAIN_SECONDS = 5.0
"""So often a server that ends says what it waits for."""
_MOST_NAMED = 5
"""How many of the requests that it waits for are named."""
_BACKLOG = 2048


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
    with _listening(settings) as listening:
        port = 0 if settings.uds else listening.getsockname()[1]
        lines = greeting(settings, port, bool(configuration.keys))
        again = Source(configuration, source)
        if settings.workers == 1:
            server = Server(configuration)
            for line in lines:
                say(line)
            server.read_again = again.again
            return server.serves(listening)
        # What makes no sense to one process is found here: it would end each, again and again.
        _try_out(settings)
        for line in lines:
            say(line)
        with tempfile.TemporaryDirectory(prefix="harmony-serve-") as folder:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
            log_to_stderr()
            asyncio.run(Workers(work, again, listening).run())
    return True


def work(configuration: Configuration, listening: socket.socket, parent: Pipe) -> None:
    """What a worker process does."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # its parent reads the configuration
    forget_the_dead()
    server = Server(configuration)
    server.parent = parent
    sys.exit(not server.serves(listening))


class Server(uvicorn.Server):
    """A process that serves, and ends without a lost answer.

    After ``SIGTERM`` it takes requests for ``shutdown_delay`` seconds, in which balancers learn of
    it by ``/ready``. Then it takes no more, and running answers have ``drain_timeout`` seconds.
    """

    read_again: Callable[[], Configuration | None] | None = None
    """What `SIGHUP` calls."""
    parent: Pipe | None = None
    """By which a worker gets each new configuration."""

    def __init__(self, configuration: Configuration) -> None:
        log_to_stderr()
        self._settings = settings = configuration.settings
        self._connections = Connections(settings, _allow_open_files(settings))
        if settings.traces:
            export_traces()
        self._app = application(None, configuration)
        self._gateway = self._app.state.gateway
        config = uvicorn.Config(
            self._app,
            http=self._connections,  # type: ignore[arg-type]
            ws=protocol(self._connections),
            ws_max_size=settings.max_body,
            # uvloop would close new connections without a word where no file can be opened.
            loop="asyncio",
            log_config=None,
            access_log=False,
            server_header=False,
            # Nothing here asks for a client's address.
            proxy_headers=False,
            backlog=_BACKLOG,
            timeout_keep_alive=65,
            # By then every answer has ended, by itself or by :meth:`shutdown`; what waits for the
            # store ends by the store's deadline.
            timeout_graceful_shutdown=round(settings.drain_timeout + settings.store_timeout) + 5,
            ssl_certfile=settings.ssl_certfile,
            ssl_keyfile=settings.ssl_keyfile,
        )
        super().__init__(config)

    def serves(self, listening: socket.socket) -> bool:
        """Serves on a socket until it is ended; whether it could start."""
        # uvicorn ends well, and then raises the signal that ended it once more.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: sys.exit(0))
        self.run(sockets=[listening])
        return self.started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins; uvicorn calls it."""
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(OutOfDescriptors())
        if self.parent is not None:
            follow(self.parent, self._take)
        elif self.read_again is not None and hasattr(signal, "SIGHUP"):
            self._loop.add_signal_handler(signal.SIGHUP, self._hung_up)
        await super().startup(sockets)

    def _hung_up(self) -> None:
        if self.read_again is not None and (found := self.read_again()) is not None:
            self._take(found)

    def _take(self, configuration: Configuration) -> None:
        take(self._app, configuration)
        settings = configuration.settings
        self._connections.change(settings, _allow_open_files(settings))

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Ends, or says so at first; uvicorn has it called by signals."""
        is_first, self._gateway.is_draining = not self._gateway.is_draining, True
        self._connections.is_draining = True
        if not (is_first and sig == signal.SIGTERM and self._settings.shutdown_delay):
            super().handle_exit(sig, frame)
            return
        delay, end = self._settings.shutdown_delay, super().handle_exit
        self._loop.call_soon_threadsafe(self._loop.call_later, delay, end, sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Takes no more requests, and ends those that run; uvicorn calls it."""
        end = self._loop.call_later(self._settings.drain_timeout, self._gateway.end)
        saying = self._loop.create_task(self._say_what_is_left())
        await super().shutdown(sockets)
        end.cancel()
        saying.cancel()

    async def _say_what_is_left(self) -> None:
        while running := self._gateway.journal.running():
            about = {"oldest": running[:_MOST_NAMED]}
            LOG.warning(
                "the server ends: waiting for %d requests", len(running), extra={"fields": about}
            )
            await asyncio.sleep(_DRAIN_SECONDS)


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


def greeting(settings: Settings, port: int, keys: bool) -> list[str]:
    """Where it is, and how to try it."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    host = "127.0.0.1" if host in ("0.0.0.0", "[::]") else host
    scheme = "https" if settings.ssl_certfile else "http"
    address = f"{scheme}://localhost" if settings.uds else f"{scheme}://{host}:{port}"
    at, option = (
        (f" at {settings.uds}", f"--unix-socket {settings.uds} ") if settings.uds else ("", "")
    )
    header = ' -H "Authorization: Bearer $KEY"' if keys else ""
    place, path = f"in front of {settings.engine}", "/v1/chat/completions"
    if settings.engine.partition("=")[0] == "none":
        place, path = "without an engine, to render only", f"{path}/render"
    return [
        f"harmony serve: {address}{at} {place}",
        f"try it: curl {option}{address}{path} -H 'Content-Type: application/json'{header} "
        '-d \'{"messages": [{"role": "user", "content": "Hello"}]}\'',
    ]


def check(settings: Settings) -> list[tuple[bool, str]]:
    """What the server would do, line by line, with whether it can.

    ``ValueError`` and ``OSError`` as of :func:`run`.
    """
    keys = Configuration.of(settings).keys
    said = f"API keys: {len(keys)}" if keys else "no API keys: anyone who can connect can use it"
    return [
        _checked_address(settings),
        (True, said),
        (True, _limits(settings)),
        _checked_store(settings),
        asyncio.run(_checked_engine(settings)),
    ]


def _limits(settings: Settings) -> str:
    """Those of all processes together, and of each."""
    count = settings.workers
    named = {
        "running": settings.max_running,
        "waiting": settings.max_waiting,
        "bytes of large bodies": settings.max_bodies,
    }
    each = f"{count} workers with " if count > 1 else ""
    sums = ", ".join(f"{most * count:,} {name}" for name, most in named.items())
    parts = ", ".join(f"{most:,}" for most in named.values())
    return f"at most {sums}" + (f": {each}{parts} each" if each else "")


def _checked_address(settings: Settings) -> tuple[bool, str]:
    try:
        _listening(settings).close()
    except OSError as error:
        return False, str(error)
    return True, f"listens on {settings.uds or f'{settings.host}, port {settings.port}'}"


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
    at: Any = (settings.host, settings.port)
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    if settings.uds:
        family, at = socket.AF_UNIX, settings.uds
    found = socket.socket(family)
    try:
        if settings.uds is None:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        else:
            _remove_dead(Path(settings.uds))
        found.bind(at)
        found.listen(_BACKLOG)
    except OSError as error:
        found.close()
        place = settings.uds or f"{settings.host}, port {settings.port}"
        raise OSError(f"{place}: {error}") from error
    return found


def _remove_dead(path: Path) -> None:
    """Removes the socket of a server that has ended."""
    with socket.socket(socket.AF_UNIX) as asking:
        if path.exists() and stat.S_ISSOCK(path.stat().st_mode):
            with suppress(ConnectionRefusedError):
                asking.connect(str(path))
                return
            path.unlink()
