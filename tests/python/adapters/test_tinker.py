"""tinker-cookbook takes the renderers, and an episode in its environment is one datum."""

from __future__ import annotations

import asyncio
import json
import pickle
from typing import Any

import pytest

pytest.importorskip("tinker_cookbook", reason="make test-adapters installs tinker-cookbook")

from tinker_cookbook import tokenizer_utils
from tinker_cookbook.completers import TokensWithLogprobs
from tinker_cookbook.renderers import get_renderer, is_renderer_registered
from tinker_cookbook.renderers.base import (
    ParseTermination,
    RenderContext,
    ToolCall,
    TrainOnWhat,
    message_to_jsonable,
)
from tinker_cookbook.rl import types
from tinker_cookbook.rl.data_processing import trajectory_to_data
from tinker_cookbook.rl.message_env import (
    EnvFromMessageEnv,
    MessageEnv,
    MessageStepResult,
)

import openai_harmony.adapters.tinker as adapter
from adapters.headers import ARGUMENTS, CASES, ENCODING, NAMES, TOOL, tokens_of
from fences import DOCS, fenced
from openai_harmony import HarmonyError
from openai_harmony.interop import chat_completions

NAME = "openai_harmony/gpt_oss_medium_reasoning"
KEEPING = f"{NAME}_preserve_thinking"
SPEC = TOOL["function"]
USER = {"role": "user", "content": "Weather in Lima?"}
CALL = ToolCall(function=ToolCall.FunctionBody(name="get_weather", arguments='{"city": "Lima"}'))
THOUGHT = {"type": "thinking", "thinking": "Look."}
ASKED = {"role": "assistant", "content": [THOUGHT], "tool_calls": [CALL]}
RESULT = {"role": "tool", "name": "get_weather", "content": "rain"}
ANSWER = {"role": "assistant", "content": "It rains."}
EPISODE = [USER, ASKED, RESULT, ANSWER]
FINAL = "<|channel|>final<|message|>It rains.<|return|>"


@pytest.fixture
def make(tokenizer: Any) -> Any:
    return lambda name=NAME: get_renderer(name, tokenizer)


def text_of(model_input: Any) -> str:
    return ENCODING.decode(model_input.to_ints())


def prefix_of(renderer: Any, words: str = "Be brief.") -> Any:
    return renderer.create_conversation_prefix_with_tools([SPEC], words)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_every_header_is_a_call_and_goes_on(case: Any, make: Any) -> None:
    renderer, sampled = make(), tokens_of(case["text"])
    message, termination = renderer.parse_response(sampled)
    [call] = message["tool_calls"]
    assert termination == ParseTermination.STOP_SEQUENCE
    assert call.function.name == "get_weather"
    assert json.loads(call.function.arguments) == ARGUMENTS
    asked = [*prefix_of(renderer), USER]
    prompt = renderer.build_generation_prompt(asked).to_ints()
    following = renderer.build_generation_prompt([*asked, message, RESULT]).to_ints()
    assert following[: len(prompt + sampled)] == prompt + sampled
    assert ENCODING.decode(following[len(prompt + sampled) :]) == (
        "<|start|>functions.get_weather to=assistant<|channel|>commentary<|message|>rain<|end|>"
        "<|start|>assistant"
    )


def test_what_became_of_a_call(make: Any) -> None:
    for sampled, error in [
        ('functions.a json<|message|>{"a": 1', "The call was cut off"),
        ("functions.a<|message|>no<|call|>", "Invalid JSON: expected an object"),
    ]:
        text = f"<|channel|>commentary to={sampled}"
        message, _ = make().parse_response(tokens_of(text))
        [call] = message["unparsed_tool_calls"]
        assert (call.raw_text, call.error) == (text, error)
        assert "tool_calls" not in message
    python = tokens_of("<|channel|>analysis to=python code<|message|>1 + 1<|call|>")
    [call] = make().parse_response(python)[0]["tool_calls"]
    assert call.function == ToolCall.FunctionBody(name="python", arguments="1 + 1")


def test_how_sampling_ended(make: Any) -> None:
    for text, termination, content in [
        (FINAL, ParseTermination.STOP_SEQUENCE, [{"type": "text", "text": "It rains."}]),
        (FINAL[:-10], ParseTermination.MALFORMED, [{"type": "text", "text": "It rains."}]),
        (FINAL + FINAL, ParseTermination.STOP_SEQUENCE, [{"type": "text", "text": "It rains."}]),
        ("", ParseTermination.MALFORMED, []),
        ("Hm", ParseTermination.MALFORMED, [{"type": "text", "text": "Hm"}]),
        ("<|channel|>analysis<|message|>Look.", ParseTermination.MALFORMED, [THOUGHT]),
    ]:
        message, ended = make().parse_response(tokens_of(text))
        assert (message["content"], ended) == (content, termination)
        assert message[adapter.TOKENS] == tokens_of(text)[: len(tokens_of(FINAL))]
        assert message.keys() == {"role", "content", adapter.TOKENS}
        assert message_to_jsonable(message)["content"] == content


def test_prompts_are_this_packages_own(make: Any) -> None:
    renderer = make("openai_harmony/gpt_oss_high_reasoning")
    system = {"role": "system", "content": "Be brief."}
    arguments = {"name": "get_weather", "arguments": '{"city": "Lima"}'}
    asked = {"role": "assistant", "reasoning_content": "Look."}
    body = {
        "messages": [system, USER, {**asked, "tool_calls": [{"function": arguments}]}, RESULT],
        "tools": [TOOL],
        "reasoning_effort": "high",
    }
    made = renderer.build_generation_prompt([*prefix_of(renderer), *EPISODE[:3]])
    assert made.to_ints() == chat_completions.read(body, date=None).prompt(ENCODING)
    assert text_of(renderer.build_generation_prompt([USER], prefill="It")).endswith(
        "<|start|>assistant<|channel|>final<|message|>It"
    )
    with pytest.raises(ValueError, match="role: only the assistant samples, got 'user'"):
        renderer.build_generation_prompt([USER], role="user")


def test_what_a_renderer_says_of_itself(make: Any, tokenizer: Any) -> None:
    renderer = make()
    assert renderer.tokenizer is tokenizer
    assert renderer.has_extension_property is False
    assert renderer.get_stop_sequences() == [200002, 200012]


def test_the_date(tokenizer: Any) -> None:
    for date in ("2026-01-02", None):
        renderer = adapter.HarmonyRenderer(tokenizer, date=date)
        body = {"messages": [USER], "reasoning_effort": "medium"}
        expected = chat_completions.read(body, date=date).prompt(ENCODING)
        assert renderer.build_generation_prompt([USER]).to_ints() == expected


def test_what_the_model_could_not_read_is_refused(make: Any) -> None:
    with pytest.raises(HarmonyError, match=r"messages\[1\].name: no call of"):
        make().build_generation_prompt([USER, RESULT])


def test_where_sampled_tokens_cannot_stay(make: Any) -> None:
    renderer = make()
    first = renderer.build_generation_prompt([USER]).to_ints()
    thought = "<|channel|>analysis<|message|>Look.<|end|><|start|>assistant"
    sampled = tokens_of(thought + FINAL)
    message, _ = renderer.parse_response(sampled)
    episode = [USER, message, {"role": "user", "content": "And then?"}]
    dropped = text_of(renderer.build_generation_prompt(episode))
    assert "Look." not in dropped
    assert "It rains.<|end|><|start|>user" in dropped
    kept = make(KEEPING).build_generation_prompt(episode).to_ints()
    assert kept[: len(first + sampled)] == first + sampled
    # An environment that changes what was said means what it says.
    changed = {**message, "content": [{"type": "text", "text": "Other."}]}
    assert "Other.<|end|>" in text_of(renderer.build_generation_prompt([USER, changed, USER]))


@pytest.mark.parametrize("train_on", list(TrainOnWhat))
def test_what_is_trained(train_on: TrainOnWhat, make: Any) -> None:
    renderer = make()
    earlier = [USER, {"role": "assistant", "content": "Which?"}]
    episode = [*prefix_of(renderer), *earlier, *EPISODE]
    if train_on == TrainOnWhat.CUSTOMIZED:
        episode = [{**message, "trainable": message is RESULT} for message in episode]
        episode[-2]["trainable"] = True
    model_input, weights = renderer.build_supervised_example(episode, train_on)
    assert len(weights) == model_input.length
    trained = [t for t, w in zip(model_input.to_ints(), weights.tolist()) if w]
    asked = (
        "<|channel|>analysis<|message|>Look.<|end|><|start|>assistant<|channel|>commentary "
        'to=functions.get_weather <|constrain|>json<|message|>{"city": "Lima"}<|call|>'
    )
    earlier_answer = "<|channel|>final<|message|>Which?"
    expected = {
        TrainOnWhat.LAST_ASSISTANT_MESSAGE: FINAL,
        TrainOnWhat.LAST_ASSISTANT_TURN: asked + FINAL,
        TrainOnWhat.ALL_ASSISTANT_MESSAGES: earlier_answer + asked + FINAL,
        TrainOnWhat.ALL_TOKENS: text_of(model_input),
        TrainOnWhat.CUSTOMIZED: "rain",
        TrainOnWhat.ALL_USER_AND_SYSTEM_MESSAGES: "Be brief.\n\n" + 2 * "Weather in Lima?",
        TrainOnWhat.ALL_MESSAGES: "Be brief.\n\nWeather in Lima?"
        + f"{earlier_answer}Weather in Lima?{asked}rain{FINAL}",
    }
    assert ENCODING.decode(trained) == expected[train_on]
    if train_on == TrainOnWhat.LAST_ASSISTANT_MESSAGE:
        prompt = renderer.build_generation_prompt(episode[:-1]).to_ints()
        assert model_input.to_ints()[: len(prompt)] == prompt


def test_the_last_messages_are_trained(make: Any) -> None:
    first = {"role": "assistant", "content": "Which?"}
    for messages, train_on, expected in [
        ([USER, first, ANSWER], TrainOnWhat.LAST_ASSISTANT_MESSAGE, FINAL),
        ([ANSWER], TrainOnWhat.LAST_ASSISTANT_TURN, FINAL),
        ([USER, ANSWER, USER], TrainOnWhat.LAST_ASSISTANT_MESSAGE, ""),
    ]:
        model_input, weights = make().build_supervised_example(messages, train_on)
        trained = [t for t, w in zip(model_input.to_ints(), weights.tolist()) if w]
        assert ENCODING.decode(trained) == expected


def test_examples_of_a_conversation(make: Any) -> None:
    """One for each message that is trained, since an answer's end changes in a history."""
    examples = make().build_supervised_examples(EPISODE, TrainOnWhat.ALL_ASSISTANT_MESSAGES)
    assert [text_of(example).rpartition("<|message|>")[2] for example, _ in examples] == [
        '{"city": "Lima"}<|call|>',
        "It rains.<|return|>",
    ]


def test_one_message_alone(make: Any) -> None:
    """A header, and what the message says; together they are the conversation."""
    renderer = make()
    episode = [*prefix_of(renderer), *EPISODE]
    made: list[tuple[str, str]] = []
    for index, message in enumerate(episode):
        context = RenderContext(idx=index, is_last=message is ANSWER)
        rendered = renderer.render_message(message, context)
        made.append(
            (ENCODING.decode(rendered.header.tokens), ENCODING.decode(rendered.output[0].tokens))
        )
    whole = text_of(renderer.build_supervised_example(episode)[0])
    system, _, rest = whole.partition("<|start|>developer")
    assert system.count("<|start|>") == 1
    assert "".join(header + said for header, said in made) == "<|start|>developer" + rest
    assert made[0][0] == "<|start|>developer<|message|># Instructions\n\n"
    assert made[0][1].startswith("Be brief.\n\n# Tools")
    assert [header for header, _ in made[1:]] == [
        "<|start|>user<|message|>",
        "<|start|>assistant",
        "<|start|>functions.get_weather to=assistant<|channel|>commentary<|message|>",
        "<|start|>assistant",
    ]
    assert made[-1][1] == FINAL
    earlier = renderer.render_message(ANSWER, RenderContext(idx=1, is_last=False))
    assert ENCODING.decode(earlier.output[0].tokens).endswith("It rains.<|end|>")


def test_a_message_without_words(make: Any) -> None:
    empty = {"role": "user", "content": ""}
    rendered = make().render_message(empty, RenderContext(idx=0, is_last=False))
    assert ENCODING.decode(rendered.header.tokens) == "<|start|>user<|message|><|end|>"
    assert list(rendered.output[0].tokens) == []


def test_messages_of_openai(make: Any) -> None:
    call = {"name": "get_weather", "arguments": '{"city": "Lima"}'}
    calls = [{"type": "function", "id": None, "function": call}]
    texts = [{"type": "text", "text": "I "}, {"type": "text", "text": "look."}]
    for message, expected in [
        (ANSWER, ANSWER),
        (
            {**ASKED, "content": [THOUGHT, THOUGHT, *texts]},
            {
                "role": "assistant",
                "content": "I look.",
                "reasoning_content": "Look.Look.",
                "tool_calls": calls,
            },
        ),
        ({"role": "assistant", "content": texts}, {"role": "assistant", "content": "I look."}),
        (RESULT, RESULT),
    ]:
        assert make().to_openai_message(message) == expected
    with pytest.raises(NotImplementedError, match="ImagePart"):
        make().to_openai_message({"role": "user", "content": [{"type": "image", "image": "x"}]})


def test_a_renderer_moves_to_another_process(
    make: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenizer_utils, "get_tokenizer", lambda name: tokenizer)
    moved = pickle.loads(pickle.dumps(make(KEEPING)))
    assert isinstance(moved, adapter.HarmonyRenderer)
    prompts = [renderer.build_generation_prompt([USER]) for renderer in (moved, make(KEEPING))]
    assert prompts[0] == prompts[1]
    assert is_renderer_registered("openai_harmony/gpt_oss_low_reasoning")


class Weather(MessageEnv):
    """Answers calls until there is an answer."""

    def __init__(self, prefix: Any) -> None:
        self.messages = [*prefix, USER]

    async def initial_observation(self) -> Any:
        return list(self.messages)

    async def step(self, message: Any) -> MessageStepResult:
        calls = message.get("tool_calls", ())
        self.messages += [message, *(RESULT for _ in calls)]
        return MessageStepResult(
            reward=1.0, episode_done=not calls, next_messages=list(self.messages)
        )


@pytest.mark.parametrize("name", [NAME, KEEPING])
def test_an_episode_is_one_datum(name: str, make: Any) -> None:
    renderer = make(name)
    prefix = prefix_of(renderer)
    actions = [tokens_of(CASES[0]["text"]), tokens_of(CASES[13]["text"]), tokens_of(FINAL)]

    async def play() -> Any:
        env = EnvFromMessageEnv(renderer, Weather(prefix))
        transitions, (observation, _) = [], await env.initial_observation()
        for action in actions:
            result = await env.step(action)
            sampled = TokensWithLogprobs(tokens=action, maybe_logprobs=[-0.5] * len(action))
            transitions.append(types.Transition(observation, sampled, 0.0, result.episode_done))
            observation = result.next_observation
        assert result.episode_done
        return types.Trajectory(transitions, observation)

    [datum] = trajectory_to_data(asyncio.run(play()), 1.0, include_provenance=False)
    mask = datum.loss_fn_inputs["mask"].to_torch().tolist()
    targets = datum.loss_fn_inputs["target_tokens"].to_torch().tolist()
    assert [t for t, m in zip(targets, mask) if m] == [
        token for action in actions for token in action
    ]


def test_the_example_of_the_guide(tokenizer: Any) -> None:
    sampled = tokens_of(CASES[0]["text"].replace("get_weather", "rain"))
    names: dict[str, Any] = {"tokenizer": tokenizer, "messages": [USER], "tools": [SPEC]}
    exec(fenced("tinker", DOCS / "rollouts.md"), names | {"sampled": sampled}, names)
    assert names["following"].to_ints()[: len(sampled)] == names["prompt"].to_ints()[: len(sampled)]
    assert text_of(names["following"]).endswith("<|message|>yes<|end|><|start|>assistant")
