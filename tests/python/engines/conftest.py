"""A tiny gpt-oss with random weights, and engines' grammars without a model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from openai_harmony import load_harmony_encoding

ENCODING = load_harmony_encoding("HarmonyGptOss")
SIZE, STOPS = 201_088, [200002, 200012]


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


@pytest.fixture(scope="session")
def xgrammar_takes() -> Any:
    """From a grammar's text to a function: whether it takes tokens."""
    xgrammar = pytest.importorskip("xgrammar", reason="make test-engines installs xgrammar")
    tokens = [bytes(ENCODING.decode_bytes([n])) if n < 200_019 else b"" for n in range(SIZE)]
    vocabulary = xgrammar.TokenizerInfo(
        tokens, vocab_type=xgrammar.VocabType.RAW, vocab_size=SIZE, stop_token_ids=STOPS
    )

    def takes(text: str) -> Callable[[list[int]], bool]:
        compiler = xgrammar.GrammarCompiler(vocabulary, cache_enabled=False)
        made = compiler.compile_structural_tag(text)

        def take(tokens: list[int]) -> bool:
            matcher = xgrammar.GrammarMatcher(made, override_stop_tokens=STOPS)
            return all(matcher.accept_token(token) for token in tokens)

        return take

    return takes


@pytest.fixture(scope="session")
def llama_takes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pytest.importorskip("xllamacpp", reason="make test-engines installs xllamacpp")
    pytest.importorskip("gguf", reason="make test-engines installs gguf")
    from engines import llama_grammar, tiny_gguf

    model: Path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    tiny_gguf.write(model)
    vocabulary = llama_grammar.Vocabulary(model)

    def takes(text: str) -> Callable[[list[int]], bool]:
        made = llama_grammar.Grammar(vocabulary, text)

        def take(tokens: list[int]) -> bool:
            state = llama_grammar.State(made)
            return all(state.take(token) for token in tokens)

        return take

    return takes
