"""Renderer and parser of the harmony response format, which the gpt-oss models speak.

A conversation becomes the exact tokens that the model was trained on, and the model's tokens
become messages again, one token at a time while they stream:

>>> encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
>>> question = Message.from_role_and_content(Role.USER, "What is 2 + 2?")
>>> conversation = Conversation.from_messages([question])
>>> prompt = encoding.render_conversation_for_completion(conversation, Role.ASSISTANT)
>>> encoding.decode(prompt)
'<|start|>user<|message|>What is 2 + 2?<|end|><|start|>assistant'
>>> answer = encoding.encode("<|channel|>final<|message|>4.<|return|>", allowed_special="all")
>>> [message] = encoding.parse_messages_from_completion_tokens(answer, Role.ASSISTANT)
>>> message.channel, message.text
('final', '4.')

The models are in :mod:`openai_harmony.chat`, rendering and whole-sequence parsing in
:mod:`openai_harmony.encoding`, the incremental parser in :mod:`openai_harmony.stream`. All the
work is done by a compiled Rust extension.
"""

import openai_harmony._extension  # isort: skip  (says how to build, if it is not)
from openai_harmony import _lowlevel
from openai_harmony.chat import (
    Author,
    ChannelConfig,
    Content,
    Conversation,
    DeveloperContent,
    Message,
    ReasoningEffort,
    ResponseFormat,
    Role,
    SystemContent,
    TextContent,
    ToolDescription,
    ToolNamespaceConfig,
)
from openai_harmony.encoding import (
    HarmonyEncoding,
    HarmonyEncodingName,
    load_harmony_encoding,
)
from openai_harmony.errors import (
    HarmonyError,
    InvalidGrammarError,
    InvalidRequestError,
    InvalidRowError,
    MissingFieldError,
    PromptTooLongError,
    UnknownFieldError,
    UnknownFieldWarning,
    UnsupportedContent,
    WrongTypeError,
)
from openai_harmony.kinds import ErrorKind, RepairKind
from openai_harmony.options import (
    HeaderStyle,
    Prefill,
    RenderConversationConfig,
    RenderOptions,
    ThoughtPolicy,
    ToolSchemaStyle,
)
from openai_harmony.rendered import MessageSpan, Rendered
from openai_harmony.stream import (
    ContentDelta,
    Event,
    MessageEnd,
    MessageStart,
    Parsed,
    Repair,
    StreamableParser,
    StreamState,
)
from openai_harmony.token_batch import TokenBatch

import openai_harmony._wiring  # isort: skip  # noqa: F401  (hands them to the extension)

__version__: str = _lowlevel.__version__
"""The version of this package."""

__all__ = [
    "Author",
    "ChannelConfig",
    "Content",
    "ContentDelta",
    "Conversation",
    "DeveloperContent",
    "ErrorKind",
    "Event",
    "HarmonyEncoding",
    "HarmonyEncodingName",
    "HarmonyError",
    "HeaderStyle",
    "InvalidGrammarError",
    "InvalidRequestError",
    "InvalidRowError",
    "Message",
    "MessageEnd",
    "MessageSpan",
    "MessageStart",
    "MissingFieldError",
    "Parsed",
    "Prefill",
    "PromptTooLongError",
    "ReasoningEffort",
    "RenderConversationConfig",
    "RenderOptions",
    "Rendered",
    "Repair",
    "RepairKind",
    "ResponseFormat",
    "Role",
    "StreamState",
    "StreamableParser",
    "SystemContent",
    "TextContent",
    "ThoughtPolicy",
    "TokenBatch",
    "ToolDescription",
    "ToolNamespaceConfig",
    "ToolSchemaStyle",
    "UnknownFieldError",
    "UnknownFieldWarning",
    "UnsupportedContent",
    "WrongTypeError",
    "load_harmony_encoding",
]


def __dir__() -> list[str]:
    """The public names, and the modules that are imported by themselves."""
    return sorted(
        [*__all__, "__version__", "chat", "grammar", "interop", "rollout", "show", "training"]
    )
