"""The gateway: four APIs in front of any engine that takes and gives token ids.

``harmony serve --engine vllm=http://127.0.0.1:8001`` runs it; :func:`app` is the ASGI application,
to run in a server of your own. The extra ``serve`` installs what it
needs; importing :mod:`openai_harmony` loads nothing of it, and neither does importing this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openai_harmony._extras import needed
from openai_harmony.serve.settings import Settings

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from openai_harmony.serve.engines import Engine

__all__ = ["Settings", "app"]

_OF_COMMAND = ("port", "ssl_certfile", "ssl_keyfile", "workers", "shutdown_delay", "drain_timeout")
"""Settings of ``harmony serve``, which another server that runs the application has itself."""


def app(engine: Engine | str, settings: Settings | None = None, **named: Any) -> Starlette:
    """The ASGI application. It has no state: any number of them may share one engine.

    Args:
        engine: An engine, or its name and place, as :func:`openai_harmony.serve.engines.connect`
            takes them: ``"vllm=http://127.0.0.1:8001"``.
        settings: How to serve.
        named: Single settings by their names, which take precedence.

    Raises:
        ValueError: An engine or a setting that makes no sense. ``WrongTypeError``, a subclass, for
            an object that is no :class:`~openai_harmony.serve.engines.Engine`.
        OSError: A file of keys or records that cannot be read.
        ModuleNotFoundError: The extra is not installed; the text says what to install.
    """
    needed("starlette", "serve")
    from openai_harmony.serve.application import application
    from openai_harmony.serve.configuration import Configuration

    for name in _OF_COMMAND:
        if name in named:
            text = "set it where the application is run, as `uvicorn --port 80` or `harmony serve`"
            raise ValueError(f"{name}: no setting of the application: {text}")
    settings = (settings or Settings()).with_(**named)
    if not isinstance(engine, str):
        return application(engine, Configuration.of(settings))
    return application(None, Configuration.of(settings.with_(engine=engine)))
