"""The options of rendering, for whatever passes them on to ``training.render``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from typing_extensions import TypedDict

from openai_harmony.chat import EffortName, ReasoningEffort
from openai_harmony.loss_mask import LossMask
from openai_harmony.options import RenderConversationConfig

RowFormat: TypeAlias = Literal["harmony", "chat", "preference", "anthropic", "responses"]
"""What rows are; :func:`openai_harmony.training.render` describes them."""


class RowOptions(TypedDict, total=False):
    """What :func:`openai_harmony.training.render` takes beside rows, and describes."""

    format: RowFormat
    mask: LossMask | None
    config: RenderConversationConfig | None
    examples: Literal["conversation", "turns"]
    max_tokens: int | None
    overflow: Literal["error", "drop", "truncate_turns"]
    threads: int | None
    date: str | None
    identity: str | None
    reasoning_effort: ReasoningEffort | EffortName | None


DEFAULTS: RowOptions = {
    "format": "harmony",
    "mask": None,
    "config": None,
    "examples": "conversation",
    "max_tokens": None,
    "overflow": "error",
    "threads": None,
    "date": None,
    "identity": None,
    "reasoning_effort": None,
}


def is_count(number: object, least: int) -> bool:
    """Whether it is a whole number from ``least`` on."""
    return isinstance(number, int) and not isinstance(number, bool) and number >= least


def refuse_unknown(given: Iterable[str], where: str, *own: str) -> None:
    """``TypeError`` that names an option that neither ``where`` has of its own nor rendering."""
    known = (*own, *DEFAULTS)
    for name in given:
        if name not in known:
            raise TypeError(f"{name}: unknown option of {where} (known: {', '.join(known)})")


def described(options: RowOptions) -> list[tuple[str, Any]]:
    """All options as plain values, in an order of their own: the same for the same rendering."""
    plain: dict[str, Any] = {
        name: value.model_dump(mode="json") if hasattr(value, "model_dump") else value
        for name, value in {**DEFAULTS, **options}.items()
    }
    if plain["reasoning_effort"] is not None:
        plain["reasoning_effort"] = ReasoningEffort(plain["reasoning_effort"]).value
    return sorted(plain.items())
