"""The flags of rendering, of rows and of the loss mask, as a help text shows them.

The names and choices are those of the options. They are written out, since the modules of the
options import pydantic, which takes longer than all else that help and completion do;
``test_options_everywhere.py`` compares them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from openai_harmony.cli.arguments import channels, date, number, pair


class Flag(NamedTuple):
    """An option's flag."""

    help: str
    value: dict[str, Any]
    """What argparse is told about its value."""


Flags: TypeAlias = Mapping[str, Flag]
"""Flags by the names of their options."""


def _choice(text: str, *words: str) -> Flag:
    return Flag(text, {"choices": [*words]})


_COUNT = {"type": number, "metavar": "N"}
_OFF = {"action": "store_const", "const": False}
"""Turns an option off, ``--no-validate``. With ``True`` a flag turns its option on."""

RENDERING: Flags = {
    "header_style": _choice(
        "where a call's header names the tool", "recipient_in_role", "recipient_in_channel"
    ),
    "tool_schema": _choice("how tools are declared", "compat", "full"),
    "thoughts": _choice("which thoughts are rendered", "keep", "drop_before_first_final", "drop"),
    "validate": Flag("do not check names and recipients", _OFF),
}
"""Those of ``RenderConversationConfig``."""

MASK: Flags = {
    "channels": Flag(
        "train messages on these channels only: analysis, commentary, final",
        {"type": channels, "metavar": "A,B"},
    ),
    "turns": _choice("which turns are trained (all)", "all", "last"),
    "headers": Flag("do not train headers", _OFF),
    "stop_tokens": Flag("do not train stop tokens", _OFF),
}
"""Those of ``LossMask``."""

ROWS: Flags = {
    "format": _choice(
        "the form of the rows (harmony)", "harmony", "chat", "preference", "anthropic", "responses"
    ),
    "map": Flag(
        "read a column as another, prompt=text",
        {"type": pair, "metavar": "NAME=COLUMN", "action": "append"},
    ),
    "markers": _choice(
        "how marks of chat formats in answers are taken (checked)", "checked", "text"
    ),
    "examples": _choice("one example for each (conversation)", "conversation", "turns"),
    "max_tokens": Flag("the longest example, in tokens", _COUNT),
    "overflow": _choice("what happens to longer ones (error)", "error", "drop", "truncate_turns"),
    "date": Flag(
        "the date in the system message of chat rows (none)",
        {"type": date, "metavar": "YYYY-MM-DD"},
    ),
    "identity": Flag("the identity in the system message of chat rows", {"metavar": "TEXT"}),
    "reasoning_effort": Flag(
        "the effort in the system message of chat rows without one (medium)",
        {"type": str.lower, "choices": ["low", "medium", "high"]},
    ),
    "threads": Flag("threads that render (one for each core)", _COUNT),
}
"""Those of ``RowOptions``."""

SHOWN_ROWS: Flags = {
    **{name: ROWS[name] for name in ("map", "markers", "examples", "identity", "reasoning_effort")},
    "format": ROWS["format"]._replace(help="the files have training rows of this form"),
}
"""Those of commands that show or count rows; date and limit are flags of all inputs."""


def add_flags(add: Callable[..., Any], flags: Flags, prefix: str = "") -> None:
    """Adds flags to a command. A prefix makes others for another input."""
    for name, flag in flags.items():
        dashed = f"{'no-' if flag.value is _OFF else ''}{name.replace('_', '-')}"
        dest = f"{prefix}{name}".replace("-", "_")
        add(f"--{prefix}{dashed}", dest=dest, help=flag.help, **flag.value)


def given_flags(options: argparse.Namespace, flags: Flags, prefix: str = "") -> dict[str, Any]:
    """The options that were given as flags."""
    given = {name: getattr(options, prefix + name, None) for name in flags}
    return {name: value for name, value in given.items() if value is not None}


def add_rendering(add: Callable[..., Any]) -> None:
    """Those of ``harmony dataset``: of rows, of rendering and of the loss mask.

    Rows are rendered as servers do, unless these say otherwise.
    """
    for flags in (ROWS, RENDERING, MASK):
        add_flags(add, flags)


def add_rows(parser: argparse.ArgumentParser) -> None:
    """Files of training rows, where a command shows or counts what becomes of each."""
    add = parser.add_argument_group(
        "training rows",
        "With --format the inputs are those of `harmony dataset`, and each row is shown as the "
        "example that it would write.",
    ).add_argument
    add_flags(add, SHOWN_ROWS)


def add_prompt(parser: argparse.ArgumentParser) -> None:
    """How a conversation or a request is rendered, where a command shows or counts it."""
    group = parser.add_argument_group(
        "rendering",
        "Defaults: what servers do for requests; what version 0.0.8 does for conversations in "
        "this library's JSON.",
    )
    group.add_argument(
        "--ending",
        choices=["completion", "training", "none"],
        help="as a prompt (completion), as a training example, or only the messages",
    )
    add_flags(group.add_argument, RENDERING)


def add_mask(parser: argparse.ArgumentParser) -> None:
    """Which tokens are shown as trained."""
    add = parser.add_argument_group("loss mask").add_argument
    add("--mask", action="store_true", help="mark the tokens that are trained")
    add_flags(add, MASK)
