"""The results of ``HarmonyEncoding.extend``: a prompt that continues the last one, or breaks."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Break: TypeAlias = Literal[
    "thoughts_dropped",
    "tools_declared",
    "cut_in_header",
    "return_sampled",
    "cut_in_character",
    "ambiguous",
]
"""Why a prompt cannot continue from its own tokens and is rendered again.

``thoughts_dropped``: the policy now drops thoughts that the prompt contains.
``tools_declared``: new messages declare function tools, which the system message at the
beginning must announce. ``cut_in_header``: sampling ended inside a header.
``cut_in_character``: sampling ended inside a character, after only some of its bytes.
``return_sampled``: sampling ended with ``<|return|>``, but the format has ``<|end|>`` when the
conversation continues (guide, section "Special Tokens").
``ambiguous``: the tokens are malformed, and would mean something else if messages followed."""


class Extended(NamedTuple):
    """The next prompt: the last one, the sampled tokens, and new ones."""

    tokens: list[int]
    """All of its token ids."""
    added: list[int]
    """Those after the sampled tokens."""


class Broken(NamedTuple):
    """The next prompt if it cannot begin with the last one."""

    reason: Break
    """Why not."""
    tokens: list[int]
    """The whole conversation, rendered again."""


__all__ = ["Break", "Broken", "Extended"]
