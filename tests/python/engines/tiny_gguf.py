"""A tiny gpt-oss for llama.cpp, as GGUF: weights at random, and a liking for tokens that end things."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy

from openai_harmony import load_harmony_encoding

SIZE, NAMED = 201_088, 200_019
WIDTH, HEAD, EXPERTS, LAYERS = 32, 64, 2, 2
ENCODING = load_harmony_encoding("HarmonyGptOss")
LIKELY = {"<|end|><|call|><|return|><|channel|>": 18, ' to {":,"} } "]': 14}
"""Tokens with what their logits have more than others: such a model would go on at random for ever."""


def write(path: Path) -> None:
    writer = gguf.GGUFWriter(path, "gpt-oss")
    writer.add_context_length(4096)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(WIDTH)
    writer.add_expert_feed_forward_length(WIDTH)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(150_000.0)
    writer.add_sliding_window(128)
    writer.add_expert_count(EXPERTS)
    writer.add_expert_used_count(1)
    writer.add_vocab_size(SIZE)
    _add_vocabulary(writer)
    for name, tensor in _tensors().items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_vocabulary(writer: Any) -> None:
    """The tokens as gpt-oss' own files have them: each byte as one of GPT-2's letters."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    letters = {byte: chr(byte) for byte in plain}
    letters |= {byte: chr(256 + at) for at, byte in enumerate(others)}
    tokens = [
        "".join(map(letters.__getitem__, ENCODING.decode_bytes([n])))
        if n < NAMED
        else f"<|reserved_{n}|>"
        for n in range(SIZE)
    ]
    normal, control = gguf.TokenType.NORMAL, gguf.TokenType.CONTROL
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-4o")
    writer.add_token_list(tokens)
    writer.add_token_types([normal if n < 199_998 else control for n in range(SIZE)])
    writer.add_token_merges(["a b"])  # The gateway sends tokens: nothing is to be merged.
    writer.add_bos_token_id(199_998)
    writer.add_eos_token_id(200_002)


def _tensors() -> dict[str, Any]:
    chosen = numpy.random.default_rng(0)

    def small(*shape: int) -> Any:
        return (chosen.standard_normal(shape) * 0.2).astype(numpy.float32)

    ones = numpy.ones(WIDTH, numpy.float32)
    # All embeddings point roughly one way, so a row of the output along it is a likely token.
    output = small(SIZE, WIDTH)
    for text, more in LIKELY.items():
        output[ENCODING.encode(text, allowed_special="all")] += more / WIDTH
    made = {"token_embd.weight": 1 + small(SIZE, WIDTH), "output.weight": output}
    made["output_norm.weight"] = ones
    for layer in range(LAYERS):
        shapes: dict[str, tuple[int, ...]] = {
            "attn_q": (HEAD, WIDTH),
            "attn_k": (HEAD, WIDTH),
            "attn_v": (HEAD, WIDTH),
            "attn_output": (WIDTH, HEAD),
            "ffn_gate_inp": (EXPERTS, WIDTH),
            "ffn_gate_exps": (EXPERTS, WIDTH, WIDTH),
            "ffn_up_exps": (EXPERTS, WIDTH, WIDTH),
            "ffn_down_exps": (EXPERTS, WIDTH, WIDTH),
        }
        for name, shape in shapes.items():
            made[f"blk.{layer}.{name}.weight"] = small(*shape) / 10
            made[f"blk.{layer}.{name}.bias"] = small(*shape[:-1]) / 10
        made[f"blk.{layer}.attn_sinks.weight"] = small(1)
        for name in ("attn_norm", "post_attention_norm"):
            made[f"blk.{layer}.{name}.weight"] = ones
    return made
