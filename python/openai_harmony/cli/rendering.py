"""The flags of rendering, and the config that they make."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from openai_harmony.cli.arguments import channels, date, number
from openai_harmony.options import RenderConversationConfig


def add_rendering(add: Callable[..., Any]) -> None:
    """Those of ``harmony dataset``: of rendering, of rows and of the loss mask."""
    add("--format", choices=["harmony", "chat"], default="harmony", help="what rows are (harmony)")
    add(
        "--examples",
        choices=["conversation", "turns"],
        default="conversation",
        help="one example of each (conversation)",
    )
    add("--max-tokens", type=number, metavar="N", help="the most tokens of an example")
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
        type=channels,
        metavar="A,B",
        help="train messages on these channels only: analysis, commentary, final",
    )
    add("--turns", choices=["all", "last"], default="all", help="which turns are trained (all)")
    add("--no-headers", action="store_true", help="do not train headers")
    add("--no-stop-tokens", action="store_true", help="do not train stop tokens")
    add(
        "--date",
        type=date,
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
    add("--threads", type=number, metavar="N", help="threads that render (one for each core)")


def config_of(options: argparse.Namespace) -> RenderConversationConfig | None:
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
