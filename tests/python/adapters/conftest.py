"""gpt-oss' tokenizer as transformers has it, made of this package's own vocabulary."""

from __future__ import annotations

import sys
import typing
from typing import Any

import pytest
import typing_extensions

from adapters.headers import ENCODING

# OpenAI's expression of o200k; `checks/tests/tokenizer_equivalence.rs` holds this package against it.
PIECES = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
if sys.version_info < (3, 12):
    # SkyRL asks for 3.12; before, pydantic wants the other one, which its classes would not use.
    typing.TypedDict = typing_extensions.TypedDict

FIRST_SPECIAL, LAST_SPECIAL = 199_998, 201_087


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    reason = "make test-adapters installs transformers"
    transformers = pytest.importorskip("transformers", reason=reason)
    from tokenizers import AddedToken
    from transformers.convert_slow_tokenizer import TikTokenConverter

    from openai_harmony.vocabulary import write_vocabulary

    path = write_vocabulary(tmp_path_factory.mktemp("vocabulary"))
    fast = TikTokenConverter(vocab_file=str(path), pattern=PIECES).converted()
    fast.post_processor = None
    fast.add_special_tokens(
        [
            AddedToken(ENCODING.decode([token]), normalized=False, special=True)
            for token in range(FIRST_SPECIAL, LAST_SPECIAL + 1)
        ]
    )
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=fast, eos_token="<|return|>", pad_token="<|endoftext|>"
    )
    made.name_or_path = "openai/gpt-oss-20b"
    assert made.convert_tokens_to_ids("<|call|>") == ENCODING.special_token("<|call|>")
    return made
