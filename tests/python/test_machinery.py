"""What the extension module has of the crate beyond its public API, name by name.

A name that is added here is one more thing that cannot be changed in the core without its binding: look first for a
way through the public API.
"""

from __future__ import annotations

import re
from pathlib import Path

from arrows import branches

ROOT = Path(__file__).parents[2]

NAMES = set(
    """
    AsMessage AsTools ContentPart DeveloperFields HeaderFields Speaker SystemFields
    Namespace Parameters Tool
    conversation message rendered speakers
    At Tape Value MAX_DEPTH
    Choice SetByName SetFrom
    Brief PathStep
    BROWSER FUNCTIONS PYTHON
    source_indices tool_choice
    ExampleMaker Workers check_map is_media is_read render_array_on render_on
    """.split()
)
HIDDEN = {
    "interop/body.rs": {"new", "at"},
    "interop/dialect.rs": {"unsupported_message", "too_long_message"},
    "interop/reply/mod.rs": {"full_response", "reads_spelled_markers"},
    "lib.rs": {"machinery"},
    "path.rs": {"inside"},
    "render/history.rs": {"of_auto_drop"},
    "tokenizer/batch.rs": {"append", "encode_batch_on", "decode_batch_on"},
}
"""Of public types, what the documentation leaves out."""


def code(path: Path) -> str:
    return re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))


def binding() -> str:
    return "\n".join(code(file) for file in (ROOT / "python/src").rglob("*.rs"))


def test_the_machinery_is_what_is_listed() -> None:
    text = code(ROOT / "src/machinery.rs")
    trees = re.findall(r"\bpub use ([^;]+);", text)
    used = {path.split("::")[-1] for tree in trees for path in branches("".join(tree.split()))}
    assert used | set(re.findall(r"\bpub fn (\w+)", text)) == NAMES


def test_what_is_hidden_is_listed() -> None:
    sources = ROOT / "src"
    hidden = {
        file.relative_to(sources).as_posix(): set(
            re.findall(r"#\[doc\(hidden\)\][^;{}]*?\bpub (?:fn|mod|struct|enum) (\w+)", code(file))
        )
        for file in sources.rglob("*.rs")
        if "doc(hidden)" in code(file)
    }
    assert hidden == HIDDEN


def test_the_binding_uses_all_of_it() -> None:
    text = binding()
    names = NAMES.union(*HIDDEN.values())
    assert {name for name in names if not re.search(rf"\b{name}\b", text)} == set()
