"""A tiny gpt-oss with random weights, and engines' grammars without a model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from openai_harmony import load_harmony_encoding
from tiny_gpt_oss import tiny_gpt_oss

ENCODING = load_harmony_encoding("HarmonyGptOss")
SIZE, STOPS = 201_088, [200002, 200012]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("torch", reason="make test-engines installs PyTorch")
    pytest.importorskip("transformers", reason="make test-engines installs transformers")
    model = tiny_gpt_oss(
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        head_dim=16,
        sliding_window=32,
        max_position_embeddings=1024,
        layer_types=["sliding_attention", "full_attention"],
    )
    path = tmp_path_factory.mktemp("model") / "tiny-gpt-oss"
    model.save_pretrained(path)
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
