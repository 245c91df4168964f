"""Megatron's own reader reads the files, and its GPT dataset takes the loss masks."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("torch", reason="make trainers installs PyTorch")
with warnings.catch_warnings():  # It misses packages for GPUs.
    warnings.simplefilter("ignore")
    reason = "make trainers installs megatron-core"
    indexed = pytest.importorskip("megatron.core.datasets.indexed_dataset", reason=reason)
    gpt = pytest.importorskip("megatron.core.datasets.gpt_dataset", reason=reason)

from chats import chats  # noqa: E402
from fences import fenced  # noqa: E402
from openai_harmony.training import render  # noqa: E402
from openai_harmony.training.megatron import MegatronWriter  # noqa: E402


def test_the_indexed_dataset(tmp_path: Path) -> None:
    batches = [render(chats(20, seed=seed), format="chat") for seed in range(2)]
    with MegatronWriter(tmp_path / "train") as writer:
        for batch in batches:
            writer.write(batch)
    examples = [example for batch in batches for example in batch]
    for end, kind in (("", np.int32), (".loss_mask", np.uint8)):
        prefix = f"{tmp_path}/train{end}"
        assert indexed.IndexedDataset.exists(prefix)
        stored = indexed.IndexedDataset(prefix)
        assert (len(stored), stored.index.dtype) == (len(examples), kind)
        assert stored.document_indices.tolist() == list(range(len(examples) + 1))
        for index, example in enumerate(examples):
            expected = example.loss_mask if end else example.tokens
            assert stored[index].tolist() == list(expected)
            assert stored.get(index, offset=3, length=5).tolist() == list(expected[3:8])


def test_megatron_writes_the_same_bytes(tmp_path: Path) -> None:
    batch = render(chats(20), format="chat")
    batch.write_megatron(tmp_path / "ours")
    builder = indexed.IndexedDatasetBuilder(f"{tmp_path}/theirs.bin", dtype=np.int32)
    for example in batch:
        builder.add_document(np.asarray(example.tokens), [len(example.tokens)])
    builder.finalize(f"{tmp_path}/theirs.idx")
    for suffix in ("bin", "idx"):
        theirs = (tmp_path / f"theirs.{suffix}").read_bytes()
        assert (tmp_path / f"ours.{suffix}").read_bytes() == theirs


class Vocabulary:
    """What the GPT dataset asks of a tokenizer."""

    eod, pad, vocab_size = 200_002, 199_999, 201_088
    unique_identifiers: dict[str, str] = {}  # noqa: RUF012


def test_the_gpt_dataset_takes_the_masks(tmp_path: Path) -> None:
    batch = render(chats(40), format="chat")
    prefix = f"{tmp_path}/train"
    batch.write_megatron(prefix)
    config = gpt.GPTDatasetConfig(
        random_seed=1,
        sequence_length=64,
        blend=([prefix], None),
        split="100,0,0",
        path_to_cache=f"{tmp_path}/cache",
        tokenizer=Vocabulary(),
        reset_position_ids=False,
        reset_attention_mask=False,
        eod_mask_loss=False,
        mid_level_dataset_surplus=0.005,
    )
    tokens = indexed.IndexedDataset(prefix)
    train = gpt.Split.train
    names: dict[str, Any] = {}
    exec(fenced("megatron"), names)
    dataset = names["MaskedGPTDataset"](tokens, prefix, np.arange(len(tokens)), None, train, config)
    # Samples are 64 tokens each, of documents one after the other.
    order = dataset.document_index
    flat = np.concatenate([list(batch[int(i)].tokens) for i in order])
    masks = np.concatenate([list(batch[int(i)].loss_mask) for i in order])
    assert len(dataset) > 50
    for index in range(len(dataset)):
        begin = int(dataset.shuffle_index[index]) * 64
        sample = dataset[index]
        assert sample["labels"].tolist() == flat[begin + 1 : begin + 65].tolist()
        assert sample["loss_mask"].tolist() == masks[begin + 1 : begin + 65].tolist()
