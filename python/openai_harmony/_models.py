"""The public names that are models or belong to one, by the modules that define them."""

from typing_extensions import Never, Self

from openai_harmony import encoding, rendered, stream
from openai_harmony.chat import (
    Author,
    ChannelConfig,
    Content,
    Conversation,
    DeveloperContent,
    Message,
    ReasoningEffort,
    ResponseFormat,
    SystemContent,
    TextContent,
    ToolDescription,
    ToolNamespaceConfig,
)
from openai_harmony.loss_mask import LossMask
from openai_harmony.options import (
    HeaderStyle,
    Prefill,
    RenderConversationConfig,
    RenderOptions,
    ThoughtPolicy,
    ToolSchemaStyle,
)

# These do not import models, which their annotations name: here `typing.get_type_hints` gets them.
for _module in (encoding, rendered, stream):
    vars(_module).update(
        {one.__name__: one for one in (Conversation, LossMask, Message, Prefill)},
        RenderConversationConfig=RenderConversationConfig,
        Never=Never,
        Self=Self,
    )

__all__ = [
    "Author",
    "ChannelConfig",
    "Content",
    "Conversation",
    "DeveloperContent",
    "HeaderStyle",
    "Message",
    "Prefill",
    "ReasoningEffort",
    "RenderConversationConfig",
    "RenderOptions",
    "ResponseFormat",
    "SystemContent",
    "TextContent",
    "ThoughtPolicy",
    "ToolDescription",
    "ToolNamespaceConfig",
    "ToolSchemaStyle",
]
