"""``harmony serve --engine none`` beside vLLM's render servers, in Python and in Rust: CPU of each for a request.

    python benches/render.py [--vllm PYTHON] [--vllm-rs FILE --model FOLDER] [--keep]

PYTHON is one that has vLLM 0.33, which needs neither a GPU nor weights for this; ``make test-engines``
makes such an environment. The Rust server is a file of vLLM's wheel. Times are of the servers' processes, which take
turns; the best of each counts. A server that answers any request with ready bytes has the same socket, HTTP and loop as
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
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import Receive, Scope, Send
from typing_extensions import Self

import results
from beside_vllm import body as long_body
from openai_harmony import load_harmony_encoding
from openai_harmony.interop import Body, chat_completions, derender
from openai_harmony.serve.connections import Connection

ROOT = Path(__file__).parents[1]
CONNECTIONS = 64
COUNTS = {"vllm": (20, 1), "vllm-rs": (40, 2)}
"""How many requests one connection sends in a turn, and each of 64: fewer to slow servers."""
ENCODING = load_harmony_encoding("HarmonyGptOss")
CHAT = "/v1/chat/completions"
SAID = "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>"


def bodies() -> dict[str, tuple[str, str, str]]:
    """For each row its path, the body for vLLM and that for this project."""
    short = {"messages": [{"role": "user", "content": "Hi " * 150}]}
    middle = json.loads(long_body())
    middle = {"messages": middle["messages"], "tools": middle["tools"]}
    long = {"messages": middle["messages"] * 3, "tools": middle["tools"]}
    text = SAID.format("Let me think about it. " * 60, "The answer is here now. " * 180)
    sampled = ENCODING.encode(text, allowed_special="all")
    choice = {"index": 0, "token_ids": sampled, "finish_reason": "stop"}
    answer = {"request_id": "r", "choices": [choice]}
    derendered = {"generate_response": answer, "chat_request": short}
    made = {
        "a short prompt": (f"{CHAT}/render", short, short),
        "33 messages and 6 tools": (f"{CHAT}/render", middle, middle),
        "99 messages and 6 tools": (f"{CHAT}/render", long, long),
        "an answer": (f"{CHAT}/derender", derendered, derendered),
    }
    theirs = chunk(1000)
    kept = without_tokens(with_own_state(theirs))
    made["a token after 1,000"] = (f"{CHAT}/derender", theirs, kept)
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
    return derender(Body(body), ENCODING, **about)


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
        self.__exit__()
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
    trainers = ROOT / ".venv-trainers"
    arguments.add_argument(
        "--vllm", default=str(trainers / "bin/python"), help="a Python that has vLLM"
    )
    rust = next(trainers.glob("lib/*/site-packages/vllm/vllm-rs"), None)
    arguments.add_argument("--vllm-rs", default=rust, help="vLLM's Rust front end, from its wheel")
    arguments.add_argument("--model", help="a folder with config.json and tokenizer.json")
    results.add_option(arguments)
    arguments.add_argument("--ready", type=int, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.ready:
        # As `harmony serve` does.
        options: dict[str, Any] = {"http": Connection, "loop": "asyncio", "lifespan": "off"}
        uvicorn.run(ready_bytes, port=given.ready, log_config=None, access_log=False, **options)
        return
    with tempfile.TemporaryDirectory() as folder:
        has_model = given.model or (Path(given.vllm).exists() and write_model(given.vllm, folder))
        if not has_model:
            print(f"vLLM is not measured: there is no {given.vllm}; make test-engines installs it")
        commands = peers(given.model or folder, given) if has_model else {}
        figures = measure(commands)
    if given.keep and "vllm-rs" in commands:
        results.keep("render", figures, {"vllm": "0.33.0"})
    elif given.keep:
        print("not kept: vLLM's Rust server is not measured")


def write_model(python: str, folder: str) -> bool:
    """A config and a tokenizer, as vLLM reads them."""
    code = "import sys, pathlib; sys.path[:0] = sys.argv[2:]\n"
    code += "from engines.vllm_server import write_model\nwrite_model(pathlib.Path(sys.argv[1]))"
    paths = [str(ROOT / "tests" / "python"), str(ROOT / "python")]
    return not subprocess.run([python, "-c", code, folder, *paths], check=False).returncode


def peers(model: str, given: argparse.Namespace) -> dict[str, list[str]]:
    """The commands of vLLM's two servers; what is not installed is left out, with the reason."""
    named = ["--served-model-name", "gpt-oss-20b", "--host", "127.0.0.1", "--port"]
    found = {}
    probe = [given.vllm, "-c", "import vllm.entrypoints.cli.main"]
    if Path(given.vllm).exists() and not subprocess.run(probe, capture_output=True).returncode:
        command = [
            given.vllm,
            "-m",
            "vllm.entrypoints.cli.main",
            "launch",
            "render",
            "--model",
            model,
        ]
        command += ["--reasoning-parser", "openai_gptoss", "--tool-call-parser", "openai"]
        found["vllm"] = [*command, "--enable-auto-tool-choice", *named, "8791"]
    else:
        print(f"vLLM's Python server is not measured: {given.vllm} has no vLLM")
    if given.vllm_rs:
        found["vllm-rs"] = [str(given.vllm_rs), "render", model, *named, "8794"]
    else:
        print("vLLM's Rust server is not measured: its wheel is not installed")
    return found


def measure(commands: dict[str, list[str]]) -> dict[str, Any]:
    """Milliseconds of CPU for each request, by row and server."""
    ours = [sys.executable, "-m", "openai_harmony", "serve", "--engine", "none"]
    commands = {
        **commands,
        "ours": [*ours, "--model", "gpt-oss-20b", "--port", "8792"],
        "ready": [sys.executable, __file__, "--ready", "8793"],
    }
    environment = {**os.environ, "VLLM_TARGET_DEVICE": "cpu", "HF_HUB_OFFLINE": "1"}
    found: dict[str, Any] = {}
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(Server(command, int(command[-1]), environment))
            for name, command in commands.items()
        }
        for connections in (1, CONNECTIONS):
            for name, (path, for_vllm, body) in bodies().items():
                tried = {
                    kind: server
                    for kind, server in servers.items()
                    if kind != "vllm-rs" or path.endswith("/render")
                }
                turns: dict[str, list[float]] = {kind: [] for kind in tried}
                for _ in range(5):
                    for kind, server in tried.items():
                        count = COUNTS.get(kind, (300, 10))
                        sent = body if kind in ("ours", "ready") else for_vllm
                        turns[kind].append(
                            server.cost(path, sent, connections, count[connections > 1])
                        )
                row = {kind: min(times) for kind, times in turns.items()}
                found.setdefault(name, {})[f"{connections} at a time"] = row
                print(f"{name}, {connections} at a time, ms of CPU: {row}", flush=True)
    for name, (path, _, body) in bodies().items():
        found[name]["in the library"] = in_library(path, body.encode())
        if path.endswith("/render"):
            found[name]["tokens"] = len(json.loads(rendered(body.encode())))
    return found


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
