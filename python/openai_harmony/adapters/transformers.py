"""A chat template and a response template of gpt-oss, for programs that cannot be changed.

Both are data of a tokenizer. They take the place of those of gpt-oss' own: its chat
template has no marks of what the model sampled, so that no loss mask can be had of it, quotes
results as JSON strings, and takes one call a message; its response template reads two of the ten
headers of a call, the first only in a completion.

What a template cannot do, and this package does:

* A text that spells a marker, ``<|end|>``, becomes one. With ``sanitize_control_tokens=True`` it
  stays text, in other tokens than this package's.
* Schemas: ``type`` of one name, ``properties``, ``required``, ``items`` of a plain type, ``enum``
  of texts, ``description``, ``default``. It refuses others, naming the keyword; names of properties
  that are no identifiers; and names of tools with a blank.
* Contents of several parts, a call with its result elsewhere: refused. Numbers of arguments
  that are objects are written as Python does.
* Sampled tokens are rendered again, which is what rollouts are for.
* The response template reads well-formed messages, the ten headers included. It repairs nothing;
  arguments that are no JSON raise.
"""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

_NO_MARK = r"(?:(?!<\|(?:message|start|end)\|>).)*?"
_NO_CALL = r"(?:(?!to=|<\|(?:message|start|end)\|>).)*?"
_ENDS = ["<|end|>", "<|return|>", "<|call|>"]


def chat_template() -> str:
    """The chat template, for ``tokenizer.chat_template``.

    Its tokens are those of ``interop.chat_completions``, and ``{% generation %}`` marks what the
    default :class:`openai_harmony.training.LossMask` trains: ask for
    ``return_assistant_tokens_mask``. Its variables are ``reasoning_effort``, ``model_identity`` and
    ``conversation_start_date``.
    """
    return files(__package__).joinpath("gpt_oss.jinja").read_text(encoding="utf-8")


def response_template() -> dict[str, Any]:
    """The response template, for ``tokenizer.response_template``.

    ``tokenizer.parse_response(sampled, prefix=prompt)`` then gives ``reasoning_content``,
    ``content`` and ``tool_calls``.

    >>> response_template()["start_anchor"]
    '<|start|>assistant'
    """
    call = rf"to=functions\.(?P<name>[^\s<]+){_NO_MARK}<\|message\|>"
    function = {"name": "{name}", "arguments": "{content}"}
    return {
        "version": 1,
        "start_anchor": "<|start|>assistant",
        "defaults": {"role": "assistant"},
        "fields": {
            "reasoning_content": {
                "open_pattern": rf"<\|channel\|>\s*analysis{_NO_CALL}<\|message\|>",
                "close": _ENDS,
                "repeats": True,
                "join": "\n\n",
            },
            "content": {
                "open_pattern": rf"<\|channel\|>\s*(?:final|commentary){_NO_CALL}<\|message\|>",
                "close": _ENDS,
                "repeats": True,
                "join": "\n\n",
            },
            "tool_calls": {
                "open_pattern": call,
                "close": _ENDS,
                "repeats": True,
                "content": "json",
                "transform": {"type": "function", "function": function},
            },
        },
    }


def write(folder: str | os.PathLike[str]) -> None:
    """Writes both next to a model's tokenizer and its ``tokenizer_config.json``.

    ``AutoTokenizer.from_pretrained(folder)`` then has them.

    Raises:
        FileNotFoundError: The folder has no ``tokenizer_config.json``.
    """
    path = Path(folder) / "tokenizer_config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    config["response_template"] = response_template()
    config.pop("chat_template", None)
    (Path(folder) / "chat_template.jinja").write_text(chat_template(), encoding="utf-8")
    path.write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


__all__ = ["chat_template", "response_template", "write"]
