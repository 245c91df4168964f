"""What a stopwatch shows of a new process: import, loading and the first call.

    python benches/start.py [--rounds N] [--keep]

Each package runs in fresh processes, in turns: processor time for the import and loading, and for the first text of
400 bytes; the wall time of the process, less that of an interpreter that does nothing; its memory. All are medians of
20 rounds, after one that is not counted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from statistics import median

import results
from comparison import texts
from comparison.environments import PEERS, Environments

# In the process itself nothing is imported that would spare a package its own import.
TIMED = """
import time
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
text = {text!r}
memory, begun = resident(), time.process_time()
{load}
loaded = time.process_time()
count = len({encode})
done = time.process_time()
print([(loaded - begun) * 1e3, (done - loaded) * 1e3, (resident() - memory) / 1e6, count])
"""
HARMONY = (
    "from openai_harmony import load_harmony_encoding as load\nencoding = load('HarmonyGptOss')"
)
FILE = "import os\nfile = os.environ['BENCH_VOCABULARY'] + '/o200k_base.tiktoken'\n"
CODE = {
    "ours": (HARMONY, "encoding.encode(text)"),
    "0.0.8": (HARMONY, "encoding.encode(text)"),
    "tiktoken": (
        "import tiktoken\nencoding = tiktoken.get_encoding('o200k_harmony')",
        "encoding.encode_ordinary(text)",
    ),
    "gigatoken": (
        f"{FILE}import gigatoken\nencoding = gigatoken.Tokenizer.from_tiktoken(file).backend",
        "encoding.encode(text).tolist()",
    ),
    "fastokens": (
        f"{FILE}import fastokens\nencoding = fastokens.Tokenizer.from_tiktoken(file, encoding='o200k_base')",
        "encoding.encode_ordinary(text).ids",
    ),
}
NAMES = ("load_ms", "first_text_ms", "memory_mb", "wall_ms")


def run(python: str, code: str, variables: dict[str, str]) -> tuple[str, float]:
    begun = time.perf_counter()
    done = subprocess.run([python, "-c", code], env=variables, capture_output=True, text=True)
    taken = (time.perf_counter() - begun) * 1e3
    if done.returncode:
        sys.exit(f"{python}: {done.stderr[-2000:]}")
    return done.stdout, taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    results.add_option(parser)
    chosen = parser.parse_args()
    environments = Environments(Path(__file__).parents[1] / ".bench", sys.executable, "processor")
    environments.make()
    # As installed, with compiled modules: the first round writes them.
    variables = environments.variables()
    for name in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE"):
        variables.pop(name, None)
    text = texts.of_size(texts.KINDS["prose"](Random("start")), 400)
    seen: dict[str, list[list[float]]] = {peer: [] for peer in environments.interpreters}
    counts = set()
    for turn in range(chosen.rounds + 1):
        for peer, times in seen.items():
            python = environments.interpreters[peer]
            load, encode = CODE[peer]
            said, wall = run(python, TIMED.format(text=text, load=load, encode=encode), variables)
            _, nothing = run(python, "pass", variables)
            *measured, count = json.loads(said)
            counts.add(count)
            if turn:
                times.append([*measured, wall - nothing])
    if len(counts) != 1:
        sys.exit(f"different numbers of tokens: {counts}")
    figures = {peer: dict(zip(NAMES, map(median, zip(*times)))) for peer, times in seen.items()}
    for peer, found in figures.items():
        print(f"{peer:>10}: " + ", ".join(f"{name} {value:,.4g}" for name, value in found.items()))
    if chosen.keep and environments.are_whole():
        packages = {
            peer: pinned[0].split("==")[1] for peer, pinned in PEERS.items() if peer in figures
        }
        results.keep("start", figures, packages)


if __name__ == "__main__":
    main()
