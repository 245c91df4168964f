"""What became of each request: a line of the log, and the figures that Prometheus asks for."""

from __future__ import annotations

import collections
import json
import logging
import os
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
    multiprocess,
    values,
)

from openai_harmony.encoding import HarmonyEncoding
from openai_harmony.errors import HarmonyError
from openai_harmony.grammar import Loosened
from openai_harmony.interop.error_body import Api
from openai_harmony.serve.answers import Answer
from openai_harmony.serve.keys import ANONYMOUS, Key
from openai_harmony.serve.refusals import request_id
from openai_harmony.serve.traces import Traces

LOG = logging.getLogger("openai_harmony.serve")

MOST_NAMED = 1000
"""How many keywords that grammars do not enforce are logged: clients may send any number."""

RENDERING = ("render", "derender")
"""What ends the paths that ask no engine, and names them in the log and the metrics."""

_MOST_MODEL = 128
"""How much of a model's name is logged: clients may send any."""
_CONTROLS = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}
"""Characters that terminals obey or that end a line, and JSON need not escape."""
_WRITER = json.JSONEncoder(ensure_ascii=False)
_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


@dataclass(slots=True)
class Record:
    """A request, from its arrival to its end."""

    api: Api
    path: str
    key: Key = ANONYMOUS
    model: str = ""
    """The model that was asked for, or that there is."""
    engine_model: str = ""
    id: str = ""
    began: float = field(default_factory=time.perf_counter)
    first_token: float | None = None
    """Seconds from the beginning to the first token."""
    status: int = 0
    prompt: Sequence[int] = ()
    unused: list[tuple[str, str]] = field(default_factory=list)
    """The paths in the body that are left out, with the reasons."""
    rendered: int = 0
    """The tokens of a prompt that was rendered only, which is not kept."""
    answers: list[Answer] = field(default_factory=list)
    stream: bool = False
    client_left: bool = False
    error: str | None = None
    engine_status: int | None = None
    """The status of the engine's error, if it made one."""
    span: Any = None
    """OpenTelemetry's, if there are traces."""

    def sampling(self) -> None:
        """The first token is there."""
        self.first_token = time.perf_counter() - self.began
        if self.span is not None:
            self.span.add_event("first token")

    def fields(self, contents: HarmonyEncoding | None) -> dict[str, Any]:
        """The line of the log; with an encoding, it has what was said, too."""
        replies = [answer.reply for answer in self.answers]
        kinds = [repair.kind for reply in replies for repair in reply.repairs]
        broke = next((answer.broke for answer in self.answers if answer.broke), None)
        made: dict[str, Any] = {
            "request": self.id,
            "api": self.api if (last := self.path.rpartition("/")[2]) not in RENDERING else last,
            "path": self.path,
            "key": self.key.label,
            "model": self.model[:_MOST_MODEL],
            "status": self.status,
            "stream": self.stream,
            "seconds": round(time.perf_counter() - self.began, 4),
            "first_token": None if self.first_token is None else round(self.first_token, 4),
            "prompt_tokens": len(self.prompt) or self.rendered,
            "completion_tokens": sum(reply.usage.completion_tokens for reply in replies),
            "stop": [answer.reason for answer in self.answers],
            "repairs": dict(collections.Counter(kinds)),
        }
        if self.unused:
            made["unused"] = [f"{path}: {reason}" for path, reason in self.unused]
        if self.client_left:
            made["client_left"] = True
        if error := self.error or (broke and str(broke)):
            made["error"] = error
        if contents is not None:
            made["prompt"] = contents.decode(list(self.prompt))
            made["output"] = [_text(contents, reply.tokens) for reply in replies]
        return made


def _text(encoding: HarmonyEncoding, tokens: list[int]) -> str:
    """The text of tokens; an engine may give some that do not exist."""
    try:
        return encoding.decode(tokens)
    except HarmonyError:
        return b"".join(_bytes(encoding, token) for token in tokens).decode(errors="replace")


def _bytes(encoding: HarmonyEncoding, token: int) -> bytes:
    try:
        return encoding.decode_bytes([token])
    except HarmonyError:
        return f"[no token {token}]".encode()


class Journal:
    """Writes records, and counts them."""

    def __init__(self, contents: HarmonyEncoding | None, traces: Traces | None = None) -> None:
        """With an encoding, prompts and answers are logged, too."""
        self.contents = contents
        self._traces = traces
        self._running_records: dict[str, Record] = {}
        # Several processes share files, which prometheus_client finds by this variable.
        self._several = "PROMETHEUS_MULTIPROC_DIR" in os.environ
        self._registry = own = CollectorRegistry()
        self._requests = Counter(
            "harmony_requests",
            "Requests by API, status and key",
            ["api", "status", "key"],
            registry=own,
        )
        whose = ["key", "model"]
        self._prompt = Counter("harmony_prompt_tokens", "Tokens of prompts", whose, registry=own)
        self._sampled = Counter("harmony_completion_tokens", "Sampled tokens", whose, registry=own)
        self._repairs = Counter(
            "harmony_repairs", "Repairs of the model's output", ["kind"], registry=own
        )
        self._errors = Counter(
            "harmony_engine_errors", "Errors of the engine by status", ["status"], registry=own
        )
        self._loosened = Counter(
            "harmony_loosened_keywords",
            "Keywords of schemas that the engine's grammar does not hold",
            ["keyword"],
            registry=own,
        )
        self._unused = Counter(
            "harmony_unused_fields",
            "Fields of bodies that are left out",
            ["path", "reason"],
            registry=own,
        )
        self._unused_kinds: set[tuple[str, str]] = set()
        self._named: set[Loosened] = set()
        self._first = Histogram(
            "harmony_time_to_first_token_seconds",
            "Seconds from a request to its first token",
            buckets=_SECONDS,
            registry=own,
        )
        self._seconds = Histogram(
            "harmony_request_seconds", "Seconds of requests", buckets=_SECONDS, registry=own
        )
        self._running, self._waiting = (
            Gauge(f"harmony_requests_{name}", text, multiprocess_mode="livesum", registry=own)
            for name, text in (
                ("running", "Requests under way, those that wait included"),
                ("waiting", "Requests that wait in the queue"),
            )
        )

    def waiting(self, count: int) -> None:
        """How many requests wait in the queue."""
        self._waiting.set(count)

    def begin(
        self, api: Api, path: str, headers: Mapping[str, str], key: Key, model: str
    ) -> Record:
        """A request with this key has arrived, for this model unless it names one."""
        self._running.inc()
        record = Record(api, path, key, model, model, request_id(headers))
        if record.id in self._running_records:
            # Engines refuse an id that is under way, and another client may have sent this one.
            record.id += f"-{secrets.token_hex(4)}"
        self._running_records[record.id] = record
        if self._traces is not None:
            record.span = self._traces.begin(path, headers)
        return record

    def running(self) -> list[dict[str, Any]]:
        """The requests under way, the oldest first."""
        now = time.perf_counter()
        return [
            {"request": one.id, "path": one.path, "seconds": round(now - one.began, 1)}
            for one in self._running_records.values()
        ]

    def engine_headers(self, record: Record) -> dict[str, str]:
        """What the engine gets, so that its log and its spans belong to the request."""
        traces = {} if self._traces is None else self._traces.headers(record.span)
        return {"x-request-id": record.id, **traces}

    def flush(self) -> None:
        """Sends the spans that have ended."""
        if self._traces is not None:
            self._traces.flush()

    def end(self, record: Record) -> None:
        """A request has ended."""
        self._running.dec()
        del self._running_records[record.id]
        fields = record.fields(self.contents)
        key, model = record.key.label, record.engine_model
        self._requests.labels(fields["api"], str(record.status), key).inc()
        self._prompt.labels(key, model).inc(fields["prompt_tokens"])
        self._sampled.labels(key, model).inc(fields["completion_tokens"])
        self._seconds.observe(fields["seconds"])
        if record.first_token is not None:
            self._first.observe(record.first_token)
        for one in record.unused:
            if one in self._unused_kinds or len(self._unused_kinds) < MOST_NAMED:
                self._unused_kinds.add(one)
                self._unused.labels(*one).inc()
            else:
                self._unused.labels("others", "").inc()
        for kind, count in fields["repairs"].items():
            self._repairs.labels(kind).inc(count)
        errors = [answer.broke.status for answer in record.answers if answer.broke]
        for status in errors or filter(None, [record.engine_status]):
            self._errors.labels(str(status)).inc()
        if self._traces is not None:
            self._traces.end(record.span, fields)
        if LOG.isEnabledFor(logging.INFO):
            # `LOG.info` looks for the line of code that calls it, which takes as long as the rest.
            about = (LOG.name, logging.INFO, __file__, 0, "request", (), None)
            LOG.handle(LOG.makeRecord(*about, extra={"fields": fields}))

    def loosened(self, found: Iterable[Loosened]) -> None:
        """Counts the keywords of schemas that a grammar does not enforce; each is logged once."""
        for one in found:
            self._loosened.labels(one.keyword).inc()
            if one not in self._named and len(self._named) < MOST_NAMED:
                self._named.add(one)
                LOG.warning(
                    "a keyword of a schema is not enforced", extra={"fields": one._asdict()}
                )

    def metrics(self) -> bytes:
        """The figures, as Prometheus reads them; those of all processes."""
        if not self._several:
            return generate_latest(self._registry)
        shared = CollectorRegistry()
        _Files(shared)  # type: ignore[no-untyped-call]
        return generate_latest(shared)


class _Files(multiprocess.MultiProcessCollector):
    """The files of all processes, without the empty ones.

    A process makes a file before it gives it a size, and may be killed in between.
    """

    def collect(self) -> Any:
        files = [str(file) for file in _folder_of_figures().glob("*.db") if _has_content(file)]
        return self.merge(files)  # type: ignore[no-untyped-call]


def _has_content(file: Path) -> bool:
    try:
        return bool(file.stat().st_size)
    except FileNotFoundError:  # that of a dead process, removed meanwhile
        return False


def _folder_of_figures() -> Path:
    return Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])


def deaths() -> Counter:
    """Counts workers that died, by the reason. Their parent does it, in a file next to theirs."""
    values.ValueClass = values.MultiProcessValue(lambda: "parent")  # type: ignore[no-untyped-call]
    return Counter(
        "harmony_worker_deaths",
        "Workers that died, by reason",
        ["reason"],
        registry=CollectorRegistry(),
    )


def forget_the_dead() -> None:
    """Drops the running requests of processes that were killed: each that begins does it."""
    for file in _folder_of_figures().glob("gauge_live*_*.db"):
        process = int(file.stem.rpartition("_")[2])
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            with suppress(FileNotFoundError):  # another new process has removed it
                multiprocess.mark_process_dead(process)  # type: ignore[no-untyped-call]


class Lines(logging.Formatter):
    """Log records as JSON, one a line."""

    _second: int | None = None
    _written = ""
    """The time of the line before, and as text."""

    def format(self, record: logging.LogRecord) -> str:
        """A line."""
        if (second := int(record.created)) != self._second:
            self._written = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))
            self._second = second
        made: dict[str, Any] = {
            "time": self._written,
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            made["trace"] = self.formatException(record.exc_info)
        line = _WRITER.encode(made)
        return line if line.isascii() else line.translate(_CONTROLS)


def log_to_stderr() -> None:
    """Sends what this server and uvicorn log to standard error, as lines of JSON."""
    # Asking what runs takes a third of the time of a record, and no line says it.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler()
    handler.setFormatter(Lines())
    for name, level in (("openai_harmony.serve", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False
