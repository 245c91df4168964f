"""``harmony parse``: tokens or text to messages."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from openai_harmony.cli.failures import DIFFERENT, DONE, CommandError, with_flags
from openai_harmony.cli.inputs import SAMPLED, Input, add_input, inputs
from openai_harmony.cli.output import Output, add_output
from openai_harmony.errors import HarmonyError

if TYPE_CHECKING:
    from openai_harmony.chat import RoleName


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = (
        "Reads tokens, text with markers, or text whose markers were dropped, and writes the "
        "messages. Malformed output is repaired, and each repair reported."
    )
    parser.epilog = """\
examples:
  harmony parse sampled.txt
  echo '200005 17196 200008 12194 200002' | harmony parse --to text
  harmony parse --strict sampled.txt         the first error ends it
  harmony parse --check sampled.txt          exit code 3 if anything was repaired
  harmony parse --as stripped --tool bash log.txt    `analysis…assistant to=bash{…}`
"""
    add_input(parser)
    add_output(parser, "json", "text")
    parser.add_argument("--strict", action="store_true", help="repair nothing: errors are errors")
    parser.add_argument("--check", action="store_true", help="exit with 3 if anything was repaired")
    parser.add_argument(
        "--role",
        choices=["assistant", "user", "system", "developer", "tool"],
        help="the first author, if the tokens begin after it (assistant, if they do)",
    )
    parser.add_argument(
        "--tool",
        action="append",
        metavar="NAME",
        help="a tool that was offered, which helps to tell calls from words; can be repeated",
    )
    parser.add_argument(
        "--spelled-markers",
        action="store_true",
        help="read markers that ordinary tokens spell, as fine-tuned models write them",
    )


def run(options: argparse.Namespace) -> int:
    """Prints for each input an object with ``messages`` and ``repairs``, or both as text."""
    output = Output(options.output)
    repaired = False
    for one in inputs(options):
        messages, repairs = _parsed(one, options)
        repaired = repaired or bool(repairs)
        if options.to == "json":
            made = {"messages": [message.to_dict() for message in messages], "repairs": repairs}
            output.write(json.dumps(made, ensure_ascii=False) + "\n")
        else:
            for message in messages:
                to = f" to {message.recipient}" if message.recipient else ""
                author = message.author.name or message.author.role.value
                output.write(f"{author} {message.channel or '-'}{to}: {message.text}\n")
            for repair in repairs:
                start, end = repair["span"]
                output.write(f"repaired tokens {start} to {end}: {repair['kind']}\n")
    output.close()
    return DIFFERENT if repaired and options.check else DONE


def _parsed(one: Input, options: argparse.Namespace) -> tuple[list[Any], list[dict[str, Any]]]:
    from openai_harmony.show.cells import the_encoding

    if one.form in SAMPLED:
        if options.strict:
            raise CommandError(
                f"{one.name}: --strict needs token ids or text with markers such as <|start|>"
            )
        messages: list[Any] = one.value.messages
        return messages, []
    if not isinstance(one.value, list):
        raise CommandError(f"{one.name}: expected tokens or text, got a body of {one.form}")
    encoding = the_encoding()
    begins = one.value[0] == encoding.special_token("<|start|>")
    role: RoleName | None = options.role or (None if begins else "assistant")
    try:
        if options.strict:
            found = encoding.parse_messages_from_completion_tokens(
                one.value, role, tools=options.tool, spelled_markers=options.spelled_markers
            )
            return found, []
        messages, repairs, _ = encoding.parse_with_repairs(
            one.value, role, tools=options.tool, spelled_markers=options.spelled_markers
        )
    except (HarmonyError, ValueError) as error:
        raise CommandError(f"{one.name}: {with_flags(error)}") from error
    return messages, [
        {"kind": repair.kind, "text": repair.text, "span": list(repair.span)} for repair in repairs
    ]
