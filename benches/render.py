"""``harmony serve --engine none`` beside vLLM's render server: CPU of each server for a request.

    python benches/render.py --vllm PYTHON

PYTHON is one that has vLLM 0.33, which needs neither a GPU nor weights for this; ``make test-engines``
makes such an environment. Times are of the servers' processes, which take turns.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
from typing_extensions import Self

from beside_vllm import body as long_body
from openai_harmony import load_harmony_encoding

ROOT = Path(__file__).parents[1]
CONNECTIONS = 64
CHAT = "/v1/chat/completions"
SAID = "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>"


def bodies() -> dict[str, tuple[str, str]]:
    """For each row its path and its body."""
    encoding = load_harmony_encoding("HarmonyGptOss")
    short = {"messages": [{"role": "user", "content": "Hi " * 150}]}
    long = json.loads(long_body())
    long = {"messages": long["messages"] * 3, "tools": long["tools"]}
    text = SAID.format("Let me think about it. " * 60, "The answer is here now. " * 180)
    sampled = encoding.encode(text, allowed_special="all")
    choice = {"index": 0, "token_ids": sampled, "finish_reason": "stop"}
    answer = {"request_id": "r", "choices": [choice]}
    return {
        "render, 240 tokens": (f"{CHAT}/render", json.dumps(short)),
        "render, 13,000 tokens": (f"{CHAT}/render", json.dumps(long)),
        "derender, 1,400 tokens": (
            f"{CHAT}/derender",
            json.dumps({"generate_response": answer, "chat_request": short}),
        ),
    }


def chunk(count: int) -> dict[str, Any]:
    """A token after so many others, with the state of vLLM's form, each token a chunk of its own."""
    encoding = load_harmony_encoding("HarmonyGptOss")
    text = SAID.format("Let me think about it. " * 60, "The answer is here now. " * (count // 5))
    sampled = encoding.encode(text, allowed_special="all")[: count + 1]
    state = {
        "output_token_ids": sampled[:-1],
        "output_chunk_lens": [1] * count,
        "role_sent": True,
    }
    return {
        "stream": True,
        "generate_chunk": {
            "request_id": "r",
            "choices": [{"index": 0, "token_ids": sampled[-1:]}],
        },
        "chat_request": {"messages": [{"role": "user", "content": "Hi " * 150}]},
        "prompt_token_ids": list(range(1000, 1240)),
        "stream_state": state,
    }


def with_own_state(server: Server, body: dict[str, Any]) -> dict[str, Any]:
    """The same with the key that this library's answers have beside vLLM's."""
    given = body["stream_state"]
    first = {**body, "stream_state": None}
    choice = {"index": 0, "token_ids": given["output_token_ids"]}
    first["generate_chunk"] = {"request_id": "r", "choices": [choice]}
    made = server.client.post(f"{CHAT}/derender", json=first).json()["stream_state"]
    return {**body, "stream_state": {**given, "harmony": made["harmony"]}}


def without_tokens(body: dict[str, Any]) -> dict[str, Any]:
    """The same of a client whose states only this library reads."""
    state = body["stream_state"].items()
    kept = {name: field for name, field in state if not name.startswith("output_")}
    rest = {name: field for name, field in body.items() if name != "prompt_token_ids"}
    return {**rest, "stream_state": kept}


def cpu_of(process: int) -> float:
    """The CPU time of a process so far, in milliseconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Server:
    """A server in a process of its own."""

    def __init__(self, command: list[str], port: int, environment: dict[str, str]) -> None:
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120)
        self._process = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def __enter__(self) -> Self:
        for _ in range(600):
            try:
                if self.client.get("/health").status_code == 200:
                    return self
            except httpx.TransportError:
                time.sleep(0.5)
        raise SystemExit(f"no answer of {self.client.base_url}")

    def __exit__(self, *error: object) -> None:
        self._process.terminate()
        self._process.wait(30)

    def rate(self, path: str, body: str, count: int) -> float:
        """Requests in a second of the server's CPU, over many connections at once."""
        raw = body.encode()
        url = self.client.base_url
        head = f"POST {path} HTTP/1.1\r\nhost: {url.host}:{url.port}\r\n"
        head += f"content-type: application/json\r\ncontent-length: {len(raw)}\r\n\r\n"
        request = head.encode() + raw

        async def ask() -> None:
            reader, writer = await asyncio.open_connection(url.host, url.port)
            for _ in range(count):
                writer.write(request)
                answer = await reader.readuntil(b"\r\n\r\n")
                if b" 200 " not in answer.splitlines()[0]:
                    raise SystemExit(f"{path}: {answer!r}")
                length = answer.lower().partition(b"content-length:")[2].split()[0]
                await reader.readexactly(int(length))
            writer.close()

        async def all_of_them() -> None:
            await asyncio.gather(*(ask() for _ in range(CONNECTIONS)))

        before = cpu_of(self._process.pid)
        asyncio.run(all_of_them())
        return 1000 * count * CONNECTIONS / (cpu_of(self._process.pid) - before)

    def cost(self, path: str, body: str, count: int) -> float:
        """Milliseconds of CPU for a request."""
        headers = {"content-type": "application/json"}

        def ask() -> None:
            answer = self.client.post(path, content=body, headers=headers)
            if answer.status_code != 200:
                raise SystemExit(f"{path}: {answer.status_code} {answer.text[:300]}")

        ask()
        before = cpu_of(self._process.pid)
        for _ in range(count):
            ask()
        return (cpu_of(self._process.pid) - before) / count


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--vllm", metavar="PYTHON", help="a Python that has vLLM")
    given = arguments.parse_args()
    python = given.vllm or str(ROOT / ".venv-trainers" / "bin" / "python")
    if not Path(python).exists():
        print(f"not measured: there is no {python}; make test-engines installs vLLM")
        return
    sys.path.insert(0, str(ROOT / "tests" / "python"))
    with tempfile.TemporaryDirectory() as folder:
        write = "import sys, pathlib; sys.path[:0] = sys.argv[2:]\n"
        write += (
            "from engines.vllm_server import write_model\nwrite_model(pathlib.Path(sys.argv[1]))"
        )
        paths = [str(ROOT / "tests" / "python"), str(ROOT / "python")]
        subprocess.run([python, "-c", write, folder, *paths], check=True)
        measure(python, folder)


def measure(python: str, folder: str) -> None:
    theirs = [python, "-m", "vllm.entrypoints.cli.main", "launch", "render", "--model", folder]
    theirs += ["--served-model-name", "gpt-oss-20b", "--port", "8791", "--host", "127.0.0.1"]
    theirs += ["--reasoning-parser", "openai_gptoss", "--tool-call-parser", "openai"]
    theirs += ["--enable-auto-tool-choice"]
    ours = [sys.executable, "-m", "openai_harmony", "serve", "--engine", "none"]
    ours += ["--model", "gpt-oss-20b", "--port", "8792"]
    environment: dict[str, Any] = {**os.environ, "VLLM_TARGET_DEVICE": "cpu", "HF_HUB_OFFLINE": "1"}
    environment.pop("PYTHONPATH", None)
    print(f"{'ms of CPU a request':24} {'vLLM':>8} {'this':>8} {'ratio':>7}")
    with Server(theirs, 8791, environment) as vllm, Server(ours, 8792, {**os.environ}) as this:
        path = f"{CHAT}/derender"
        for name, (at, body) in bodies().items():
            show(name, *cheapest(vllm, this, at, body, body))
        for count in (100, 1000):
            asked = chunk(count)
            kept = json.dumps(with_own_state(this, asked))
            name = f"a token after {count:,}"
            show(name, *cheapest(vllm, this, path, json.dumps(asked), kept))
        for count in (100, 30_000):
            own = without_tokens(with_own_state(this, chunk(count)))
            cost = min(this.cost(path, json.dumps(own), 200) for _ in range(3))
            print(f"{f'own state, after {count:,}':33} {cost:8.3f}", flush=True)
        print(f"requests in a second of one core, {CONNECTIONS} connections")
        for name, (at, body) in bodies().items():
            fast, slow = this.rate(at, body, 20), vllm.rate(at, body, 1)
            print(f"{name:24} {slow:8.0f} {fast:8.0f} {fast / slow:6.1f}x", flush=True)


def cheapest(vllm: Server, this: Server, path: str, theirs: str, ours: str) -> tuple[float, float]:
    """The least cost of a request of three times, in turns."""
    pairs = [(vllm.cost(path, theirs, 20), this.cost(path, ours, 200)) for _ in range(3)]
    slow, fast = (min(times) for times in zip(*pairs))
    return slow, fast


def show(name: str, slow: float, fast: float) -> None:
    print(f"{name:24} {slow:8.2f} {fast:8.3f} {slow / fast:6.1f}x", flush=True)


if __name__ == "__main__":
    main()
