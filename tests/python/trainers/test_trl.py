"""TRL reads the columns "trl": its collator, and its SFTTrainer with a model of random weights."""

from __future__ import annotations

import json
import os
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

# Before the first import of it: no trainer reports to anybody.
os.environ.update(HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1", WANDB_DISABLED="true")

trl = pytest.importorskip("trl", reason="make trainers installs TRL")
torch = pytest.importorskip("torch", reason="make trainers installs PyTorch")
datasets = pytest.importorskip("datasets", reason="make trainers installs datasets")

from chats import chats, mixed_chats  # noqa: E402
from fences import DOCS, fenced  # noqa: E402
from openai_harmony.training import LossMask, render  # noqa: E402
from tiny_gpt_oss import arguments, tiny_gpt_oss, tokenizer_of_one_word  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

PAD = 199999
BATCH = render(chats(12), format="chat", mask=LossMask(channels=["final"]))


def trained(labels: Any) -> list[list[int]]:
    """The labels of each row that are in the loss."""
    return [row[row != -100].tolist() for row in labels]


EXPECTED = [[t for t, m in zip(e.tokens, e.loss_mask) if m] for e in BATCH]


def test_the_collator_takes_the_rows() -> None:
    from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

    rows = BATCH.to_arrow("trl").to_pylist()
    padded = DataCollatorForLanguageModeling(pad_token_id=PAD)(rows)
    assert padded["input_ids"].dtype == padded["labels"].dtype == torch.int64
    assert trained(padded["labels"]) == EXPECTED
    for index, example in enumerate(BATCH):
        tokens = padded["input_ids"][index]
        assert tokens[: len(example.tokens)].tolist() == list(example.tokens)
        assert set(tokens[len(example.tokens) :].tolist()) <= {PAD}
    free = DataCollatorForLanguageModeling(pad_token_id=PAD, padding_free=True)(rows)
    assert trained(free["labels"]) == [list(chain.from_iterable(EXPECTED))]


@pytest.fixture(scope="module")
def trainer_of() -> Any:
    def make(folder: Path, dataset: Any, **options: Any) -> Any:
        options = {"max_steps": 1, "max_length": 4096, **options}
        return trl.SFTTrainer(
            model=tiny_gpt_oss(hidden_size=8, intermediate_size=8, head_dim=4, pad_token_id=0),
            args=arguments(trl.SFTConfig, folder, per_device_train_batch_size=16, **options),
            train_dataset=dataset,
            processing_class=tokenizer_of_one_word(),
        )

    return make


def stored(folder: Path, columns: Any = None) -> Any:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = str(folder / "rows.parquet")
    parquet.write_table(BATCH.to_arrow("trl"), path)
    return datasets.Dataset.from_parquet(path, cache_dir=str(folder), columns=columns)


AS_IT_IS = {"dataset_kwargs": {"skip_prepare_dataset": True}}


@pytest.mark.parametrize("options", [{}, AS_IT_IS], ids=["prepared", "as it is"])
def test_the_trainer_takes_the_labels(options: Any, tmp_path: Path, trainer_of: Any) -> None:
    trainer = trainer_of(tmp_path, stored(tmp_path), **options)
    [batch] = list(trainer.get_train_dataloader())
    assert sorted(trained(batch["labels"])) == sorted(EXPECTED)


def test_the_trainer_takes_the_masks(tmp_path: Path, trainer_of: Any) -> None:
    """Without labels it makes its own."""
    dataset = stored(tmp_path, ["input_ids", "assistant_masks"])
    trainer = trainer_of(tmp_path, dataset)
    [batch] = list(trainer.get_train_dataloader())
    assert sorted(trained(batch["labels"])) == sorted(EXPECTED)


def test_packing_keeps_the_labels(tmp_path: Path, trainer_of: Any) -> None:
    trainer = trainer_of(tmp_path, stored(tmp_path), packing=True, packing_strategy="wrapped")
    labels = [label for row in trainer.train_dataset["labels"] for label in row if label != -100]
    assert sorted(labels) == sorted(chain.from_iterable(EXPECTED))


def test_the_example_of_the_documents_trains(
    tmp_path: Path, trainer_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One step, without a GPU."""
    stored(tmp_path).select(range(1)).to_parquet(str(tmp_path / "train.parquet"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    other = trainer_of(tmp_path, stored(tmp_path))
    names: dict[str, Any] = {"model": other.model, "tokenizer": other.processing_class}
    here = "SFTConfig(max_steps=1, use_cpu=True, bf16=False, gradient_checkpointing=False, report_to=[], "
    exec(fenced("trl").replace("=SFTConfig(", f"={here}"), names)
    assert 0 < names["trainer"].state.log_history[-1]["train_loss"] < 100


def test_examples_of_a_pack_do_not_see_each_other_with_the_mask_of_the_documents() -> None:
    few = {"num_hidden_layers": 2, "sliding_window": 8, "initializer_range": 0.5}
    # In doubles, which only the plain loop over experts computes.
    plain = {"attn_implementation": "eager", "experts_implementation": "eager"}
    model = tiny_gpt_oss(**plain, **few).double().eval()
    assert set(model.config.layer_types) == {"full_attention", "sliding_attention"}
    names: dict[str, Any] = {}
    exec(fenced("packs"), names)
    rows = BATCH.pack(500).to_arrow("trl").to_pylist()[:2]
    packed = names["collate"](rows, window=8)
    lengths = [length for row in rows for length in row["seq_lengths"]]
    with torch.no_grad():
        parts = packed["input_ids"].split(lengths, dim=1)
        alone = torch.cat([model(part, use_cache=False).logits for part in parts], dim=1)
        found = model(**packed, use_cache=False).logits
        del packed["attention_mask"]
        unmasked = model(**packed, use_cache=False).logits
    assert len(parts) > 2
    torch.testing.assert_close(found, alone, atol=1e-5, rtol=0)
    # Position ids are not enough.
    assert (unmasked - alone).abs().max() > 0.1


def test_gpt_oss_has_no_sdpa() -> None:
    with pytest.raises(ValueError, match="scaled_dot_product_attention"):
        tiny_gpt_oss(attn_implementation="sdpa")


def test_packs_are_sequences_of_their_own(tmp_path: Path, trainer_of: Any) -> None:
    """TRL's collator counts positions from 0 in each example of a pack, and the labels are ours."""
    parquet = pytest.importorskip("pyarrow.parquet")
    path = str(tmp_path / "rows.parquet")
    packed = BATCH.pack(500)
    parquet.write_table(packed.to_arrow("trl"), path)
    dataset = datasets.Dataset.from_parquet(path, cache_dir=str(tmp_path))
    options = {"padding_free": True, "max_length": None, **AS_IT_IS}
    trainer = trainer_of(tmp_path, dataset, **options)
    [batch] = list(trainer.get_train_dataloader())
    starts = (batch["position_ids"][0] == 0).nonzero().flatten().tolist()
    assert len(starts) == len(BATCH) > len(packed.rows_of("trl")) - 1
    assert sorted(trained(batch["labels"])[0]) == sorted(chain.from_iterable(EXPECTED))
    trainer.train()
    assert 0 < trainer.state.log_history[-1]["train_loss"] < 100


def stored_model(other: Any, folder: Path) -> Any:
    """The same model from files, of which these trainers make the reference."""
    other.model.save_pretrained(folder / "tiny")
    return type(other.model).from_pretrained(folder / "tiny")


def preferences(folder: Path, columns: Any) -> tuple[str, Any]:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows: list[dict[str, Any]] = [
        {"prompt": f"{n} + 1?", "chosen": f"{n + 1}", "rejected": f"It may be {n}."}
        for n in range(2)
    ]
    # An agent's: the answer is a call, or follows a tool's result.
    tools = [{"name": "rain", "parameters": {"type": "object"}}]
    asked = {"role": "user", "content": "Rain?"}
    call = {
        "role": "assistant",
        "tool_calls": [{"function": {"name": "rain", "arguments": "{}"}}],
    }
    told = [asked, call, {"role": "tool", "content": "yes"}]
    rows += [
        {"prompt": [asked], "chosen": [call], "rejected": "No.", "tools": tools},
        {"prompt": told, "chosen": "Yes.", "rejected": "Never.", "tools": tools},
    ]
    table = render(rows, format="preference").to_arrow(columns)
    parquet.write_table(table, folder / "pairs.parquet")
    return str(folder / "pairs.parquet"), table.to_pylist()


def test_dpo_takes_the_tokens(
    tmp_path: Path, trainer_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The example of the documents, one step."""
    _, rows = preferences(tmp_path, "dpo")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    other = trainer_of(tmp_path, stored(tmp_path))
    model = stored_model(other, tmp_path)
    names: dict[str, Any] = {"model": model, "tokenizer": other.processing_class}
    here = "DPOConfig(max_steps=1, use_cpu=True, bf16=False, gradient_checkpointing=False, report_to=[], per_device_train_batch_size=4, "
    exec(fenced("dpo", DOCS / "training.md").replace("=DPOConfig(", f"={here}"), names)
    trainer = names["trainer"]
    [batch] = list(trainer.get_train_dataloader())
    answers = {tuple(row[name]) for row in rows for name in ("chosen_ids", "rejected_ids")}
    found = {
        tuple(ids[mask == 1].tolist())
        for ids, mask in zip(batch["input_ids"], batch["completion_mask"])
    }
    assert found == answers
    assert 0 < trainer.state.log_history[-1]["train_loss"] < 100


def test_kto_takes_the_tokens(tmp_path: Path, trainer_of: Any) -> None:
    path, rows = preferences(tmp_path, "kto")

    class ReadyKTOTrainer(trl.KTOTrainer):  # type: ignore[misc]
        def _prepare_dataset(self, dataset: Any, *args: Any, **options: Any) -> Any:
            return dataset

    other = trainer_of(tmp_path, stored(tmp_path))
    trainer = ReadyKTOTrainer(
        model=stored_model(other, tmp_path),
        args=arguments(
            trl.KTOConfig,
            tmp_path,
            loss_type="apo_zero_unpaired",
            max_length=None,
            max_steps=1,
            per_device_train_batch_size=8,
        ),
        train_dataset=datasets.Dataset.from_parquet(path, cache_dir=str(tmp_path)),
        processing_class=other.processing_class,
    )
    [batch] = list(trainer.get_train_dataloader())
    found = {
        (tuple(ids[mask == 1].tolist()), bool(label))
        for ids, mask, label in zip(batch["input_ids"], batch["completion_mask"], batch["label"])
    }
    assert found == {(tuple(row["completion_ids"]), row["label"]) for row in rows}
    trainer.train()
    assert 0 < trainer.state.log_history[-1]["train_loss"] < 100


def test_the_recipe_of_datasets_gives_rows_that_the_trainer_reads(
    tmp_path: Path, trainer_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = mixed_chats(3000)
    (tmp_path / "chats.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    names: dict[str, Any] = {}
    exec(fenced("datasets"), names)
    trainer = trainer_of(tmp_path, names["tokens"])
    batch = next(iter(trainer.get_train_dataloader()))
    whole = {tuple(labels) for labels in trained_labels(rows)}
    assert {tuple(row) for row in trained(batch["labels"])} <= whole
    trainer.train()
    assert 0 < trainer.state.log_history[-1]["train_loss"] < 100


def trained_labels(rows: list[Any]) -> list[list[int]]:
    return [[t for t, m in zip(e.tokens, e.loss_mask) if m] for e in render(rows, format="chat")]
