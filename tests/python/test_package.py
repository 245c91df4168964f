"""The package as a whole: its names, its import, its errors."""

from __future__ import annotations

import importlib.metadata
import inspect
import json
import pickle
import re
import shutil
import subprocess
import sys
import typing
from pathlib import Path

import pydantic
import pytest

import openai_harmony
from openai_harmony import ErrorKind, HarmonyError, Message, Role

# What code written for 0.0.8 imports.
NAMES = """
    Author ChannelConfig Content Conversation DeveloperContent HarmonyEncoding HarmonyEncodingName
    HarmonyError Message ReasoningEffort RenderConversationConfig RenderOptions Role StreamState
    StreamableParser SystemContent TextContent ToolDescription ToolNamespaceConfig
    load_harmony_encoding
""".split()


def test_has_all_names() -> None:
    assert set(NAMES) <= set(openai_harmony.__all__)
    assert all(hasattr(openai_harmony, name) for name in openai_harmony.__all__)
    assert openai_harmony.__all__ == sorted(openai_harmony.__all__)


def test_says_how_to_build_what_is_missing(tmp_path: Path) -> None:
    source = Path(openai_harmony.__file__).parent
    without = shutil.ignore_patterns("_lowlevel.*.so", "_lowlevel.*.pyd", "__pycache__")
    shutil.copytree(source, tmp_path / "openai_harmony", ignore=without)
    code = f"""
import sys
sys.path[:] = [{str(tmp_path)!r}] + [path for path in sys.path if "openai_harmony" not in path]
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in repr(finder).lower()]
try:
    import openai_harmony
except ModuleNotFoundError as error:
    print(error)
    print(error.name)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    text, name = done.stdout.splitlines()
    assert "pip install ." in text
    assert "maturin develop" in text
    assert name == "openai_harmony._lowlevel"


CLASSES = [one for one in vars(openai_harmony).values() if isinstance(one, type)]


@pytest.mark.parametrize("owner", CLASSES, ids=lambda owner: owner.__name__)
def test_annotations_can_be_evaluated(owner: type) -> None:
    """As FastAPI's `Depends` and pydantic's `validate_call` do."""
    typing.get_type_hints(owner)
    for name in vars(owner):
        method = getattr(owner, name)
        function = getattr(method, "__func__", method)
        if inspect.isfunction(function) and function.__module__.startswith("openai_harmony"):
            assert "return" in typing.get_type_hints(function), name


def test_methods_can_validate_their_arguments() -> None:
    read = pydantic.validate_call(Message.from_dict)
    assert read({"role": "user", "content": "x"}).author.role is Role.USER


def test_errors_say_kind_and_token() -> None:
    error = HarmonyError("text", "unexpected_token", 3)
    assert isinstance(error, RuntimeError)
    for same in (error, pickle.loads(pickle.dumps(error))):
        assert (str(same), same.kind, same.token_index) == ("text", "unexpected_token", 3)
    assert (HarmonyError("text").kind, HarmonyError("text").token_index) == ("unknown", None)


def test_the_version_is_that_of_the_installed_package() -> None:
    # The extension has Cargo's spelling, the metadata pip's: `0.1.0-rc.1` and `0.1.0rc1`.
    version = openai_harmony.__version__.replace("-alpha.", "a").replace("-beta.", "b")
    assert version.replace("-rc.", "rc") == importlib.metadata.version("openai-harmony")


ROOT = Path(__file__).parents[2]


def test_kinds_of_errors_are_those_of_rust() -> None:
    """Except for an error that a caller makes, and for one that is a ValueError in Python."""
    text = (ROOT / "src/error/kind.rs").read_text(encoding="utf-8")
    [body] = re.findall(r"pub enum ErrorKind \{\n(.*?)\n\}", text, re.DOTALL)
    variants = re.findall(r"^    ([A-Z]\w+)", body, re.MULTILINE)
    names = {re.sub(r"(?<=.)(?=[A-Z])", "_", variant).lower() for variant in variants}
    assert names ^ set(typing.get_args(ErrorKind)) == {"unknown", "unknown_encoding"}


def test_the_published_name_stands_everywhere(tmp_path: Path) -> None:
    """As `make package` writes it, so that no hint installs the package of the original's name."""
    root = Path(__file__).parents[2]
    files = ["pyproject.toml", "Cargo.toml", "python/openai_harmony/_extras.py"]
    workspace = re.search(
        r"^members = (.*)$", (root / "Cargo.toml").read_text("utf-8"), re.MULTILINE
    )
    assert workspace
    members = [f"{member}/Cargo.toml" for member in json.loads(workspace[1])]
    for file in [".ci/release.py", ".ci/distribution", ".ci/urls", *files, *members]:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / file, tmp_path / file)
    with (tmp_path / ".ci/urls").open("a") as urls:
        urls.write('Source = "https://example.org"\n')
    subprocess.run([sys.executable, str(tmp_path / ".ci/release.py"), "rename"], check=True)
    name = (root / ".ci/distribution").read_text("utf-8").split()[0]
    for file in files:
        assert f'= "{name}"\n' in (tmp_path / file).read_text("utf-8"), file
    project = (tmp_path / "pyproject.toml").read_text("utf-8")
    assert '\nSource = "https://example.org"\n\n[project.optional' in project
    for file in members:
        assert f'openai-harmony = {{ package = "{name}", path = ".."' in (
            (tmp_path / file).read_text("utf-8")
        ), file
