"""Ollama's own endpoints besides chat: generate, and what clients ask before they begin."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from openai_harmony.interop import Body, ollama
from openai_harmony.interop.reply import Chunk
from openai_harmony.interop.turn import Turn
from openai_harmony.serve.refusals import RefusedError

VERSION = "0.14.0"
"""The version of Ollama that has this API: clients ask for it before they use what is newer."""

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


def is_load(body: Body, field: str) -> bool:
    """Whether a body asks for nothing but that the model be loaded, or unloaded.

    Then it has no ``field``, ``messages`` or ``prompt``, or an empty one.
    """
    return body.json(field) in (None, b"null", b"[]" if field == "messages" else b'""')


def loaded(body: Body, model: str, field: str) -> dict[str, Any]:
    """The answer to such a body; ``field`` is ``message`` or ``response``."""
    empty = {"message": {"role": "assistant", "content": ""}, "response": ""}[field]
    return {
        "model": model,
        "created_at": _now(),
        field: empty,
        "done": True,
        "done_reason": "unload" if body.json("keep_alive") in (b"0", b'"0"') else "load",
    }


def read_generate(body: Body, **options: Any) -> Turn:
    """Reads a body of ``/api/generate``: a prompt is a chat of one message.

    ``options`` are those of ``ollama.read``.

    ``RefusedError`` for what would bypass the format, as ``raw`` and ``template``.
    """
    for name in ("raw", "template", "suffix", "context"):
        if body.json(name) not in (None, b"null", b"false", b'""', b"[]"):
            raise RefusedError(f"{name}: this server takes messages; use /api/chat", path=name)
    if body.kind("prompt") != "string":
        raise RefusedError("prompt: expected a string", path="prompt")
    # JSON is put together of JSON: nothing of the body becomes an object of Python.
    message = [b'"role":"user"', *_members(body, prompt="content", images="images")]
    messages = [b"{%b}" % b",".join(message)]
    if (system := body.json("system")) not in (None, b"null", b'""'):
        messages.insert(0, b'{"role":"system","content":%b}' % system)
    same = dict(zip(_OF_BOTH, _OF_BOTH))
    chat = [b'"messages":[%b]' % b",".join(messages), *_members(body, **same)]
    return ollama.read(Body(b"{%b}" % b",".join(chat)), **options)


def _members(body: Body, **names: str) -> Iterator[bytes]:
    """Members of a body under other names, as JSON."""
    for name, other in names.items():
        found = body.json(name)
        if found not in (None, b"null"):
            yield b'"%b":%b' % (other.encode(), found)


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


def tags(names: list[str]) -> dict[str, Any]:
    """``GET /api/tags``: the names of the model."""
    return {"models": [_model(name) for name in names]}


def running(names: list[str]) -> dict[str, Any]:
    """``GET /api/ps``: the models that are loaded."""
    loaded = {"size_vram": 0, "expires_at": "2318-01-01T00:00:00Z"}
    return {"models": [{**_model(name), **loaded} for name in names]}


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
