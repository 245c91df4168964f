"""Ollama's own endpoints beside chat: generate, and what clients ask before they begin."""

from __future__ import annotations

import time
from typing import Any

from openai_harmony.interop import ollama
from openai_harmony.interop.reply import Chunk
from openai_harmony.interop.turn import Turn
from openai_harmony.serve.refusals import RefusedError

VERSION = "0.14.0"
"""The version of Ollama whose API this is: clients ask for it before they use what is newer."""

_OF_BOTH = (
    "model",
    "stream",
    "format",
    "options",
    "think",
    "keep_alive",
    "logprobs",
    "top_logprobs",
)
_DETAILS = {
    "parent_model": "",
    "format": "harmony",
    "family": "gptoss",
    "families": ["gptoss"],
    "parameter_size": "",
    "quantization_level": "MXFP4",
}


def is_load(body: dict[str, Any], field: str) -> bool:
    """Whether a body asks for nothing but that the model be loaded, or unloaded.

    Then it has no ``field``, ``messages`` or ``prompt``, or an empty one.
    """
    return body.get(field) in (None, [] if field == "messages" else "")


def loaded(body: dict[str, Any], model: str, field: str) -> dict[str, Any]:
    """The answer to such a body; ``field`` is ``message`` or ``response``."""
    empty = {"message": {"role": "assistant", "content": ""}, "response": ""}[field]
    return {
        "model": model,
        "created_at": _now(),
        field: empty,
        "done": True,
        "done_reason": "unload" if body.get("keep_alive") == 0 else "load",
    }


def read_generate(body: dict[str, Any], **options: Any) -> Turn:
    """Reads a body of ``/api/generate``: a prompt is a chat of one message.

    ``options`` are those of ``ollama.read``.

    ``RefusedError`` for what would bypass the format, as ``raw`` and ``template``.
    """
    for name in ("raw", "template", "suffix", "context"):
        if body.get(name):
            raise RefusedError(f"{name}: this server takes messages; use /api/chat", path=name)
    if not isinstance(body.get("prompt"), str):
        raise RefusedError("prompt: expected a string", path="prompt")
    message = {"role": "user", "content": body["prompt"]}
    if body.get("images"):
        message["images"] = body["images"]
    messages = [message]
    if body.get("system"):
        messages.insert(0, {"role": "system", "content": body["system"]})
    chat = {name: body[name] for name in _OF_BOTH if name in body}
    return ollama.read({**chat, "messages": messages}, **options)


def as_generate(chunk: Chunk) -> Chunk:
    """A chunk of chat as one of generate."""
    made: Chunk = {}
    for name, value in chunk.items():
        if name != "message":
            made[name] = value
            continue
        made["response"] = value.get("content", "")
        if value.get("thinking"):
            made["thinking"] = value["thinking"]
    return made


def tags(model: str) -> dict[str, Any]:
    """``GET /api/tags``: the models that there are."""
    return {"models": [_model(model)]}


def running(model: str) -> dict[str, Any]:
    """``GET /api/ps``: the models that are loaded."""
    return {"models": [{**_model(model), "size_vram": 0, "expires_at": "2318-01-01T00:00:00Z"}]}


def show(model: str, context: int) -> dict[str, Any]:
    """``POST /api/show``: what the model can do."""
    return {
        "modelfile": f"FROM {model}",
        "parameters": "temperature 1",
        "template": "{{ .Prompt }}",
        "details": _DETAILS,
        "model_info": {
            "general.architecture": "gptoss",
            "general.basename": model,
            "gptoss.context_length": context,
        },
        "capabilities": ["completion", "tools", "thinking"],
        "modified_at": _now(),
    }


def _model(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "model": name,
        "modified_at": _now(),
        "size": 0,
        "digest": "",
        "details": _DETAILS,
    }


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
