"""The command line: ``harmony``, and ``python -m openai_harmony``; see ``--help``."""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from openai_harmony import __version__
from openai_harmony.errors import HarmonyError
from openai_harmony.options import RenderConversationConfig
from openai_harmony.vocabulary import FILE_NAME, write_vocabulary

FAILED, INTERRUPTED = 1, 130

_CHANNELS = ("analysis", "commentary", "final")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Returns the process's exit code: 0, 1 for a failure, 2 for bad usage (argparse exits with it),
    130 if it was interrupted.
    """
    name = os.path.basename(sys.argv[0])
    prog = name if name.startswith("harmony") else "python -m openai_harmony"
    parser = argparse.ArgumentParser(prog=prog, description="The harmony response format.")
    parser.add_argument("--version", action="version", version=f"openai-harmony {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_vocabulary(commands)
    _add_dataset(commands)
    options = parser.parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        return run(options)
    except _UsageError as error:
        commands.choices[options.command].error(str(error))
    except KeyboardInterrupt:
        print(f"{prog}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except (OSError, HarmonyError, RuntimeError, ModuleNotFoundError) as error:
        print(f"{prog}: error: {error}", file=sys.stderr)
        return FAILED


def _say(report: object) -> None:
    """Prints what a command has done. Nothing fails because nobody reads it any more."""
    try:
        print(report, flush=True)
    except BrokenPipeError:
        # Python flushes the stream again when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _UsageError(Exception):
    """The arguments do not fit together."""


def _add_vocabulary(commands: Any) -> None:
    command = commands.add_parser(
        "vocabulary", help=f"write {FILE_NAME} into a folder and verify it"
    )
    command.add_argument("folder", metavar="DIR", help="an existing folder")
    command.set_defaults(run=_vocabulary)


def _vocabulary(options: argparse.Namespace) -> int:
    _say(write_vocabulary(options.folder))
    return 0


def _add_dataset(commands: Any) -> None:
    command = commands.add_parser(
        "dataset",
        help="turn files of conversations into files of tokens and loss masks",
        description="Renders the rows of JSONL or Parquet files to Parquet, Arrow or Megatron "
        "files. The same command goes on where an interrupted one was.",
    )
    add = command.add_argument
    add(
        "inputs",
        metavar="IN",
        nargs="+",
        help="files (.jsonl, .parquet, .json with a list), folders of JSONL and Parquet files, "
        "or - for JSONL from standard input",
    )
    add("output", metavar="OUT", help="a file (.parquet, .arrow, .bin), or a folder for shards")
    files = command.add_argument_group("files").add_argument
    files("--to", choices=["parquet", "arrow", "megatron"], help="the format of a folder (parquet)")
    files(
        "--columns",
        choices=["trl", "axolotl", "torchtune", "flat"],
        help="whose columns (trl)",
    )
    files("--column", metavar="NAME", help="the column of Parquet files that holds the rows")
    files(
        "--shard-tokens", type=_number, metavar="N", help="the most tokens of a shard (268,435,456)"
    )
    files("--shard-bytes", type=_number, metavar="N", help="the size after which a shard ends")
    files(
        "--batch-rows",
        type=_number,
        metavar="N",
        default=4096,
        help="rows rendered together (4096)",
    )
    files("--max-errors", type=_number, metavar="N", help="stop when more rows are bad (never)")
    files("--restart", action="store_true", help="remove what an earlier run wrote, and begin anew")
    _add_rendering(command.add_argument_group("rendering").add_argument)
    command.set_defaults(run=_dataset)


def _add_rendering(add: Callable[..., Any]) -> None:
    add("--format", choices=["harmony", "chat"], default="harmony", help="what rows are (harmony)")
    add(
        "--examples",
        choices=["conversation", "turns"],
        default="conversation",
        help="one example of each (conversation)",
    )
    add("--max-tokens", type=_number, metavar="N", help="the most tokens of an example")
    add(
        "--overflow",
        choices=["error", "drop", "truncate_turns"],
        default="error",
        help="what becomes of a longer one (error)",
    )
    add(
        "--analysis",
        choices=["keep_all", "drop_before_first_final", "drop_completed_turns"],
        help="which thoughts are rendered (drop_completed_turns)",
    )
    add(
        "--header-style",
        choices=["recipient_in_role", "recipient_in_channel"],
        help="where calls name the tool (recipient_in_channel)",
    )
    add("--tool-schema", choices=["compat", "full"], help="how tools are declared (full)")
    add("--no-validate", action="store_true", help="do not check names and recipients")
    add(
        "--channels",
        type=_channels,
        metavar="A,B",
        help="train messages on these channels only: analysis, commentary, final",
    )
    add("--turns", choices=["all", "last"], default="all", help="which turns are trained (all)")
    add("--no-headers", action="store_true", help="do not train headers")
    add("--no-stop-tokens", action="store_true", help="do not train stop tokens")
    add(
        "--date",
        type=_date,
        metavar="YYYY-MM-DD",
        help="the date in the system message of chat rows (none)",
    )
    add("--identity", metavar="TEXT", help="the identity in the system message of chat rows")
    add(
        "--reasoning-effort",
        type=str.lower,
        choices=["low", "medium", "high"],
        help="the effort in the system message of chat rows that do not say theirs (medium)",
    )
    add("--threads", type=_number, metavar="N", help="threads that render (one for each core)")


def _number(text: str) -> int:
    """A whole number, also with separators: ``250_000_000``."""
    try:
        return int(text.replace(",", ""))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, got {text!r}") from None


def _channels(text: str) -> list[str]:
    channels = [channel.strip() for channel in text.split(",")]
    for channel in channels:
        if channel not in _CHANNELS:
            known = ", ".join(_CHANNELS)
            raise argparse.ArgumentTypeError(f"unknown channel {channel!r} (known: {known})")
    return channels


def _date(text: str) -> str:
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected YYYY-MM-DD, got {text!r}") from None


def _dataset(options: argparse.Namespace) -> int:
    from openai_harmony.training import dataset
    from openai_harmony.training.dataset.inputs import STDIN, Inputs
    from openai_harmony.training.dataset.output import Output
    from openai_harmony.training.dataset.progress import report, shown

    given = (options.inputs, options.output)
    begun = time.monotonic()
    try:
        size = Inputs(options.inputs, column=options.column).size()
        with shown(size) as progress:
            state = dataset.write_dataset(*given, progress=progress, **_dataset_options(options))
    except (
        dataset.InputError,
        dataset.StateError,
        dataset.ErrorLimitError,
        dataset.NoExamplesError,
    ) as error:
        raise RuntimeError(str(error)) from error
    except ValueError as error:
        raise _UsageError(str(error)) from error
    except KeyboardInterrupt:
        again = "--restart begins anew" if STDIN in options.inputs else "The same command goes on"
        print(f"{again}.", file=sys.stderr)
        raise
    _say(report(state, Output(options.output, options.to), time.monotonic() - begun))
    return 0


def _dataset_options(options: argparse.Namespace) -> dict[str, Any]:
    from openai_harmony.training import LossMask

    names = (
        "to columns column shard_tokens shard_bytes batch_rows max_errors restart "
        "format examples max_tokens overflow date identity reasoning_effort threads"
    )
    given = {name: getattr(options, name) for name in names.split()}
    mask = LossMask(
        channels=options.channels,
        turns=options.turns,
        headers=not options.no_headers,
        stop_tokens=not options.no_stop_tokens,
    )
    return {**given, "mask": mask, "config": _config(options)}


def _config(options: argparse.Namespace) -> RenderConversationConfig | None:
    """The rendering that the options ask for; ``None`` if they leave it to ``training.render``."""
    given = {
        name: getattr(options, name)
        for name in ("analysis", "header_style", "tool_schema")
        if getattr(options, name) is not None
    }
    if options.no_validate:
        given["validate"] = False
    if not given:
        return None
    # What `training.render` does by default is what servers do; the options change single fields.
    from openai_harmony.interop import chat_completions

    request = {"messages": [{"role": "user", "content": ""}]}
    default = chat_completions.read(request).config
    return RenderConversationConfig(**{**default.model_dump(), **given})
