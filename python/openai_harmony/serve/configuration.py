"""Settings and API keys, read together, and read again while a server runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from openai_harmony.serve.engines import EngineError, connect
from openai_harmony.serve.journal import LOG
from openai_harmony.serve.keys import Key, read_keys
from openai_harmony.serve.settings import NAMES, Settings, dashed, told

FIXED = (
    "host",
    "port",
    "uds",
    "ssl_certfile",
    "ssl_keyfile",
    "workers",
    "shutdown_delay",
    "drain_timeout",
    "store",
    "store_days",
    "store_timeout",
    "cors",
    "render_prompts",
    "traces",
)
"""Settings that only a new start changes."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a server goes by."""

    settings: Settings
    keys: tuple[Key, ...]

    @classmethod
    def of(cls, settings: Settings) -> Configuration:
        """With the keys that the settings name.

        ``ValueError`` and ``OSError`` as of :func:`read_keys`, and if other machines could ask
        without a key.
        """
        keys = read_keys(settings.api_key_file)
        settings.refuse_open_door(bool(keys))
        return cls(settings, keys)

    @property
    def has_rivals(self) -> bool:
        """Whether several keys, or clients without and with a key, share the server."""
        owners = {key.owner for key in self.keys}
        return len(owners) + (bool(owners) and self.settings.allow_anonymous_render) > 1


class Source:
    """Where the configuration of a running server comes from."""

    def __init__(self, current: Configuration, read: Callable[[], Settings]) -> None:
        """With the current one, and what reads the settings again, which may raise as it did."""
        self.current, self._read = current, read

    def again(self) -> Configuration | None:
        """The new configuration. ``None`` if it makes no sense; the log says why."""
        before = self.current.settings
        try:
            settings = self._read()
            fixed = _fixed(before, settings)
            kept = {name: getattr(before, name) for name in fixed}
            settings = settings.with_(**kept)
            found = Configuration.of(settings)
            if settings.engine != before.engine:
                connect(settings.engine)
        except (OSError, ValueError, EngineError) as error:
            name, text = told(error)
            text = f"{dashed(name)}: {text}" if name else text
            LOG.error("the configuration stays as it is: %s", text)
            return None
        if fixed:
            names = ", ".join(map(dashed, fixed))
            LOG.warning("these settings change only by a new start: %s", names)
        old, new = ({key.digest for key in one.keys} for one in (self.current, found))
        about = {
            "changed": [dashed(name) for name in _different(before, settings)],
            "keys": len(found.keys),
            "keys_added": len(new - old),
            "keys_removed": len(old - new),
        }
        LOG.info("the configuration was read again", extra={"fields": about})
        self.current = found
        return found


def _different(before: Settings, after: Settings) -> list[str]:
    return [name for name in NAMES if getattr(before, name) != getattr(after, name)]


def _fixed(before: Settings, after: Settings) -> list[str]:
    fixed = [name for name in _different(before, after) if name in FIXED]
    # A model in this process is too large to be there twice.
    if any(one.engine.startswith("transformers=") for one in (before, after)):
        fixed += ["engine"] if before.engine != after.engine else []
    return fixed
