"""The results of the benchmarks, in one file of the repository; `figures.py` writes them into the documents."""

from __future__ import annotations

import json
import os
import platform
from argparse import ArgumentParser
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_suffix(".json")


def add_option(parser: ArgumentParser) -> None:
    parser.add_argument("--keep", action="store_true", help=f"write {FILE.name}")


def keep(part: str, figures: Any, packages: dict[str, str]) -> None:
    """Replaces a part of the file; the other parts keep what was measured before, with their date."""
    found = read()
    found[part] = {
        "date": f"{datetime.now(timezone.utc):%Y-%m-%d}",
        "machine": f"{os.cpu_count()} cores of {_processor()}, {platform.system()}",
        "packages": {
            "Python": platform.python_version(),
            "openai-harmony": version("openai-harmony"),
            **packages,
        },
        "figures": _rounded(figures),
    }
    FILE.write_text(_written(dict(sorted(found.items()))) + "\n", encoding="utf-8")


def read() -> dict[str, Any]:
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


def _rounded(data: Any) -> Any:
    """Four digits: more are noise, and a large file."""
    if isinstance(data, dict):
        return {name: _rounded(one) for name, one in data.items()}
    if isinstance(data, (list, tuple)):
        return [_rounded(one) for one in data]
    return float(f"{data:.4g}") if isinstance(data, float) else data


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _written(data: Any, depth: int = 0) -> str:
    """JSON with a line for each row: each item of a list, and each value that is deep."""
    if depth == 4 or not isinstance(data, (dict, list)):
        return json.dumps(data, ensure_ascii=False)
    space, end = "\n" + " " * (depth + 1), "\n" + " " * depth
    if isinstance(data, list):
        return f"[{space}{f',{space}'.join(_written(one, 4) for one in data)}{end}]"
    names = (f"{json.dumps(name, ensure_ascii=False)}: " for name in data)
    lines = map(str.__add__, names, (_written(one, depth + 1) for one in data.values()))
    return f"{{{space}{f',{space}'.join(lines)}{end}}}"
