"""Writes tests/golden again from the oracle's answers.

Run in tests/python, with an interpreter that has openai-harmony 0.0.8 (see oracle/__init__.py):

    TIKTOKEN_ENCODINGS_BASE=<folder with o200k_base.tiktoken> <interpreter> -m oracle.golden

Expected tokens come from 0.0.8, or from the guide's own text where 0.0.8 cannot say the thing;
never from this project. The listings in `guide.txt` are kept by hand. A folder that no case names
is reported and left alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

from . import conversations, guide, korean, messages, typescript

ROOT = Path(__file__).resolve().parents[3] / "golden"


def main() -> None:
    cases = [*guide.cases(), *korean.cases(), *messages.cases(), *conversations.cases()]
    names = [case.name for case in cases]
    if len(set(names)) < len(names):
        sys.exit("two cases of one name")
    for case in cases:
        case.write(ROOT)
    typescript.write(ROOT / "typescript" / "compat")
    strangers = (
        {path.name for path in ROOT.iterdir() if path.is_dir()} - set(names) - {"typescript"}
    )
    print(f"{len(cases)} cases written; folders of no case: {sorted(strangers) or 'none'}")


if __name__ == "__main__":
    main()
