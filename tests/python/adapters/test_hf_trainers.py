"""transformers' pipeline and TRL's trainers run on the tokenizer, with a tiny model on a CPU."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

os.environ.update(HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1", TRL_EXPERIMENTAL_SILENCE="1")
transformers = pytest.importorskip(
    "transformers", reason="make test-adapters installs transformers"
)
pytest.importorskip("torch", reason="make test-adapters installs PyTorch")

from adapters.headers import TOOL  # noqa: E402
from adapters.test_hf import ANSWER, EPISODE, USER  # noqa: E402
from openai_harmony.adapters.hf import HarmonyTokenizer  # noqa: E402
from tiny_gpt_oss import arguments, tiny_gpt_oss  # noqa: E402


@pytest.fixture(scope="module")
def mine() -> Any:
    return HarmonyTokenizer()


@pytest.mark.filterwarnings("ignore")
def test_a_pipeline_generates(mine: Any) -> None:
    pipeline = transformers.pipeline(
        "text-generation", model=tiny_gpt_oss(), tokenizer=mine, device="cpu"
    )
    [made] = pipeline([USER], max_new_tokens=4, do_sample=False)
    assert made["generated_text"][0] == USER
    assert made["generated_text"][-1]["role"] == "assistant"
    [made] = pipeline("Hi", max_new_tokens=4, do_sample=False)
    assert made["generated_text"].startswith("Hi")


def trained_with(trainer_of: Any, mine: Any, rows: Any, tmp_path: Path, config: Any) -> Any:
    datasets = pytest.importorskip("datasets", reason="make test-adapters installs datasets")
    dataset = datasets.Dataset.from_list(rows)
    return trainer_of(
        args=arguments(config, tmp_path), train_dataset=dataset, processing_class=mine
    )


@pytest.mark.filterwarnings("ignore")
def test_sft_trains_what_the_mask_has(mine: Any, tmp_path: Path) -> None:
    trl = pytest.importorskip("trl", reason="make test-adapters installs TRL")
    rows = [
        {"messages": EPISODE, "tools": [TOOL]},
        {"messages": [USER, ANSWER], "tools": [TOOL]},
    ] * 2

    def trainer_of(**options: Any) -> Any:
        return trl.SFTTrainer(model=tiny_gpt_oss(), **options)

    def config(**options: Any) -> Any:
        return trl.SFTConfig(max_steps=2, assistant_only_loss=True, max_length=None, **options)

    trainer = trained_with(trainer_of, mine, rows, tmp_path, config)
    expected = mine.apply_chat_template(EPISODE, tools=[TOOL], return_assistant_tokens_mask=True)
    row = trainer.train_dataset[0]
    assert row["input_ids"] == expected["input_ids"]
    labels = zip(expected["input_ids"], expected["assistant_masks"])
    assert row["labels"] == [token if trained else -100 for token, trained in labels]
    trainer.train()
    assert trainer.state.global_step == 2


@pytest.mark.filterwarnings("ignore")
def test_sft_and_dpo_take_prompts_and_completions(mine: Any, tmp_path: Path) -> None:
    trl = pytest.importorskip("trl", reason="make test-adapters installs TRL")
    pair = [{"prompt": [USER], "completion": [ANSWER]}] * 2
    wrong = {"role": "assistant", "content": "It is dry."}
    preference = [{"prompt": [USER], "chosen": [ANSWER], "rejected": [wrong]}] * 2
    for rows, trainer_class, config_class in [
        (pair, trl.SFTTrainer, trl.SFTConfig),
        (preference, trl.DPOTrainer, trl.DPOConfig),
    ]:
        more = {"ref_model": tiny_gpt_oss()} if trainer_class is trl.DPOTrainer else {}

        def trainer_of(kind: Any = trainer_class, more: Any = more, **options: Any) -> Any:
            return kind(model=tiny_gpt_oss(), **more, **options)

        def config(kind: Any = config_class, **options: Any) -> Any:
            return kind(max_steps=2, per_device_train_batch_size=2, **options)

        trainer = trained_with(trainer_of, mine, rows, tmp_path, config)
        trainer.train()
        assert trainer.state.global_step == 2


@pytest.mark.filterwarnings("ignore")
def test_grpo_trains_with_its_own_tools(mine: Any, tmp_path: Path) -> None:
    trl = pytest.importorskip("trl", reason="make test-adapters installs TRL")

    def get_weather(city: str, days: list[int]) -> str:
        """Look up the weather.

        Args:
            city: Its name.
            days: Which days.
        """
        return "rain"

    def odd(completions: Any, **_: Any) -> list[float]:
        return [float(len(str(each)) % 2) for each in completions]

    def trainer_of(**options: Any) -> Any:
        return trl.GRPOTrainer(
            model=tiny_gpt_oss(), reward_funcs=odd, tools=[get_weather], **options
        )

    def config(**options: Any) -> Any:
        return trl.GRPOConfig(
            max_steps=2,
            per_device_train_batch_size=4,
            num_generations=4,
            max_completion_length=8,
            **options,
        )

    trainer = trained_with(trainer_of, mine, [{"prompt": [USER]}] * 4, tmp_path, config)
    trainer.train()
    assert trainer.state.global_step == 2
