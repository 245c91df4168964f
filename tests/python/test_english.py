"""Messages and comments have none of the turns of phrase at which readers stopped."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
TICS_OF_ALL = r"alone|anew|behind|beside|shall|so many|go(?:es)? on|as it is meant"
TICS = re.compile(rf"\b(?:{TICS_OF_ALL}|(?:is|are) none|stands|grammar holds|is not held)\b")
OF_COMMENTS = re.compile(rf"\b(?:{TICS_OF_ALL}|stands?)\b")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def messages() -> Iterator[tuple[str, str]]:
    """String literals of sentences: errors, logs, help."""
    for file in sorted((ROOT / "python/openai_harmony").rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        # An option's description is documentation.
        options = {
            id(argument)
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Option"
            for argument in node.args
        }
        for node in ast.walk(tree):
            match node:
                case ast.Constant(str(text)) if id(node) not in statements | options:
                    yield file.relative_to(ROOT).as_posix(), text
    for folder in ("src", "python/src"):
        for file in sorted((ROOT / folder).rglob("*.rs")):
            code = file.read_text(encoding="utf-8").split("\n#[cfg(test)]\nmod ")[0]
            code = re.sub(r"//[^\n]*", "", code)
            for text in STRING.findall(code):
                yield file.relative_to(ROOT).as_posix(), text


def test_messages_are_plain_english() -> None:
    found = [(file, text) for file, text in messages() if " " in text]
    assert len(found) > 500
    assert [(file, text) for file, text in found if TICS.search(text)] == []


def comments() -> Iterator[tuple[str, str]]:
    """Comments, documentation and the descriptions of options; Rust's line by line."""
    package = ROOT / "python/openai_harmony"
    for file in sorted([*package.rglob("*.py"), *package.rglob("*.pyi")]):
        name, code = file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT or token.string.lstrip("rf").startswith('"""'):
                yield name, " ".join(token.string.split())
    for folder in ("src", "python/src", "build"):
        for file in sorted((ROOT / folder).rglob("*.rs")):
            for text in re.findall(r"//[^\n]*", file.read_text(encoding="utf-8")):
                yield file.relative_to(ROOT).as_posix(), text


def test_comments_are_plain_english() -> None:
    found = [*comments()]
    assert len(found) > 5_000
    assert [(file, text) for file, text in found if OF_COMMENTS.search(text)] == []
