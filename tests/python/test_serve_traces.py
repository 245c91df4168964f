"""Traces by OpenTelemetry's own library: what a span has, and how it belongs to others."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import urllib.request
from typing import Any

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("prometheus_client")
pytest.importorskip("starlette")
pytest.importorskip("opentelemetry.sdk")

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import fake_engines
from fake_engines import running
from gateways import BODIES, HELLO, ask, says, tokens
from openai_harmony import serve
from running_gateways import command

CHAT = "/v1/chat/completions"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
HEADERS = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
_EXPORTER = InMemorySpanExporter()


@pytest.fixture
def spans() -> InMemorySpanExporter:
    """Where the spans of this process end up; it has one provider for all of its tests."""
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(_EXPORTER))
        trace.set_tracer_provider(provider)
    _EXPORTER.clear()
    return _EXPORTER


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("stream", [False, True])
def test_a_span_for_each_request(path: str, stream: bool, spans: InMemorySpanExporter) -> None:
    app = serve.app(says(), traces=True)
    body = {**BODIES[path], "stream": stream}
    answer = asyncio.run(ask(app, path, body, headers=HEADERS))
    [span] = spans.get_finished_spans()
    assert (span.name, span.kind) == (f"POST {path}", trace.SpanKind.SERVER)
    assert span.parent is not None
    assert f"{span.context.trace_id:032x}" == TRACE
    assert f"{span.parent.span_id:016x}" == "00f067aa0ba902b7"
    found = dict(span.attributes or {})
    assert found["http.response.status_code"] == answer.status == 200
    assert found["gen_ai.usage.output_tokens"] == len(tokens(HELLO))
    assert found["gen_ai.response.finish_reasons"] == ("stop",)
    assert found["harmony.request"] == answer.headers["x-request-id"]
    assert found["harmony.client_left"] is False
    assert [event.name for event in span.events] == ["first token"]
    # What is said is nobody's business.
    assert "Hello" not in span.to_json()
    assert "Hi there" not in span.to_json()


def test_none_unless_they_are_asked_for(spans: InMemorySpanExporter) -> None:
    assert asyncio.run(ask(serve.app(says()), CHAT, BODIES[CHAT], headers=HEADERS)).status == 200
    assert spans.get_finished_spans() == ()


def test_a_request_that_fails(spans: InMemorySpanExporter) -> None:
    refused = asyncio.run(ask(serve.app(says(), traces=True), CHAT, {"messages": 5}))
    [span] = spans.get_finished_spans()
    assert refused.status == 400
    assert span.status.status_code is trace.StatusCode.ERROR
    assert "messages" in (span.status.description or "")
    assert span.parent is None


@pytest.mark.parametrize("path", [CHAT, "/v1/completions"])
def test_the_engine_continues_the_trace(path: str, spans: InMemorySpanExporter) -> None:
    async def run() -> None:
        async with running(fake_engines.vllm(tokens(HELLO))) as fake:
            app = serve.app(f"vllm={fake.url}", traces=True)
            body: dict[str, Any] = BODIES.get(path, {"prompt": "Hello"})
            assert (await ask(app, path, body, headers=HEADERS)).status == 200
            [span] = spans.get_finished_spans()
            sent = fake.headers[-1]["traceparent"]
            assert sent == f"00-{TRACE}-{span.context.span_id:016x}-01"
            await app.state.gateway.engine.aclose()

    asyncio.run(run())


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install '.*\[traces\]'"):
        serve.app(says(), traces=True)


def test_spans_are_sent_before_the_process_ends(tmp_path: Any) -> None:
    """By OTLP, to where the environment says, from a process that a signal ends."""
    records = tmp_path / "recorded.jsonl"
    records.write_text(json.dumps({"match": "", "text": HELLO}))
    received: list[bytes] = []

    async def collect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length: ")[2].split("\r\n")[0])
        received.append(head.split()[1].encode() + b"\n" + await reader.readexactly(length))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(collect, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{port}"
        os.environ["OTEL_EXPORTER_OTLP_COMPRESSION"] = "none"
        try:
            await asyncio.to_thread(one_request)
        finally:
            del os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"]
            del os.environ["OTEL_EXPORTER_OTLP_COMPRESSION"]
        server.close()

    def one_request() -> None:
        with command("--engine", f"replay={records}", "--traces") as (url, process):
            raw = json.dumps(BODIES[CHAT]).encode()
            with urllib.request.urlopen(f"{url}{CHAT}", raw, timeout=60) as answer:
                assert answer.status == 200
            process.send_signal(signal.SIGTERM)
            process.wait(60)

    asyncio.run(run())
    assert any(one.startswith(b"/v1/traces\n") and CHAT.encode() in one for one in received)
    assert any(b"harmony-serve" in one for one in received)
