"""Which distributions claim this module; needs nothing of this package."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import Distribution, distributions
from pathlib import Path

FOLDER = Path(__file__).parent
OTHERS = ("openai-harmony", "oss-harmony", "gpt-oss-harmony")
"""Distributions that have a module of this name."""


@dataclass(frozen=True)
class Claim:
    """A distribution that says it installed this module."""

    name: str
    version: str
    written: bool
    """Whether it installed the present ``__init__``, or a link to a checkout."""
    local: str | None
    """The URL from which it was installed, unless from an index."""
    ours: bool

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@dataclass(frozen=True)
class Installed:
    """The distributions of this environment that concern the module's name."""

    found: tuple[Distribution, ...]

    @cached_property
    def claims(self) -> list[Claim]:
        """The distributions that installed a module of this name."""
        return [claim for one in self.found if (claim := _claim(one)) is not None]

    @cached_property
    def needs(self) -> list[str]:
        """Requirements of other distributions: ``vllm 0.33.0 requires oss-harmony>=0.0.8``."""
        wanted = re.compile(rf"({'|'.join(OTHERS)})(?![\w.-])", re.IGNORECASE)
        return sorted(
            f"{one.metadata['Name']} {one.version} requires {requirement}"
            for one in self.found
            for requirement in one.requires or ()
            if wanted.match(requirement.replace("_", "-")) and _plain(one) not in OTHERS
        )


def installed() -> Installed:
    """Reads the metadata of all distributions on the path; the first of a name counts."""
    named: dict[str, Distribution] = {}
    for one in distributions():
        named.setdefault(_plain(one), one)
    return Installed(tuple(named.values()))


def explain() -> str:
    """A line with what happened, and the command that fixes it."""
    claims = installed().claims
    present = FOLDER.joinpath("__init__.py").exists()
    what = "another package overwrote" if present else "uninstalling another package deleted"
    others = [str(claim) for claim in claims if not claim.ours]
    named = f" ({', '.join(others)})" if others else ""
    return f"{what} openai_harmony/__init__.py{named}: run {mend(claims)}"


def mend(claims: list[Claim]) -> str:
    """A command that uninstalls all claimants of the module, and installs this package again."""
    names = " ".join(sorted({claim.name for claim in claims})) or OTHERS[0]
    source = next((claim.local for claim in claims if claim.ours and claim.local), None)
    origin = f"'{source}'" if source else "the wheel or folder of this package"
    return f"`pip uninstall -y {names}`, delete {FOLDER}, then `pip install {origin}`"


def _plain(one: Distribution) -> str:
    return re.sub(r"[-_.]+", "-", one.metadata["Name"] or "").lower()


def _claim(one: Distribution) -> Claim | None:
    name = _plain(one)
    paths = dict(_recorded(one))
    digest = paths.get("openai_harmony/__init__.py")
    linked = name in OTHERS and any(path.endswith(".pth") for path in paths)
    if digest is None and not linked:
        return None
    ours = linked or "openai_harmony/_extension.py" in paths
    return Claim(name, one.version, linked or digest == _digest(), _origin(one), ours)


def _recorded(one: Distribution) -> Iterator[tuple[str, str]]:
    for file in one.files or ():
        yield file.as_posix(), file.hash.value if file.hash else ""


def _digest() -> str:
    """The digest of the present ``__init__``, in the form of a wheel's RECORD."""
    file = FOLDER / "__init__.py"
    raw = file.read_bytes() if file.exists() else b""
    return base64.urlsafe_b64encode(hashlib.sha256(raw).digest()).decode().rstrip("=")


def _origin(one: Distribution) -> str | None:
    import json

    text = one.read_text("direct_url.json")
    url = json.loads(text).get("url") if text else None
    return url if isinstance(url, str) else None
