"""The options of ``training.render``, and of whatever passes them on to it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from typing_extensions import TypedDict

from openai_harmony._options import Option, annotated_with
from openai_harmony.chat import EffortName, ReasoningEffort
from openai_harmony.loss_mask import LossMask
from openai_harmony.options import RenderConversationConfig


class RowOptions(TypedDict, total=False):
    """What :func:`openai_harmony.training.render` takes besides rows."""

    format: Annotated[
        Literal["harmony", "chat", "preference", "anthropic", "responses"],
        Option(
            "harmony",
            """What the rows are: conversations in this library's form, ``"chat"`` messages as data
            sets on hubs have them, or bodies of the APIs ``"anthropic"`` and ``"responses"``, the
            answer at their end. ``"preference"``: chat messages with ``chosen`` and ``rejected``
            answers to a ``prompt``, or with an answer and a ``label``; the columns ``"dpo"``
            and ``"kto"`` are for them.""",
        ),
    ]
    map: Annotated[
        dict[str, str] | None,
        Option(
            None,
            """Which column of a row is read as which, ``{"prompt": "text"}``, where a data set has
            names of its own.""",
        ),
    ]
    markers: Annotated[
        Literal["checked", "text"],
        Option(
            "checked",
            """What marks of chat formats are in an answer. ``"checked"``: in chat rows, messages of
            harmony that a text spells are read as these, and counted in ``unused``; any other mark,
            such as ``<|im_end|>`` or ``<tool_call>``, is an error of the row, except between
            backticks. ``"text"``: text that is trained as it is.""",
        ),
    ]
    examples: Annotated[
        Literal["conversation", "turns"],
        Option(
            "conversation",
            """One example for each conversation, or one for each of its ``"turns"``: the
            conversation up to the turn's end, as the model sees it there, of which the last turn is
            trained.""",
        ),
    ]
    max_tokens: Annotated[
        int | None,
        Option(None, "The most tokens that an example may have."),
    ]
    overflow: Annotated[
        Literal["error", "drop", "truncate_turns"],
        Option(
            "error",
            """What becomes of a longer one: an ``"error"`` of its row, ``"drop"`` leaves it out,
            ``"truncate_turns"`` leaves out whole turns until it fits: the first ones where the last
            turn is the only one trained, else the last. A single turn that is too long is an error.
            Where each turn is an example, the others stay in any case.""",
        ),
    ]
    config: Annotated[
        RenderConversationConfig | None,
        Option(
            None,
            """How conversations are rendered. By default as servers with
            :mod:`openai_harmony.interop` do: reasoning of completed turns is dropped, those of the
            last turn are not.""",
        ),
    ]
    mask: Annotated[
        LossMask | None,
        Option(
            None, "What of the tokens that the model samples is not trained; by default nothing."
        ),
    ]
    date: Annotated[
        str | datetime.date | None,
        Option(
            None,
            """The date in the system message of chat rows, ``"2025-06-28"``; by default there is
            none, so that a data set gives the same tokens tomorrow.""",
        ),
    ]
    identity: Annotated[
        str | None,
        Option(
            None, "The identity in the system message of chat rows; by default the model's own."
        ),
    ]
    reasoning_effort: Annotated[
        ReasoningEffort | EffortName | None,
        Option(
            None,
            """The effort in the system message of chat rows without one: ``"low"``,
            ``"medium"`` (the default) or ``"high"``, in any case of letters.""",
        ),
    ]
    threads: Annotated[
        int | None,
        Option(None, "How many threads render; by default as many as there are cores."),
    ]


def is_count(number: object, least: int) -> bool:
    """Whether it is a whole number from ``least`` on."""
    return isinstance(number, int) and not isinstance(number, bool) and number >= least


def unmapped(names: Mapping[str, str] | None, unused: Mapping[str, int], rows: int) -> str | None:
    """What is wrong if ``map`` names a column that none of the rows read has."""
    for field, column in (names or {}).items():
        if rows and unused.get(f"{column}: rows without the column", 0) >= rows:
            return f"map: no row has the column {column!r}, to read as {field!r}"
    return None


def described(options: RowOptions) -> list[tuple[str, Any]]:
    """All options as plain values, in a fixed order: the same for the same rendering."""
    table = annotated_with(RowOptions, Option)
    defaults = {name: option.default for name, (_, option) in table.items()}
    plain: dict[str, Any] = {
        name: value.model_dump(mode="json") if hasattr(value, "model_dump") else value
        for name, value in {**defaults, **options}.items()
    }
    if plain["reasoning_effort"] is not None:
        plain["reasoning_effort"] = ReasoningEffort(plain["reasoning_effort"]).value
    return sorted(plain.items())


__all__ = ["RowOptions", "described", "is_count", "unmapped"]
