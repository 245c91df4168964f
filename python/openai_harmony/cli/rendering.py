"""The options of rendering that the flags of a command give.

What needs pydantic is imported by the functions: commands import this module for their help, too.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Literal

from openai_harmony.cli.failures import CommandError, UsageError
from openai_harmony.cli.flags import MASK, RENDERING, ROWS, Flags, given_flags
from openai_harmony.cli.inputs import APIS, SAMPLED, Input
from openai_harmony.errors import HarmonyError

if TYPE_CHECKING:
    from openai_harmony.loss_mask import LossMask
    from openai_harmony.options import RenderConversationConfig
    from openai_harmony.rendered import Rendered
    from openai_harmony.training.options import RowOptions


def given_rendering(options: argparse.Namespace, flags: Flags = ROWS) -> RowOptions:
    """The options of rows, of rendering and of the mask that a command's flags give."""
    mask, config = loss_mask_of(options), config_of(options, None)
    rows: Any = {**given_flags(options, flags), "mask": mask, "config": config}
    if "map" in rows:
        rows["map"] = dict(rows["map"])
    return rows  # type: ignore[no-any-return]


def mask_of(options: argparse.Namespace, one: Input) -> LossMask | None:
    """The mask that the options ask for; ``UsageError`` where nothing is rendered."""
    if not options.mask:
        if given_flags(options, MASK):
            raise UsageError("--channels and its like need --mask")
        return None
    if isinstance(one.value, list):
        raise UsageError(f"--mask needs a conversation or a request; {one.name} has tokens")
    return loss_mask_of(options)


def loss_mask_of(options: argparse.Namespace) -> LossMask:
    """What of the sampled tokens is trained."""
    from openai_harmony.loss_mask import LossMask

    return LossMask(**given_flags(options, MASK))


def config_for(options: argparse.Namespace, one: Input) -> RenderConversationConfig | None:
    """The rendering of a conversation or a turn; ``None`` is its default."""
    from openai_harmony.options import RenderConversationConfig, ThoughtPolicy

    if one.form in SAMPLED:
        sampled = _of_servers().model_copy(update={"thoughts": ThoughtPolicy.KEEP})
        return config_of(options, sampled) or sampled
    return config_of(options, getattr(one.value, "config", None) or RenderConversationConfig())


def ending_of(
    options: argparse.Namespace, one: Input
) -> Literal["completion", "training", "none"] | None:
    """How an input ends; an answer ends as it was sampled, unless the options say otherwise."""
    return options.ending or ("training" if one.form in SAMPLED else None)


def ends_with_an_answer(value: Any) -> bool:
    """Whether the last message of a conversation or a turn is the assistant's."""
    messages = getattr(value, "conversation", value).messages
    return bool(messages) and messages[-1].author.role.value == "assistant"


def config_of(
    options: argparse.Namespace, default: RenderConversationConfig | None, prefix: str = ""
) -> RenderConversationConfig | None:
    """The default with what the options change; ``None`` if they change nothing.

    Without a default it is that of ``training.render``: what servers do.
    """
    given = given_flags(options, RENDERING, prefix)
    if not given:
        return None
    default = default or _of_servers()
    return type(default)(**{**default.model_dump(), **given})


def _of_servers() -> RenderConversationConfig:
    from openai_harmony.interop import chat_completions

    return chat_completions.read({"messages": [{"role": "user", "content": ""}]}).config


def is_default(one: Input, options: argparse.Namespace) -> bool:
    """Whether it is a request, to be rendered as it is."""
    is_prompt = options.ending in (None, "completion")
    return is_prompt and one.form in APIS and not given_flags(options, RENDERING)


def rendered(one: Input, options: argparse.Namespace) -> Rendered:
    """An input that is a conversation or a request, as a prompt unless ``--ending`` says otherwise.

    What has no picture is not read again for one, which takes three times as long.
    """
    from openai_harmony.show.sources import rendering

    config = None if is_default(one, options) else config_for(options, one)
    try:
        return rendering(one.value, config, ending_of(options, one))
    except (HarmonyError, ValueError) as error:
        raise CommandError(f"{one.name}: {error}") from error
