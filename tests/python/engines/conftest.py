"""A tiny gpt-oss with random weights."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    torch = pytest.importorskip("torch", reason="make test-engines installs PyTorch")
    transformers = pytest.importorskip(
        "transformers", reason="make test-engines installs transformers"
    )
    torch.set_num_threads(1)  # for so small a model, more of them wait for one another
    torch.manual_seed(0)
    config = transformers.GptOssConfig(
        vocab_size=201_088,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        num_local_experts=2,
        num_experts_per_tok=1,
        sliding_window=32,
        max_position_embeddings=1024,
        layer_types=["sliding_attention", "full_attention"],
    )
    path = tmp_path_factory.mktemp("model") / "tiny-gpt-oss"
    transformers.GptOssForCausalLM(config).save_pretrained(path)
    return str(path)


@pytest.fixture(scope="session")
def engine(folder: str) -> Any:
    from openai_harmony.serve.engines import connect

    return connect(f"transformers={folder}")
