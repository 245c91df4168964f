"""``harmony serve``: four APIs in front of an engine."""

from __future__ import annotations

import argparse
import dataclasses
from functools import partial
from typing import Any

from openai_harmony._extras import needed
from openai_harmony.cli.failures import DONE, FAILED, CommandError, UsageError, say
from openai_harmony.serve.settings import Settings, dashed, kinds, read_file, setting_of

_EPILOG = """\
examples:
  harmony serve --engine vllm=http://127.0.0.1:8001
  harmony serve --engine http://127.0.0.1:8080 --port 9000      finds out which engine it is
  harmony serve --engine replay=recorded.jsonl --check
  harmony serve --config serve.toml

Engines:
  vllm=URL  sglang=URL  llama.cpp=URL
  completions=URL       another engine with OpenAI's /v1/completions
  URL, auto=URL         finds out which of them answers there
  transformers=MODEL    a model in this process
  replay=FILE           recorded output, without a model
  none, none=TOKENS     no engine: renders only, for a context of TOKENS

A configuration file has the same names, without the dashes before them:
  engine = "sglang=http://127.0.0.1:30000"
  max-running = 64
API keys may also come from the environment: HARMONY_API_KEYS, separated by commas.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = (
        "Serves chat completions, Responses, Anthropic Messages and Ollama in front of an engine "
        "that takes and gives token ids."
    )
    parser.epilog = _EPILOG
    parser.add_argument("--config", metavar="FILE", help="a TOML file with any of these settings")
    parser.add_argument(
        "--check", action="store_true", help="check settings, store and engine, then exit"
    )
    types = kinds()
    for field in dataclasses.fields(Settings):
        name, kind = f"--{field.name.replace('_', '-')}", types[field.name]
        shown = "" if field.default in (None, False, "") else f" ({field.default})"
        text = field.metadata["help"] + shown
        if kind is bool:
            parser.add_argument(name, action="store_true", default=None, help=text)
        else:
            metavar = {str: "TEXT", int: "N", float: "SECONDS"}[kind]
            metavar = "DAYS" if field.name.endswith("_days") else metavar
            parser.add_argument(name, type=kind, metavar=metavar, help=text)


def run(options: argparse.Namespace) -> int:
    """Serves until it is ended."""
    for module in ("aiohttp", "prometheus_client", "sqlalchemy", "starlette", "uvicorn"):
        needed(module, "serve")
    from openai_harmony.serve import run as runner
    from openai_harmony.serve.engines import EngineError
    from openai_harmony.serve.store import StoreError

    try:
        if not options.check:
            return DONE if runner.run(partial(_read, options), say) else FAILED
        found = runner.check(_read(options))
    except ValueError as error:
        raise UsageError(_told(error, options)) from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise CommandError(_told(error, options)) from error
    except EngineError as error:
        raise CommandError(str(error)) from error
    except StoreError as error:
        raise CommandError(f"{error}: {error.reason}") from error
    for is_well, line in found:
        say(f"{'ok  ' if is_well else 'BAD '}  {line}")
    return DONE if all(is_well for is_well, _ in found) else FAILED


def _told(error: Exception, options: argparse.Namespace) -> str:
    """The text of an error, with its setting as the command line or the file names it."""
    if (name := setting_of(error)) is None:
        return str(error)
    is_of_file = options.config is not None and getattr(options, name) is None
    place = f"{options.config}: " if is_of_file else "--"
    return f"{place}{dashed(name)}{str(error)[len(name) :]}"


def _read(options: argparse.Namespace) -> Settings:
    """The settings of the command line, else of the file, else the defaults.

    ``ValueError`` for settings that make no sense, ``OSError`` if the file cannot be read.
    """
    given: dict[str, Any] = {}
    if options.config is not None:
        given = read_file(options.config)
    names = [field.name for field in dataclasses.fields(Settings)]
    given |= {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    if not given.get("engine"):
        raise ValueError("--engine is missing, as --engine vllm=http://127.0.0.1:8001")
    return Settings(**given)
