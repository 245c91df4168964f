"""What the gateway records of requests: lines of the log, figures and spans, to the last digit."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")

from prometheus_client import mmap_dict

from gateways import BODIES, Engine, ask, says, tokens
from openai_harmony import serve
from openai_harmony.grammar import Loosened
from openai_harmony.serve import journal
from openai_harmony.serve.engines import EngineError, Sampled, SampleRequest
from openai_harmony.serve.journal import Journal, Lines
from openai_harmony.serve.keys import ANONYMOUS, Key

CHAT = next(iter(BODIES))
OPERATE = Path(__file__).parents[2] / "docs" / "operate.md"
ALICE = Key("0d9f1a2b" * 8)
DAMAGED = "<|channel|>final Hi there.<|return|>"


def figures(of: Any) -> dict[str, str]:
    lines = of.decode().splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if line[0] != "#")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of the journal, which tests set."""
    now = [0.0]
    time = SimpleNamespace(perf_counter=lambda: now[0])
    monkeypatch.setattr(journal, "time", time)
    return now


def test_a_line_of_the_log(clock: list[float], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "openai_harmony.serve")
    made = Journal(None)
    made.waiting(3)
    record = made.begin("chat_completions", CHAT, {}, ALICE, "m" * 200)
    record.began, clock[0] = 0.0, 0.123456
    assert made.running() == [{"request": record.id, "path": CHAT, "seconds": 0.1}]
    record.sampling()
    clock[0] = 2.345678
    assert made.running()[0]["seconds"] == 2.3
    record.status, record.prompt = 200, [1, 2, 3]
    record.stream = True
    made.end(record)
    [line] = caplog.records
    assert line.fields == {  # type: ignore[attr-defined]
        "request": record.id,
        "api": "chat_completions",
        "path": CHAT,
        "key": "key-0d9f1a2b",
        "model": "m" * 128,
        "status": 200,
        "stream": True,
        "seconds": 2.3457,
        "first_token": 0.1235,
        "prompt_tokens": 3,
        "completion_tokens": 0,
        "stop": [],
        "repairs": {},
    }
    found = figures(made.metrics())
    assert found["harmony_request_seconds_sum"] == "2.3457"
    assert found["harmony_time_to_first_token_seconds_sum"] == "0.123456"
    assert (found["harmony_requests_running"], found["harmony_requests_waiting"]) == ("0.0", "3.0")
    assert made.running() == []


def test_a_request_that_failed(clock: list[float], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "openai_harmony.serve")
    made = Journal(None)
    for status, left in ((429, False), (None, True)):
        record = made.begin("anthropic", "/v1/messages/render", {}, ANONYMOUS, "m")
        record.status, record.rendered, record.client_left = 400, 7, left
        record.error, record.engine_status = "no", status
        made.end(record)
    first, second = (line.fields for line in caplog.records)  # type: ignore[attr-defined]
    assert (first["api"], first["error"], first["prompt_tokens"]) == ("render", "no", 7)
    assert (first["first_token"], "client_left" in first) == (None, False)
    assert second["client_left"] is True
    found = figures(made.metrics())
    assert found['harmony_requests_total{api="render",key="",status="400"}'] == "2.0"
    assert found['harmony_engine_errors_total{status="429"}'] == "1.0"
    assert found['harmony_prompt_tokens_total{key="",model="m"}'] == "14.0"
    assert found["harmony_request_seconds_count"] == "2.0"
    assert found["harmony_time_to_first_token_seconds_count"] == "0.0"
    assert len([name for name in found if "engine_errors_total" in name]) == 1


def test_an_answer_that_broke_off(caplog: pytest.LogCaptureFixture) -> None:
    """Its error is a text; those of answers that did not break off are none."""
    caplog.set_level(logging.INFO, "openai_harmony.serve")

    async def sample(request: SampleRequest) -> Any:
        yield Sampled(tokens("<|channel|>final<|message|>Hi"))
        raise EngineError("broke", 503)

    app = serve.app(Engine(sample))
    asyncio.run(ask(app, CHAT, BODIES[CHAT]))
    asyncio.run(ask(serve.app(says()), CHAT, BODIES[CHAT]))
    broke, whole = (one.fields for one in caplog.records if one.getMessage() == "request")  # type: ignore[attr-defined]
    assert (broke["error"], "error" in whole) == ("broke", False)
    found = figures(app.state.gateway.journal.metrics())
    assert found['harmony_engine_errors_total{status="503"}'] == "1.0"


def test_each_metric_of_the_document_is_there() -> None:
    """And no other one, once something was recorded of each kind; workers' deaths are their parent's."""
    table = re.findall(r"`(harmony_[a-z_]+)(?:\{([a-z,]+)\})?`", OPERATE.read_text())
    documented = {name: set(labels.split(",")) - {""} for name, labels in table}
    del documented["harmony_worker_deaths_total"]

    async def sample(request: SampleRequest) -> Any:
        yield Sampled(tokens("<|channel|>final Hi"))
        raise EngineError("broke", 503)

    app = serve.app(Engine(sample))
    app.state.gateway.journal.loosened([Loosened("f", "/a", "pattern", "why")])
    asyncio.run(ask(app, CHAT, {**BODIES[CHAT], "unknown": 1}))
    found: dict[str, set[str]] = {}
    for line in figures(app.state.gateway.journal.metrics()):
        name, _, labels = line.partition("{")
        name = re.sub(r"_(bucket|sum|count|created)$", "", name)
        if name.removesuffix("_total") + "_total" in documented:
            name = name.removesuffix("_total") + "_total"
        found.setdefault(name, set()).update(set(re.findall("([a-z]+)=", labels)) - {"le"})
    assert found == documented


def test_no_request_is_logged_above_its_level(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "openai_harmony.serve")
    caplog.handler.setLevel(logging.NOTSET)  # which has taken the level of the logger
    app = serve.app(says())
    assert asyncio.run(ask(app, CHAT, BODIES[CHAT])).status == 200
    assert caplog.records == []
    assert figures(app.state.gateway.journal.metrics())["harmony_request_seconds_count"] == "1.0"


def test_keywords_are_counted_each_time_and_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """And only so many of them: clients may send any number."""
    monkeypatch.setattr(journal, "MOST_NAMED", 2)
    made = Journal(None)
    a, b, c = (Loosened("f", f"/{place}", "pattern", "why") for place in "abc")
    for found in ([a], [a, b], [b, c], [c]):
        made.loosened(found)
    assert [line.getMessage() for line in caplog.records] == [
        "a keyword of a schema is not enforced"
    ] * 2
    assert [line.fields for line in caplog.records] == [a._asdict(), b._asdict()]  # type: ignore[attr-defined]
    assert figures(made.metrics())['harmony_loosened_keywords_total{keyword="pattern"}'] == "6.0"


def test_figures_of_all_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of their files, also of those that one has just made, or that another one has removed."""
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    for process in (3, 4):
        file = mmap_dict.MmapedDict(str(tmp_path / f"counter_{process}.db"))
        key = mmap_dict.mmap_key(
            "harmony_prompt_tokens", "harmony_prompt_tokens_total", [], [], "x"
        )
        file.write_value(key, 5.0, 0.0)
        file.close()
    (tmp_path / "counter_1.db").touch()
    (tmp_path / "counter_2.db").symlink_to(tmp_path / "removed meanwhile")
    assert figures(Journal(None).metrics()) == {"harmony_prompt_tokens_total": "10.0"}


def test_lines_are_json_with_their_time() -> None:
    lines = Lines()
    times = []
    for created in (0.2, 0.9, 1.0, 3661.5, 0.0):
        record = logging.LogRecord("x", logging.WARNING, __file__, 1, "%s there", ("hi",), None)
        record.created = created
        found = json.loads(lines.format(record))
        times.append(found.pop("time"))
        assert found == {"level": "warning", "event": "hi there"}
    assert times == [
        f"1970-01-01T{at}Z" for at in ("00:00:00", "00:00:00", "00:00:01", "01:01:01", "00:00:00")
    ]
    try:
        raise ValueError("a bug")
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, __file__, 1, "é\x9b", (), sys.exc_info())
    text = lines.format(record)
    assert r"é\u009b" in text  # a terminal would obey the character itself
    assert "\n" not in text
    assert json.loads(text)["trace"].endswith("ValueError: a bug")


def test_what_goes_to_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """This server's lines, and the warnings of the one that it runs in, each of them once."""
    loggers = [logging.getLogger(name) for name in ("openai_harmony.serve", "uvicorn")]
    for logger in loggers:
        for name in ("handlers", "level", "propagate"):
            monkeypatch.setattr(logger, name, getattr(logger, name))
    for name in ("logThreads", "logProcesses", "logMultiprocessing"):
        monkeypatch.setattr(logging, name, getattr(logging, name))
    monkeypatch.setattr(logging.getLogger(), "handlers", [logging.StreamHandler()])
    journal.log_to_stderr()
    own, other = loggers
    for logger in (own, other):
        logger.debug("debug")
        logger.info("info")
        logger.warning("warning")
    logging.getLogger("uvicorn.error").error("error")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["event"] for line in lines] == ["info", "warning", "warning", "error"]
