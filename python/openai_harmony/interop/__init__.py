"""API requests to turns: what the bodies of four APIs mean in harmony.

Each dialect has a module with a function ``read``, which makes a :class:`Turn` of a request's body:

>>> from openai_harmony import HarmonyEncodingName, load_harmony_encoding
>>> from openai_harmony.interop import chat_completions
>>> body = {"messages": [{"role": "user", "content": "What is 2 + 2?"}], "max_tokens": 100}
>>> turn = chat_completions.read(body)
>>> encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
>>> encoding.decode(turn.prompt(encoding))[-63:]
'<|start|>user<|message|>What is 2 + 2?<|end|><|start|>assistant'
>>> turn.sampling["temperature"], turn.sampling["max_tokens"], turn.stop_token_names
(1.0, 100, ['<|return|>', '<|call|>'])

No SDK is imported: bodies are mappings, JSON text, or whatever pydantic objects a caller has.
"""

from openai_harmony._lowlevel import Body, EngineReader, derender
from openai_harmony.errors import InvalidRequestError, PromptTooLongError, UnsupportedContent
from openai_harmony.grammar import ToolChoice
from openai_harmony.interop import anthropic, chat_completions, ollama, responses
from openai_harmony.interop.conversations import encode_conversations_with_harmony
from openai_harmony.interop.error_body import ErrorBody, error_body
from openai_harmony.interop.reply import BuiltinCall, Reply, TokenLogprob, Usage
from openai_harmony.interop.turn import (
    Sampling,
    Tool,
    ToolNames,
    Turn,
    Unused,
)

__all__ = [
    "Body",
    "BuiltinCall",
    "EngineReader",
    "ErrorBody",
    "InvalidRequestError",
    "PromptTooLongError",
    "Reply",
    "Sampling",
    "TokenLogprob",
    "Tool",
    "ToolChoice",
    "ToolNames",
    "Turn",
    "UnsupportedContent",
    "Unused",
    "Usage",
    "anthropic",
    "chat_completions",
    "derender",
    "encode_conversations_with_harmony",
    "error_body",
    "ollama",
    "responses",
]
