"""``harmony count``: how many tokens."""

from __future__ import annotations

import argparse
import json
from typing import Any

from openai_harmony.cli.failures import DONE
from openai_harmony.cli.inputs import Input, add_input, inputs
from openai_harmony.cli.output import Output, add_output
from openai_harmony.cli.rendering import add_prompt, config_for


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = "Counts the tokens of each message, and in all."
    parser.epilog = """\
examples:
  harmony count request.json
  harmony count --to json chats.jsonl        an object for each line
  harmony count --total chats.jsonl          the sum alone
  harmony count --as plain notes.txt
"""
    add_input(parser)
    add_output(parser, "text", "json")
    parser.add_argument("--total", action="store_true", help="the sum of all inputs alone")
    add_prompt(parser)


def run(options: argparse.Namespace) -> int:
    """Prints a table, or with ``--to json`` an object, for each input."""
    output = Output(options.output)
    total = 0
    for one in inputs(options):
        counts = _counts(one, options)
        total += counts["tokens"]
        if options.total:
            continue
        if options.to == "json":
            output.write(json.dumps(counts, ensure_ascii=False) + "\n")
        else:
            for row in counts["messages"]:
                output.write(f"{row['tokens']:>9,}  {row['heading']}\n")
            output.write(f"{counts['tokens']:>9,}  {one.name}\n")
    if options.total:
        output.write(f'{{"tokens": {total}}}\n' if options.to == "json" else f"{total}\n")
    output.close()
    return DONE


def _counts(one: Input, options: argparse.Namespace) -> dict[str, Any]:
    from openai_harmony import show
    from openai_harmony.show.lines import label

    if one.form == "plain":
        return {"tokens": len(one.value), "messages": []}
    if isinstance(one.value, list):
        picture = show.picture(one.value)
    else:
        config = config_for(options, one.value)
        picture = show.picture(one.value, config=config, ending=options.ending)
    rows = [
        {"heading": label(block), "tokens": block.end - block.start}
        for block in picture.blocks
        if not block.is_dropped
    ]
    return {"tokens": len(picture.tokens), "messages": rows}
