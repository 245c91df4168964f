"""DPO, KTO and GRPO with tools, twenty steps each, on a tiny gpt-oss that was first taught to call a tool.

It is taught on rows of this package; then it samples its calls by itself, and TRL's trainers go on from there.
"""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any

import pytest

# Before the first import of it: no trainer reports to anybody.
os.environ.update(HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1", WANDB_DISABLED="true")

trl = pytest.importorskip("trl", reason="make trainers installs TRL")
torch = pytest.importorskip("torch", reason="make trainers installs PyTorch")
transformers = pytest.importorskip("transformers", reason="make trainers installs transformers")
datasets = pytest.importorskip("datasets", reason="make trainers installs datasets")

from openai_harmony.adapters.hf import HarmonyTokenizer  # noqa: E402
from openai_harmony.adapters.trl import (  # noqa: E402
    RolloutFunction,
    Sampled,
    reward_said,
    sample_with_trainer,
)
from openai_harmony.training import render  # noqa: E402
from tiny_gpt_oss import arguments, tiny_gpt_oss  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

STEPS = 20
TWENTY = {"max_steps": STEPS, "learning_rate": 1e-3, "logging_steps": 1}
TEACHING = 200
USER = {"role": "user", "content": "Rain in Oslo?"}
CALL = {"function": {"name": "rain", "arguments": {"city": "Oslo"}}}
CALLED = {"role": "assistant", "tool_calls": [CALL]}
RESULT = {"role": "tool", "name": "rain", "content": "yes"}


def rain(city: str) -> str:
    """Whether it rains.

    Args:
        city: Its name.
    """
    return "yes" if city == "Oslo" else "no"


TOOLS = [transformers.utils.get_json_schema(rain)]


def answer(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


# One after the other the model calls, and says one of two answers to the result.
TAUGHT = [{"messages": [USER, CALLED, RESULT, answer(text)], "tools": TOOLS} for text in "YN"]
PREFERENCES = [
    {"prompt": [USER], "chosen": [CALLED], "rejected": [answer("N")], "tools": TOOLS},
    {
        "prompt": [USER, CALLED, RESULT],
        "chosen": [answer("Y")],
        "rejected": [answer("N")],
        "tools": TOOLS,
    },
]


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return HarmonyTokenizer()


@pytest.fixture(scope="module")
def taught() -> Any:
    """A model that calls the tool, and answers one way or the other: taught by rows of this package."""
    model = tiny_gpt_oss(intermediate_size=32, num_hidden_layers=2, head_dim=16)
    batch = render(TAUGHT, format="chat")
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    slower = torch.optim.lr_scheduler.LinearLR(optimizer, 1, 0.05, TEACHING)
    for step in range(TEACHING):
        example = batch[step % len(batch)]
        ids = torch.tensor([list(example.tokens)])
        trained = torch.tensor(list(example.loss_mask), dtype=torch.bool)[1:]
        # Of trained tokens only: a row of the vocabulary for each is what takes time.
        hidden = model.model(ids).last_hidden_state[0, :-1][trained]
        loss = torch.nn.functional.cross_entropy(model.lm_head(hidden), ids[0, 1:][trained])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        slower.step()
    # What is left are the two answers.
    assert loss.item() < 0.2
    return model


def logits_of(model: Any, tokenizer: Any, texts: str) -> list[float]:
    """Of each first letter of an answer, how much the model wants it after the result."""
    prompt = tokenizer.apply_chat_template(
        [USER, CALLED, RESULT], tools=TOOLS, add_generation_prompt=True, return_dict=False
    )
    begun = [*prompt, *tokenizer.encode("<|channel|>final<|message|>")]
    with torch.no_grad():
        logits = model(torch.tensor([begun])).logits[0, -1]
    return [float(logits[tokenizer.encode(text)[0]]) for text in texts]


def prefers_yes(model: Any, tokenizer: Any) -> float:
    yes, no = logits_of(model, tokenizer, "YN")
    return yes - no


def test_dpo_of_messages_with_tools(taught: Any, tokenizer: Any, tmp_path: Path) -> None:
    """TRL makes the tokens, by the tokenizer."""
    model = copy.deepcopy(taught)
    trainer = trl.DPOTrainer(
        model=model,
        ref_model=copy.deepcopy(taught),
        args=arguments(
            trl.DPOConfig, tmp_path, **TWENTY, per_device_train_batch_size=2, max_length=None
        ),
        train_dataset=datasets.Dataset.from_list(PREFERENCES),
        processing_class=tokenizer,
    )
    trainer.train()
    assert trainer.state.global_step == STEPS
    assert prefers_yes(model, tokenizer) > prefers_yes(taught, tokenizer)
    assert trainer.state.log_history[-2]["rewards/accuracies"] == 1


@pytest.mark.parametrize("columns", ["dpo", "kto"])
def test_preferences_of_this_package(
    columns: Any, taught: Any, tokenizer: Any, tmp_path: Path
) -> None:
    kind, config = {
        "dpo": (trl.DPOTrainer, trl.DPOConfig),
        "kto": (trl.KTOTrainer, trl.KTOConfig),
    }[columns]
    more = {"loss_type": "apo_zero_unpaired"} if columns == "kto" else {}

    class Ready(kind):  # type: ignore[misc, valid-type]
        def _prepare_dataset(self, dataset: Any, *args: Any, **options: Any) -> Any:
            return dataset

    rows = render(PREFERENCES, format="preference").to_arrow(columns).to_pylist()
    model = copy.deepcopy(taught)
    trainer = Ready(
        model=model,
        ref_model=copy.deepcopy(taught),
        args=arguments(
            config, tmp_path, **TWENTY, per_device_train_batch_size=4, max_length=None, **more
        ),
        train_dataset=datasets.Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    trainer.train()
    assert trainer.state.global_step == STEPS
    assert prefers_yes(model, tokenizer) > prefers_yes(taught, tokenizer)


def test_grpo_with_tools(taught: Any, tokenizer: Any, tmp_path: Path) -> None:
    """The model samples its calls itself; the answer that is rewarded becomes the likelier one."""
    lengths: list[int] = []

    def sample(trainer: Any, prompts: list[list[int]]) -> list[Sampled]:
        lengths.append(len(prompts))
        return sample_with_trainer(trainer, prompts)

    function = RolloutFunction([rain], sample=sample, max_steps=3)
    says_yes = reward_said("answer", lambda texts: float(texts == ["Y"]))
    calls = reward_said("call", lambda texts: float(len(texts) == 1))
    model = copy.deepcopy(taught)
    trainer = trl.GRPOTrainer(
        model=model,
        reward_funcs=[says_yes, calls],
        args=arguments(
            trl.GRPOConfig,
            tmp_path,
            **TWENTY,
            per_device_train_batch_size=2,
            num_generations=2,
            max_completion_length=48,
        ),
        train_dataset=datasets.Dataset.from_list([{"prompt": [USER]}] * 2),
        processing_class=tokenizer,
        rollout_func=function,
    )
    trainer.train()
    assert trainer.state.global_step == STEPS
    logs = [log for log in trainer.state.log_history if "reward" in log]
    called = [log["rewards/call_reward/mean"] for log in logs]
    assert sum(called) > STEPS / 2, called
    # After the calls, the answers are sampled.
    assert len(lengths) > 1.5 * STEPS
    assert prefers_yes(model, tokenizer) > prefers_yes(taught, tokenizer)
