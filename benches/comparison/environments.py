"""The peers' virtual environments: made once, from PyPI, and kept in .bench."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

PEERS = {
    "0.0.8": ["openai-harmony==0.0.8"],
    "tiktoken": ["tiktoken==0.14.0"],
    "gigatoken": ["gigatoken==0.10.0"],
    "fastokens": ["fastokens==0.3.5"],
}
#: Where tiktoken believes to have the vocabulary from, which names the file in its cache.
TIKTOKEN_SOURCE = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"


class Environments:
    """The interpreters to run the peers with, and the vocabulary that they read."""

    def __init__(self, folder: Path, ours: str, clock: str) -> None:
        self._folder = folder
        self._clock = clock
        self.interpreters = {"ours": ours}
        self.vocabulary = folder / "vocabulary"

    def make(self) -> None:
        """Makes what is missing; keeps what is there."""
        for peer, requirements in PEERS.items():
            if python := self._environment(peer, requirements):
                self.interpreters[peer] = python
            else:
                print(f"not measured: {peer} cannot be installed", file=sys.stderr)
        self._write_vocabulary()

    def are_whole(self) -> bool:
        """Whether all peers are there; otherwise says that nothing is kept."""
        missing = PEERS.keys() - self.interpreters.keys()
        if missing:
            print(f"not kept: {', '.join(sorted(missing))} not measured", file=sys.stderr)
        return not missing

    def variables(self) -> dict[str, str]:
        """What a peer's process finds in its environment: all offline, and only our modules."""
        return {
            **{key: value for key, value in os.environ.items() if key != "PYTHONHOME"},
            "PYTHONPATH": str(Path(__file__).parents[1]),
            "PYTHONHASHSEED": "0",
            "TIKTOKEN_ENCODINGS_BASE": str(self.vocabulary),
            "TIKTOKEN_CACHE_DIR": str(self.vocabulary),
            "BENCH_VOCABULARY": str(self.vocabulary),
            "BENCH_CLOCK": self._clock,
        }

    def _environment(self, peer: str, requirements: list[str]) -> str | None:
        home = self._folder / peer
        interpreter = home / "bin" / "python"
        stamp = home / "made"
        wanted = f"{' '.join(requirements)} for Python {sys.version}"
        if stamp.is_file() and stamp.read_text() == wanted:
            return str(interpreter)
        print(f"making the environment of {' '.join(requirements)}", file=sys.stderr)
        shutil.rmtree(home, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        pip = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if subprocess.run([*pip, *requirements], check=False).returncode != 0:
            return None
        stamp.write_text(wanted)
        return str(interpreter)

    def _write_vocabulary(self) -> None:
        ranks = self.vocabulary / "o200k_base.tiktoken"
        if not ranks.is_file():
            self.vocabulary.mkdir(parents=True, exist_ok=True)
            ours = self.interpreters["ours"]
            command = [ours, "-m", "openai_harmony", "vocabulary", str(self.vocabulary)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        cached = self.vocabulary / hashlib.sha1(TIKTOKEN_SOURCE.encode()).hexdigest()
        if not cached.exists():
            cached.symlink_to(ranks.name)
