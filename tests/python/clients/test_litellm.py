"""LiteLLM, as a library and as a proxy in a process of its own, in front of the gateway."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("litellm", reason="make test-agents installs litellm")
pytest.importorskip("openai", reason="make test-agents installs openai")

import litellm
from openai import OpenAI

RESULTS = {"Oslo": "OSLO-SUN", "Bergen": "BERGEN-RAIN"}
KEY = "sk-of-the-tests-alone-0123456789abcdef"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {"name": "get_weather", "parameters": CITY},
}


@contextmanager
def proxy(url: str, folder: Path) -> Iterator[str]:
    settings = folder / "litellm.yaml"
    params = {"model": "openai/gpt-oss-20b", "api_base": f"{url}/v1", "api_key": "-"}
    # JSON is YAML.
    settings.write_text(
        json.dumps({"model_list": [{"model_name": "gpt-oss-20b", "litellm_params": params}]})
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = str(Path(sys.executable).with_name("litellm"))
    line = [command, "--config", str(settings), "--host", "127.0.0.1", "--port", str(port)]
    # Its list of prices is not looked up on the network.
    environment = {
        **os.environ,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_MASTER_KEY": KEY,
    }
    log = folder / "litellm.log"
    with (
        log.open("w") as errors,
        subprocess.Popen(line, stdout=errors, stderr=errors, env=environment) as process,
    ):
        try:
            address = f"http://127.0.0.1:{port}"
            deadline = time.monotonic() + 120
            while not _is_up(f"{address}/health/liveliness"):
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.2)
            yield address
        finally:
            process.kill()


def _is_up(address: str) -> bool:
    try:
        return bool(urllib.request.urlopen(address, timeout=5).status == 200)
    except OSError:  # refused, broken off or too slow
        return False


def loop(complete: Callable[..., Any], streamed: bool, asked: list[str]) -> Any:
    """Asks until there is an answer, whose message it gives."""
    messages: list[Any] = [{"role": "user", "content": "Where is it sunny?"}]
    for _ in range(5):
        answer = complete(messages=messages, tools=[WEATHER], stream=streamed)
        if streamed:
            answer = litellm.stream_chunk_builder(list(answer), messages=messages)
        message = answer.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return message
        for call in message.tool_calls:
            city = json.loads(call.function.arguments)["city"]
            asked.append(city)
            result = {"role": "tool", "tool_call_id": call.id, "content": RESULTS[city]}
            messages.append(result)
    raise AssertionError("no answer came")


@pytest.mark.parametrize("streamed", [False, True])
def test_a_loop_of_calls(url: str, streamed: bool, asked: list[str]) -> None:
    def complete(**more: Any) -> Any:
        return litellm.completion(
            model="openai/gpt-oss-20b", api_base=f"{url}/v1", api_key="-", **more
        )

    message = loop(complete, streamed, asked)
    assert asked == ["Oslo", "Bergen"]
    assert message.content == "Oslo."
    assert message.reasoning_content == "Both are known."


def test_a_loop_through_the_proxy(url: str, tmp_path: Path, asked: list[str]) -> None:
    pytest.importorskip("fastapi", reason="litellm is there without its proxy")
    with proxy(url, tmp_path) as address:
        client = OpenAI(base_url=f"{address}/v1", api_key=KEY, max_retries=0, timeout=60)

        def complete(**more: Any) -> Any:
            return client.chat.completions.create(model="gpt-oss-20b", **more)

        message = loop(complete, False, asked)
    assert asked == ["Oslo", "Bergen"]
    assert message.content == "Oslo."
