"""Rollouts in Python: the laws over random episodes, what pickles and branches, and what is refused."""

from __future__ import annotations

import copy
import math
import pickle
from itertools import chain
from random import Random
from typing import Any

import pytest

from openai_harmony import (
    Author,
    Conversation,
    DeveloperContent,
    HarmonyEncoding,
    HarmonyError,
    Message,
    Prefill,
    RenderConversationConfig,
    SystemContent,
    ToolDescription,
    WrongTypeError,
)
from openai_harmony.interop import (
    InvalidRequestError,
    anthropic,
    chat_completions,
    ollama,
    responses,
)
from openai_harmony.rollout import Broken, Call, Extended, Rollout, following, read_step
from tables import table

CALL = '<|channel|>commentary to=functions.rain <|constrain|>json<|message|>{"in": "Oslo"}<|call|>'
SAMPLES = table("rollout", "samples")
TOOL = ToolDescription.new("rain", "Whether it rains.", {"type": "object", "properties": {}})


def user(text: str) -> Message:
    return Message.from_role_and_content("user", text)


def result(name: str, text: str = "yes") -> Message:
    author = Author.new("tool", name)
    return Message.from_author_and_content(author, text).with_channel("commentary")


def conversation() -> Conversation:
    tools = DeveloperContent.new().with_function_tools([TOOL])
    return Conversation.from_messages(
        [
            Message.from_role_and_content("system", SystemContent.new()),
            Message.from_role_and_content("developer", tools),
            user("Rain in Oslo?"),
        ]
    )


def tokens(encoding: HarmonyEncoding, text: str) -> list[int]:
    return encoding.encode(text, allowed_special="all")


def play(
    rollout: Rollout, encoding: HarmonyEncoding, random: Random, steps: int
) -> list[list[int]]:
    """Random steps, damaged ones too. Returns what was sampled."""
    samples = []
    for _ in range(steps):
        sampled = tokens(encoding, random.choice(SAMPLES))
        logprobs = [random.random() for _ in sampled] if random.random() < 0.5 else None
        before = len(rollout.messages)
        step = rollout.sampled(sampled, logprobs)
        samples.append(sampled)
        assert rollout.messages[before:] == [said.message for said in step.said]
        called = step.said[-1].message.recipient if step.said else None
        new = [user("And now?")] if called is None else [result(called)]
        so_far, segments = rollout.prompt, len(rollout.examples())
        prompt = rollout.extend(new)
        assert prompt == rollout.prompt
        if len(rollout.examples()) == segments:
            assert prompt[: len(so_far)] == so_far
    return samples


@pytest.mark.parametrize("thoughts", ["drop", "keep"])
@pytest.mark.parametrize("keep_return", [False, True])
def test_the_mask_is_1_exactly_on_what_was_sampled(
    encoding: HarmonyEncoding, thoughts: Any, keep_return: bool
) -> None:
    for seed in range(40):
        rollout = Rollout(conversation(), encoding, thoughts, keep_return=keep_return)
        samples = play(rollout, encoding, Random(seed), 6)
        examples = rollout.examples()
        sampled = [token for token, one in zip(examples.tokens, examples.loss_mask) if one]
        assert sampled == list(chain.from_iterable(samples))
        assert len(examples.tokens) == len(examples.loss_mask) == len(examples.logprobs)
        for logprob, mask in zip(examples.logprobs, examples.loss_mask):
            assert mask or math.isnan(logprob)
        for part, spans, broken in zip(examples, examples.spans, examples.breaks):
            assert [span.start for span in spans] == sorted(span.start for span in spans)
            assert spans[-1].end <= len(part)
            assert (broken is None) == (part == examples[0])


def test_an_unbroken_prompt_is_the_rendering(encoding: HarmonyEncoding) -> None:
    """Where the model samples as the renderer writes."""
    config = RenderConversationConfig(thoughts="keep", header_style="recipient_in_channel")
    rollout = Rollout(conversation(), encoding, config=config, keep_return=True)
    for text in (SAMPLES[1], SAMPLES[0]):
        rollout.sampled(tokens(encoding, text))
        prompt = rollout.extend([result("functions.rain")])
        expected = encoding.render_conversation_for_completion(
            rollout.conversation, "assistant", config
        )
        assert prompt.tolist() == expected
    assert rollout.examples().breaks == [None]


def test_extend_is_what_a_rollout_does(encoding: HarmonyEncoding) -> None:
    config = RenderConversationConfig(thoughts="drop")
    rollout = Rollout(conversation(), encoding, config=config)
    prompt, sampled = rollout.prompt.tolist(), tokens(encoding, SAMPLES[1])
    rollout.sampled(sampled)
    found = encoding.extend(prompt, sampled, [result("functions.rain")], config)
    assert isinstance(found, Extended)
    assert found.tokens == prompt + sampled + found.added
    assert found.tokens == rollout.extend([result("functions.rain")]).tolist()
    prompt, sampled = found.tokens, tokens(encoding, "<|channel|>final<|message|>Yes.<|return|>")
    rollout.sampled(sampled)
    broken = encoding.extend(prompt, sampled, [user("?")], config)
    assert isinstance(broken, Broken)
    assert broken.reason == "return_sampled"
    assert broken.tokens == rollout.extend([user("?")]).tolist()
    assert rollout.examples().breaks == [None, "return_sampled"]
    kept = encoding.extend(prompt, sampled, [user("?")], config, keep_return=True)
    assert isinstance(kept, Broken)
    assert kept.reason == "thoughts_dropped"


def test_a_step_says_what_was_sampled(encoding: HarmonyEncoding) -> None:
    def sampled(text: str) -> Any:
        return Rollout(conversation(), encoding).sampled(tokens(encoding, text))

    step = sampled(SAMPLES[1])
    assert [said.text for said in step.thoughts] == ["Rain?"]
    [call] = step.calls
    assert (call.name, call.arguments, call.status) == (
        "functions.rain",
        '{"in": "Oslo"}',
        "complete",
    )
    assert (step.is_complete, step.thought_closed, step.answer, step.repairs) == (
        True,
        True,
        None,
        [],
    )
    assert sampled(SAMPLES[2]).calls[0].status == "not_json"
    assert sampled('<|channel|>commentary to=rain<|message|>{"in":').calls[0] == Call(
        "functions.rain",
        '{"in":',
        "cut_off",
        sampled('<|channel|>commentary to=rain<|message|>{"in":').said[0].span,
        sampled('<|channel|>commentary to=rain<|message|>{"in":').said[0].message,
    )
    cut = sampled("<|channel|>analysis<|message|>Hm")
    assert (cut.is_complete, cut.thought_closed, cut.stop_token) == (False, False, None)
    assert sampled("<|channel|>final It rains.<|return|>").answer.text == "It rains."
    assert [repair.kind for repair in sampled("<|channel|>final Yes<|return|>").repairs] == [
        "missing_message"
    ]


def test_it_pickles_and_branches(encoding: HarmonyEncoding) -> None:
    for seed in range(20):
        rollout = Rollout(conversation(), encoding, keep_return=seed % 2 == 0)
        play(rollout, encoding, Random(seed), 4)
        for other in (
            pickle.loads(pickle.dumps(rollout)),
            copy.deepcopy(rollout),
            rollout.branch(),
        ):
            assert other.prompt == rollout.prompt
            assert other.messages == rollout.messages
            assert bytes(other.examples().loss_mask) == bytes(rollout.examples().loss_mask)
            assert other.examples().spans == rollout.examples().spans
            ours, theirs = (
                other.examples().logprobs.tobytes(),
                rollout.examples().logprobs.tobytes(),
            )
            assert ours == theirs
            other.sampled(tokens(encoding, SAMPLES[3]))
            assert len(other.messages) == len(rollout.messages) + 1
        examples = pickle.loads(pickle.dumps(rollout.examples()))
        assert examples == rollout.examples()
        ours = rollout.examples()
        assert (examples.spans, examples.breaks) == (ours.spans, ours.breaks)
        assert (examples.steps, examples.data) == (ours.steps, ours.data)


BODIES: list[tuple[Any, dict[str, Any]]] = [
    (
        chat_completions,
        {
            "messages": [{"role": "user", "content": "Rain?"}],
            "tools": [{"type": "function", "function": {"name": "rain", "parameters": {}}}],
        },
    ),
    (responses, {"input": "Rain?", "reasoning": {"effort": "high"}}),
    (
        anthropic,
        {
            "messages": [
                {"role": "user", "content": "Rain?"},
                {"role": "assistant", "content": "It"},
            ],
            "max_tokens": 9,
        },
    ),
    (ollama, {"model": "gpt-oss", "messages": [{"role": "user", "content": "Rain?"}]}),
]


@pytest.mark.parametrize(("api", "body"), BODIES)
def test_a_turn_begins_with_its_prompt(encoding: HarmonyEncoding, api: Any, body: Any) -> None:
    turn = api.read(body, date="2026-01-01")
    rollout = Rollout(turn, encoding)
    assert rollout.prompt.tolist() == turn.prompt(encoding)
    rollout.sampled(tokens(encoding, " rains.<|return|>" if turn.prefill else SAMPLES[3]))
    assert rollout.messages[-1].text == "It rains."
    assert Rollout(turn, encoding, "keep").prompt.tolist() == turn.prompt(encoding)


THOUGHTS = (None, "keep", "drop_before_first_final", "drop")
TOLD: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": "1"},
        {"role": "assistant", "reasoning": "a", "content": "b"},
        {"role": "user", "content": "2"},
        {"role": "assistant", "reasoning": "c", "content": "d"},
        {"role": "user", "content": "3"},
    ]
}


@pytest.mark.parametrize("thoughts", [None, "keep", "drop"])
@pytest.mark.parametrize("word", THOUGHTS)
@pytest.mark.parametrize("is_turn", [False, True])
def test_the_nearest_word_on_thoughts_counts(
    encoding: HarmonyEncoding, thoughts: Any, word: Any, is_turn: bool
) -> None:
    """The argument, else that of `config`, else the turn's, else they are dropped."""
    turn = chat_completions.read(TOLD)

    def prompt(word: Any) -> list[int]:
        config = RenderConversationConfig(thoughts=word)
        return encoding.render_conversation_for_completion(turn.conversation, "assistant", config)

    assert len({tuple(prompt(word)) for word in THOUGHTS[1:]}) == 3
    config = None if word is None else RenderConversationConfig(thoughts=word)
    begin = turn if is_turn else turn.conversation
    rollout = Rollout(begin, encoding, thoughts, config=config)
    said = turn.config.thoughts if is_turn else "drop"
    assert rollout.prompt.tolist() == prompt(thoughts or word or said)


def test_a_response_ends_with_what_was_sampled(encoding: HarmonyEncoding) -> None:
    rollout = Rollout(conversation(), encoding)
    assert rollout.examples().segments == []
    assert repr(rollout) == "<Rollout: 3 messages, 1 segment>"
    call = tokens(encoding, CALL)
    rollout.sampled(call, [-0.5] * len(call))
    rollout.extend([result("functions.rain")])
    examples = rollout.examples()
    assert [segment.response for segment in examples.segments] == [call]
    assert (
        repr(examples)
        == f"<Examples: 1 segment, {len(examples.tokens)} tokens, {len(call)} sampled>"
    )


def test_it_pickles_before_it_is_extended(encoding: HarmonyEncoding) -> None:
    rollout = Rollout(conversation(), encoding)
    rollout.sampled(tokens(encoding, CALL))
    other = pickle.loads(pickle.dumps(rollout))
    assert other.messages == rollout.messages
    assert other.extend([result("functions.rain")]) == rollout.extend([result("functions.rain")])


def test_results_without_a_name_are_first_of_calls_that_may_run(encoding: HarmonyEncoding) -> None:
    broken = CALL.replace("<|call|>", "")
    rollout = Rollout(conversation(), encoding)
    step = rollout.sampled(tokens(encoding, f"{broken}<|start|>assistant{SECOND}"))
    assert [(call.name, call.status) for call in step.waiting] == [
        ("functions.rain", "cut_off"),
        ("functions.wind", "complete"),
    ]
    rollout.extend([{"role": "tool", "content": "1"}, {"role": "tool", "content": "2"}])
    assert [said.author.name for said in rollout.messages[-2:]] == [
        "functions.wind",
        "functions.rain",
    ]


def test_a_prefill_is_the_models(encoding: HarmonyEncoding) -> None:
    prefill = Prefill(channel="final", text="It")
    rollout = Rollout(conversation(), encoding, prefill=prefill)
    step = rollout.sampled(tokens(encoding, " rains.<|return|>"))
    assert step.answer is not None
    assert (step.answer.text, step.answer.span.start) == ("It rains.", 0)


SECOND = CALL.replace("rain", "wind").replace("Oslo", "Bergen")


def test_chat_messages_answer_the_calls(encoding: HarmonyEncoding) -> None:
    both = f"{CALL.replace('<|call|>', '<|end|><|start|>assistant')}{SECOND}"
    named = [{"role": "tool", "name": name, "content": name} for name in ("wind", "rain")]
    in_order = [
        {"role": "tool", "content": text, "tool_call_id": text} for text in ("rain", "wind")
    ]
    for new, names in [
        (named, ["wind", "rain"]),
        (in_order, ["rain", "wind"]),
        ([result("functions.wind", "wind"), in_order[0]], ["wind", "rain"]),
        ([result("functions.rain", "rain"), in_order[1]], ["rain", "wind"]),
    ]:
        rollout = Rollout(conversation(), encoding)
        rollout.sampled(tokens(encoding, both))
        rollout.extend([*new, {"role": "user", "content": "And now?"}])  # type: ignore[list-item]
        *answers, question = rollout.messages[-3:]
        assert [(said.author.name, said.text) for said in answers] == [
            (f"functions.{name}", name) for name in names
        ]
        assert question.text == "And now?"
    rollout = Rollout(conversation(), encoding)
    rollout.sampled(tokens(encoding, SAMPLES[3]))
    with pytest.raises(HarmonyError, match="is pending"):
        rollout.extend(in_order[:1])
    with pytest.raises(HarmonyError, match="is a message of the assistant"):
        rollout.extend([{"role": "assistant", "content": "No."}])


def test_a_chat_message_without_its_content_is_no_result(encoding: HarmonyEncoding) -> None:
    rollout = Rollout(conversation(), encoding)
    rollout.sampled(tokens(encoding, CALL))
    with pytest.raises(InvalidRequestError) as raised:
        rollout.extend([{"role": "tool", "contnt": "yes"}])
    assert str(raised.value) == "Invalid request: messages[0].content is missing"
    assert rollout.extend([{"role": "tool", "content": None}])


@pytest.mark.parametrize(
    ("header", "channel"),
    [
        ("analysis to=functions.rain", "commentary"),
        ("commentary to=functions.rain", "commentary"),
        ("analysis to=python", "analysis"),
        ("commentary to=python", "commentary"),
    ],
)
def test_a_result_is_on_the_channel_of_its_call(
    encoding: HarmonyEncoding, header: str, channel: str
) -> None:
    step = read_step(encoding, tokens(encoding, f"<|channel|>{header}<|message|>{{}}<|call|>"))
    [call] = step.calls
    answer = call.result("yes")
    assert (answer.channel, answer.recipient, answer.author.name) == (
        channel,
        "assistant",
        call.name,
    )
    with pytest.raises(
        WrongTypeError, match="^text: expected a string, got dict; json.dumps makes"
    ):
        call.result({})  # type: ignore[arg-type]


def test_what_was_said_before_an_answer(encoding: HarmonyEncoding) -> None:
    text = "<|channel|>commentary<|message|>Let me see.<|end|><|start|>assistant"
    step = read_step(encoding, tokens(encoding, f"{text}{SAMPLES[1]}"))
    assert [said.text for said in step.preambles] == ["Let me see."]
    assert [said.text for said in step.thoughts] == ["Rain?"]


def test_chat_messages_that_follow_keep_their_names_and_places(encoding: HarmonyEncoding) -> None:
    new = [
        {"role": "tool", "content": "yes"},
        {"role": "user", "name": "Ada", "content": "?"},
        {"role": "user", "content": "!"},
    ]
    found = following(read_step(encoding, tokens(encoding, CALL)).waiting, new)
    assert found.sources == [0, 1, 2]
    assert [said.author.name for said in found.messages] == ["functions.rain", "Ada", None]
    assert following([], new[1:]).sources == [0, 1]


def test_a_call_is_abandoned(encoding: HarmonyEncoding) -> None:
    rollout = Rollout(conversation(), encoding)
    continued = CALL.replace("<|call|>", f"<|end|><|start|>assistant{SAMPLES[3]}")
    step = rollout.sampled(tokens(encoding, continued))
    assert [call.status for call in step.calls] == ["abandoned"]
    assert step.waiting == []
    assert step.is_complete
    with pytest.raises(
        HarmonyError, match=r"no pending call to \"functions.rain\" \(pending: none"
    ):
        rollout.extend([step.calls[0].result("yes")])


def test_data_of_each_token(encoding: HarmonyEncoding) -> None:
    rollout = Rollout(conversation(), encoding)
    call = tokens(encoding, CALL)
    experts = [[index] for index in range(len(call))]
    rollout.sampled(call, data={"experts": experts, "version": range(len(call))})
    rollout.extend([result("functions.rain")])
    answer = tokens(encoding, SAMPLES[3])
    for wrong, error, message in [
        ({"experts": [1]}, ValueError, "^data.experts: 1 items for 7 tokens$"),
        ([1], TypeError, "^data: expected a dict, got list$"),
    ]:
        with pytest.raises(error, match=message):
            rollout.sampled(answer, data=wrong)  # type: ignore[arg-type]
    rollout.sampled(answer, [-1.0] * 7)
    [segment] = rollout.examples().segments
    between = len(segment.response) - len(call) - len(answer)
    assert segment.data["experts"] == experts + [None] * (between + len(answer))
    assert segment.loss_mask == [1] * len(call) + [0] * between + [1] * len(answer)
    assert all(math.isnan(logprob) for logprob in segment.logprobs[: len(call)])
    assert segment.logprobs[len(call) :] == [0.0] * between + [-1.0] * len(answer)
    first, second = rollout.examples().steps
    assert (first.start, second.stop) == (len(segment.prompt), len(rollout.prompt))


def test_two_thousand_steps(encoding: HarmonyEncoding) -> None:
    rollout = Rollout(conversation(), encoding)
    sampled = tokens(encoding, CALL)
    for _ in range(2_000):
        rollout.sampled(sampled)
        rollout.extend([result("functions.rain")])
    examples = rollout.examples()
    assert len(examples) == 1
    assert sum(examples.loss_mask) == 2_000 * len(sampled)


def test_a_custom_tool_takes_any_text(encoding: HarmonyEncoding) -> None:
    body: dict[str, Any] = {
        "input": "Hi",
        "tools": [{"type": "custom", "name": "note"}, {"type": "function", "name": "rain"}],
    }
    turn = responses.read(body)
    for name, status in (("note", "complete"), ("rain", "not_json"), ("other", "not_json")):
        rollout = Rollout(turn, encoding)
        said = f"<|channel|>commentary to=functions.{name}<|message|>buy milk<|call|>"
        [call] = rollout.sampled(tokens(encoding, said)).calls
        assert (call.arguments, call.status) == ("buy milk", status), name


@pytest.mark.parametrize(
    ("sampled", "arguments", "status"),
    [
        ("", "{}", "complete"),
        (" \n", "{}", "complete"),
        ('{"in":NaN}', '{"in":NaN}', "not_json"),
        ('{"in":-Infinity}', '{"in":-Infinity}', "not_json"),
        ("[]", "[]", "not_json"),
    ],
)
def test_arguments_of_a_function(
    encoding: HarmonyEncoding, sampled: str, arguments: str, status: str
) -> None:
    said = f"<|channel|>commentary to=functions.rain <|constrain|>json<|message|>{sampled}<|call|>"
    [call] = Rollout(conversation(), encoding).sampled(tokens(encoding, said)).calls
    assert (call.arguments, call.status) == (arguments, status)
