"""vLLM takes HarmonyTokenizer as any tokenizer: its own functions load it, render with it, and detokenize with it."""

from __future__ import annotations

import os
import pickle
from types import SimpleNamespace
from typing import Any

import pytest

os.environ.update(HF_HUB_OFFLINE="1", VLLM_NO_USAGE_STATS="1")
reason = "make test-engines installs vLLM"
tokenizers = pytest.importorskip("vllm.tokenizers", reason=reason)
detokenizer = pytest.importorskip("vllm.tokenizers.detokenizer_utils", reason=reason)

from adapters.test_hf import EPISODE, USER, prompt_of  # noqa: E402
from episodes import TEXTS  # noqa: E402
from openai_harmony.adapters.hf import HarmonyTokenizer  # noqa: E402

TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """As ``LLM(tokenizer=folder, trust_remote_code=True)`` loads it."""
    folder = tmp_path_factory.mktemp("tokenizer")
    HarmonyTokenizer().save_pretrained(folder)
    return tokenizers.get_tokenizer(folder, trust_remote_code=True)


def test_it_has_what_engines_ask_for(loaded: Any) -> None:
    mine = HarmonyTokenizer()
    for one in (loaded, pickle.loads(pickle.dumps(loaded))):
        assert (one.vocab_size, len(one), one.max_token_id) == (201_088, 201_088, 201_087)
        assert one.max_chars_per_token == max(map(len, mine.get_vocab()))
        assert (one.eos_token_id, one.pad_token_id) == (200_002, 199_999)
        assert one.all_special_ids == mine.all_special_ids
        assert one.num_special_tokens_to_add() == 0
        assert not one.is_fast
        assert one.truncation_side == "left"
        assert one("Hi", truncation=True, max_length=1)["input_ids"] == mine.encode("Hi")[-1:]


@pytest.mark.parametrize("text", [*TEXTS, "é🤷🏽<|channel|>final<|message|>a  b<|end|>\n"])
@pytest.mark.parametrize("skips", [True, False])
def test_it_detokenizes_token_by_token(loaded: Any, text: str, skips: bool) -> None:
    ids = loaded.encode(text)
    begun = loaded.encode("<|start|>assistant")
    names, start, end = detokenizer.convert_prompt_ids_to_tokens(loaded, begun, skips)
    said = ""
    for count in range(1, len(ids) + 1):
        new, part, start, end = detokenizer.detokenize_incrementally(
            loaded, [*begun, *ids[:count]], names, start, end, skips, False
        )
        names, said = [*names, *new], said + part
    assert said == loaded.decode(ids, skip_special_tokens=skips)


def test_it_renders_chats(loaded: Any) -> None:
    """The tokens are this package's, though vLLM hands the template over."""
    renderer = pytest.importorskip("vllm.renderers.hf", reason=reason)
    config = SimpleNamespace(
        tokenizer_revision=None, code_revision=None, tokenizer="", model="", trust_remote_code=True
    )
    for messages in (EPISODE[:2], EPISODE[:4], [USER]):
        given: Any = [dict(message) for message in messages]
        made = renderer.safe_apply_chat_template(
            config, loaded, given, tools=[TOOL], add_generation_prompt=True, documents=None
        )
        assert made == prompt_of(messages, tools=[TOOL])
