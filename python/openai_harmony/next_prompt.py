"""What ``HarmonyEncoding.extend`` gives: a prompt that continues from the last one, or breaks."""

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
"""Why a prompt cannot continue from its own tokens and is rendered anew.

``thoughts_dropped``: by the policy, thoughts that it holds are to be dropped now.
``tools_declared``: new messages declare function tools, which the system message, at the beginning,
must announce. ``cut_in_header``: sampling ended inside a header. ``cut_in_character``: inside a
character, of which the tokens have only the first bytes. ``return_sampled``: sampling ended
with ``<|return|>`` where the format has ``<|end|>``, as the conversation continues (guide, section
"Special Tokens"). ``ambiguous``: the tokens are malformed so that they would mean something else
with messages after them."""


class Extended(NamedTuple):
    """The next prompt: the last one, what was sampled, and what is new."""

    tokens: list[int]
    """All of its token ids."""
    added: list[int]
    """Those after what was sampled."""


class Broken(NamedTuple):
    """The next prompt where it cannot begin with the last one."""

    reason: Break
    """Why not."""
    tokens: list[int]
    """The whole conversation, rendered anew."""


__all__ = ["Break", "Broken", "Extended"]
