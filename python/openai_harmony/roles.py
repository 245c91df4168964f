"""Who a message comes from."""

from __future__ import annotations

from enum import Enum
from typing import Literal, TypeAlias

from openai_harmony._published import published
from openai_harmony.errors import quoted

RoleName: TypeAlias = Literal["user", "assistant", "system", "developer", "tool"]
"""The roles by their names."""


@published
class Role(str, Enum):
    """Who a message comes from (guide, section "Roles")."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    DEVELOPER = "developer"
    TOOL = "tool"

    @classmethod
    def _missing_(cls, value: object) -> Role:
        raise ValueError(f"Unknown role: {quoted(value)} (known: {', '.join(cls)})")
