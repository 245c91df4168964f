"""TRL's GRPO trains on rollouts with tools, with a tiny gpt-oss of random weights."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

os.environ.update(HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1", TRL_EXPERIMENTAL_SILENCE="1")
trl = pytest.importorskip("trl", reason="make test-adapters installs TRL")
torch = pytest.importorskip("torch", reason="make test-adapters installs PyTorch")
accelerate = pytest.importorskip("accelerate", reason="make test-adapters installs accelerate")
transformers = pytest.importorskip(
    "transformers", reason="make test-adapters installs transformers"
)
datasets = pytest.importorskip("datasets", reason="make test-adapters installs datasets")

from trl.generation.vllm_generation import VLLMGeneration  # noqa: E402

from adapters.headers import ARGUMENTS, CASES, ENCODING, NAMES, tokens_of  # noqa: E402
from fences import DOCS, fenced  # noqa: E402
from openai_harmony import HarmonyError  # noqa: E402
from openai_harmony.adapters.trl import (  # noqa: E402
    RolloutFunction,
    Sampled,
    reward_said,
    sample_with_trainer,
)
from tiny_gpt_oss import arguments, tiny_gpt_oss, tokenizer_of_one_word  # noqa: E402

CALL = (
    "<|channel|>analysis<|message|>Look.<|end|><|start|>assistant"
    '<|channel|>commentary to=functions.add <|constrain|>json<|message|>{"a": 2, "b": 2}<|call|>'
)
RIGHT = "<|channel|>final<|message|>4<|return|>"
WRONG = "<|channel|>final<|message|>5<|return|>"
ROOMY = SimpleNamespace(max_completion_length=500)


def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


def get_weather(city: str, days: list[int]) -> str:
    """Look up the weather.

    Args:
        city: Its name.
        days: Which days.
    """
    assert {"city": city, "days": days} == ARGUMENTS
    return "rain"


def said_by(*texts: str, logprob: float | None = None) -> Any:
    """A sampler of these texts, one after the other, for every prompt."""
    left = iter(texts)

    def sample(trainer: Any, prompts: list[list[int]]) -> list[Sampled]:
        ids = tokens_of(next(left))
        logprobs = None if logprob is None else [logprob] * len(ids)
        return [(ids, logprobs) for _ in prompts]

    return sample


def columns_of(*texts: str, tools: Any = (add,), trainer: Any = ROOMY, **options: Any) -> Any:
    logprob = options.pop("logprob", None)
    function = RolloutFunction(tools, sample=said_by(*texts, logprob=logprob), **options)
    return function(["2 + 2?"], trainer)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_every_header_calls(case: Any) -> None:
    columns = columns_of(case["text"], RIGHT, tools=[get_weather])
    text = ENCODING.decode(columns["completion_ids"][0])
    assert text.startswith(case["text"])
    assert text.endswith(f"<|message|>rain<|end|><|start|>assistant{RIGHT}")


def test_the_mask_is_what_was_sampled() -> None:
    columns = columns_of(CALL, RIGHT, logprob=-0.5)
    [ids], [mask], [logprobs] = (
        columns[name] for name in ("completion_ids", "env_mask", "logprobs")
    )
    assert [i for i, m in zip(ids, mask) if m] == tokens_of(CALL) + tokens_of(RIGHT)
    between = [i for i, m in zip(ids, mask) if not m]
    assert ENCODING.decode(between) == (
        "<|start|>functions.add to=assistant<|channel|>commentary<|message|>4<|end|>"
        "<|start|>assistant"
    )
    assert logprobs == [-0.5 if m else 0.0 for m in mask]
    prompt = ENCODING.decode(columns["prompt_ids"][0])
    assert "type add = (_: {" in prompt
    assert prompt.endswith("2 + 2?<|end|><|start|>assistant")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('functions.add<|message|>{"a": 1}', '{"error": "add() missing 1 required'),
        ("functions.add<|message|>[1]", '{"error": "'),
        ("functions.add<|message|>{", '{"error": "'),
        ("functions.gone<|message|>{}", '{"error": "no tool has the name functions.gone"}'),
    ],
)
def test_a_call_that_fails_is_reported_to_the_model(call: str, expected: str) -> None:
    columns = columns_of(f"<|channel|>commentary to={call}<|call|>", RIGHT)
    assert f"<|message|>{expected}" in ENCODING.decode(columns["completion_ids"][0])


def test_where_an_episode_ends() -> None:
    whole, cut = tokens_of(CALL), tokens_of(CALL)[:-1]
    followed = columns_of(CALL, RIGHT)["completion_ids"][0][: -len(tokens_of(RIGHT))]
    at_limit = SimpleNamespace(max_completion_length=len(followed))
    before_limit = SimpleNamespace(max_completion_length=len(followed) + 1)
    [longest] = columns_of(CALL, RIGHT, trainer=before_limit)["completion_ids"]
    assert longest == followed + tokens_of(RIGHT)[:1]
    behind = SimpleNamespace(max_completion_length=len(cut))
    for columns, expected in [
        (columns_of(CALL, max_steps=1), whole),  # no result at the end
        (columns_of(CALL, trainer=at_limit), whole),  # no room for the result
        (columns_of(CALL, trainer=behind), cut),  # a call that is cut off does not run
        (columns_of(CALL.replace("<|call|>", "")), cut),
        (columns_of("<|channel|>fin"), tokens_of("<|channel|>fin")),
    ]:
        assert columns["completion_ids"] == [expected]
        assert columns["env_mask"] == [[1] * len(expected)]
        assert columns["logprobs"] is None


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="max_steps: expected 1 or more, got 0"):
        RolloutFunction(max_steps=0)
    result = {"role": "tool", "content": "4"}
    with pytest.raises(HarmonyError, match=r"messages\[0\]: no call is pending"):
        RolloutFunction(sample=said_by(RIGHT))([[result]], ROOMY)


def test_samples_of_the_trainers_vllm() -> None:
    def generate(*arguments: Any) -> Any:
        asked = inspect.signature(VLLMGeneration.generate).bind(None, *arguments).arguments
        assert (asked["prompts"], asked["images"], asked["num_generations"]) == (prompts, None, 1)
        # Of each token the sampled one is first, then others that were likely.
        return None, [[5, 6], [7]], [[[-0.5, -1.5], [-2.0, -0.25]], [[-3.0, -1.0]]], None

    prompts = [[1, 2], [3]]
    trainer = SimpleNamespace(use_vllm=True, vllm_generation=SimpleNamespace(generate=generate))
    samples = sample_with_trainer(trainer, prompts)
    assert samples == [([5, 6], [-0.5, -2.0]), ([7], [-3.0])]


def model_alone(model: Any, **options: Any) -> Any:
    """What sampling needs of a trainer without vLLM."""
    return SimpleNamespace(
        use_vllm=False,
        accelerator=accelerate.Accelerator(cpu=True),
        model_wrapped=model,
        generation_config=transformers.GenerationConfig(**options),
    )


def test_a_batch_samples_what_each_prompt_would() -> None:
    model = tiny_gpt_oss(pad_token_id=0).eval()
    trainer = model_alone(model, max_new_tokens=12, do_sample=False)
    prompts = [tokens_of(text) for text in ("Rain?", "a" * 50, "What is two and two, then?")]
    samples = sample_with_trainer(trainer, prompts)
    for prompt, sampled in zip(prompts, samples):
        ids = model.generate(
            torch.tensor([prompt]), generation_config=trainer.generation_config, eos_token_id=[]
        )
        assert sampled == (ids[0, len(prompt) :].tolist(), None)
    assert len({tuple(tokens) for tokens, _ in samples}) == 3


def test_the_padding_after_a_stop_token_is_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    model, pad = tiny_gpt_oss(pad_token_id=0), 199999
    rows = [[5, 200012, pad, pad], [5, 6, 7, 200002], [5, 6, 7, 8], [200002, 200012, 0, 0]]

    def generate(input_ids: Any, attention_mask: Any, **_: Any) -> Any:
        assert input_ids.tolist() == [[pad, pad, 1], [pad, 1, 2], [1, 2, 3], [pad, pad, 1]]
        assert attention_mask.tolist() == [[0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 1]]
        return torch.cat([input_ids, torch.tensor(rows)], dim=1)

    monkeypatch.setattr(model, "generate", generate)
    samples = sample_with_trainer(model_alone(model), [[1], [1, 2], [1, 2, 3], [1]])
    assert samples == [([5, 200012], None), (rows[1], None), (rows[2], None), ([200002], None)]


def test_rewards_of_channels() -> None:
    steps = columns_of(CALL, RIGHT)["steps"]
    correct = reward_said("answer", lambda texts, solution: float(texts == [solution]))
    assert correct(steps=steps, solution=["4"], prompts=["2 + 2?"]) == [1.0]
    assert correct(steps=steps, solution=["5"], prompts=["2 + 2?"]) == [0.0]
    assert reward_said("thought", len)(steps=steps) == [1]
    assert reward_said("thought", len).__name__ == "thought_len"
    assert correct.__name__ == "answer_reward"


@pytest.fixture
def trainer_of(tmp_path: Path) -> Any:
    def make(function: Any, reward: Any, **options: Any) -> Any:
        rows = [{"prompt": [{"role": "user", "content": "2 + 2?"}], "solution": "4"}] * 4
        return trl.GRPOTrainer(
            model=tiny_gpt_oss(pad_token_id=0),
            reward_funcs=reward,
            args=arguments(
                trl.GRPOConfig,
                tmp_path,
                per_device_train_batch_size=4,
                num_generations=4,
                logging_steps=1,
                **options,
            ),
            train_dataset=datasets.Dataset.from_list(rows),
            processing_class=tokenizer_of_one_word(),
            rollout_func=function,
        )

    return make


def preference(model: Any, prompt: list[int]) -> float:
    """By how much the model prefers the right answer, as a difference of log-probabilities."""
    [right], [wrong] = tokens_of("4"), tokens_of("5")
    before = tokens_of("<|channel|>final<|message|>")
    with torch.no_grad():
        logits = model(torch.tensor([prompt + before])).logits[0, -1]
    return float(logits[right] - logits[wrong])


@pytest.mark.filterwarnings("ignore")
def test_grpo_trains_on_it(trainer_of: Any) -> None:
    """Half of the episodes answer right: after training the model prefers that answer."""

    def sample(trainer: Any, prompts: list[list[int]]) -> list[Sampled]:
        if len(asked) % 2 == 0:
            texts = [CALL] * len(prompts)
        else:
            texts = [(RIGHT, WRONG)[index % 2] for index in range(len(prompts))]
        asked.append(prompts)
        return [(tokens_of(text), None) for text in texts]

    asked: list[list[list[int]]] = []
    correct = reward_said("answer", lambda texts, solution: float(texts == [solution]))
    function = RolloutFunction([add], sample=sample)
    trainer = trainer_of(function, correct, max_steps=10, learning_rate=1e-2)
    trainer.train()
    assert preference(trainer.model, asked[1][0]) > 0.5
    log = trainer.state.log_history[0]
    assert log["rewards/answer_reward/mean"] == 0.5
    sampled = 2 * len(tokens_of(CALL) + tokens_of(RIGHT))
    assert log["completions/mean_length"] == sampled / 2


@pytest.mark.filterwarnings("ignore")
def test_grpo_samples_with_its_model(trainer_of: Any) -> None:
    """What a model of random weights samples, too, is trained as it was sampled."""
    seen: list[Any] = []

    def sample(trainer: Any, prompts: list[list[int]]) -> list[Sampled]:
        samples = sample_with_trainer(trainer, prompts)
        seen.extend(tokens for tokens, _ in samples)
        return samples

    def odd(completion_ids: list[list[int]], **columns: Any) -> list[float]:
        assert completion_ids == seen[-4:]
        return [sum(n % 2 for n in ids) / len(ids) for ids in completion_ids]

    function = RolloutFunction(sample=sample)
    trainer = trainer_of(function, odd, max_steps=2, max_completion_length=20, learning_rate=1e-3)
    before = trainer.model.lm_head.weight.detach().clone()
    trainer.train()
    assert len(seen) == 8
    assert all(0 < len(tokens) <= 20 for tokens in seen)
    assert not torch.equal(before, trainer.model.lm_head.weight)


@pytest.mark.filterwarnings("ignore")
def test_the_example_of_the_guide(trainer_of: Any) -> None:
    def trainer(model: Any, train_dataset: Any, reward_funcs: Any, rollout_func: Any) -> Any:
        return trainer_of(rollout_func, reward_funcs, max_steps=1, max_completion_length=20)

    names = {"GRPOTrainer": trainer, "model": None, "rows": None}
    exec(fenced("trl", DOCS / "rollouts.md"), names)
    names["trainer"].train()  # type: ignore[attr-defined]
    log = names["trainer"].state.log_history[0]  # type: ignore[attr-defined]
    assert {"rewards/answer_reward/mean", "rewards/thought_reward/mean"} <= log.keys()
