"""``harmony render``: a conversation or a request to tokens."""

from __future__ import annotations

import argparse
import json

from openai_harmony.cli.failures import DONE
from openai_harmony.cli.flags import add_prompt
from openai_harmony.cli.inputs import add_input, inputs
from openai_harmony.cli.output import Output, add_output
from openai_harmony.cli.rendering import rendered


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = "Writes the token ids of a conversation or of a request's prompt."
    parser.epilog = """\
examples:
  harmony render request.json                the ids, with spaces between them
  harmony render --to text request.json      the text, with special tokens by name
  harmony render --to json chats.jsonl       a list for each line
  harmony render --as plain notes.txt        ordinary text
"""
    add_input(parser)
    add_output(parser, "ids", "json", "text")
    add_prompt(parser)


def run(options: argparse.Namespace) -> int:
    """Prints a line for each input; with ``--to text`` its text."""
    from openai_harmony.show.cells import the_encoding

    output = Output(options.output)
    for one in inputs(options):
        tokens = one.value if isinstance(one.value, list) else rendered(one, options).tokens
        if options.to == "text":
            output.write(the_encoding().decode(tokens) + "\n")
        elif options.to == "json":
            output.write(json.dumps(tokens) + "\n")
        else:
            output.write(" ".join(map(str, tokens)) + "\n")
    output.close()
    return DONE
