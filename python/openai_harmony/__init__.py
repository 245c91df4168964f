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

import openai_harmony._extension  # noqa: F401  # isort: skip  (says how to build, if it is not)
from typing import TYPE_CHECKING, Any

from openai_harmony import _lowlevel, _wiring  # noqa: F401  (hands the extension its classes)

if TYPE_CHECKING:
    from openai_harmony import adapters as adapters
    from openai_harmony import chat as chat
    from openai_harmony import grammar as grammar
    from openai_harmony import interop as interop
    from openai_harmony import rollout as rollout
    from openai_harmony import show as show
    from openai_harmony import training as training
    from openai_harmony._models import *  # noqa: F403
    from openai_harmony._public import *  # noqa: F403

__version__: str = _lowlevel.__version__
"""The version of this package."""

_MODULES = ("adapters", "chat", "grammar", "interop", "rollout", "show", "training")
"""Modules that are used as ``openai_harmony.training``, without a separate import."""


_ELSEWHERE = ("encoding_for_model", "get_encoding")
"""tiktoken's names for the function that returns an encoding."""


def __getattr__(name: str) -> Any:
    """Imports a name when it is first used.

    Models need pydantic, which takes most of the import time. Loading, encoding, counting and a
    parser that is only fed need no models.
    """
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"openai_harmony.{name}")
    if name == "__all__":
        return _names()
    if not name.startswith("_"):
        for module in ("_public", "_models"):
            public = import_module(f"openai_harmony.{module}")
            globals().update((one, getattr(public, one)) for one in public.__all__)
            if name in public.__all__:
                return globals()[name]
    way = '; here it is load_harmony_encoding("HarmonyGptOss")' if name in _ELSEWHERE else ""
    raise AttributeError(f"module 'openai_harmony' has no attribute {name!r}{way}")


def __dir__() -> list[str]:
    """The public names, and the modules that are imported on demand."""
    return sorted([*_names(), *_MODULES, "__version__"])


def _names() -> list[str]:
    from openai_harmony import _models, _public

    return sorted([*_models.__all__, *_public.__all__])
