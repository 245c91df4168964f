"""``harmony diff``: two prompts or outputs side by side."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from openai_harmony.cli.failures import DIFFERENT, DONE
from openai_harmony.cli.flags import RENDERING, add_flags, add_prompt
from openai_harmony.cli.inputs import Input, add_input, one_input
from openai_harmony.cli.output import Output, add_output
from openai_harmony.cli.rendering import config_for, config_of, ending_of

if TYPE_CHECKING:
    from openai_harmony.show.picture import Picture


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = "Compares the tokens of two inputs, or of one with two settings."
    parser.epilog = """\
exit codes: 0 the tokens are equal, 3 they differ, 1 failed, 2 wrong usage

examples:
  harmony diff ours.json theirs.txt          theirs.txt has another renderer's ids
  harmony diff chat.json chat.json --b-thoughts keep
  harmony diff --to html -o diff.html a.json b.json
"""
    add_input(parser, "a", "b")
    add_output(parser, "text", "html", "json")
    parser.add_argument("--ids", action="store_true", help="show token ids after their texts")
    add_prompt(parser)
    second = parser.add_argument_group("rendering of the second")
    add_flags(second.add_argument, RENDERING, "b-")


def run(options: argparse.Namespace) -> int:
    """Prints what differs."""
    from openai_harmony import show

    first = one_input(options.a, options)
    # Standard input can be read once.
    second = first if options.b == options.a == "-" else one_input(options.b, options)
    found = show.diff(
        _picture(first, options, ""),
        _picture(second, options, "b_"),
        names=(first.name, second.name),
    )
    output = Output(options.output)
    if options.to == "json":
        runs = [
            {"a": [run.a.start, run.a.stop], "b": [run.b.start, run.b.stop]}
            for run in found.runs
            if not run.equal
        ]
        output.write(json.dumps({"equal": found.equal, "differences": runs}) + "\n")
    elif options.to == "html":
        output.write("<!doctype html>\n<meta charset=utf-8>\n<title>harmony diff</title>\n")
        output.write(show.html(found) + "\n")
    elif options.output is None:
        show.print(found, ids=options.ids)
    else:
        output.write(show.text(found, ids=options.ids))
    output.close()
    return DONE if found.equal else DIFFERENT


def _picture(one: Input, options: argparse.Namespace, prefix: str) -> Picture:
    from openai_harmony import show

    if isinstance(one.value, list):
        return show.picture(one.value)
    config = config_for(options, one)
    if prefix:
        config = config_of(options, config, prefix) or config
    return show.picture(one.value, config=config, ending=ending_of(options, one))
