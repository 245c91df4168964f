"""gpt-oss with few weights, all random and always the same, and what trainers of it are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def tiny_gpt_oss(**sizes: Any) -> Any:
    """The model; what it is of other sizes is named."""
    import torch
    import transformers

    torch.set_num_threads(1)  # for so small a model, more of them wait for one another
    torch.manual_seed(0)
    few = {
        "vocab_size": 201_088,
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 8,
        "num_local_experts": 2,
        "num_experts_per_tok": 1,
        "pad_token_id": 199_999,
    }
    return transformers.GptOssForCausalLM(transformers.GptOssConfig(**{**few, **sizes}))


def arguments(kind: Any, folder: Path, **options: Any) -> Any:
    """A trainer's arguments: on the processor, and nothing is reported or saved."""
    return kind(
        output_dir=str(folder),
        report_to=[],
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        disable_tqdm=True,
        save_strategy="no",
        **options,
    )


def tokenizer_of_one_word() -> Any:
    """A trainer asks for a tokenizer, though the rows are tokens already."""
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel({"<|endoftext|>": 0}, "<|endoftext|>")),
        pad_token="<|endoftext|>",
        eos_token="<|endoftext|>",
    )
