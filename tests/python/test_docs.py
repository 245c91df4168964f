"""The documents' examples run, their conversations parse, and their links lead somewhere."""

from __future__ import annotations

import importlib
import inspect
import json
import pydoc
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest

import openai_harmony
from openai_harmony import (
    Author,
    Conversation,
    ErrorKind,
    HeaderStyle,
    Message,
    RenderConversationConfig,
    Role,
    ThoughtPolicy,
    cache,
    grammar,
    interop,
    load_harmony_encoding,
    rollout,
    serve,
    show,
    training,
)
from openai_harmony.cli import run
from openai_harmony.serve import engines

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    [
        *ROOT.glob("*.md"),
        ROOT / "python/README.md",
        ROOT / "benches/README.md",
        ROOT / "src/tokenizer/README.md",
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs" / "guides").glob("*.md"),
    ]
)
API = sorted((ROOT / "docs" / "api").glob("*.md"))
LANGUAGES = {"python", "rust", "sh", "text", "toml", "yaml", "json", "typescript", "harmony", "js"}
"""What a fence may say. rustdoc takes one that says nothing for Rust, and runs it."""


class Block(NamedTuple):
    """A fenced block of a document."""

    language: str
    line: int
    text: str


def blocks(document: Path) -> Iterator[Block]:
    lines = enumerate(document.read_text(encoding="utf-8").splitlines(), 1)
    for number, line in lines:
        if line.startswith("```"):
            body = list(iter(lambda: next(lines)[1], "```"))
            yield Block(line[3:], number, "\n".join(body) + "\n")


def named(document: Path) -> str:
    return str(document.relative_to(ROOT))


def with_blocks(language: str) -> list[Path]:
    found = [d for d in DOCUMENTS if any(block.language == language for block in blocks(d))]
    assert found
    return found


def examples() -> list[Any]:
    """Each example of Python in the documents."""
    return [
        pytest.param(document, block, id=f"{named(document)}:{block.line}")
        for document in with_blocks("python")
        for block in blocks(document)
        if block.language == "python"
    ]


@pytest.mark.parametrize(("document", "block"), examples())
def test_an_example_runs_alone(
    document: Path, block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a namespace and a folder of its own, as its reader runs it."""
    monkeypatch.chdir(tmp_path)
    # The empty lines make a traceback show the document's line.
    source = "\n" * block.line + block.text
    exec(compile(source, str(document), "exec", dont_inherit=True), {"__name__": "example"})


def test_python_examples_pass_a_strict_type_check(tmp_path: Path) -> None:
    """As their reader runs them: each in its own file, against the installed package."""
    pytest.importorskip("mypy")
    modules = []
    for number, document in enumerate(with_blocks("python")):
        for block in blocks(document):
            if block.language == "python":
                # The empty lines make an error name the document's line.
                module = (
                    tmp_path
                    / f"{document.stem.lower()}_{number}_line_{block.line}.py".replace("-", "_")
                )
                module.write_text("\n" * block.line + block.text, encoding="utf-8")
                modules.append(module.name)
    # pyarrow has no types.
    options = [
        "--strict",
        "--config-file=",
        "--disable-error-code=import-untyped",
        f"--cache-dir={ROOT / '.mypy_cache' / 'documents'}",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *modules],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_page_is_in_the_sites_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    named_there = re.findall(r"(\S+\.md)$", navigation, re.MULTILINE)
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert sorted(named_there) == sorted(pages | {"CONTRIBUTING.md", "CHANGELOG.md"})


@pytest.mark.parametrize("word", ["streaming", "install", "FAQ", "token count", "tool call"])
def test_a_search_of_the_site_finds_a_heading(word: str) -> None:
    """MkDocs ranks headings first."""
    headings = [
        heading
        for page in (ROOT / "docs").rglob("*.md")
        for heading in re.findall(r"^#+ (.+)$", prose(page), flags=re.MULTILINE)
    ]
    assert any(word.lower() in heading.lower() for heading in headings)


def test_the_reference_has_all_that_is_public() -> None:
    paths = [
        path
        for page in API
        for path in re.findall(
            r"^::: openai_harmony\.(\S+)$", page.read_text("utf-8"), re.MULTILINE
        )
    ]
    for path in paths:
        if (source := NEED_A_PACKAGE.match(path)) is not None:
            adapter = ROOT / "python" / "openai_harmony" / "adapters" / f"{source[1]}.py"
            assert f"\nclass {source[2]}" in adapter.read_text("utf-8"), path
            continue
        found: Any = openai_harmony
        for name in path.split("."):
            if not hasattr(found, name):
                found = importlib.import_module(f"{found.__name__}.{name}")
            else:
                found = getattr(found, name)
    last = {path.rpartition(".")[2] for path in paths}
    assert set(openai_harmony.__all__) - last == {"Content", "Event"}, "unions of what is there"
    for module in (interop, grammar, rollout, serve, engines, show, training, cache):
        missing = {
            name
            for name in module.__all__
            if name not in last and not inspect.ismodule(getattr(module, name))
        }
        assert missing == NOT_IN_THE_REFERENCE.get(module.__name__, set()), module.__name__


@pytest.mark.parametrize("page", API, ids=named)
def test_a_page_of_the_reference_says_how_to_see_it_in_python(page: Path) -> None:
    text = page.read_text("utf-8")
    if page.stem == "adapters":
        assert "without that `help` in Python shows" in text
        return
    [name] = re.findall(r'without that `help\("(\S+)"\)` in Python shows', text)
    assert f"\n::: {name}\n" in text
    assert inspect.getdoc(pydoc.locate(name))


NEED_A_PACKAGE = re.compile(r"adapters\.(hf|renderers|skyrl|tinker|verl)\.(\w+)$")
"""What only imports where that is installed; `make test-adapters` does."""

NOT_IN_THE_REFERENCE: dict[str, set[str]] = {
    "openai_harmony.serve.engines": {"KINDS"},
}
"""What the command line lists."""


def test_every_kind_of_error_is_in_the_reference() -> None:
    kinds = re.findall(r"`([a-z0-9_]+)`", (ROOT / "docs" / "api" / "options.md").read_text("utf-8"))
    assert set(get_args(ErrorKind)) - set(kinds) == {"unknown"}


def said(channel: str, text: str, recipient: str = "") -> Message:
    message = Message.from_role_and_content("assistant", text).with_channel(channel)
    return message.with_recipient(recipient) if recipient else message


def result(name: str, channel: str, text: str) -> Message:
    author = Author.new("tool", name)
    message = Message.from_author_and_content(author, text).with_channel(channel)
    return message.with_recipient("assistant")


def test_the_policies_drop_what_the_guide_says() -> None:
    """The dialogue of its table, message by message."""
    dialogue = [
        Message.from_role_and_content("user", "Does it rain in Oslo?"),
        said("analysis", "I need the weather."),
        said("commentary", '{"place":"Oslo"}', "functions.weather"),
        result("functions.weather", "commentary", '{"rain":true}'),
        said("analysis", "So it does."),
        said("final", "It rains."),
        Message.from_role_and_content("user", "What is 2**64?"),
        said("analysis", "I compute it."),
        said("analysis", "print(2**64)", "python"),
        result("python", "analysis", "18446744073709551616"),
        said("analysis", "There it is."),
        said("final", "About 1.8e19."),
        Message.from_role_and_content("user", "How many digits?"),
    ]
    encoding = load_harmony_encoding("HarmonyGptOss")
    guide = (ROOT / "docs" / "python.md").read_text("utf-8")
    header, _, *rows = re.findall(r"(?:^\|.*\n)+", guide, re.MULTILINE)[-1].splitlines()
    policies = re.findall(r"`(\w+)`", header)
    assert sorted(policies) == sorted(policy.name for policy in ThoughtPolicy)
    for column, policy in enumerate(policies, 2):
        config = RenderConversationConfig(thoughts=ThoughtPolicy[policy])
        conversation = Conversation.from_messages(dialogue)
        text = encoding.decode(encoding.render_conversation(conversation, config))
        rendered = {n for n, message in enumerate(dialogue, 1) if message.text in text}
        shown = [row.split("|") for row in rows]
        numbers = {
            int(n) for row in shown if "✓" in row[column] for n in re.findall(r"\d+", row[1])
        }
        assert rendered == numbers, policy


FORMAT = ROOT / "docs" / "format.md"


@pytest.mark.parametrize(
    "shown",
    [
        pytest.param(block.text, id=f"line{block.line}")
        for block in blocks(FORMAT)
        if block.language == "harmony"
    ],
)
def test_conversations_of_the_format_parse_and_render_again(shown: str) -> None:
    encoding = load_harmony_encoding("HarmonyGptOss")
    text = shown.rstrip("\n").replace("\n<|start|>", "<|start|>")
    tokens = encoding.encode(text, allowed_special="all")
    role = None if text.startswith("<|start|>") else Role.ASSISTANT
    messages = encoding.parse_messages_from_completion_tokens(tokens, role)

    whole = text if role is None else f"<|start|>assistant{text}"
    whole = whole.replace("<|return|>", "<|end|>")
    whole = re.sub(r"<\|start\|>\w+$", "", whole)
    rendered = set()
    for style in HeaderStyle:
        config = RenderConversationConfig(auto_drop_analysis=False, header_style=style)
        conversation = Conversation.from_messages(messages)
        rendered.add(encoding.decode(encoding.render_conversation(conversation, config)))
    assert whole in rendered


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_every_fence_names_its_language(document: Path) -> None:
    for block in blocks(document):
        language = block.language.partition(",")[0]
        assert language in LANGUAGES, f"{named(document)}:{block.line}"


def test_every_example_that_needs_a_package_is_run_by_a_test() -> None:
    """What `fences.py` finds, and the tests of that package run."""
    sources = [file.read_text(encoding="utf-8") for file in Path(__file__).parent.rglob("*.py")]
    run = {need for source in sources for need in re.findall(r"fenced\(\s*\"(\w+)\"", source)}
    needed = {
        block.language.partition(",")[2]
        for document in DOCUMENTS
        for block in blocks(document)
        if "," in block.language
    }
    assert needed == run


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_links_lead_to_files_and_headings(document: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(document).replace("\n", " ")):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (document.parent / path).resolve() if path else document
        assert linked.exists(), f"{named(document)} links to {target}"
        if anchor:
            assert anchor in anchors(linked), f"{named(document)} links to {target}"


def prose(document: Path) -> str:
    """A document without its fenced blocks."""
    text = document.read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(document: Path) -> set[str]:
    """The headings of a document as GitHub links to them."""
    headings = re.findall(r"^#+ (.+)$", prose(document), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


TICS = re.compile(r"\b(shall|so many|go(?:es|ne)? on|Mind that)\b")
"""Turns that stopped readers, and can be searched for."""


@pytest.mark.parametrize("document", [*DOCUMENTS, *API], ids=named)
def test_plain_words(document: Path) -> None:
    if document.stem not in ("CHANGELOG", "lab-book"):  # what was, not how it is done
        assert TICS.findall(prose(document)) == []


QUESTION = '{"messages": [{"role": "user", "content": "What is 2 + 2?"}]}'
FILES = {
    "request.json": QUESTION,
    "rows.jsonl": f'{QUESTION[:-2]}, {{"role": "assistant", "content": "4."}}]}}\n',
    "chats.jsonl": f"{QUESTION}\n{QUESTION}\n",
    "chat.json": QUESTION,
    "sampled.txt": "<|channel|>final<|message|>4.<|return|>",
    "ours.json": "[1, 2]",
    "theirs.txt": "1 3",
    "keys.txt": "a-key-of-some-length",
    "recorded.jsonl": '{"match": "", "text": "<|channel|>final<|message|>Hello.<|return|>"}',
}
"""What the commands of the documents name."""


def commands() -> list[Any]:
    """Each line of a shell's example that runs `harmony`, without its comment."""
    found = [
        pytest.param(line.partition("  #")[0].rstrip(" &"), id=f"{named(document)}: {line[:50]}")
        for document in with_blocks("sh")
        for block in blocks(document)
        if block.language == "sh"
        for line in block.text.splitlines()
        if re.match(r"(echo '.*' \| )?harmony (?!dataset)", line)
    ]
    assert len(found) > 15
    return found


@pytest.mark.parametrize("line", commands())
def test_a_command_of_the_documents_runs(
    line: str, harmony: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As printed; servers, which would not end, with `--check`, and without an engine to find."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    if "transformers=" in line or "harmony playground" in line:  # a model of 14 GB; no `--check`
        parser, _ = run.parsers("harmony", shlex.split(line)[1:])
        assert callable(parser.parse_args(shlex.split(line)[1:]).run)
        return
    if "harmony serve" in line:
        line = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:9", line)
        line = re.sub(r" --port \d+", "", line) + " --port 0 --check"
    if re.search("[|<>]", line):
        program = f"{sys.executable} -m openai_harmony"
        shell = re.sub(r"(^|\| )harmony\b", lambda found: f"{found[1]}{program}", line)
        code = subprocess.run(shell, shell=True, stdout=subprocess.DEVNULL, check=False).returncode
        assert code == 0
        return
    said = harmony(*shlex.split(line)[1:])
    if "harmony serve" in line and "http://" in line:
        bad = [one for one in said.out.splitlines() if not one.startswith("ok ")]
        assert said.code == 1, said
        assert [one.partition(":")[0] for one in bad] == ["BAD   engine"]
        return
    expected = 3 if "harmony diff" in line else 0
    assert said.code == expected, said.err


@pytest.mark.parametrize("language", ["json", "toml", "yaml"])
def test_files_of_the_documents_can_be_read(language: str) -> None:
    """Settings and data that a reader copies."""
    if language == "json":
        load: Any = json.loads
    elif language == "toml":
        load = pytest.importorskip("tomllib", reason="Python 3.10 reads no TOML").loads
    else:
        yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
        load = lambda text: list(yaml.safe_load_all(text))  # noqa: E731
    for document in with_blocks(language):
        for block in blocks(document):
            if block.language == language:
                assert load(block.text), f"{named(document)}:{block.line}"
