"""``harmony show``: tokens as a picture."""

from __future__ import annotations

import argparse
import json
from typing import Any

from openai_harmony.cli.arguments import number
from openai_harmony.cli.flags import add_mask, add_prompt, add_rows
from openai_harmony.cli.inputs import Input, add_input, each
from openai_harmony.cli.output import Output, add_output
from openai_harmony.cli.rendering import config_for, ending_of, ends_with_an_answer, mask_of
from openai_harmony.cli.rows import rows_or_sources

_MOST_TOKENS = 20_000


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = (
        "Draws a conversation, a request or tokens: the messages, special tokens, what was dropped "
        "or repaired, what is trained."
    )
    parser.epilog = """\
examples:
  harmony show chat.json                     a conversation, or a request of any API
  harmony show --ids sampled.txt             token ids, or text with markers
  harmony show --to html -o chat.html chat.json
  harmony show --mask --ending training chat.json
  harmony show --format chat rows.jsonl      training rows, as harmony dataset renders them
  harmony show train.parquet                 what it wrote; a folder, too
  harmony show reply.json                    what Reply.to_bytes() gave
  curl … | harmony show
"""
    add_input(parser)
    add_output(parser, "text", "html", "json")
    parser.add_argument("--ids", action="store_true", help="show token ids after their texts")
    parser.add_argument(
        "--max-tokens",
        type=number,
        metavar="N",
        default=_MOST_TOKENS,
        help=f"show about this many tokens of each input, 0 for all ({_MOST_TOKENS:,})",
    )
    add_prompt(parser)
    add_mask(parser)
    add_rows(parser)


def run(options: argparse.Namespace) -> int:
    """Prints pictures, or writes them into a page."""
    output = Output(options.output)
    if options.to == "html":
        output.write("<!doctype html>\n<meta charset=utf-8>\n<title>harmony</title>\n")
        output.write('<meta name=viewport content="width=device-width">\n')
    found = rows_or_sources(options)
    code = each(options, found, lambda one: _write(one, options, output))
    output.close()
    return code


def _write(one: Input, options: argparse.Namespace, output: Output) -> None:
    from openai_harmony import show

    arguments: dict[str, Any] = {"mask": one.mask or mask_of(options, one)}
    if not isinstance(one.value, list):
        ending = ending_of(options, one)
        if options.mask and ending is None and ends_with_an_answer(one.value):
            ending = "training"  # A prompt trains nothing after the answer.
        arguments |= {"config": config_for(options, one), "ending": ending}
    picture = show.picture(one.value, **arguments)
    most = options.max_tokens or None
    if options.to == "json":
        output.write(json.dumps(show.data(picture), ensure_ascii=False) + "\n")
    elif options.to == "html":
        output.write(show.html(picture, max_tokens=most) + "\n")
    elif options.output is None:
        show.print(picture, ids=options.ids, max_tokens=most)
    else:
        output.write(show.text(picture, ids=options.ids, max_tokens=most))
