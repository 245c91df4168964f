"""Prime Intellect's `renderers` takes the renderer, and what its protocol says holds.

The package publishes no tests in its wheel; these check the same facts: a bridge keeps what was
sampled, masks and indexes fit the tokens, what was rendered is read back.
"""

from __future__ import annotations

import pickle
from typing import Any

import pytest

pytest.importorskip("renderers", reason="make test-adapters installs renderers")

from renderers import (
    CustomRendererConfig,
    build_training_sample,
    build_trajectory_step,
    create_renderer,
)
from renderers.base import Renderer, ToolCallParseStatus

from adapters.headers import ARGUMENTS, CASES, ENCODING, NAMES, TOOL, tokens_of
from fences import DOCS, fenced
from openai_harmony import HarmonyError
from openai_harmony.interop import chat_completions

NAME = "openai_harmony.adapters.renderers.HarmonyRenderer"
USER = {"role": "user", "content": "Weather in Lima?"}
SYSTEM = {"role": "system", "content": "You are helpful."}
NEXT = [{"role": "user", "content": "And tomorrow?"}]
CALL = {"type": "function", "id": "c", "function": {"name": "get_weather", "arguments": ARGUMENTS}}
ASKED = {"role": "assistant", "content": "", "reasoning_content": "Look.", "tool_calls": [CALL]}
RESULT = {"role": "tool", "content": "rain", "tool_call_id": "c"}
ANSWER = {"role": "assistant", "content": "It rains."}
EPISODE = [SYSTEM, USER, ASKED, RESULT, ANSWER]


@pytest.fixture
def make(tokenizer: Any) -> Any:
    def make(**options: Any) -> Any:
        return create_renderer(tokenizer, CustomRendererConfig(import_path=NAME, **options))

    return make


@pytest.fixture
def renderer(make: Any) -> Any:
    return make()


@pytest.fixture
def keeping(make: Any) -> Any:
    return make(thinking_retention="all")


def prompt_of(renderer: Any, *messages: Any, **options: Any) -> list[int]:
    ids: list[int] = renderer.render_ids(list(messages), add_generation_prompt=True, **options)
    return ids


def test_the_protocol(make: Any, renderer: Any) -> None:
    assert isinstance(renderer, Renderer)
    assert renderer.is_prefix_stable is False
    assert renderer.get_stop_token_ids() == tokens_of("<|return|><|call|>")
    config = CustomRendererConfig(import_path=NAME, reasoning_effort="high")
    assert pickle.loads(pickle.dumps(config)) == config
    assert "Reasoning: high" in ENCODING.decode(prompt_of(make(reasoning_effort="high"), USER))
    with pytest.raises(ValueError, match="unknown"):
        make(unknown=1)


def test_options_of_the_system_message(make: Any) -> None:
    options = {"knowledge_cutoff": "2020-01", "model_identity": "You are X."}
    text = ENCODING.decode(prompt_of(make(conversation_start_date="2026-01-02", **options), USER))
    assert text.startswith(
        "<|start|>system<|message|>You are X.\nKnowledge cutoff: 2020-01\nCurrent date: 2026-01-02"
    )
    rendered = make(use_system_prompt=False).render([SYSTEM, USER])
    assert sorted({*rendered.message_indices}) == [0, 1]
    with pytest.raises(ValueError, match="^messages is empty$"):
        make().render([])
    without = ENCODING.decode(prompt_of(make(use_system_prompt=False), SYSTEM, USER))
    assert without.startswith("<|start|>developer<|message|># Instructions\n\nYou are helpful.")


def test_which_thoughts_stay(make: Any) -> None:
    answered = {**ANSWER, "reasoning_content": "Look."}
    for options, stays in [({}, False), ({"auto_drop_analysis": False}, True)]:
        text = ENCODING.decode(prompt_of(make(**options), USER, answered, *NEXT))
        assert ("Look." in text) == stays


def test_a_result_of_no_call_is_refused(renderer: Any) -> None:
    with pytest.raises(HarmonyError, match=r"messages\[1\].tool_call_id: no pending call"):
        renderer.render([USER, RESULT])


def test_another_models_tokenizer_is_refused(make: Any, tokenizer: Any) -> None:
    class Other:
        name_or_path = "other"

        def convert_tokens_to_ids(self, token: str) -> None:
            return None

    with pytest.raises(ValueError, match="expected gpt-oss', with <|call|> as 200012, got None"):
        create_renderer(Other(), CustomRendererConfig(import_path=NAME))


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_every_header_is_a_call(case: Any, renderer: Any) -> None:
    prompt, sampled = prompt_of(renderer, USER, tools=[TOOL]), tokens_of(case["text"])
    parsed = renderer.parse_response(sampled, tools=[TOOL], prompt_ids=prompt)
    [call] = parsed.tool_calls
    assert (call.name, call.arguments, call.status) == ("get_weather", ARGUMENTS, "ok")
    assert parsed.content == ""
    assert parsed.reasoning_complete
    start, end = call.token_span
    thought = parsed.reasoning_content is not None
    assert (start, end) == (len(sampled) - (end - start), len(sampled))
    assert (start > 0) == thought
    bridged = renderer.bridge_to_next_turn(prompt, sampled, [RESULT], tools=[TOOL])
    assert bridged.token_ids[: len(prompt + sampled)] == prompt + sampled
    added = ENCODING.decode(bridged.token_ids[len(prompt + sampled) :])
    assert added == (
        "<|start|>functions.get_weather to=assistant<|channel|>commentary<|message|>rain<|end|>"
        "<|start|>assistant"
    )


@pytest.mark.parametrize(
    ("sampled", "name", "arguments", "status"),
    [
        ('to=functions.a json<|message|>{"a": 1', "a", '{"a": 1', "unclosed_block"),
        ("to=functions.a<|message|>no<|call|>", "a", "no", "invalid_json"),
        ("to=functions.a<|message|>[1]<|call|>", "a", "[1]", "invalid_json"),
        ("to=python code<|message|>1 + 1<|call|>", "python", "1 + 1", "ok"),
    ],
)
def test_what_became_of_a_call(
    sampled: str, name: str, arguments: str, status: str, renderer: Any
) -> None:
    parsed = renderer.parse_response(tokens_of(f"<|channel|>commentary {sampled}"))
    [call] = parsed.tool_calls
    assert (call.name, call.arguments, call.status) == (name, arguments, status)
    assert call.raw == arguments
    assert isinstance(call.status, ToolCallParseStatus)


def test_names_are_those_of_the_tools(renderer: Any) -> None:
    tools = [{"name": "get weather", "description": "", "parameters": {}}]
    assert "type get_weather" in ENCODING.decode(prompt_of(renderer, USER, tools=tools))
    sampled = tokens_of("<|channel|>commentary to=functions.get_weather<|message|>{}<|call|>")
    [call] = renderer.parse_response(sampled, tools=tools).tool_calls
    assert call.name == "get weather"
    misspelt = tokens_of("<|channel|>commentary to=Get_Weather<|message|>{}<|call|>")
    [call] = renderer.parse_response(misspelt, tools=[TOOL]).tool_calls
    assert call.name == "get_weather"


def test_nothing_that_is_sampled_raises(renderer: Any) -> None:
    for text, content in [("", ""), ("<|return|>", ""), ("Hello!", "Hello!"), ("<|start|>", "")]:
        parsed = renderer.parse_response(tokens_of(text))
        assert (parsed.content, parsed.tool_calls) == (content, [])
        assert parsed.reasoning_content is None


def test_what_was_rendered_is_read_back(renderer: Any) -> None:
    two = {**ASKED, "tool_calls": [CALL, CALL]}
    results = [RESULT, RESULT]
    before = renderer.render_ids([SYSTEM, USER])
    asked = renderer.render_ids([SYSTEM, USER, ASKED])[len(before) :]
    parsed = renderer.parse_response(asked)
    assert (parsed.content, parsed.reasoning_content) == ("", "Look.")
    whole = renderer.render([SYSTEM, USER, two, *results, ANSWER])
    said = [t for t, i in zip(whole.token_ids, whole.message_indices) if i == 2]
    assert [c.arguments for c in renderer.parse_response(said).tool_calls] == [ARGUMENTS] * 2
    answer = renderer.render_ids([SYSTEM, USER, ANSWER])[len(before) :]
    assert renderer.parse_response(answer).content == "It rains."


def test_tokens_are_this_packages_own(renderer: Any) -> None:
    turn = chat_completions.read({"messages": EPISODE, "tools": [TOOL]}, date=None)
    rendered = ENCODING.render_with_spans(turn.conversation, turn.config, ending="training")
    made = renderer.render(EPISODE, tools=[TOOL])
    assert made.token_ids == rendered.tokens
    assert made.sampled_mask == list(map(bool, rendered.loss_mask()))
    assert prompt_of(renderer, *EPISODE[:4], tools=[TOOL]) == chat_completions.read(
        {"messages": EPISODE[:4], "tools": [TOOL]}, date=None
    ).prompt(ENCODING)


def test_whose_token_each_is(renderer: Any) -> None:
    made = renderer.render(EPISODE, tools=[TOOL], add_generation_prompt=True)
    assert made.message_roles == ["system", "user", "assistant", "tool", "assistant"]
    assert made.message_tool_names == [None, None, None, "get_weather", None]
    spans = made.message_token_spans()
    starts = [ENCODING.decode(made.token_ids[start : start + 2]) for start, _ in spans]
    assert starts[1] == "<|start|>user"
    assert starts[3].startswith("<|start|>functions")
    covered = sum(made.tokens_per_message())
    assert covered + made.message_indices.count(-1) == len(made.token_ids)
    # The open header belongs to nobody.
    assert made.message_indices[-2:] == [-1, -1]
    assert made.sampled_mask[-2:] == [False, False]
    assert made.tokens_by_role(sampled_only=True) == {
        "system": 0,
        "user": 0,
        "tool": 0,
        "assistant": sum(made.sampled_mask),
    }


def test_what_each_message_says(renderer: Any) -> None:
    made = renderer.render(EPISODE, tools=[TOOL])
    words: list[str] = []
    for index in range(len(EPISODE)):
        pairs = zip(made.token_ids, made.message_indices, made.is_content)
        words.append(ENCODING.decode([t for t, i, said in pairs if i == index and said]))
    assert words[0].strip() == "You are helpful."  # its last token has the line break, too
    assert words[1] == "Weather in Lima?"
    assert words[3] == "rain"
    assert words[4] == "<|channel|>final<|message|>It rains.<|return|>"
    of_assistant = [made.message_roles[i] == "assistant" for i in made.message_indices if i >= 0]
    kept = [k for k, i in enumerate(made.message_indices) if i >= 0]
    for k, is_assistant in zip(kept, of_assistant):
        assert not is_assistant or made.is_content[k] == made.sampled_mask[k]


def test_samples_to_train_on(renderer: Any) -> None:
    def is_assistant(message: Any) -> bool:
        return bool(message["role"] == "assistant")

    sample = build_training_sample(
        renderer, EPISODE, role_to_mask=is_assistant, content_sft_roles={"tool"}
    )
    made = renderer.render(EPISODE)
    roles = {
        made.message_roles[i]
        for i, trained in zip(made.message_indices, sample.loss_mask)
        if trained
    }
    assert roles == {"assistant", "tool"}
    plain = build_training_sample(renderer, EPISODE)
    assert plain.loss_mask == made.sampled_mask
    assert build_training_sample(renderer, EPISODE, ensure_final_stop=True) == plain
    step = build_trajectory_step(renderer, EPISODE[:4], EPISODE[4:])
    assert step["prompt_ids"] == prompt_of(renderer, *EPISODE[:4])
    assert step["prompt_ids"] + step["completion_ids"] == made.token_ids


class TestBridge:
    SAID = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hi"

    def test_keeps_what_was_sampled(self, keeping: Any) -> None:
        prompt = prompt_of(keeping, SYSTEM, USER)
        for ending, added in [("<|return|>", ""), ("<|end|>", ""), ("", "<|end|>")]:
            sampled = tokens_of(self.SAID + ending)
            bridged = keeping.bridge_to_next_turn(prompt, sampled, NEXT)
            before = len(prompt + sampled)
            assert bridged.token_ids[:before] == prompt + sampled
            assert ENCODING.decode(bridged.token_ids[before:]) == (
                f"{added}<|start|>user<|message|>And tomorrow?<|end|><|start|>assistant"
            )
            assert bridged.message_roles == ["user"]
            closing = len(tokens_of(added))
            assert set(bridged.message_indices[: before + closing]) == {-1}
            assert bridged.message_indices[before + closing :] == [0] * 7 + [-1] * 2
            assert not any(bridged.sampled_mask)
            said = [t for t, c in zip(bridged.token_ids, bridged.is_content) if c]
            assert ENCODING.decode(said) == "And tomorrow?"

    def test_a_result_has_the_name_that_was_sampled(self, keeping: Any) -> None:
        """Also one that no conversation may have."""
        prompt = prompt_of(keeping, USER)
        sampled = tokens_of("<|channel|>commentary to= to=functions.f<|message|>{}<|call|>")
        bridged = keeping.bridge_to_next_turn(prompt, sampled, [{"role": "tool", "content": "4"}])
        said = [t for t, c in zip(bridged.token_ids, bridged.is_content) if c]
        assert ENCODING.decode(said) == "4"

    def test_a_question_drops_thoughts(self, renderer: Any, make: Any) -> None:
        prompt, sampled = prompt_of(renderer, USER), tokens_of(self.SAID + "<|return|>")
        assert renderer.bridge_to_next_turn(prompt, sampled, NEXT) is None
        always = make(auto_drop_analysis=False)
        assert always.bridge_to_next_turn(prompt, sampled, NEXT) is not None

    def test_refuses(self, keeping: Any) -> None:
        prompt, answer = prompt_of(keeping, USER), tokens_of(self.SAID + "<|return|>")
        for sampled, messages in [
            (answer, [ANSWER]),
            (answer, []),
            (answer, [RESULT]),  # no call
            ([], NEXT),
            (tokens_of("<|channel|>fin"), NEXT),
            (tokens_of("<|channel|>analysis<|message|>Hm<|return|>"), NEXT),
        ]:
            assert keeping.bridge_to_next_turn(prompt, sampled, messages) is None
        assert keeping.bridge_to_next_turn([], answer, NEXT) is None

    def test_a_thought_that_the_prompt_begins(self, keeping: Any) -> None:
        """As the package's own renderer writes prompts."""
        prompt = prompt_of(keeping, USER) + tokens_of("<|channel|>analysis<|message|>")
        sampled = tokens_of("unfinished")
        parsed = keeping.parse_response(sampled, prompt_ids=prompt)
        assert (parsed.content, parsed.reasoning_content) == ("", "unfinished")
        assert parsed.reasoning_complete is False
        stopped = keeping.parse_response([*sampled, 200002], prompt_ids=prompt)
        assert stopped.reasoning_complete is False
        bridged = keeping.bridge_to_next_turn(prompt, sampled, NEXT)
        before = len(prompt + sampled)
        assert bridged.token_ids[:before] == prompt + sampled
        assert ENCODING.decode(bridged.token_ids[before : before + 1]) == "<|end|>"
        assert keeping.bridge_to_next_turn(prompt, [*sampled, 200002], NEXT) is None
        called = keeping.bridge_to_next_turn(prompt, [*sampled, 200012], NEXT)
        assert called.token_ids[: before + 1] == prompt + sampled + [200012]


def test_the_example_of_the_guide(tokenizer: Any) -> None:
    text = CASES[0]["text"]
    names: dict[str, Any] = {"tokenizer": tokenizer, "messages": [USER], "tools": [TOOL]}
    exec(fenced("renderers", DOCS / "rollouts.md"), names | {"sampled": tokens_of(text)}, names)
    assert names["parsed"].tool_calls[0].arguments == ARGUMENTS
    assert "<|message|>yes<|end|>" in ENCODING.decode(names["bridged"].token_ids)
