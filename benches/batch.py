"""What two threads make of a batch, beside two processes that share nothing.

    python benches/batch.py [--rounds N]

64 texts of 20 KB that were encoded before. In each round one thread encodes them, two processes encode them all at the
same time with a thread each, and two threads encode them once. The processes tell what the machine gives: two cores
that share their memory, or even their core, do not do twice the work of one. Wall time, best and median of the rounds.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
from random import Random
from time import perf_counter_ns

from comparison import texts
from openai_harmony import load_harmony_encoding

KINDS = {"prose": texts.prose, "code": texts.code, "CJK": texts.cjk, "chat": texts.chat}
TEXTS, SIZE = 64, 20_000

encoding = load_harmony_encoding("HarmonyGptOss")


def timed(data: list[bytes], threads: int) -> int:
    batch = [text.decode() for text in data]  # Anew: a string may keep its UTF-8.
    started = perf_counter_ns()
    encoding.encode_batch(batch, threads=threads)
    return perf_counter_ns() - started


def serve(orders: socket.socket, data: list[bytes]) -> None:
    """The other process: one encoding for each byte that comes."""
    timed(data, 1)
    while orders.recv(1):
        orders.send(timed(data, 1).to_bytes(8, "little"))


def measure(kind: str, rounds: int) -> None:
    random = Random(kind)
    data = [texts.of_size(KINDS[kind](random), SIZE).encode() for _ in range(TEXTS)]
    timed(data, 1)
    ours, theirs = socket.socketpair()
    if not os.fork():
        ours.close()
        serve(theirs, data)
        os._exit(0)
    theirs.close()
    one, processes, threads = [], [], []
    for _ in range(rounds):
        one.append(timed(data, 1))
        ours.send(b"1")
        mine = timed(data, 1)
        processes.append((mine + int.from_bytes(ours.recv(8), "little")) // 4)
        threads.append(timed(data, 2))
    ours.close()
    os.wait()
    for name, of in (("best", min), ("median", statistics.median)):
        print(
            f"{kind:5} {name:6} one thread {of(one) / 1e6:.2f} ms,"
            f" two processes {of(one) / of(processes):.2f}×, two threads {of(one) / of(threads):.2f}×"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=60)
    rounds = parser.parse_args().rounds
    for kind in KINDS:
        measure(kind, rounds)


if __name__ == "__main__":
    main()
