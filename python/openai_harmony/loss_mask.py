"""Which of the tokens that the model samples are trained."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, Field, StrictBool

from openai_harmony._nearest import meant
from openai_harmony.errors import quoted

# Lists are accepted too, and become tuples: a mask does not change.
if TYPE_CHECKING:
    _Channels: TypeAlias = Sequence[str]
else:
    _Channels = tuple[Annotated[str, Field(min_length=1)], ...]


CHANNELS = ("analysis", "commentary", "final")
"""The format's channels: a misspelt one would train nothing, or less than intended."""


def _listed(channels: object) -> object:
    """Refuses a text, which is also a sequence of texts, and channels on which no model writes."""
    if isinstance(channels, str):
        raise ValueError(f"expected a list of channels, such as [{quoted(channels)}], got a text")
    if not isinstance(channels, Iterable):
        return channels
    listed = list(channels)
    for index, channel in enumerate(listed):
        if isinstance(channel, str) and channel not in CHANNELS:
            near = meant(channel.lower(), CHANNELS)
            way = f"; did you mean {near!r}?" if near else ""
            known = ", ".join(CHANNELS)
            raise ValueError(f"[{index}]: unknown channel {quoted(channel)} (known: {known}){way}")
    return listed


class LossMask(BaseModel, extra="forbid", frozen=True):
    """Which of the tokens that the model samples are trained; pass it to ``Rendered.loss_mask``.

    By default all of them. Each option leaves some out; none adds a token that the model does not
    sample. A wrong name or value is an error.

    >>> answers = LossMask(channels=["final"], turns="last")
    >>> answers.channels, answers.turns, answers.headers, answers.stop_tokens
    (('final',), 'last', True, True)
    """

    channels: Annotated[_Channels, BeforeValidator(_listed), Field(min_length=1)] | None = None
    """The channels whose messages are trained. ``None`` means all messages, including those without
    a channel, which a list of channels excludes."""
    turns: Literal["all", "last"] = "all"
    """``"last"`` trains only what follows the last rendered user message, or everything if there is
    none. If that message is the last of all, nothing is left to train."""
    headers: StrictBool = True
    """Whether headers are trained: channel, recipient and content type, from where sampling begins
    to ``<|message|>``."""
    stop_tokens: StrictBool = True
    """Whether stop tokens are trained."""
