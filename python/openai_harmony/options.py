"""Options of rendering. Each default renders the tokens of openai-harmony 0.0.8."""

from __future__ import annotations

from enum import Enum
from typing import Optional

from pydantic import BaseModel

from openai_harmony._shadowing import field_named


class AnalysisPolicy(str, Enum):
    """Which chains of thought of earlier turns are rendered."""

    KEEP_ALL = "keep_all"
    DROP_BEFORE_FIRST_FINAL = "drop_before_first_final"
    """Version 0.0.8's rule: analysis before the first ``final`` goes, if the last assistant
    message is on ``final``."""
    DROP_COMPLETED_TURNS = "drop_completed_turns"
    """Analysis goes once a user message follows its turn's final answer (guide, section
    "Handling reasoning output in subsequent sampling")."""


class HeaderStyle(str, Enum):
    """Where an assistant's header names its recipient."""

    RECIPIENT_IN_ROLE = "recipient_in_role"
    """``assistant to=functions.f<|channel|>commentary``, as version 0.0.8 writes."""
    RECIPIENT_IN_CHANNEL = "recipient_in_channel"
    """``assistant<|channel|>commentary to=functions.f``, as the model itself writes."""


class ToolSchemaStyle(str, Enum):
    """How a tool's JSON Schema becomes TypeScript."""

    COMPAT = "compat"
    """Version 0.0.8's text, oddities included."""
    FULL = "full"
    """The whole of JSON Schema, always valid TypeScript."""


with field_named("validate"):

    class RenderConversationConfig(BaseModel, extra="forbid", validate_assignment=True):
        """Options for rendering a conversation; a wrong one is an error, never a default."""

        auto_drop_analysis: bool = True
        """Drop analysis by version 0.0.8's rule, unless ``analysis`` says otherwise."""
        analysis: Optional[AnalysisPolicy] = None
        header_style: HeaderStyle = HeaderStyle.RECIPIENT_IN_ROLE
        tool_schema: ToolSchemaStyle = ToolSchemaStyle.COMPAT
        validate: bool = False  # type: ignore[assignment]
        """Refuse names, recipients, channels and content types that could be read as another
        header."""

    class RenderOptions(BaseModel, extra="forbid", validate_assignment=True):
        """Options for rendering a single message; those of a conversation that concern one."""

        conversation_has_function_tools: bool = False
        """Whether a system message says that calls to functions go to ``commentary``."""
        header_style: HeaderStyle = HeaderStyle.RECIPIENT_IN_ROLE
        tool_schema: ToolSchemaStyle = ToolSchemaStyle.COMPAT
        validate: bool = False  # type: ignore[assignment]
