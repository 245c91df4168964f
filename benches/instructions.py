"""Counts the instructions of the hottest stages, which no other work on the machine disturbs.

    python benches/instructions.py [--record]

Each stage runs under callgrind for two passes and for six; the difference is four passes without
the start of the process. The counts stand beside those of benches/instructions.json, which
`--record` writes them. They depend on the compiler and the processor's abilities, so a change of
a percent on another machine means nothing; on one machine it does.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

RECORD = Path(__file__).with_suffix(".json")
FEW, MANY = 2, 6
STAGES = {
    "encode": "encode 100 KB of prose",
    "render": "render 102 messages",
    "parse": "parse them, 4,000 tokens",
    "chat_completions": "stream 1,000 tokens as chat completions",
    "responses": "the same as Responses",
    "anthropic": "the same as Anthropic Messages",
    "ollama": "the same as Ollama's chat",
}


def build() -> str:
    """The path of the compiled bench."""
    command = [
        "cargo",
        "bench",
        "--package",
        "openai-harmony",
        "--bench",
        "instructions",
        "--no-run",
        "--message-format=json",
    ]
    built = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    messages = [json.loads(line) for line in built.splitlines()]
    found = [
        message["executable"]
        for message in messages
        if message["reason"] == "compiler-artifact" and message["target"]["name"] == "instructions"
    ]
    return str(found[-1])


def instructions(executable: str, stage: str, passes: int) -> int:
    """All instructions of one run."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    run = subprocess.run(
        [*command, executable, stage, str(passes)], check=True, capture_output=True, text=True
    )
    collected = re.search(r"Collected : (\d+)", run.stderr)
    if collected is None:
        raise RuntimeError(f"callgrind counted nothing: {run.stderr[-500:]}")
    return int(collected.group(1))


def counted() -> dict[str, int]:
    executable = build()
    return {
        stage: (instructions(executable, stage, MANY) - instructions(executable, stage, FEW))
        // (MANY - FEW)
        for stage in STAGES
    }


def main() -> None:
    if shutil.which("valgrind") is None:
        print("instruction counts: valgrind is missing (Debian: apt install valgrind)")
        return
    counts = counted()
    if "--record" in sys.argv[1:]:
        RECORD.write_text(json.dumps(counts, indent=2) + "\n")
    recorded = json.loads(RECORD.read_text())
    print("| instructions | now | recorded | change |\n|---|---|---|---|")
    for stage, name in STAGES.items():
        now, before = counts[stage], recorded.get(stage)
        change = "| – | –" if before is None else f"| {before:,} | {now / before - 1:+.1%}"
        print(f"| {name} | {now:,} {change} |")


if __name__ == "__main__":
    main()
