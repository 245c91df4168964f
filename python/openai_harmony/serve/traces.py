"""OpenTelemetry's traces, by its own library: a span for each request, without what is said in it.

A span continues the trace of the client's request, and the engine gets the headers by which its
spans continue this one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from openai_harmony._extras import needed

_NAME = "openai_harmony.serve"
_EXTRA = "traces"


class Traces:
    """Makes spans, by the provider that the process has."""

    def __init__(self) -> None:
        """``ModuleNotFoundError`` if the extra is not installed."""
        self._trace = needed("opentelemetry.trace", _EXTRA)
        self._context = needed("opentelemetry.context", _EXTRA)
        self._propagate = needed("opentelemetry.propagate", _EXTRA)
        self._tracer = self._trace.get_tracer(_NAME)

    def begin(self, path: str, headers: Mapping[str, str]) -> Any:
        """The span of a request that has arrived."""
        return self._tracer.start_span(
            f"POST {path}",
            context=self._propagate.extract(headers),
            kind=self._trace.SpanKind.SERVER,
            attributes={"http.request.method": "POST", "url.path": path},
        )

    def headers(self, span: Any) -> dict[str, str]:
        """What tells the engine which span its own belong to."""
        made: dict[str, str] = {}
        self._propagate.inject(made, context=self._trace.set_span_in_context(span))
        return made

    def end(self, span: Any, fields: Mapping[str, Any]) -> None:
        """Ends a span, with what the log says of its request."""
        stops = [reason for reason in fields["stop"] if reason is not None]
        span.set_attributes(
            {
                "http.response.status_code": fields["status"],
                "gen_ai.operation.name": "chat",
                "gen_ai.usage.input_tokens": fields["prompt_tokens"],
                "gen_ai.usage.output_tokens": fields["completion_tokens"],
                "gen_ai.response.finish_reasons": stops,
                "harmony.request": fields["request"],
                "harmony.api": fields["api"],
                "harmony.client_left": fields.get("client_left", False),
            }
        )
        if error := fields.get("error"):
            span.set_status(self._trace.StatusCode.ERROR, error)
        span.end()

    def flush(self) -> None:
        """Sends what has ended; the process may be gone before the provider does it itself."""
        if (flush := getattr(self._trace.get_tracer_provider(), "force_flush", None)) is not None:
            flush()


def export_traces() -> None:
    """Has this process send its spans by OTLP; ``OTEL_…`` in the environment says where and how.

    ``ModuleNotFoundError`` if the extra is not installed.
    """
    exporter = needed("opentelemetry.exporter.otlp.proto.http.trace_exporter", _EXTRA)
    resources = needed("opentelemetry.sdk.resources", _EXTRA)
    sdk = needed("opentelemetry.sdk.trace", _EXTRA)
    name = os.environ.get("OTEL_SERVICE_NAME", "harmony-serve")
    provider = sdk.TracerProvider(resource=resources.Resource.create({"service.name": name}))
    batches = needed("opentelemetry.sdk.trace.export", _EXTRA).BatchSpanProcessor
    provider.add_span_processor(batches(exporter.OTLPSpanExporter()))
    needed("opentelemetry.trace", _EXTRA).set_tracer_provider(provider)
