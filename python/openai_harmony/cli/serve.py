"""``harmony serve``: four APIs in front of an engine."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from openai_harmony._extras import needed
from openai_harmony.cli.failures import DONE, FAILED, CommandError, UsageError, say
from openai_harmony.serve.settings import NAMES, Settings, dashed, read_file, told

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
    for name, field in Settings.model_fields.items():
        flag, default = f"--{dashed(name)}", field.default
        shown = "" if default in (None, False, "") else f" ({default})"
        text = f"{field.description}{shown}"
        if field.annotation is bool:
            parser.add_argument(flag, action="store_true", default=None, help=text)
            continue
        kind = type(default) if default is not None else str
        metavar = {int: "N", float: "DAYS" if name.endswith("days") else "SECONDS"}.get(
            kind, "TEXT"
        )
        # Of other options the last counts, as everywhere.
        action: Any = _Once if name == "engine" else "store"
        parser.add_argument(flag, action=action, metavar=metavar, help=text)


class _Once(argparse.Action):
    """An option that may be given once: the first value would be lost without a word."""

    def __call__(self, parser: Any, namespace: Any, value: Any, option: Any = None) -> None:
        if getattr(namespace, self.dest) is not None:
            parser.error(f"{option} is given twice")
        setattr(namespace, self.dest, value)


def run(options: argparse.Namespace) -> int:
    """Serves until it is ended."""
    for module in ("prometheus_client", "starlette", "uvicorn"):
        needed(module, "serve")
    from openai_harmony.serve import run as runner
    from openai_harmony.serve.engines import EngineError
    from openai_harmony.serve.refusals import StoreError

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
    name, text = told(error)
    if name is None:
        return text
    is_of_file = options.config is not None and getattr(options, name) is None
    place = f"{options.config}: " if is_of_file else "--"
    return f"{place}{dashed(name)}: {text}"


def _read(options: argparse.Namespace) -> Settings:
    """The settings of the command line, else of the file, else the defaults.

    ``ValueError`` for settings that make no sense, ``OSError`` if the file cannot be read.
    """
    given: dict[str, Any] = {}
    if options.config is not None:
        given = read_file(options.config)
    given |= {name: found for name in NAMES if (found := getattr(options, name)) is not None}
    if not given.get("engine"):
        raise ValueError("--engine is missing, as --engine vllm=http://127.0.0.1:8001")
    return Settings.model_validate(given, strict=False)
