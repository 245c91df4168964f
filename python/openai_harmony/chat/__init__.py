"""The data model of a conversation and its JSON form. Data only: no behaviour lives here.

A :class:`Conversation` is a list of :class:`Message`. A message has an :class:`Author`, a list of
:class:`Content` parts, and three optional header fields: channel, recipient and content type.

The classes are pydantic models and mutable: assign to their fields, or chain the builders. They
can be fields of other models, in a FastAPI request for example.

>>> call = (
...     Message.from_role_and_content("assistant", '{"location": "Tokyo"}')
...     .with_channel("commentary")
...     .with_recipient("functions.get_current_weather")
...     .with_content_type("<|constrain|>json")
... )
>>> call.to_dict()["recipient"]
'functions.get_current_weather'
"""

from openai_harmony.chat.content import (
    ChannelConfig,
    Content,
    DeveloperContent,
    EffortName,
    ReasoningEffort,
    ResponseFormat,
    SystemContent,
    TextContent,
    effort_of,
)
from openai_harmony.chat.conversation import Conversation
from openai_harmony.chat.message import Author, Message
from openai_harmony.chat.tools import ToolDescription, ToolNamespaceConfig
from openai_harmony.roles import Role, RoleName

__all__ = [
    "Author",
    "ChannelConfig",
    "Content",
    "Conversation",
    "DeveloperContent",
    "EffortName",
    "Message",
    "ReasoningEffort",
    "ResponseFormat",
    "Role",
    "RoleName",
    "SystemContent",
    "TextContent",
    "ToolDescription",
    "ToolNamespaceConfig",
    "effort_of",
]
