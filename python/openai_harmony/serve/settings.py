"""The settings of the gateway: one place for names, defaults, limits and help."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    Field,
    FiniteFloat,
    NonNegativeInt,
    PositiveInt,
    ValidationError,
    field_validator,
)

from openai_harmony._extras import needed
from openai_harmony._nearest import meant

LOOPBACK = ("127.0.0.1", "::1", "localhost")
"""The hosts that only this machine reaches."""

Seconds = Annotated[FiniteFloat, Field(gt=0)]
Patience = Annotated[FiniteFloat, Field(ge=0)]


def _setting(default: Any, text: str, **limits: Any) -> Any:
    return Field(default, description=text, **limits)


class Settings(BaseModel, frozen=True, extra="forbid", strict=True):
    """All that can be set, by the names of the command line and of the configuration file.

    >>> Settings(engine="replay=recorded.jsonl").port
    8000
    >>> Settings(engine="vllm=http://127.0.0.1:8001", port=-1)
    Traceback (most recent call last):
        ...
    pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings
    port
      Input should be greater than or equal to 0 [type=greater_than_equal, input_value=-1, ...]
        ...
    """

    engine: str = _setting("", "the engine: its URL, or KIND=PLACE as vllm=http://127.0.0.1:8001")
    model: str | None = _setting(None, "the model's name in model lists (the engine's own)")
    aliases: str | None = _setting(None, "other names of the model in lists, separated by commas")
    strict_model_names: bool = _setting(False, "404 for a model that is not in the lists")
    identity: str | None = _setting(None, "the first line of system messages (the model's own)")
    host: str = _setting("127.0.0.1", "the address to listen on")
    port: int = _setting(8000, "the port; 0: a free one", ge=0, le=65535)
    uds: str | None = _setting(None, "a Unix socket to listen on, instead of host and port")
    ssl_certfile: str | None = _setting(None, "the certificate for TLS, a PEM file")
    ssl_keyfile: str | None = _setting(None, "its private key, unless it is in the same file")
    workers: PositiveInt = _setting(1, "how many processes; limits are those of each")
    engine_key: str | None = _setting(None, "the API key for the engine")
    engine_timeout: Seconds = _setting(600.0, "seconds the engine may send nothing")
    request_timeout: Seconds = _setting(3600.0, "seconds that an answer may take")
    body_timeout: Seconds = _setting(
        60.0, "seconds that a request's head, and its body, may take to arrive"
    )
    body_rate: NonNegativeInt = _setting(16_384, "bytes a second in which large bodies must arrive")
    client_timeout: Seconds = _setting(
        60.0, "seconds before a client that stops reading is disconnected"
    )
    shutdown_delay: Patience = _setting(
        0.0, "seconds for which requests are taken after SIGTERM, while /ready is 503"
    )
    drain_timeout: Patience = _setting(30.0, "seconds running answers then get")
    max_body: PositiveInt = _setting(32 * 2**20, "bytes of a request's body")
    max_bodies: PositiveInt = _setting(
        256 * 2**20, "bytes of the large bodies of all requests, until they are answered"
    )
    max_output_tokens: PositiveInt = _setting(
        131_072, "tokens of an answer, whatever the request says"
    )
    thinking_budget: NonNegativeInt | None = _setting(
        None, "limit on reasoning tokens, if the request sets none"
    )
    unsupported: Literal["error", "placeholder"] = _setting(
        "error", "images, audio, files in the user's newest message: error or placeholder"
    )
    spelled_markers: bool = _setting(False, "read markers that ordinary tokens spell (fine-tunes)")
    max_answers: PositiveInt = _setting(16, "answers (`n`) of a request")
    max_running: PositiveInt = _setting(1024, "requests answered at a time")
    max_waiting: NonNegativeInt = _setting(1024, "requests in the queue; others get status 429")
    queue_timeout: Patience = _setting(60.0, "seconds a request waits in the queue")
    api_key_file: str | None = _setting(None, "a file of API keys, one a line")
    allow_anonymous: bool = _setting(False, "accept requests without a key from other machines")
    allow_anonymous_render: bool = _setting(
        False, "accept /v1/…/render and /derender without a key, under any host name"
    )
    trust_clients: bool = _setting(
        False, "pass on kv_transfer_params and other fields for routers of any client"
    )
    render_prompts: Literal["vllm-0.33", "vllm-rs-0.33", "harmony"] = _setting(
        "vllm-0.33",
        "the prompts of /v1/…/render: vllm-0.33, vllm-rs-0.33 (its front end in Rust), or harmony",
    )
    cors: str | None = _setting(
        None, "origins of web pages that may call it, separated by commas; * for all"
    )
    store: str = _setting("none", "where responses are kept: none, a SQLite file, SQLAlchemy URL")
    store_days: Seconds = _setting(30.0, "days that a response is kept after its last use")
    store_timeout: Seconds = _setting(5.0, "seconds that the store may take to answer")
    log_contents: bool = _setting(False, "log prompts and answers, too")
    traces: bool = _setting(False, "OpenTelemetry traces, sent as OTEL_EXPORTER_OTLP_ENDPOINT says")

    @field_validator("store")
    @classmethod
    def _names_a_store(cls, store: str) -> str:
        if not store:
            raise ValueError("empty; none stores nothing")
        return store

    @field_validator("host")
    @classmethod
    def _is_an_address(cls, host: str) -> str:
        if not host or host.startswith("["):
            raise ValueError(f"expected an address as 127.0.0.1 or ::1, got {host!r}")
        return host

    @field_validator("cors")
    @classmethod
    def _are_listed(cls, cors: str | None) -> str | None:
        for origin in _listed(cors):
            if origin != "*" and not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/?#]+", origin):
                raise ValueError(f"expected * or origins as https://example.org, got {origin!r}")
        return cors

    @property
    def reading(self) -> dict[str, Any]:
        """What they say of how requests are read."""
        return {"unsupported": self.unsupported, "identity": self.identity}

    @property
    def names(self) -> list[str]:
        """The other names of the model."""
        return _listed(self.aliases)

    @property
    def origins(self) -> list[str]:
        """The web pages of other sites that may ask; ``*`` is all."""
        return _listed(self.cors)

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches the server."""
        return self.uds is not None or self.host in LOOPBACK

    def with_(self, **named: Any) -> Settings:
        """These settings, but for some; ``ValueError`` for a name that is not a setting."""
        for name in named.keys() - NAMES:
            raise ValueError(_unknown(name, name, NAMES))
        return Settings(**{**dict(self), **named})

    def refuse_open_door(self, keys: bool) -> None:
        """Raises ``ValueError`` if other machines could ask without a key."""
        if not self.is_local and not keys and not self.allow_anonymous:
            raise ValueError(
                f"host: {self.host} can be reached from other machines: pass --api-key-file, set "
                "HARMONY_API_KEYS, or pass --allow-anonymous if a proxy checks keys"
            )


NAMES = list(Settings.model_fields)


def _unknown(name: str, plain: str, known: list[str]) -> str:
    near = meant(plain, known)
    way = f"; did you mean {near}?" if near else f" (known: {', '.join(known)})"
    return f"{name} is not a setting{way}"


def _listed(text: str | None) -> list[str]:
    return [one.strip() for one in (text or "").split(",") if one.strip()]


def dashed(name: str) -> str:
    """A setting's name as the command line and the file have it."""
    return name.replace("_", "-")


def told(error: Exception) -> tuple[str | None, str]:
    """The setting that an error is about, and what is wrong; the whole text if it is about none."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return str(first["loc"][0]), first["msg"].removeprefix("Value error, ")
    name, _, reason = str(error).partition(": ")
    return (name, reason) if name in NAMES else (None, str(error))


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
    made = {}
    for name, value in found.items():
        plain = name.replace("-", "_")
        if plain not in NAMES:
            raise ValueError(f"{path}: {_unknown(name, dashed(plain), list(map(dashed, NAMES)))}")
        if plain in made:
            raise ValueError(f"{path}: {name} is set twice, with dashes and with underscores")
        made[plain] = _placed(plain, value, Path(path).parent)
    return made


_FILES = ("api_key_file", "ssl_certfile", "ssl_keyfile", "uds")


def _placed(name: str, value: Any, folder: Path) -> Any:
    """A setting of a file in this folder: files that it names are relative to it.

    URLs and models are left: a URL of SQLite says itself where it is, and a model's name looks like
    a path.
    """
    if not isinstance(value, str) or not value:
        return value
    if name == "engine" and value.startswith("replay="):
        return f"replay={folder / value.removeprefix('replay=')}"
    is_file = name in _FILES or (name == "store" and value != "none" and "://" not in value)
    return str(folder / value) if is_file else value
