"""The settings of the gateway: one place for names, defaults and help."""

from __future__ import annotations

import dataclasses
import difflib
import math
import re
import sys
import types
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openai_harmony._extras import needed

LOOPBACK = ("127.0.0.1", "::1", "localhost")
"""The hosts that only this machine reaches."""


def _setting(default: Any, text: str) -> Any:
    return dataclasses.field(default=default, metadata={"help": text})


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """All that can be set, by the names of the command line and of the configuration file.

    >>> Settings(engine="replay=recorded.jsonl").port
    8000
    >>> Settings(engine="vllm=http://127.0.0.1:8001", port="8000")
    Traceback (most recent call last):
        ...
    ValueError: port: expected int, got '8000'
    """

    engine: str = _setting("", "the engine: its URL, or KIND=PLACE as vllm=http://127.0.0.1:8001")
    model: str | None = _setting(None, "the model's name in model lists (the engine's own)")
    host: str = _setting("127.0.0.1", "the address to listen on")
    port: int = _setting(8000, "the port; 0: a free one")
    workers: int = _setting(1, "how many processes")
    engine_key: str | None = _setting(None, "the API key for the engine")
    engine_timeout: float = _setting(600.0, "seconds the engine may send nothing")
    request_timeout: float = _setting(3600.0, "seconds that an answer may take")
    body_timeout: float = _setting(60.0, "seconds that a request's body may take to arrive")
    header_timeout: float = _setting(30.0, "seconds that a request's head may take to arrive")
    client_timeout: float = _setting(
        60.0, "seconds before a client that stops reading is disconnected"
    )
    drain_timeout: float = _setting(30.0, "seconds running answers get at shutdown")
    max_body: int = _setting(32 * 2**20, "bytes of a request's body")
    max_bodies: int = _setting(256 * 2**20, "bytes of all bodies that arrive or wait at a time")
    max_values: int = _setting(1_000_000, "JSON values of a request's body")
    max_output_tokens: int = _setting(131_072, "tokens of an answer, whatever the request says")
    thinking_budget: int | None = _setting(None, "tokens of thoughts, if the request names none")
    unsupported: str = _setting(
        "error", "images, audio, files in the user's newest message: error or placeholder"
    )
    spelled_markers: bool = _setting(False, "read markers that ordinary tokens spell (fine-tunes)")
    max_answers: int = _setting(16, "answers (`n`) of a request")
    max_running: int = _setting(1024, "requests answered at a time")
    max_waiting: int = _setting(1024, "requests in the queue; others get status 429")
    queue_timeout: float = _setting(60.0, "seconds a request waits in the queue")
    api_key_file: str | None = _setting(None, "a file of API keys, one a line")
    allow_anonymous: bool = _setting(False, "accept requests without a key from other machines")
    allow_anonymous_render: bool = _setting(
        False, "accept /v1/…/render and /derender without a key, under any host name"
    )
    render_prompts: str = _setting(
        "vllm-0.33",
        "the prompts of /v1/…/render: vllm-0.33, or harmony (this library's)",
    )
    cors: str | None = _setting(
        None, "origins of web pages that may call it, separated by commas; * for all"
    )
    store: str = _setting("none", "where responses are kept: none, a SQLite file, SQLAlchemy URL")
    store_days: float = _setting(30.0, "days that a response is kept after its last use")
    log_contents: bool = _setting(False, "log prompts and answers, too")
    traces: bool = _setting(False, "OpenTelemetry traces, sent as OTEL_EXPORTER_OTLP_ENDPOINT says")

    def __post_init__(self) -> None:
        types_of = typing.get_type_hints(Settings)
        for field in dataclasses.fields(self):
            value, kind = getattr(self, field.name), types_of[field.name]
            allowed = (int, float) if kind is float else kind
            if not isinstance(value, allowed) or (isinstance(value, bool) and kind is not bool):
                expected = getattr(kind, "__name__", str(kind))
                raise ValueError(f"{field.name}: expected {expected}, got {value!r}")
            if type(value) in (int, float):
                _refuse_number(field.name, value)
        if self.port > 65535:
            raise ValueError(f"port: {self.port} is not a port")
        if self.render_prompts not in ("harmony", "vllm-0.33"):
            text = f"render_prompts: expected harmony or vllm-0.33, got {self.render_prompts!r}"
            raise ValueError(text)
        if self.unsupported not in ("error", "placeholder"):
            text = f"unsupported: expected error or placeholder, got {self.unsupported!r}"
            raise ValueError(text)
        if not self.store:
            raise ValueError("store: empty; none stores nothing")
        if not self.host or self.host.startswith("["):
            raise ValueError(f"host: expected an address as 127.0.0.1 or ::1, got {self.host!r}")
        for origin in self.origins:
            if origin != "*" and not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/?#]+", origin):
                text = f"cors: expected * or origins as https://example.org, got {origin!r}"
                raise ValueError(text)

    @property
    def reading(self) -> dict[str, Any]:
        """What they say of how requests are read."""
        return {"unsupported": self.unsupported}

    @property
    def origins(self) -> list[str]:
        """The web pages of other sites that may ask; ``*`` is all."""
        return [origin.strip() for origin in (self.cors or "").split(",") if origin.strip()]

    def refuse_open_door(self, keys: bool) -> None:
        """Raises ``ValueError`` if other machines could ask without a key."""
        if self.host not in LOOPBACK and not keys and not self.allow_anonymous:
            raise ValueError(
                f"host: {self.host} can be reached from other machines: pass --api-key-file, set "
                "HARMONY_API_KEYS, or pass --allow-anonymous if a proxy checks keys"
            )


_FROM_ONE = (
    "workers",
    "max_body",
    "max_bodies",
    "max_values",
    "max_output_tokens",
    "max_answers",
    "max_running",
)
_ABOVE_ZERO = (
    "engine_timeout",
    "request_timeout",
    "body_timeout",
    "header_timeout",
    "client_timeout",
    "store_days",
)


def _refuse_number(name: str, value: float) -> None:
    if not math.isfinite(value):
        raise ValueError(f"{name}: expected a finite number, got {value}")
    least = 1 if name in _FROM_ONE else 0
    if value < least or (value == 0 and name in _ABOVE_ZERO):
        wanted = f"at least {least}" if name not in _ABOVE_ZERO else "a number above 0"
        raise ValueError(f"{name}: expected {wanted}, got {value:g}")


def dashed(name: str) -> str:
    """A setting's name as the command line and the file have it."""
    return name.replace("_", "-")


def setting_of(error: Exception) -> str | None:
    """The setting with which the text of an error begins."""
    name = str(error).partition(":")[0]
    return name if name in [field.name for field in dataclasses.fields(Settings)] else None


def read_file(path: str | Path) -> dict[str, Any]:
    """The settings in a TOML file; dashes in names are underscores.

    Paths in it are relative to its folder.

    ``ValueError`` for what is no setting or no TOML, ``OSError`` if it cannot be read.
    """
    toml = needed("tomllib" if sys.version_info >= (3, 11) else "tomli", "serve")
    try:
        found = toml.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not TOML: {error}") from None
    known = [field.name for field in dataclasses.fields(Settings)]
    made = {}
    for name, value in found.items():
        plain = name.replace("-", "_")
        if plain not in known:
            near = difflib.get_close_matches(plain, known)
            meant = f": did you mean {dashed(near[0])}?" if near else ""
            shown = ", ".join(map(dashed, known))
            raise ValueError(f"{path}: {name} is not a setting (known: {shown}){meant}")
        if plain in made:
            raise ValueError(f"{path}: {name} is set twice, with dashes and with underscores")
        made[plain] = _placed(plain, value, Path(path).parent)
    return made


def _placed(name: str, value: Any, folder: Path) -> Any:
    """A setting of a file in this folder: files that it names are relative to it.

    URLs and models are left: a URL of SQLite says itself where it is, and a model's name looks like
    a path.
    """
    if not isinstance(value, str) or not value:
        return value
    if name == "engine" and value.startswith("replay="):
        return f"replay={folder / value.removeprefix('replay=')}"
    is_file = name == "api_key_file" or (name == "store" and value != "none" and "://" not in value)
    return str(folder / value) if is_file else value


def kinds() -> dict[str, type]:
    """The type of each setting's value; ``None`` apart."""
    found = {}
    for name, kind in typing.get_type_hints(Settings).items():
        options = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
        found[name] = next(option for option in options if option is not type(None))
    return found
