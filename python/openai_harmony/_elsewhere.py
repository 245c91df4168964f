"""Other packages' names for this package's features, so that errors can point to these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

WAYS_OF_ENCODING = {
    # tiktoken
    "encode_single_token": 'special_token("<|call|>"), or encode_ordinary(text)',
    "encode_ordinary_batch": "encode_batch(texts, disallowed_special=())",
    "encode_to_numpy": "numpy.frombuffer(encode_array(text), numpy.uint32)",
    "encode_with_unstable": "encode(text), again when there is more text",
    "decode_single_token_bytes": "decode_bytes([token])",
    "decode_tokens_bytes": "[decode_bytes([token]) for token in tokens]",
    "decode_bytes_batch": "[decode_bytes(tokens) for tokens in batch]",
    "decode_with_offsets": "decode(tokens), and len(decode(tokens[:index])) for an offset",
    "eot_token": 'special_token("<|endoftext|>")',
    "max_token_value": "n_vocab - 1",
    "token_byte_values": "[decode_bytes([token]) for token in range(199998)]",
    # transformers
    "apply_chat_template": 'interop.chat_completions.read({"messages": messages}).prompt(encoding)',
    "batch_decode": "decode_batch(batch)",
    "convert_ids_to_tokens": "[decode([token]) for token in tokens]",
    "convert_tokens_to_ids": 'special_token("<|call|>")',
    "eos_token_id": "stop_tokens_for_assistant_actions()",
    "vocab_size": "n_vocab",
}
WAYS_OF_MESSAGES = {
    "role": "author.role",
    "name": "author.name",
    "tool_calls": "a message of its own, with a recipient",
    "reasoning_content": "a message of its own, on the channel analysis",
}
WAYS_OF_TURNS = {
    "messages": "conversation.messages",
    "tokens": "prompt(encoding)",
    "render": "prompt(encoding)",
}


class NamesTheWay:
    """An attribute of other packages' objects is an error that says what to write instead."""

    __slots__ = ()
    _ways: ClassVar[dict[str, str]] = {}

    # Type checkers would read it as a promise of any attribute.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            way = type(self)._ways.get(name)
            # pydantic's models define `__getattr__`.
            if way is None and hasattr(super(), "__getattr__"):
                return super().__getattr__(name)
            missing = f"{type(self).__name__!r} object has no attribute {name!r}"
            text = missing if way is None else f"{missing}; here it is {way}"
            raise AttributeError(text, name=name, obj=self)
