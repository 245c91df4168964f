"""verl's own agent loop runs on the parser and the builder."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("verl", reason="make test-adapters installs verl")

from verl.experimental.agent_loop.agent_loop import (
    DictConfigWrap,
    ToolListWrap,
)
from verl.experimental.agent_loop.tool_parser import ToolParser
from verl.tools.function_tool import FunctionTool
from verl.tools.schemas import OpenAIFunctionToolSchema
from verl.workers.rollout.replica import TokenOutput

from adapters.headers import ARGUMENTS, CASES, ENCODING, NAMES, TOOL, tokens_of
from openai_harmony import HarmonyError
from openai_harmony.adapters.verl import (
    HarmonyAgentLoop,
    HarmonyTokenBuilder,
    HarmonyToolParser,
)
from openai_harmony.interop import chat_completions

SCHEMA = OpenAIFunctionToolSchema.model_validate(
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather of a city.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "array"}},
                "required": ["city", "days"],
            },
        },
    }
)
USER = {"role": "user", "content": "Weather in Lima?"}
ASKED = {"role": "assistant", "content": ""}
RESULT = {"role": "tool", "content": "rain"}
FINAL = "<|channel|>final<|message|>It rains.<|return|>"
FOLLOWS = (
    "<|start|>functions.get_weather to=assistant<|channel|>commentary<|message|>rain<|end|>"
    "<|start|>assistant"
)


def extract(text: str) -> Any:
    parser = ToolParser.get_tool_parser("harmony", None)
    assert isinstance(parser, HarmonyToolParser)
    assert parser.stop_token_ids == tokens_of("<|return|><|call|>")
    return asyncio.run(parser.extract_tool_calls(tokens_of(text), [SCHEMA]))


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_every_header_is_a_call_and_goes_on(case: Any) -> None:
    content, [call] = extract(case["text"])
    assert content == ""
    assert (call.name, json.loads(call.arguments)) == ("get_weather", ARGUMENTS)
    builder = HarmonyTokenBuilder(None)
    prompt = builder.build_initial_tokens([USER], tools=[TOOL])
    tokens = builder.merge_assistant_tokens(prompt, tokens_of(case["text"])).token_ids
    merged = builder.merge_context_tokens(
        [USER, ASKED], [USER, ASKED, RESULT], tokens, tools=[TOOL]
    )
    assert merged.token_ids[: len(tokens)] == tokens
    assert ENCODING.decode(merged.token_ids[len(tokens) :]) == FOLLOWS
    assert merged.appended_token_count == len(merged.token_ids) - len(tokens)
    assert merged.inserted_token_ids == []


def test_calls_are_read_without_tools() -> None:
    said = tokens_of("<|channel|>commentary to=functions.a<|message|>{}<|call|>")
    _, [call] = asyncio.run(HarmonyToolParser(None).extract_tool_calls(said))
    assert call.name == "a"


def test_a_misspelt_name_is_the_tools() -> None:
    _, [call] = extract("<|channel|>commentary to=Get_Weather<|message|>{}<|call|>")
    assert call.name == "get_weather"


def test_what_is_no_call() -> None:
    preamble = "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant"
    for text, content, arguments in [
        (FINAL, "It rains.", []),
        (preamble + FINAL, "I look.\n\nIt rains.", []),
        ("<|channel|>commentary to=functions.get_weather<|message|>{", "", []),
        (preamble + "<|channel|>commentary to=functions.a<|message|>no<|call|>", "I look.", ["no"]),
        ("", "", []),
    ]:
        said, calls = extract(text)
        assert (said, [call.arguments for call in calls]) == (content, arguments)


def test_the_first_prompt() -> None:
    builder = HarmonyTokenBuilder(None, chat_template_kwargs={"reasoning_effort": "high"})
    body = {"messages": [USER], "tools": [TOOL], "reasoning_effort": "high"}
    made = builder.build_initial_tokens([USER], tools=[TOOL], images=None)
    assert made == chat_completions.read(body, date=None).prompt(ENCODING)
    with pytest.raises(HarmonyError, match=r"messages\[0\]"):
        builder.build_initial_tokens([RESULT])
    with pytest.raises(ValueError, match="chat_template_kwargs.enable_thinking: expected one of"):
        HarmonyTokenBuilder(None, chat_template_kwargs={"enable_thinking": True})


def test_what_was_cut_off_is_closed() -> None:
    builder = HarmonyTokenBuilder(None)
    prompt = builder.build_initial_tokens([USER])
    for text, closing in [
        ("<|channel|>final<|message|>It ra", "<|end|>"),
        ('<|channel|>commentary to=functions.a<|message|>{"', "<|call|>"),
        (FINAL, ""),
    ]:
        tokens = prompt + tokens_of(text)
        merged = builder.merge_context_tokens([USER, ASKED], [USER, ASKED, USER], tokens)
        assert merged.token_ids[: len(tokens)] == tokens
        assert merged.inserted_token_ids == tokens_of(closing)
        mask, logprobs = builder.align_response_metadata(merged, [1], [-0.5])
        assert mask == [1] + [0] * (len(merged.token_ids) - len(tokens))
        assert logprobs == [-0.5] + [0.0] * (len(mask) - 1)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_builder_that_did_not_see_what_was_sampled(case: Any) -> None:
    prompt = HarmonyTokenBuilder(None).build_initial_tokens([USER], tools=[TOOL])
    called = prompt + tokens_of(case["text"])
    both, more = [USER, ASKED], [USER, ASKED, RESULT]
    merged = HarmonyTokenBuilder(None).merge_context_tokens(both, more, called, tools=[TOOL])
    assert ENCODING.decode(merged.token_ids[len(called) :]) == FOLLOWS
    with pytest.raises(ValueError, match="the assistant has no message"):
        HarmonyTokenBuilder(None).merge_context_tokens(both, more, [])


def test_what_cannot_go_on() -> None:
    builder = HarmonyTokenBuilder(None)
    prompt = builder.build_initial_tokens([USER])
    both = [USER, ASKED]
    for tokens, updated, error in [
        (prompt, [*both, USER], "has no tokens"),
        (prompt + tokens_of("<|channel|>fin"), [*both, USER], "cut_in_header"),
        (prompt + tokens_of(FINAL), [*both, RESULT], "no call is pending for this result"),
        (tokens_of("<|start|>user"), [*both, USER], "the assistant has no message"),
        (prompt + tokens_of(FINAL), [USER], "append-only"),
    ]:
        with pytest.raises(ValueError, match=error):
            builder.merge_context_tokens(both, updated, tokens)


class Engine:
    """Gives these texts, one after the other."""

    def __init__(self, *texts: str) -> None:
        self.samples = [tokens_of(text) for text in texts]
        self.prompts: list[list[int]] = []

    async def generate(self, *, prompt_ids: list[int], sampling_params: Any, **rest: Any) -> Any:
        assert sorted(sampling_params["stop_token_ids"]) == [200002, 200012]
        tokens = self.samples[len(self.prompts)]
        self.prompts.append(list(prompt_ids))
        return TokenOutput(token_ids=tokens, log_probs=[-0.5] * len(tokens))


def loop_of(engine: Any, tokenizer: Any, *, calls: int = 1, length: int = 1000) -> Any:
    from omegaconf import OmegaConf

    turns = {
        "max_user_turns": None,
        "max_assistant_turns": None,
        "max_parallel_calls": calls,
        "max_tool_response_length": 100,
        "tool_response_truncate_side": "middle",
        "format": "gpt-oss",
    }
    rollout = {
        "multi_turn": turns,
        "prompt_length": 1000,
        "response_length": length,
        "full_determinism": False,
    }
    config = OmegaConf.create({"actor_rollout_ref": {"rollout": rollout}})

    def get_weather(city: str, days: list[int]) -> str:
        assert {"city": city, "days": days} == ARGUMENTS
        return "rain"

    tool = FunctionTool(name="get_weather", fn=get_weather, tool_schema=SCHEMA)
    return HarmonyAgentLoop(
        trainer_config=DictConfigWrap(config),
        server_manager=engine,
        tokenizer=tokenizer,
        processor=None,
        dataset_cls=SimpleNamespace,
        data_config=DictConfigWrap(OmegaConf.create({"apply_chat_template_kwargs": {}})),
        hf_model_type="gpt_oss",
        tools=ToolListWrap([tool]),
    )


def test_an_episode_in_the_agent_loop(tokenizer: Any) -> None:
    engine = Engine(CASES[2]["text"], CASES[15]["text"], FINAL)

    async def play() -> Any:
        loop = loop_of(engine, tokenizer)
        return await loop.run({"temperature": 1.0}, raw_prompt=[USER])

    output = asyncio.run(play())
    sampled = [t for t, m in zip(output.response_ids, output.response_mask) if m]
    assert sampled == [token for sample in engine.samples for token in sample]
    assert output.response_logprobs == [-0.5 if m else 0.0 for m in output.response_mask]
    assert output.prompt_ids == engine.prompts[0]
    assert ENCODING.decode(output.response_ids) == (
        CASES[2]["text"] + FOLLOWS + CASES[15]["text"] + FOLLOWS + FINAL
    )
    for before, after in zip(engine.prompts, engine.prompts[1:]):
        assert after[: len(before)] == before
