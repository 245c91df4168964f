"""The flags of rendering, and the config that they make."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from openai_harmony._options import flags_of
from openai_harmony.cli.arguments import channels, date, number, pair
from openai_harmony.cli.failures import CommandError, UsageError
from openai_harmony.cli.inputs import Input
from openai_harmony.errors import HarmonyError
from openai_harmony.loss_mask import LossMask
from openai_harmony.options import RenderConversationConfig
from openai_harmony.training.options import RowOptions

# What the types of these options do not say.
_ARGUMENTS: dict[str, dict[str, Any]] = {
    "date": {"type": date, "metavar": "YYYY-MM-DD"},
    "channels": {"type": channels, "metavar": "A,B"},
    "map": {"type": pair, "metavar": "NAME=COLUMN", "action": "append"},
    "reasoning_effort": {"type": str.lower, "choices": ["low", "medium", "high"]},
}


def add_flags(add: Callable[..., Any], table: type, prefix: str = "") -> None:
    """The flags of a table of options, or of a model. A prefix makes others for another input."""
    for name, (kind, flag) in flags_of(table).items():
        dashed = name.replace("_", "-")
        if kind is bool:
            add(f"--{prefix}no-{dashed}", action="store_true", help=flag.help)
        else:
            argument = _ARGUMENTS.get(name) or _argument(kind)
            add(f"--{prefix}{dashed}", help=flag.help, **argument)


def _argument(kind: Any) -> dict[str, Any]:
    """What argparse asks of a value of this type."""
    # `X | None` is one of its parts.
    for part in (kind, *get_args(kind)):
        if get_origin(part) is Literal:
            return {"choices": list(get_args(part))}
        if isinstance(part, type) and issubclass(part, Enum):
            return {"choices": [choice.value for choice in part]}
        if part is int:
            return {"type": number, "metavar": "N"}
    return {"metavar": "TEXT"}


def given_flags(options: argparse.Namespace, table: type, prefix: str = "") -> dict[str, Any]:
    """The options whose flags were given."""
    given: dict[str, Any] = {}
    for name, (kind, _) in flags_of(table).items():
        if kind is not bool:
            given[name] = getattr(options, prefix + name)
        elif getattr(options, f"{prefix}no_{name}"):
            given[name] = False
    return {name: value for name, value in given.items() if value is not None}


def add_rendering(add: Callable[..., Any]) -> None:
    """Those of ``harmony dataset``: of rendering, of rows and of the loss mask.

    Rows are rendered as servers do, unless these say otherwise.
    """
    for table in (RowOptions, RenderConversationConfig, LossMask):
        add_flags(add, table)


def given_rendering(options: argparse.Namespace) -> RowOptions:
    """The options of rows that the flags of :func:`add_rendering` give."""
    mask, config = loss_mask_of(options), config_of(options, None)
    rows: Any = {**given_flags(options, RowOptions), "mask": mask, "config": config}
    if "map" in rows:
        rows["map"] = dict(rows["map"])
    return rows  # type: ignore[no-any-return]


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
    add_flags(group.add_argument, RenderConversationConfig)


def add_mask(parser: argparse.ArgumentParser) -> None:
    """Which tokens are shown as trained."""
    add = parser.add_argument_group("loss mask").add_argument
    add("--mask", action="store_true", help="mark the tokens that are trained")
    add_flags(add, LossMask)


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
    return LossMask(**given_flags(options, LossMask))


def config_for(options: argparse.Namespace, value: Any) -> RenderConversationConfig | None:
    """The rendering of a conversation or a turn; ``None`` is its default."""
    return config_of(options, getattr(value, "config", None) or RenderConversationConfig())


def config_of(
    options: argparse.Namespace, default: RenderConversationConfig | None, prefix: str = ""
) -> RenderConversationConfig | None:
    """The default with what the options change; ``None`` if they change nothing.

    Without a default it is that of ``training.render``: what servers do.
    """
    given = given_flags(options, RenderConversationConfig, prefix)
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
