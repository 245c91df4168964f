"""Texts and conversations to tokens, and back, in the bodies of vLLM."""

from __future__ import annotations

from typing import Any

from openai_harmony.encoding import HarmonyEncoding
from openai_harmony.interop import Body
from openai_harmony.serve.brought import ids_of
from openai_harmony.serve.gateway import Call, Gateway
from openai_harmony.serve.refusals import RefusedError

TOKENIZER = {
    "tokenizer_class": "HarmonyTokenizer",
    "bos_token": "<|startoftext|>",
    "eos_token": "<|return|>",
    "pad_token": "<|endoftext|>",
}
"""What ``/tokenizer_info`` says. It has no chat template: the gateway renders messages itself."""


def tokenized(gateway: Gateway, call: Call, body: Body, _: dict[str, Any]) -> dict[str, Any]:
    """The tokens of a ``prompt``, or those of the prompt that ``messages`` would have.

    ``RefusedError`` for a body with neither, other errors as of chat completions.
    """
    encoding = gateway.encoding
    if body.kind("messages") is not None:
        turn = call.read(body)
        tokens = gateway.prompt(turn, body, call).tolist()
        if body.flag("add_generation_prompt") is False and turn.prefill is None:
            del tokens[-2:]
    elif (text := body.text("prompt")) is not None:
        tokens = encoding.encode(text, allowed_special="all")
    else:
        raise RefusedError("prompt: expected a text, or messages", path="prompt")
    strings = body.flag("return_token_strs")
    return {
        "count": len(tokens),
        "max_model_len": gateway.engine.context,
        "tokens": tokens,
        "token_strs": [encoding.decode([one]) for one in tokens] if strings else None,
    }


def detokenized(encoding: HarmonyEncoding, body: Body, _: dict[str, Any]) -> dict[str, Any]:
    """The text of ``tokens``; U+FFFD for what is no UTF-8."""
    is_empty = body.json("tokens") == b"[]"
    return {"prompt": "" if is_empty else encoding.decode(ids_of(body, "tokens", encoding))}
