"""Open WebUI in a process of its own, driven by HTTP as its page in a browser does.

It brings some gigabytes, so no group of pyproject.toml has it. Where it is installed:

OPEN_WEBUI=/path/to/its/environment/bin/open-webui make test-agents
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx", reason="make test-agents installs httpx")

import httpx

from recorded import FINAL, WEATHER
from running_gateways import command

PROGRAM = os.environ.get("OPEN_WEBUI") or shutil.which("open-webui")
if PROGRAM is None:
    pytest.skip("OPEN_WEBUI names no open-webui", allow_module_level=True)

TASK = {
    "match": "### Task:",
    "text": FINAL.format('{"title":"Sun","tags":[],"follow_ups":["And?"]}'),
}
TOOL = '''
class Tools:
    def get_weather(self, city: str) -> str:
        """
        The weather of a city.
        :param city: The city
        """
        return {"Oslo": "OSLO-SUN", "Bergen": "BERGEN-RAIN"}[city]
'''
LIMIT = 180.0


@contextmanager
def open_webui(folder: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    environment = {
        **os.environ,
        "DATA_DIR": str(folder / "data"),
        "HF_HUB_OFFLINE": "1",
        "OFFLINE_MODE": "True",
        "RAG_EMBEDDING_MODEL": "",
        "WEBUI_SECRET_KEY": "of-the-tests-alone-0123456789abcdef",
    }
    (folder / "data").mkdir()
    log = folder / "open-webui.log"
    line = [str(PROGRAM), "serve", "--host", "127.0.0.1", "--port", port]
    with (
        log.open("w") as errors,
        subprocess.Popen(line, stdout=errors, stderr=errors, env=environment) as process,
    ):
        try:
            address = f"http://127.0.0.1:{port}"
            deadline = time.monotonic() + LIMIT
            while not _is_up(address):
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.5)
            yield address
        finally:
            process.kill()


def _is_up(address: str) -> bool:
    try:
        return bool(httpx.get(f"{address}/health").status_code == 200)
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A client of Open WebUI whose user is its administrator and has a tool."""
    with open_webui(tmp_path_factory.mktemp("open-webui")) as address:
        user = {"name": "A", "email": "a@example.org", "password": "correct-horse-1"}
        token = httpx.post(f"{address}/api/v1/auths/signup", json=user).json()["token"]
        headers = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
            tool = {"id": "weather", "name": "Weather", "content": TOOL, "meta": {}}
            client.post("/api/v1/tools/create", json=tool).raise_for_status()
            yield client


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Its address, and the log in which the prompts stand."""
    folder = tmp_path_factory.mktemp("gateway")
    records = folder / "recorded.jsonl"
    records.write_text("\n".join(map(json.dumps, [TASK, *WEATHER])), encoding="utf-8")
    log = folder / "log"
    with command("--engine", f"replay={records}", "--log-contents", log=log) as (url, _):
        yield url, log


@pytest.fixture(params=["openai", "llama.cpp", "responses", "ollama"])
def kind(request: pytest.FixtureRequest, page: Any, gateway: tuple[str, Path]) -> str:
    """The connection that is the only one."""
    url, kind = gateway[0], str(request.param)
    more = {"llama.cpp": {"provider": "llama.cpp"}, "responses": {"api_type": "responses"}}
    openai = {
        "ENABLE_OPENAI_API": kind != "ollama",
        "OPENAI_API_BASE_URLS": [f"{url}/v1"],
        "OPENAI_API_KEYS": ["-"],
        "OPENAI_API_CONFIGS": {"0": more.get(kind, {})},
    }
    ollama = {
        "ENABLE_OLLAMA_API": kind == "ollama",
        "OLLAMA_BASE_URLS": [url],
        "OLLAMA_API_CONFIGS": {},
    }
    page.post("/openai/config/update", json=openai).raise_for_status()
    page.post("/ollama/config/update", json=ollama).raise_for_status()
    [model] = page.get("/api/models?refresh=true").json()["data"]
    assert (model["id"], model["owned_by"]) == (
        "gpt-oss-20b",
        "ollama" if kind == "ollama" else "openai",
    )
    return kind


@pytest.mark.parametrize("streamed", [False, True])
def test_an_answer(page: Any, kind: str, streamed: bool) -> None:
    body = {"model": "gpt-oss-20b", "stream": streamed, "messages": said("Answer as JSON")}
    answer = page.post("/api/chat/completions", json=body)
    assert answer.status_code == 200
    expected = json.dumps('{"city":"Oslo","sunny":true}')[1:-1]
    if streamed and kind != "responses":
        events = [line[6:] for line in answer.text.splitlines() if line.startswith("data: {")]
        deltas = [json.loads(event)["choices"] for event in events]
        texts = [choice["delta"].get("content") for choices in deltas for choice in choices]
        assert json.dumps("".join(filter(None, texts)))[1:-1] == expected
    else:
        assert expected in answer.text


def test_a_chat_with_calls_and_a_title(page: Any, kind: str, gateway: tuple[str, Path]) -> None:
    chat, message = chatted(page, "Where is it sunny?")
    assert (chat["title"], message["content"].split()[-1]) == ("Sun", "Oslo.")
    assert message["followUps"] == ["And?"]
    calls = [item for item in message["output"] if item["type"] == "function_call"]
    assert [json.loads(call["arguments"]) for call in calls] == [
        {"city": "Oslo"},
        {"city": "Bergen"},
    ]
    # The model sees its thought again only where Open WebUI sends it.
    prompts = [json.loads(line).get("prompt", "") for line in gateway[1].read_text().splitlines()]
    last = [prompt for prompt in prompts if "BERGEN-RAIN" in prompt and "### Task:" not in prompt][
        -1
    ]
    assert ("Ask for each." in last) == (kind in ("llama.cpp", "ollama"))


def said(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def chatted(page: Any, text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A new chat, and its answer once all is there that is asked for in the background."""
    asked, answered = str(uuid.uuid4()), str(uuid.uuid4())
    message = {"id": asked, "parentId": None, "childrenIds": [answered], **said(text)[0]}
    body = {
        "model": "gpt-oss-20b",
        "stream": True,
        "messages": said(text),
        "params": {"function_calling": "native"},
        "tool_ids": ["weather"],
        "session_id": "of-no-page",
        "chat_id": "",
        "parent_id": None,
        "id": answered,
        "user_message": message,
        "background_tasks": {"title_generation": True, "follow_up_generation": True},
    }
    identity = page.post("/api/chat/completions", json=body).json()["chat_id"]
    deadline = time.monotonic() + LIMIT
    while True:
        chat = page.get(f"/api/v1/chats/{identity}").json()
        found = chat["chat"]["history"]["messages"][answered]
        if found.get("done") and "followUps" in found:
            return chat, found
        assert time.monotonic() < deadline, found
        time.sleep(0.2)
