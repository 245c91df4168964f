"""`training.render` among signals, threads and processes, and with more rows than memory holds."""

from __future__ import annotations

import _thread
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from openai_harmony.training import Batch, render, render_batches

CHAT = [{"role": "user", "content": "Hi " * 20}, {"role": "assistant", "content": "Hello! " * 20}]
TEXT = json.dumps(CHAT)

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="a system that does not fork")
alarms = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="a system without interval timers"
)


def rendered_here(rows: int) -> tuple[int, int]:
    batch = render([TEXT] * rows, format="chat", threads=4)
    return len(batch), len(batch.tokens)


@forks
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_renders() -> None:
    """Threads that the parent had do not live in its children: work given to them would wait for
    ever."""
    expected = rendered_here(2000)
    child = os.fork()
    if child == 0:
        os._exit(0 if rendered_here(2000) == expected else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert rendered_here(2000) == expected


@forks
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_worker_processes_render() -> None:
    expected = rendered_here(500)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(rendered_here, [500] * 4) == [expected] * 4


def test_batches_cross_processes() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        batch = pool.apply(rendered_batch)
    assert isinstance(batch, Batch)
    assert list(batch) == list(rendered_batch())


def rendered_batch() -> Batch:
    return render([TEXT, TEXT], format="chat")


def test_threads_of_python_render_at_once() -> None:
    expected = list(render([TEXT] * 300, format="chat"))
    with ThreadPoolExecutor(4) as pool:
        batches = pool.map(lambda _: render([TEXT] * 300, format="chat", threads=2), range(16))
        assert all(list(batch) == expected for batch in batches)


class AlarmError(Exception):
    pass


@alarms
@pytest.mark.parametrize("form", ["texts", "dicts", "one", "generator"])
def test_a_signal_ends_a_large_rendering(form: str) -> None:
    """A handler runs between parts, long before the last row."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals are handled by the main thread")
    read = 0
    # Without the signal the memory would fill.
    deadline = time.monotonic() + 5

    def endless(row: Any) -> Iterator[Any]:
        nonlocal read
        while time.monotonic() < deadline:
            read += 1
            yield row

    rows: dict[str, Any] = {
        "texts": endless(TEXT),
        "dicts": endless({"messages": CHAT}),
        "one": endless(json.dumps([CHAT[0], CHAT[1]] * 500)),
        "generator": endless(CHAT),
    }

    def handle(number: int, frame: FrameType | None) -> None:
        raise AlarmError

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(AlarmError):
            render(rows[form], format="chat")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert read > 0


@pytest.mark.parametrize(
    "row", [TEXT, CHAT, {"messages": CHAT}, tuple(CHAT)], ids=["text", "list", "dict", "tuple"]
)
def test_no_python_code_reads_a_row(row: Any) -> None:
    """A signal handler that raised in it would be taken for an error of the row."""

    def calls(rows: int) -> list[str]:
        names: list[str] = []

        def note(frame: FrameType, event: str, argument: object) -> None:
            if event == "call":
                names.append(frame.f_code.co_name)

        profiled = sys.getprofile()
        sys.setprofile(note)
        try:
            render([row] * rows, format="chat")
        finally:
            sys.setprofile(profiled)
        return names

    assert calls(100) == calls(1) != []


@alarms
def test_a_keyboard_interrupt_ends_the_process_at_once(tmp_path: Path) -> None:
    """While the workers render rows that are all there."""
    program = f"""
import signal, time
from openai_harmony.training import render
rows = [{TEXT!r}] * 3_000_000
print("ready", flush=True)
signal.setitimer(signal.ITIMER_REAL, 0.5)
def handle(number, frame):
    global at
    at = time.monotonic()
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handle)
begun = time.monotonic()
try:
    render(rows, format="chat")
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - begun < 30)
else:
    print("rendered all")
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False
    )
    assert run.stdout.split("\n")[:2] == ["ready", "interrupted True"], run.stderr


def test_main_thread_interrupts_while_another_thread_renders() -> None:
    """`_thread.interrupt_main` is what Ctrl-C does; the other thread ends what it does."""
    begun = threading.Event()
    done: list[int] = []

    def work() -> None:
        begun.set()
        done.append(len(render([TEXT] * 5000, format="chat")))

    def interrupt(worker: threading.Thread) -> None:
        worker.start()
        begun.wait()
        _thread.interrupt_main()
        while True:
            worker.join(0.01)

    worker = threading.Thread(target=work)
    with pytest.raises(KeyboardInterrupt):
        interrupt(worker)
    worker.join()
    assert done == [5000]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="a system without /proc")
def test_many_rows_in_the_memory_of_a_batch() -> None:
    """In a process of its own, whose memory nothing else has grown."""
    program = """
import json
from openai_harmony.training import render_batches

def resident():
    with open("/proc/self/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))

def rows():
    for index in range(200_000):
        content = str(index)
        yield json.dumps([{"role": "user", "content": content}, {"role": "assistant", "content": content}])

count = tokens = first = most = 0
for batch in render_batches(rows(), format="chat", batch_rows=4096):
    count += len(batch)
    tokens += len(batch.tokens)
    if count < 50_000:
        first = resident()
    most = max(most, resident())
print(count, tokens > 8_000_000, most - first < 100_000, most - first)
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600, check=False
    )
    assert run.stdout.split()[:3] == ["200000", "True", "True"], (run.stdout, run.stderr)


def test_batches_are_forgotten() -> None:
    """What renders batches holds none of the rows that it has read."""
    import weakref

    class Row(dict):  # type: ignore[type-arg]
        pass

    seen: list[weakref.ref[Row]] = []

    def rows() -> Iterator[Row]:
        for _ in range(20):
            row = Row(messages=CHAT)
            seen.append(weakref.ref(row))
            yield row

    for batch in render_batches(rows(), batch_rows=4, format="chat"):
        del batch
        alive = sum(row() is not None for row in seen)
        assert alive <= 8
