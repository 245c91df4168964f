"""The examples of docs/training.md that need more than this package and NumPy.

Their fences name what they need (`python,ray`), and the tests of that run them.
"""

from __future__ import annotations

import re
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "training.md"


def fenced(needs: str) -> str:
    """The only example that needs this."""
    text = DOCUMENT.read_text(encoding="utf-8")
    [example] = re.findall(rf"^```python,{needs}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return str(example)


def commands() -> list[str]:
    """The lines of the shell's examples."""
    text = DOCUMENT.read_text(encoding="utf-8")
    examples = re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [line for example in examples for line in example.splitlines()]
