"""The deployment of docs/serve.md on a local Ray."""

from __future__ import annotations

import json
import os
import socket
import urllib.request
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="make test-ray installs Ray")
pytest.importorskip("ray.serve", reason="make test-ray installs Ray")
pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")

import ray
from ray import serve

from fences import DOCS, fenced
from recorded import FINAL, THOUGHT

pytestmark = pytest.mark.filterwarnings("ignore")


def test_the_deployment_of_the_document(tmp_path: Path) -> None:
    file = tmp_path / "recorded.jsonl"
    text = THOUGHT.format("Hm.") + FINAL.format("Hi there.")
    file.write_text(json.dumps({"match": "Hello", "text": text}))
    example = fenced("rayserve", DOCS / "serve.md")
    assert "vllm=http://127.0.0.1:8001" in example
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, logging_level="error")
        try:
            serve.start(http_options={"host": "127.0.0.1", "port": port})
            exec(example.replace("vllm=http://127.0.0.1:8001", f"replay={file}"), {"__name__": "x"})
            url = f"http://127.0.0.1:{port}"
            messages: list[Any] = [{"role": "user", "content": "Hello"}]
            answers = [post(f"{url}/v1/chat/completions", {"messages": messages}) for _ in range(4)]
            assert {
                json.loads(answer)["choices"][0]["message"]["content"] for answer in answers
            } == {"Hi there."}
            streamed = post(f"{url}/v1/responses", {"input": "Hello", "stream": True})
            assert streamed.rstrip().splitlines()[-2] == b"event: response.completed"
        finally:
            serve.shutdown()
            ray.shutdown()


def post(url: str, body: Any) -> bytes:
    request = urllib.request.Request(url, json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=60) as response:
        return bytes(response.read())
