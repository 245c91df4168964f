"""``harmony serve --engine none`` beside vLLM's render server: CPU of each server for a request.

    python benches/render.py --vllm PYTHON

PYTHON is one that has vLLM 0.33, which needs neither a GPU nor weights for this; ``make test-engines``
makes such an environment. Times are of the servers' processes, which take turns; the best of each
counts. A server that answers any request with ready bytes has the same socket, HTTP and loop as
this project's: what it takes, no answer can do without.
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

import uvicorn
from starlette.types import Receive, Scope, Send
from typing_extensions import Self

from beside_vllm import body as long_body
from openai_harmony import load_harmony_encoding
from openai_harmony.interop import Body, chat_completions, derender
from openai_harmony.serve.connections import Connection

ROOT = Path(__file__).parents[1]
CONNECTIONS = 64
ENCODING = load_harmony_encoding("HarmonyGptOss")
CHAT = "/v1/chat/completions"
SAID = "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>"


def bodies() -> dict[str, tuple[str, str, str]]:
    """For each row its path, the body for vLLM and that for this project."""
    short = {"messages": [{"role": "user", "content": "Hi " * 150}]}
    long = json.loads(long_body())
    long = {"messages": long["messages"] * 3, "tools": long["tools"]}
    text = SAID.format("Let me think about it. " * 60, "The answer is here now. " * 180)
    sampled = ENCODING.encode(text, allowed_special="all")
    choice = {"index": 0, "token_ids": sampled, "finish_reason": "stop"}
    answer = {"request_id": "r", "choices": [choice]}
    derendered = {"generate_response": answer, "chat_request": short}
    made = {
        "render, 240 tokens": (f"{CHAT}/render", short, short),
        "render, 13,000 tokens": (f"{CHAT}/render", long, long),
        "derender, 1,400 tokens": (f"{CHAT}/derender", derendered, derendered),
    }
    for count in (100, 1000):
        theirs = chunk(count)
        kept = with_own_state(theirs)
        made[f"a token after {count:,}"] = (f"{CHAT}/derender", theirs, without_tokens(kept))
        made[f"after {count:,}, vLLM's keys kept"] = (f"{CHAT}/derender", theirs, kept)
    return {
        name: (path, json.dumps(theirs), json.dumps(ours))
        for name, (path, theirs, ours) in made.items()
    }


def chunk(count: int) -> dict[str, Any]:
    """A token after so many others, with the state of vLLM's form, each token a chunk of its own."""
    text = SAID.format("Let me think about it. " * 60, "The answer is here now. " * (count // 5))
    sampled = ENCODING.encode(text, allowed_special="all")[: count + 1]
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


def with_own_state(body: dict[str, Any]) -> dict[str, Any]:
    """The same with the key that this library's answers have beside vLLM's."""
    given = body["stream_state"]
    first = {**body, "stream_state": None}
    choice = {"index": 0, "token_ids": given["output_token_ids"]}
    first["generate_chunk"] = {"request_id": "r", "choices": [choice]}
    made = json.loads(derendered(json.dumps(first).encode()))["stream_state"]
    return {**body, "stream_state": {**given, "harmony": made["harmony"]}}


def rendered(body: bytes) -> bytes:
    """The tokens of a prompt, in this process."""
    turn = chat_completions.read(Body(body), prompts="vllm-0.33")
    return turn.prompt_json(ENCODING)


def derendered(body: bytes) -> bytes:
    """The answer, in this process."""
    about: dict[str, Any] = {"model": "gpt-oss-20b", "created": 0, "context": 131_072}
    return derender("chat", Body(body), ENCODING, **about)


def without_tokens(body: dict[str, Any]) -> dict[str, Any]:
    """The same of a client whose states only this library reads."""
    state = body["stream_state"].items()
    kept = {name: field for name, field in state if not name.startswith("output_")}
    rest = {name: field for name, field in body.items() if name != "prompt_token_ids"}
    return {**rest, "stream_state": kept}


def cpu_of(process: int) -> float:
    """The CPU time of a process so far, in milliseconds."""
    # What clock_getcpuclockid(3) makes of a process, which Python does not have.
    return 1000 * time.clock_gettime(~process << 3 | 2)


class Server:
    """A server in a process of its own."""

    def __init__(self, command: list[str], port: int, environment: dict[str, str]) -> None:
        self._port = port
        self._process = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def __enter__(self) -> Self:
        for _ in range(600):
            try:
                asyncio.run(self._asked("GET /health", b"", 1))
                return self
            except OSError:
                time.sleep(0.5)
        raise SystemExit(f"no answer at port {self._port}")

    def __exit__(self, *error: object) -> None:
        self._process.terminate()
        self._process.wait(30)

    def cost(self, path: str, body: str, connections: int, count: int) -> float:
        """Milliseconds of CPU for a request, of so many over each of the connections."""

        async def all_of_them() -> None:
            asked = (self._asked(f"POST {path}", body.encode(), count) for _ in range(connections))
            await asyncio.gather(*asked)

        before = cpu_of(self._process.pid)
        asyncio.run(all_of_them())
        return (cpu_of(self._process.pid) - before) / (count * connections)

    async def _asked(self, what: str, body: bytes, count: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        head = f"{what} HTTP/1.1\r\nhost: 127.0.0.1:{self._port}\r\n"
        head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        for _ in range(count):
            writer.write(head.encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            length = answer.lower().partition(b"content-length:")[2].split()[0]
            content = await reader.readexactly(int(length))
            if b" 200 " not in answer.splitlines()[0]:
                raise SystemExit(f"{what}: {answer!r} {content[:300]!r}")
        writer.close()


async def ready_bytes(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that answers every request alike."""
    while (await receive()).get("more_body"):
        pass
    answer = b"x" * 2000
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--vllm", metavar="PYTHON", help="a Python that has vLLM")
    arguments.add_argument("--ready", type=int, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.ready:
        # As `harmony serve` does.
        options: dict[str, Any] = {"http": Connection, "loop": "asyncio", "lifespan": "off"}
        uvicorn.run(ready_bytes, port=given.ready, log_config=None, access_log=False, **options)
        return
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
    ready = [sys.executable, __file__, "--ready", "8793"]
    environment: dict[str, Any] = {**os.environ}
    without = {**environment, "VLLM_TARGET_DEVICE": "cpu", "HF_HUB_OFFLINE": "1"}
    without.pop("PYTHONPATH", None)
    with (
        Server(theirs, 8791, without) as vllm,
        Server(ours, 8792, environment) as this,
        Server(ready, 8793, environment) as least,
    ):
        for connections, few, many in ((1, 20, 500), (CONNECTIONS, 1, 20)):
            print(f"ms of CPU a request, {connections} at a time")
            print(f"{'':24} {'vLLM':>8} {'this':>8} {'ready':>8} {'ratio':>7}")
            for name, (path, for_vllm, body) in bodies().items():
                turns = [
                    (
                        vllm.cost(path, for_vllm, connections, few),
                        this.cost(path, body, connections, many),
                        least.cost(path, body, connections, many),
                    )
                    for _ in range(3)
                ]
                slow, fast, floor = (min(times) for times in zip(*turns))
                times = f"{slow:8.2f} {fast:8.3f} {floor:8.3f} {slow / fast:6.1f}x"
                print(f"{name:24} {times}", flush=True)
        own = json.dumps(without_tokens(with_own_state(chunk(30_000))))
        cost = min(this.cost(f"{CHAT}/derender", own, CONNECTIONS, 20) for _ in range(3))
        print(f"{'a token after 30,000':33} {cost:8.3f}")
    print("ms of CPU in the library, without HTTP")
    for name, (path, _, body) in bodies().items():
        print(f"{name:33} {in_library(path, body.encode()):8.3f}")
    print(f"{'a token after 30,000':33} {in_library('', own.encode()):8.3f}")


def in_library(path: str, body: bytes, count: int = 200) -> float:
    """Milliseconds of CPU for an answer in this process."""
    work = rendered if path.endswith("/render") else derendered
    taken = []
    for _ in range(5):
        before = time.process_time()
        for _ in range(count):
            work(body)
        taken.append((time.process_time() - before) / count * 1000)
    return min(taken)


if __name__ == "__main__":
    main()
