"""``harmony count``: how many tokens."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from openai_harmony.cli.flags import RENDERING, add_prompt, add_rows, given_flags
from openai_harmony.cli.inputs import APIS, Input, add_input, each
from openai_harmony.cli.output import Output, add_output
from openai_harmony.cli.rendering import config_for, ending_of
from openai_harmony.cli.rows import rows_or_sources

if TYPE_CHECKING:
    from openai_harmony.rendered import Rendered


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
    counter = _Counter(options)
    total = 0

    def write(one: Input) -> None:
        nonlocal total
        if options.total:
            total += counter.total(one)
            return
        tokens, messages = counter.counts(one)
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


class _Counter:
    """Counts inputs without drawing them: files have a hundred thousand."""

    def __init__(self, options: argparse.Namespace) -> None:
        # Imported once: looking modules up for each line takes a tenth of the time.
        from openai_harmony import show
        from openai_harmony.show.cells import the_encoding
        from openai_harmony.show.lines import label
        from openai_harmony.show.sources import labels, labels_of_example

        self._picture, self._label, self._labels = show.picture, label, labels
        self._labels_of_example = labels_of_example
        self._encoding = the_encoding()
        self._options = options
        self._is_prompt = options.ending in (None, "completion")
        self._has_flags = bool(given_flags(options, RENDERING))

    def total(self, one: Input) -> int:
        """The tokens of an input."""
        if isinstance(one.value, list):
            return len(one.value)
        if self._is_default(one):
            return len(one.value.prompt_array(self._encoding))
        return self.counts(one)[0]

    def counts(self, one: Input) -> tuple[int, list[tuple[str, int]]]:
        """The tokens of an input, and the heading and tokens of each message."""
        if one.form == "plain":
            return len(one.value), []
        if one.row is not None:
            sizes = [span.end - span.start for span in one.row.spans]
            return len(one.value), [*zip(self._labels_of_example(one.row), sizes)]
        if isinstance(one.value, list):
            picture = self._picture(one.value)
            rows = [(self._label(block), block.end - block.start) for block in picture.blocks]
            return len(picture.tokens), rows
        rendered = self._rendered(one)
        sizes = [span.end - span.start for span in rendered.spans]
        return len(rendered), [*zip(self._labels(rendered), sizes)]

    def _rendered(self, one: Input) -> Rendered:
        if self._is_default(one):
            rendered: Rendered = one.value.render_with_spans(self._encoding)
            return rendered
        return self._encoding.render_with_spans(
            getattr(one.value, "conversation", one.value),
            config_for(self._options, one),
            ending=ending_of(self._options, one) or "completion",
            prefill=getattr(one.value, "prefill", None) if self._is_prompt else None,
        )

    def _is_default(self, one: Input) -> bool:
        """Whether it is a request, of whose prompt nothing is to be another way."""
        return self._is_prompt and not self._has_flags and one.form in APIS
