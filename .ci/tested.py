"""Runs tests, and sums up several runs in one line.

python .ci/tested.py run LOG COMMAND…   runs a command, and keeps what it prints in a file, too
python .ci/tested.py sum LOG…           prints how many tests passed, and what was skipped, and why
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

RUST = re.compile(r"^test result: ok\. (\d+) passed; \d+ failed; (\d+) ignored", re.MULTILINE)
PYTEST = re.compile(r"^(?:=+ )?(\d+) passed(?:, (\d+) skipped)?.* in [\d.]+s", re.MULTILINE)
SKIPPED = re.compile(r"^SKIPPED \[(\d+)\] [^:]+(?::\d+)?: (.*)$", re.MULTILINE)
ABSENT = re.compile(r"pip install '?([\w-]+)|(?:no )?([\w-]+) is not installed")


def run(log: Path, command: list[str]) -> int:
    """The command's exit code."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as kept:
        running = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert running.stdout is not None
        for line in running.stdout:
            print(line, end="", flush=True)
            kept.write(line)
        return running.wait()


def total(logs: list[Path]) -> str:
    """One line for all runs: what was skipped stands by what would run it, or by its reason."""
    passed: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    packages: set[str] = set()
    for log in logs:
        text = log.read_text("utf-8")
        for count, ignored in RUST.findall(text):
            passed["Rust"] += int(count)
            if int(ignored):
                reasons["ignored in Rust"] += int(ignored)
        for count, _ in PYTEST.findall(text):
            passed[log.stem] += int(count)
        for count, reason in SKIPPED.findall(text):
            if makes := re.match(r"make [\w-]+(?= installs)", reason):
                reason = makes[0]
            elif package := ABSENT.match(reason):
                packages.add(package[1] or package[2])
                reason = "packages"
            reasons[reason] += int(count)
    if "packages" in reasons:
        reasons[f"packages that are not installed: {', '.join(sorted(packages))}"] = reasons.pop(
            "packages"
        )
    counts = ", ".join(f"{count:,} {kind}" for kind, count in passed.items())
    skipped = ", ".join(f"{count} ({reason})" for reason, count in reasons.most_common()) or "none"
    return f"All passed: {counts}; skipped: {skipped}"


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["run", log, *command] if command:
            sys.exit(run(Path(log), command))
        case ["sum", *logs] if logs:
            print(total([Path(log) for log in logs]))
        case _:
            sys.exit(__doc__)
