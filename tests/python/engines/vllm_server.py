"""vLLM's own servers of rendering, which need a tokenizer's files and no weights."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from openai_harmony import load_harmony_encoding
from openai_harmony.vocabulary import write_vocabulary

DATE = "2026-01-02"
MODEL = "gpt-oss-20b"
FIRST_SPECIAL, N_VOCAB = 199_998, 201_088


def write_model(folder: Path) -> None:
    """A config and a tokenizer as the model has them."""
    transformers = pytest.importorskip("transformers", reason="make test-engines installs it")
    tokenizers = pytest.importorskip("tokenizers", reason="make test-engines installs it")
    convert = pytest.importorskip("transformers.convert_slow_tokenizer")

    file = write_vocabulary(folder)
    letters = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
    end = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    pattern = "|".join(
        [
            rf"[^\r\n\p{{L}}\p{{N}}]?[{letters[0]}]*[{letters[1]}]+{end}",
            rf"[^\r\n\p{{L}}\p{{N}}]?[{letters[0]}]+[{letters[1]}]*{end}",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        ]
    )
    made = convert.TikTokenConverter(vocab_file=str(file), pattern=pattern).converted()
    encoding = load_harmony_encoding("HarmonyGptOss")
    special = [encoding.decode([token]) for token in range(FIRST_SPECIAL, N_VOCAB)]
    made.add_special_tokens(
        [tokenizers.AddedToken(name, special=True, normalized=False) for name in special]
    )
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made,
        bos_token="<|startoftext|>",
        eos_token="<|return|>",
        pad_token="<|endoftext|>",
        clean_up_tokenization_spaces=False,
    )
    fast.save_pretrained(folder)
    config = transformers.GptOssConfig(vocab_size=N_VOCAB, max_position_embeddings=131_072)
    described = {
        **config.to_dict(),
        "architectures": ["GptOssForCausalLM"],
        "eos_token_id": 200_002,
        "pad_token_id": 199_999,
    }
    (folder / "config.json").write_text(json.dumps(described), encoding="utf-8")
    generation = {"do_sample": True, "eos_token_id": [200_002, 199_999, 200_012]}
    (folder / "generation_config.json").write_text(json.dumps(generation), encoding="utf-8")


@contextmanager
def render_server(folder: Path) -> Iterator[httpx.Client]:
    """A client of ``vllm launch render``, with its own package for harmony, not this one."""
    command = [sys.executable, "-m", "vllm.entrypoints.cli.main", "launch", "render"]
    command += ["--model", str(folder), "--reasoning-parser", "openai_gptoss"]
    command += ["--tool-call-parser", "openai", "--enable-auto-tool-choice"]
    with _served(command, folder) as client:
        yield client


@contextmanager
def rust_render_server(folder: Path) -> Iterator[httpx.Client]:
    """A client of ``vllm-rs render``, vLLM's front end in Rust."""
    vllm = pytest.importorskip("vllm", reason="make test-engines installs vLLM")
    with _served(
        [str(Path(vllm.__file__).parent / "vllm-rs"), "render", str(folder)], folder
    ) as client:
        yield client


@contextmanager
def _served(command: list[str], folder: Path) -> Iterator[httpx.Client]:
    write_model(folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {
        "VLLM_TARGET_DEVICE": "cpu",
        "HF_HUB_OFFLINE": "1",
        "VLLM_SYSTEM_START_DATE": DATE,
        "VLLM_NO_USAGE_STATS": "1",
    }
    command += ["--served-model-name", MODEL, "--host", "127.0.0.1", "--port", str(port)]
    log = folder / "log"
    with log.open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            _wait(client, server, log)
            yield client
    finally:
        server.terminate()
        server.wait(30)


def _wait(client: httpx.Client, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        if server.poll() is not None:
            text = log.read_text(encoding="utf-8", errors="replace")
            raise AssertionError(f"vLLM's server ended: {text[-2000:]}")
        try:
            if client.get("/health").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.5)
    raise AssertionError("vLLM's server does not answer")
