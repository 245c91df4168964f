"""Settings and API keys, read together, and read again while a server runs."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from openai_harmony.serve.engines import EngineError, connect
from openai_harmony.serve.journal import LOG
from openai_harmony.serve.settings import Settings, dashed, setting_of

FIXED = (
    "host",
    "port",
    "workers",
    "drain_timeout",
    "store",
    "store_days",
    "cors",
    "render_prompts",
    "traces",
)
"""Settings that only a new start changes."""


def api_keys(file: str | None) -> list[str]:
    """The keys of a file, one a line, and of ``HARMONY_API_KEYS``, with commas between them.

    Empty lines and those that begin with ``#`` are skipped. ``OSError`` if the file cannot be read,
    ``ValueError`` if it is not text, has no key, or has one that no header can carry.
    """
    keys = [key.strip() for key in os.environ.get("HARMONY_API_KEYS", "").split(",")]
    if file is not None:
        try:
            text = Path(file).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(f"api_key_file: {file} is not text in UTF-8") from None
        except OSError as error:
            raise OSError(f"api_key_file: {file}: {error.strerror}") from error
        found = []
        for at, line in enumerate(map(str.strip, text.splitlines()), 1):
            if not line or line.startswith("#"):
                continue
            if not re.fullmatch("[!-~]+", line):
                # Clients could not send it. It is not quoted: it may be most of a key.
                what = "a key has only visible ASCII characters"
                raise ValueError(f"api_key_file: {file}, line {at}: {what}")
            found.append(line)
        if not found:
            raise ValueError(f"api_key_file: {file} has no key")
        keys += found
    return [key for key in keys if key]


def digest(key: str) -> str:
    """By which a key is known: in memory, and to the store."""
    return hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a server goes by."""

    settings: Settings
    keys: tuple[str, ...]
    """The digests of the API keys."""

    @classmethod
    def of(cls, settings: Settings) -> Configuration:
        """With the keys that the settings name.

        ``ValueError`` and ``OSError`` as of :func:`api_keys`, and if other machines could ask
        without a key.
        """
        keys = tuple(map(digest, api_keys(settings.api_key_file)))
        settings.refuse_open_door(bool(keys))
        return cls(settings, keys)

    def write(self, file: Path, at: float) -> None:
        """Into a file that only its owner reads, all at once, for :meth:`read`.

        Args:
            file: The file.
            at: When it counts, by ``time.monotonic``, the same in all processes of a machine.
        """
        written = {"settings": dataclasses.asdict(self.settings), "keys": self.keys, "at": at}
        new = file.with_suffix(".new")
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as opened:
            json.dump(written, opened)
        new.replace(file)

    @classmethod
    def read(cls, file: Path) -> tuple[Configuration, float]:
        """What :meth:`write` wrote, and when it counts."""
        found = json.loads(file.read_text())
        return cls(Settings(**found["settings"]), tuple(found["keys"])), found["at"]


class Source:
    """Where the configuration of a running server comes from."""

    def __init__(self, current: Configuration, read: Callable[[], Settings]) -> None:
        """With the current one, and what reads the settings again, which may raise as it did."""
        self._current, self._read = current, read

    def again(self) -> Configuration | None:
        """The new configuration. ``None`` if it makes no sense; the log says why."""
        before = self._current.settings
        try:
            settings = self._read()
            fixed = _fixed(before, settings)
            kept = {name: getattr(before, name) for name in fixed}
            settings = dataclasses.replace(settings, **kept)
            found = Configuration.of(settings)
            if settings.engine != before.engine:
                connect(settings.engine)
        except (OSError, ValueError, EngineError) as error:
            name = setting_of(error) or ""
            text = f"{dashed(name)}{str(error)[len(name) :]}"
            LOG.error("the configuration stays as it is: %s", text)
            return None
        if fixed:
            names = ", ".join(map(dashed, fixed))
            LOG.warning("these settings change only by a new start: %s", names)
        old, new = set(self._current.keys), set(found.keys)
        about = {
            "changed": [dashed(name) for name in _different(before, settings)],
            "keys": len(found.keys),
            "keys_added": len(new - old),
            "keys_removed": len(old - new),
        }
        LOG.info("the configuration was read again", extra={"fields": about})
        self._current = found
        return found


def _different(before: Settings, after: Settings) -> list[str]:
    names = [field.name for field in dataclasses.fields(Settings)]
    return [name for name in names if getattr(before, name) != getattr(after, name)]


def _fixed(before: Settings, after: Settings) -> list[str]:
    fixed = [name for name in _different(before, after) if name in FIXED]
    # A model in this process is too large to be there twice.
    if any(one.engine.startswith("transformers=") for one in (before, after)):
        fixed += ["engine"] if before.engine != after.engine else []
    return fixed
