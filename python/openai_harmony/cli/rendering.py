"""The flags of rendering, and the config that they make."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from openai_harmony.cli.arguments import channels, date, number
from openai_harmony.cli.failures import CommandError, UsageError
from openai_harmony.cli.inputs import Input
from openai_harmony.errors import HarmonyError
from openai_harmony.loss_mask import LossMask
from openai_harmony.options import RenderConversationConfig


def add_rendering(add: Callable[..., Any]) -> None:
    """Those of ``harmony dataset``: of rendering, of rows and of the loss mask.

    Rows are rendered as servers do, unless these say otherwise.
    """
    formats = ["harmony", "chat", "preference", "anthropic", "responses"]
    add("--format", choices=formats, default="harmony", help="what rows are (harmony)")
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
    add_config(add)
    _add_mask_options(add)
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


def add_config(add: Callable[..., Any], prefix: str = "") -> None:
    """How messages are rendered. A prefix makes flags of the same names for another input."""
    add(
        f"--{prefix}analysis",
        choices=["keep_all", "drop_before_first_final", "drop_completed_turns"],
        help="which thoughts are rendered",
    )
    add(
        f"--{prefix}header-style",
        choices=["recipient_in_role", "recipient_in_channel"],
        help="where calls name the tool",
    )
    add(f"--{prefix}tool-schema", choices=["compat", "full"], help="how tools are declared")
    add(f"--{prefix}no-validate", action="store_true", help="do not check names and recipients")


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
        help="as a prompt (completion), as a training example, or the messages alone",
    )
    add_config(group.add_argument)


def _add_mask_options(add: Callable[..., Any]) -> None:
    add(
        "--channels",
        type=channels,
        metavar="A,B",
        help="train messages on these channels only: analysis, commentary, final",
    )
    add("--turns", choices=["all", "last"], default="all", help="which turns are trained (all)")
    add("--no-headers", action="store_true", help="do not train headers")
    add("--no-stop-tokens", action="store_true", help="do not train stop tokens")


def add_mask(parser: argparse.ArgumentParser) -> None:
    """Which tokens are shown as trained."""
    add = parser.add_argument_group("loss mask").add_argument
    add("--mask", action="store_true", help="underline the tokens that are trained")
    _add_mask_options(add)


def mask_of(options: argparse.Namespace, one: Input) -> LossMask | None:
    """The mask that the options ask for; ``UsageError`` where nothing is rendered."""
    default = LossMask()
    mask = loss_mask_of(options)
    if not options.mask:
        if mask != default:
            raise UsageError("--channels and its like need --mask")
        return None
    if isinstance(one.value, list):
        raise UsageError(f"--mask needs a conversation or a request; {one.name} has tokens")
    return mask


def loss_mask_of(options: argparse.Namespace) -> LossMask:
    """What of the sampled tokens is trained."""
    return LossMask(
        channels=options.channels,
        turns=options.turns,
        headers=not options.no_headers,
        stop_tokens=not options.no_stop_tokens,
    )


def config_for(options: argparse.Namespace, value: Any) -> RenderConversationConfig | None:
    """The rendering of a conversation or a turn; ``None`` is its default."""
    return config_of(options, getattr(value, "config", None) or RenderConversationConfig())


def config_of(
    options: argparse.Namespace, default: RenderConversationConfig | None, prefix: str = ""
) -> RenderConversationConfig | None:
    """The default with what the options change; ``None`` if they change nothing.

    Without a default it is that of ``training.render``: what servers do.
    """
    given = {
        name: getattr(options, prefix + name)
        for name in ("analysis", "header_style", "tool_schema")
        if getattr(options, prefix + name) is not None
    }
    if getattr(options, f"{prefix}no_validate"):
        given["validate"] = False
    if not given:
        return None
    if default is None:
        from openai_harmony.interop import chat_completions

        request = {"messages": [{"role": "user", "content": ""}]}
        default = chat_completions.read(request).config
    return RenderConversationConfig(**{**default.model_dump(), **given})


def tokens_of(one: Input, options: argparse.Namespace) -> list[int]:
    """The tokens of an input, those of a prompt if ``--ending`` does not say otherwise."""
    if isinstance(one.value, list):
        return one.value
    from openai_harmony.show import picture

    config = config_for(options, one.value)
    try:
        return list(picture(one.value, config=config, ending=options.ending).tokens)
    except (HarmonyError, ValueError) as error:
        raise CommandError(f"{one.name}: {error}") from error
