"""``harmony dataset``: files of conversations to files of tokens and loss masks."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from openai_harmony.cli.arguments import number
from openai_harmony.cli.failures import DONE, CommandError, UsageError, say, with_flags
from openai_harmony.cli.flags import add_rendering
from openai_harmony.cli.rendering import given_rendering

if TYPE_CHECKING:
    from openai_harmony.training.dataset.output import Output

_EPILOG = """\
exit codes: 0 the output is complete, 1 it is not, 2 wrong usage, 130 interrupted

examples:
  harmony dataset chats.jsonl train.parquet --format chat
  harmony dataset --pack 8192 --max-tokens 8192 chats/ train/ --format chat
  harmony dataset chats.parquet train.bin --format chat    for Megatron
  harmony dataset qa.jsonl train.parquet --format chat --map prompt=ask --map completion=reply
  zcat chats.jsonl.gz | harmony dataset - train.parquet --max-errors 5%
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = (
        "Renders the rows of JSONL or Parquet files to Parquet, Arrow or Megatron files. "
        "The same command resumes an interrupted run."
    )
    parser.epilog = _EPILOG
    parser.add_argument(
        "inputs",
        metavar="IN",
        nargs="+",
        help="files (.jsonl, .parquet, .json with a list), folders of JSONL and Parquet files, "
        "their URLs (s3://…), or - for JSONL from standard input",
    )
    parser.add_argument(
        "output", metavar="OUT", help="a file (.parquet, .arrow, .bin), or a folder for shards"
    )
    files = parser.add_argument_group("files").add_argument
    files("--to", choices=["parquet", "arrow", "megatron"], help="the format of a folder (parquet)")
    files(
        "--columns",
        choices=["trl", "axolotl", "torchtune", "flat", "dpo", "kto"],
        help="column layout, named after the trainer (trl)",
    )
    files(
        "--shard-tokens", type=number, metavar="N", help="the most tokens of a shard (268,435,456)"
    )
    files(
        "--batch-rows",
        type=number,
        metavar="N",
        default=4096,
        help="rows rendered together (4096)",
    )
    files("--pack", type=number, metavar="N", help="put several examples into a row of N tokens")
    files(
        "--max-errors",
        type=_limit,
        metavar="N|P%",
        default=0.01,
        help="fail when more rows are bad: a number, a share of all, or none (1%%)",
    )
    files("--restart", action="store_true", help="remove what an earlier run wrote, and start over")
    add_rendering(parser.add_argument_group("rendering").add_argument)


def run(options: argparse.Namespace) -> int:
    """Writes the files and prints a report."""
    from openai_harmony.training import dataset
    from openai_harmony.training.dataset.inputs import STDIN, Inputs
    from openai_harmony.training.dataset.output import Output
    from openai_harmony.training.dataset.progress import report, shown

    given = (options.inputs, options.output)
    begun = time.monotonic()
    try:
        output = Output(options.output, options.to)
    except ValueError as error:
        raise UsageError(str(error)) from error
    try:
        size = Inputs(options.inputs).size()
        with shown(size) as progress:
            state = dataset.write_dataset(*given, progress=progress, **_options(options))
    except dataset.StateError as error:
        raise CommandError(with_flags(error, options)) from error
    except (dataset.ErrorLimitError, dataset.InputError, dataset.NoExamplesError) as error:
        raise CommandError(_of_rows(error, options) + _left(output)) from error
    except ValueError as error:
        raise UsageError(with_flags(error, options)) from error
    except KeyboardInterrupt:
        again = "--restart starts over" if STDIN in options.inputs else "The same command resumes"
        print(f"{again}{_left(output)}.", file=sys.stderr)
        raise
    say(report(state, output, time.monotonic() - begun))
    return DONE


def _of_rows(error: Exception, options: argparse.Namespace) -> str:
    """The text of an error about rows. Without a limit of tokens the size of packs is one."""
    said = with_flags(error, options)
    return said.replace("--max-tokens", "--pack") if options.max_tokens is None else said


def _left(output: Output) -> str:
    """What a run that did not complete has left, in words."""
    left = output.left()
    return f"; kept: {', '.join(map(str, left))}" if left else ""


def _limit(text: str) -> int | float | None:
    """How many bad rows are allowed: ``100``, ``2.5%`` or ``none``."""
    if text == "none":
        return None
    if text.endswith("%"):
        with suppress(ValueError):
            share = float(text[:-1]) / 100
            if 0 <= share <= 1:
                return share
    elif text.isascii() and text.isdigit():
        return number(text)
    raise argparse.ArgumentTypeError(f"expected a number, a share such as 1%, or none, got {text}")


def _options(options: argparse.Namespace) -> dict[str, Any]:
    names = "to columns shard_tokens batch_rows pack max_errors restart"
    given = {name: getattr(options, name) for name in names.split()}
    return {**given, **given_rendering(options)}
