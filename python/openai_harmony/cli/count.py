"""``harmony count``: how many tokens."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from openai_harmony.cli.flags import add_prompt, add_rows
from openai_harmony.cli.inputs import Input, add_input, each
from openai_harmony.cli.output import Output, add_output
from openai_harmony.cli.rendering import is_default, rendered
from openai_harmony.cli.rows import rows_or_sources

if TYPE_CHECKING:
    from openai_harmony._arrays import IntArray


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = "Counts the tokens of each message, and in all."
    parser.epilog = """\
examples:
  harmony count request.json
  harmony count --to json chats.jsonl        an object for each line
  harmony count --total chats.jsonl          only the sum
  harmony count --as plain notes.txt
  harmony count --format chat rows.jsonl     training rows, as harmony dataset renders them
"""
    add_input(parser)
    add_output(parser, "text", "json")
    parser.add_argument("--total", action="store_true", help="print only the grand total")
    add_prompt(parser)
    add_rows(parser)


def run(options: argparse.Namespace) -> int:
    """Prints a table, or with ``--to json`` an object, for each input."""
    output = Output(options.output)
    total = 0

    def write(one: Input) -> None:
        nonlocal total
        if options.total:
            total += _total(one, options)
            return
        tokens, messages = _counts(one, options)
        if options.to == "json":
            made = [{"heading": heading, "tokens": count} for heading, count in messages]
            counts = {"tokens": tokens, "messages": made}
            output.write(json.dumps(counts, ensure_ascii=False) + "\n")
            return
        rows = [f"{count:>9,}  {heading}\n" for heading, count in (*messages, (one.name, tokens))]
        output.write("".join(rows))

    code = each(options, rows_or_sources(options), write)
    if options.total:
        output.write(f'{{"tokens": {total}}}\n' if options.to == "json" else f"{total}\n")
    output.close()
    return code


def _total(one: Input, options: argparse.Namespace) -> int:
    """The tokens of an input."""
    from openai_harmony.show.cells import the_encoding

    if isinstance(one.value, list):
        return len(one.value)
    if is_default(one, options):
        return len(one.value.prompt_array(the_encoding()))
    return len(rendered(one, options))


def _counts(one: Input, options: argparse.Namespace) -> tuple[int, list[tuple[str, int]]]:
    """The tokens of an input, and the heading and tokens of each message."""
    from openai_harmony import show
    from openai_harmony.show.lines import label
    from openai_harmony.show.sources import labels

    if one.form == "plain":
        return len(one.value), []
    if one.row is not None:
        tokens: IntArray = one.row.tokens
        spans = [span._replace(message=index) for index, span in enumerate(one.row.spans)]
    elif isinstance(one.value, list):
        blocks = show.picture(one.value).blocks
        return len(one.value), [(label(block), block.end - block.start) for block in blocks]
    else:
        tokens = whole = rendered(one, options)
        spans = whole.spans
    sizes = [span.end - span.start for span in spans]
    return len(tokens), [*zip(labels(tokens, spans), sizes)]
