"""Another package's files in this module's folder, as pip leaves them: who says so, and how."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import openai_harmony

OURS = Path(openai_harmony.__file__).parent
FOREIGN = "HarmonyEncoding = object\n"


class Mixture:
    """A folder of packages, with metadata as pip writes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.module = folder / "openai_harmony"
        shutil.copytree(OURS, self.module, ignore=shutil.ignore_patterns("__pycache__"))
        self.claims("openai-harmony", "0.0.8+dropin.1", "__init__.py", "_extension.py")

    def claims(self, name: str, version: str, *files: str, requires: str = "") -> None:
        info = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        needed = f"Requires-Dist: {requires}\n" if requires else ""
        info.joinpath("METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needed}", "utf-8"
        )
        digests = [
            base64.urlsafe_b64encode(hashlib.sha256((self.module / file).read_bytes()).digest())
            for file in files
        ]
        info.joinpath("RECORD").write_text(
            "".join(
                f"openai_harmony/{file},sha256={digest.decode().rstrip('=')},1\n"
                for file, digest in zip(files, digests, strict=True)
            ),
            "utf-8",
        )

    def overwritten(self) -> None:
        """What `pip install vllm` does, which requires the fork."""
        self.module.joinpath("__init__.py").write_text(FOREIGN, "utf-8")
        self.claims("oss-harmony", "0.0.11", "__init__.py")
        self.claims("vllm", "0.33.0", requires="oss-harmony>=0.0.8")

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        # `-S` and the path of the other packages: no link to this checkout is followed.
        rest = [path for path in sys.path if path.endswith("site-packages")]
        path = os.pathsep.join([str(self.folder), *rest])
        environment = {**os.environ, "PYTHONPATH": path}
        return subprocess.run(
            [sys.executable, "-S", *arguments],
            env=environment, capture_output=True, text=True, cwd=self.folder,
        )  # fmt: skip


@pytest.fixture
def mixture(tmp_path: Path) -> Mixture:
    return Mixture(tmp_path)


def test_doctor_finds_nothing_wrong_in_a_clean_folder(mixture: Mixture) -> None:
    done = mixture.run("-m", "openai_harmony", "doctor")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"compiled module: {openai_harmony.__version__}\n" in done.stdout
    assert "installed: openai-harmony 0.0.8+dropin.1 (its __init__.py is there)\n" in done.stdout
    assert done.stdout.endswith("all files are this package's\n")


def test_doctor_names_whose_files_are_there_and_what_needs_them(mixture: Mixture) -> None:
    mixture.overwritten()
    done = mixture.run("-m", "openai_harmony", "doctor")
    assert (done.returncode, done.stderr) == (1, "")
    for line in [
        "installed: oss-harmony 0.0.11 (its __init__.py is there)",
        "installed: openai-harmony 0.0.8+dropin.1 (its __init__.py is not there)",
        "needs it: vllm 0.33.0 requires oss-harmony>=0.0.8",
    ]:
        assert f"{line}\n" in done.stdout
    last = done.stdout.splitlines()[-1]
    assert "another package overwrote openai_harmony/__init__.py (oss-harmony 0.0.11)" in last
    assert "`pip uninstall -y openai-harmony oss-harmony`" in last


@pytest.mark.parametrize(
    "code",
    [
        "import openai_harmony.interop",
        "from openai_harmony.training import render",
        "import openai_harmony._lowlevel",
        "from openai_harmony.adapters.vllm import register",
    ],
)
def test_what_is_only_here_says_in_a_line_what_happened(mixture: Mixture, code: str) -> None:
    mixture.overwritten()
    done = mixture.run("-c", code)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: another package overwrote openai_harmony/__init__.py"), (
        done.stderr
    )


def test_a_command_ends_with_one_line(mixture: Mixture) -> None:
    mixture.overwritten()
    done = mixture.run("-m", "openai_harmony", "count", "x.json")
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("harmony: error: another package overwrote")


def test_the_other_was_uninstalled_and_took_the_init(mixture: Mixture) -> None:
    mixture.module.joinpath("__init__.py").unlink()
    done = mixture.run("-m", "openai_harmony", "show")
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "uninstalling another package deleted openai_harmony/__init__.py" in line
    assert mixture.run("-m", "openai_harmony", "doctor").returncode == 1


def test_two_that_claim_it_are_wrong_though_this_one_was_last(mixture: Mixture) -> None:
    mixture.claims("oss-harmony", "0.0.11", "__init__.py")
    # As if its own, which is no longer there, had been recorded.
    record = mixture.folder / "oss_harmony-0.0.11.dist-info" / "RECORD"
    record.write_text("openai_harmony/__init__.py,sha256=AAAA,1\n", "utf-8")
    done = mixture.run("-m", "openai_harmony", "doctor")
    assert done.returncode == 1
    assert "wrong: 2 packages claim it" in done.stdout


def test_the_version_of_the_command_is_that_of_the_metadata(mixture: Mixture) -> None:
    done = mixture.run("-m", "openai_harmony", "--version")
    assert done.stdout == "openai-harmony 0.0.8+dropin.1\n"
