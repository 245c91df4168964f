"""The peers behind one face: load, encode to a list or an array, decode to a text.

Of each peer the fastest call that gives a Python list is taken, and the fastest that gives its tokens as a buffer
of uint32, if there is one. The modules are imported with
the adapter, so that loading can be timed apart from importing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

VOCABULARY = "BENCH_VOCABULARY"
"""The environment variable that names the folder with o200k_base.tiktoken."""


class Harmony:
    """This project, or openai-harmony 0.0.8: the same calls."""

    distribution = "openai-harmony"

    def __init__(self) -> None:
        self.module = import_module("openai_harmony")

    def load(self) -> Any:
        return self.module.load_harmony_encoding("HarmonyGptOss")

    def start(self) -> None:
        self.encoding = self.load()
        self.encode: Callable[[str], list[int]] = self.encoding.encode
        # Version 0.0.8 has no arrays.
        self.encode_array = getattr(self.encoding, "encode_array", None)
        self.decode: Callable[[list[int]], str] = self.encoding.decode


class Tiktoken:
    """`encode_ordinary` looks for no special tokens, so it is tiktoken's fastest."""

    distribution = "tiktoken"

    def __init__(self) -> None:
        self.module = import_module("tiktoken")

    def start(self) -> None:
        self.encoding = self.module.get_encoding("o200k_harmony")
        self.encode = self.encoding.encode_ordinary
        self.decode = self.encoding.decode


class Gigatoken:
    """`Tokenizer.encode(text).tolist()` is faster than `encode_batch_list([text])[0]`.

    The same holds against the calls of `as_tiktoken()`, which rest on the latter.
    """

    distribution = "gigatoken"

    def __init__(self) -> None:
        self.module = import_module("gigatoken")

    def start(self) -> None:
        # The name of the file tells gigatoken the splitting pattern, which is o200k_harmony's too.
        file = Path(os.environ[VOCABULARY], "o200k_base.tiktoken")
        self._backend = self.module.Tokenizer.from_tiktoken(file).backend
        # A NumPy array.
        self.encode_array = self._backend.encode

    def encode(self, text: str) -> list[int]:
        return self._backend.encode(text).tolist()

    def decode(self, tokens: list[int]) -> str:
        return self._backend.decode(tokens).decode("utf-8", "replace")


class Fastokens:
    """`encode_batch_flat` of one text is the only call without Python ints: it gives bytes."""

    distribution = "fastokens"

    def __init__(self) -> None:
        self.module = import_module("fastokens")

    def start(self) -> None:
        file = str(Path(os.environ[VOCABULARY], "o200k_base.tiktoken"))
        self._tokenizer = self.module.Tokenizer.from_tiktoken(file, encoding="o200k_base")

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode_ordinary(text).ids

    def encode_array(self, text: str) -> bytes:
        return self._tokenizer.encode_batch_flat([text])[0]

    def decode(self, tokens: list[int]) -> str:
        return self._tokenizer.decode(tokens)


ADAPTERS: dict[str, Any] = {
    "ours": Harmony,
    "0.0.8": Harmony,
    "tiktoken": Tiktoken,
    "gigatoken": Gigatoken,
    "fastokens": Fastokens,
}


def adapter(peer: str) -> Any:
    return ADAPTERS[peer]()


def version(peer: str) -> str:
    return metadata.version(ADAPTERS[peer].distribution)
