"""vLLM's own path from a chat body to its prompt, and from a sampled token to its chunk, beside this project's.

    python benches/beside_vllm.py [--vllm PYTHON] [--rounds N] [--keep]

Each runs in a process of its own, with its own package; PYTHON is one that has vLLM, which needs no GPU for this. Times
are of the process, the best and the median of rounds that take turns. vLLM's detokenizer is left out: its text is given.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import results

ROOT = Path(__file__).parents[1]
PROSE = (Path(__file__).parent / "corpus" / "prose.txt").read_text(encoding="utf-8")
TOKENS = 1000
WORK = {
    "request": "a body of 33 messages and 6 tools to its prompt",
    "token": "a sampled token to its chunk",
}


def body() -> str:
    """33 messages and 6 tools: eight rounds of a question, a call, its result and an answer."""
    fields = {
        f"field_{n}": {"type": "string", "description": PROSE[40 * n : 40 * n + 60]}
        for n in range(4)
    }
    parameters = {"type": "object", "properties": fields, "required": ["field_0"]}
    tools = [
        {
            "type": "function",
            "function": {
                "name": f"tool_{n}",
                "description": PROSE[300 * n : 300 * n + 120],
                "parameters": parameters,
            },
        }
        for n in range(6)
    ]
    messages: list[Any] = [{"role": "system", "content": PROSE[:400]}]
    for n in range(8):
        call = {"name": f"tool_{n % 6}", "arguments": json.dumps({"field_0": PROSE[n : n + 30]})}
        called = {"id": f"call_{n}", "type": "function", "function": call}
        messages += [
            {"role": "user", "content": PROSE[500 * n : 500 * n + 200]},
            {"role": "assistant", "content": None, "tool_calls": [called]},
            {
                "role": "tool",
                "tool_call_id": f"call_{n}",
                "content": PROSE[700 * n : 700 * n + 300],
            },
            {"role": "assistant", "content": PROSE[900 * n : 900 * n + 300]},
        ]
    return json.dumps(
        {"model": "gpt-oss-20b", "messages": messages, "tools": tools, "stream": True}
    )


def output(encoding: Any) -> list[int]:
    """A thought and an answer."""
    text = encoding.encode(PROSE)[: TOKENS // 2 - 6]
    start = encoding.encode("<|channel|>analysis<|message|>", allowed_special="all")
    between = "<|end|><|start|>assistant<|channel|>final<|message|>"
    return [*start, *text, *encoding.encode(between, allowed_special="all"), *text, 200002]


def ours(text: str) -> tuple[Callable[[], Any], Callable[[], list[bytes]]]:
    from openai_harmony import load_harmony_encoding
    from openai_harmony.interop import chat_completions

    encoding = load_harmony_encoding("HarmonyGptOss")
    sampled = output(encoding)

    def request() -> list[int]:
        return chat_completions.read(text).prompt(encoding)

    def stream() -> list[bytes]:
        reply = chat_completions.read(text).reply(encoding, model="gpt-oss-20b")
        chunks = [reply.feed_bytes([token]) for token in sampled]
        return [*chunks, reply.finish_bytes("stop")]

    return request, stream


def vllms(text: str) -> tuple[Callable[[], Any], Callable[[], list[bytes]]]:
    from vllm.entrypoints.openai.chat_completion import protocol
    from vllm.entrypoints.openai.chat_completion.stream_processor import ChatStreamProcessor
    from vllm.entrypoints.openai.parser import harmony_utils as harmony
    from vllm.parser import ParserManager

    encoding = harmony.get_encoding()
    sampled = output(encoding)
    names = {"tool_parser_name": "openai", "reasoning_parser_name": "openai_gptoss"}
    made = ParserManager.get_parser(**names, enable_auto_tools=True, is_harmony=True)

    class Tokenizer:
        def get_vocab(self) -> dict[str, int]:
            return {}

    tokenizer = Tokenizer()

    def request() -> list[int]:
        read = protocol.ChatCompletionRequest.model_validate_json(text)
        made(tokenizer, read.tools).adjust_request(read)
        instructions, rest = harmony.extract_instructions_from_messages(list(read.messages))
        messages = harmony.build_harmony_preamble(
            instructions=instructions, tools=read.tools, with_custom_tools=True
        )
        messages += harmony.parse_chat_inputs_to_harmony_messages(rest)
        return list(harmony.render_for_completion(messages))

    def stream() -> list[bytes]:
        read = protocol.ChatCompletionRequest.model_validate_json(text)
        parser = made(tokenizer, read.tools)
        step = ChatStreamProcessor(read, parser, enable_auto_tools=True, parser_cls=made).step
        chunks = []
        for at, token in enumerate(sampled):
            delta, reason = step(" ", [token], "stop" if at == len(sampled) - 1 else None, None)
            if delta is None and reason is None:
                continue
            choice = protocol.ChatCompletionResponseStreamChoice(
                index=0, delta=delta or protocol.DeltaMessage(), finish_reason=reason
            )
            chunk = protocol.ChatCompletionStreamResponse(
                id="chatcmpl-1", created=1, choices=[choice], model="gpt-oss-20b"
            )
            written = chunk.model_dump_json(exclude_unset=True, exclude_none=not chunk.choices)
            chunks.append(f"data: {written}\n\n".encode())
        return chunks

    return request, stream


def said(chunks: list[bytes]) -> list[str]:
    """The thoughts and the text of a stream, under whichever name."""
    found = ["", ""]
    for line in b"".join(chunks).splitlines():
        if not line.startswith(b"data: {"):
            continue
        for choice in json.loads(line[6:])["choices"]:
            delta = choice["delta"]
            found[0] += delta.get("reasoning") or delta.get("reasoning_content") or ""
            found[1] += delta.get("content") or ""
    return found


def work(kind: str) -> None:
    """Answers each line of its input, the name of a work, with what one takes in seconds."""
    request, stream = (ours if kind == "ours" else vllms)(body())
    print(json.dumps({"said": said(stream()), "prompt": len(request())}), flush=True)
    for line in sys.stdin:
        function, each = (request, 1) if line.strip() == "request" else (stream, TOKENS)
        times = 0
        begun = time.process_time()
        while (taken := time.process_time() - begun) < 0.3:
            function()
            times += 1
        print(taken / times / each, flush=True)


def asked(worker: Any, name: str) -> float:
    worker.stdin.write(f"{name}\n")
    worker.stdin.flush()
    return float(worker.stdout.readline())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    trainers = ROOT / ".venv-trainers" / "bin" / "python"
    parser.add_argument("--vllm", default=str(trainers), help="a Python that has vLLM")
    parser.add_argument("--rounds", type=int, default=7, help="of each measurement (7)")
    results.add_option(parser)
    parser.add_argument("--work", choices=["ours", "vllm"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work)
        return 0
    probe = [options.vllm, "-c", "import vllm.parser.harmony, openai_harmony"]
    if not Path(options.vllm).exists() or subprocess.run(probe, capture_output=True).returncode:
        print(f"not measured: {options.vllm} has no vLLM; make test-engines installs it")
        return 0
    workers = {}
    for kind, python in (("ours", sys.executable), ("vllm", options.vllm)):
        line = [python, __file__, "--work", kind]
        pipe = subprocess.PIPE
        workers[kind] = subprocess.Popen(
            line, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )
    first = {}
    for kind, worker in workers.items():
        first[kind] = json.loads(worker.stdout.readline())  # type: ignore[union-attr]
        print(f"{kind}: a prompt of {first[kind]['prompt']} tokens")
    if first["ours"]["said"] != first["vllm"]["said"]:
        sys.exit("the chunks say different texts")
    kept = {}
    for name, what in WORK.items():
        rounds = [
            [asked(workers[kind], name) for kind in ("vllm", "ours")] for _ in range(options.rounds)
        ]
        theirs, mine = ([row[at] * 1e6 for row in rounds] for at in (0, 1))
        best, median = min(theirs) / min(mine), statistics.median(theirs) / statistics.median(mine)
        print(
            f"{what}: vLLM {min(theirs):.3g} µs, ours {min(mine):.3g} µs, {best:.3g} times; of medians {median:.3g}"
        )
        kept[name] = {"vllm_us": min(theirs), "ours_us": min(mine)}
    for worker in workers.values():
        worker.kill()
    if options.keep:
        results.keep("vllm", {**kept, "tokens": first["ours"]["prompt"]}, {"vllm": "0.33.0"})
    return 0


if __name__ == "__main__":
    sys.exit(main())
