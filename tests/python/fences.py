"""The examples of the documents that need more than this package.

Their fences name what they need (`python,ray`), and the tests of that run them.
"""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
DOCUMENT = DOCS / "training.md"


def fenced(needs: str, document: Path = DOCUMENT) -> str:
    """The only example of a document that needs this."""
    text = document.read_text(encoding="utf-8")
    [example] = re.findall(rf"^```python,{needs}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return str(example)


def commands() -> list[str]:
    """The lines of the shell's examples."""
    text = DOCUMENT.read_text(encoding="utf-8")
    examples = re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [line for example in examples for line in example.splitlines()]
