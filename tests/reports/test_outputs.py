"""Outputs of the model on which servers failed, by the reports about them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from openai_harmony import HarmonyEncoding
from openai_harmony.interop import anthropic, chat_completions, ollama


class Report(NamedTuple):
    """What was sampled after ``<|start|>assistant``, and what the client should get."""

    source: str
    sampled: str
    said: str | None = None
    thought: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    """Names and arguments."""
    tools: tuple[str, ...] = ()
    meant: tuple[tuple[str, str], ...] | None = None
    """The calls where an API's arguments are objects, if others were sampled."""
    schema: Mapping[str, Any] = MappingProxyType({"type": "object"})


CALL = " <|constrain|>json<|message|>"
THINKS = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"
RAIN = (("rain", '{"city":"Oslo"}'),)
ARGUMENTS = RAIN[0][1]
PARALLEL = (
    '{"tool_uses":[{"recipient_name":"functions.rain","parameters":{"city":"Oslo"}},'
    '{"recipient_name":"functions.rain","parameters":{"city":"Rome"}}]}'
)

REPORTS = [
    # Headers.
    Report(
        "openai/harmony#38: a word of the header runs into the channel",
        f"{THINKS}<|channel|>commentary––commentary to=functions.rain{CALL}{ARGUMENTS}<|call|>",
        thought="Hm.",
        calls=RAIN,
        tools=("rain",),
    ),
    Report(
        "openai/harmony#60: a format behind the channel of an answer",
        "<|channel|>final <|constrain|>response<|message|>Four.<|return|>",
        "Four.",
    ),
    Report(
        "vllm-project/vllm#51977: the recipient stands before and behind the channel",
        " to=functions.web-browsing<|channel|>commentary to=functions.web-browsing"
        f"{CALL}{ARGUMENTS}<|call|>",
        calls=(("web-browsing", ARGUMENTS),),
        tools=("web-browsing",),
    ),
    Report(
        "vllm-project/vllm#23567: words between the recipient and the content",
        f"<|channel|>commentary to=functions.rain code{CALL}{ARGUMENTS}<|call|>",
        calls=RAIN,
        tools=("rain",),
    ),
    Report(
        "vllm-project/vllm#32587: a second channel behind the tool's name",
        f"<|channel|>commentary to=functions.rain<|channel|>commentary{CALL}{ARGUMENTS}<|call|>",
        calls=RAIN,
        tools=("rain",),
    ),
    Report(
        "ggml-org/llama.cpp#27720: question marks for a channel, then the turn begins again",
        f"<|channel|>??<|end|><|start|>assistant{THINKS}<|channel|>final<|message|>Four.<|return|>",
        "??\n\nFour.",  # no word is lost
        "Hm.",
    ),
    Report(
        "ggml-org/llama.cpp#27720: a channel with a number and a question mark",
        "<|channel|>commentary 2?<|end|><|start|>assistant"
        f"{THINKS}<|channel|>final<|message|>Four.<|return|>",
        "2?\n\nFour.",  # no word is lost
        "Hm.",
    ),
    Report(
        "ggml-org/llama.cpp#27720: a channel to the assistant, and again",
        "<|channel|>commentary to=assistant<|channel|>commentary?<|end|><|start|>assistant"
        f"{THINKS}<|channel|>final<|message|>Four.<|return|>",
        "?\n\nFour.",  # no word is lost
        "Hm.",
    ),
    Report(
        "openai/harmony#82: a message without its marker",
        "<|channel|>final Four.<|return|>",
        "Four.",
    ),
    Report(
        "ggml-org/llama.cpp#15181: the recipient in the role",
        f" to=functions.rain<|channel|>commentary{CALL}{ARGUMENTS}<|call|>",
        calls=RAIN,
        tools=("rain",),
    ),
    Report(
        "lmstudio-ai/lmstudio-bug-tracker#942: no blank before the format",
        f"<|channel|>commentary to=functions.rain<|constrain|>json<|message|>{ARGUMENTS}<|call|>",
        calls=RAIN,
        tools=("rain",),
    ),
    Report(
        "ggml-org/llama.cpp#15158: the format is glued to the tool's name",
        f"<|channel|>commentary to=functions.rainjson<|message|>{ARGUMENTS}<|call|>",
        calls=RAIN,
        tools=("rain",),
    ),
    Report(
        "ggml-org/llama.cpp#15158: the format is a bare word",
        f"<|channel|>commentary to=functions.rain json<|message|>{ARGUMENTS}<|call|>",
        calls=RAIN,
        tools=("rain",),
    ),
    Report(
        "openvinotoolkit/model_server#3863: a call on the channel of thoughts",
        f"<|channel|>analysis to=functions.rain{CALL}{ARGUMENTS}<|call|>",
        calls=RAIN,
        tools=("rain",),
    ),
    Report(
        "mlc-ai/xgrammar#607: a call without the namespace",
        f"<|channel|>commentary to=rain{CALL}{ARGUMENTS}<|call|>",
        calls=RAIN,
        tools=("rain",),
    ),
    Report(
        "vllm-project/vllm#28148: a name with dots, dashes and digits",
        f"<|channel|>commentary to=functions.get-rain.v2_1{CALL}{ARGUMENTS}<|call|>",
        calls=(("get-rain.v2_1", ARGUMENTS),),
        tools=("get-rain.v2_1",),
    ),
    # Between messages.
    Report(
        "openai/harmony#60: the next message begins without its marker",
        "<|channel|>analysis<|message|>Hm.<|end|>commentary to=functions.rain"
        f"{CALL}{ARGUMENTS}<|call|>",
        thought="Hm.",
        calls=RAIN,
        tools=("rain",),
    ),
    Report(
        "vllm-project/vllm#22519: the channel of the next message without its beginning",
        "<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>Four.<|return|>",
        "Four.",
        "Hm.",
    ),
    Report(
        "vllm-project/vllm#22515: the author of the next message without its marker",
        "<|channel|>analysis<|message|>Hm.<|end|>assistant<|channel|>final<|message|>Four.<|return|>",
        "Four.",
        "Hm.",
    ),
    Report(
        "exo-explore/exo#1126: the marker of a message, twice",
        "<|channel|>analysis<|message|>Hm.<|end|><|start|><|start|>assistant"
        "<|channel|>final<|message|>Four.<|return|>",
        "Four.",
        "Hm.",
    ),
    Report(
        "vllm-project/vllm#50690: a second stop token",
        "<|channel|>final<|message|>Four.<|end|><|return|>",
        "Four.",
    ),
    Report(
        "vllm-project/vllm#50690: sampled on past the end, as ignore_eos has it",
        "<|channel|>final<|message|>Four.<|return|><|return|><|end|>",
        "Four.",
    ),
    Report(
        "vllm-project/vllm#50690: the end of a message, twice",
        "<|channel|>analysis<|message|>Hm.<|end|><|end|><|start|>assistant"
        "<|channel|>final<|message|>Four.<|return|>",
        "Four.",
        "Hm.",
    ),
    Report(
        "openai/harmony#33: the tokens end where a message would begin",
        "<|channel|>final<|message|>Four.<|end|><|start|>assistant",
        "Four.",
    ),
    Report(
        "ggml-org/llama.cpp#20393: thoughts and preambles in any order",
        f"{THINKS}<|channel|>commentary<|message|>I look.<|end|><|start|>assistant{THINKS}"
        f"<|channel|>commentary to=functions.rain{CALL}{ARGUMENTS}<|call|>",
        "I look.",
        "Hm.\n\nHm.",
        RAIN,
        ("rain",),
    ),
    # Arguments.
    Report(
        "lmstudio-ai/lmstudio-bug-tracker#942: arguments that miss their end",
        f'<|channel|>commentary to=functions.rain{CALL}{{"city":{{"name":"Oslo"}}<|call|>',
        calls=(("rain", '{"city":{"name":"Oslo"}'),),
        tools=("rain",),
    ),
    Report(
        "ollama/ollama#12187: code for a tool",
        "<|channel|>commentary to=functions.rain code<|message|>rain('Oslo')<|call|>",
        calls=(("rain", "rain('Oslo')"),),
        tools=("rain",),
    ),
    Report(
        "thinking-machines-lab/tinker-cookbook#949: nothing but a call has no content",
        f"<|channel|>commentary to=functions.rain{CALL}{ARGUMENTS}<|call|>",
        calls=RAIN,
        tools=("rain",),
    ),
    Report(
        "lablup/mlxcel#654: a thought and a call, and no markup in the content",
        f"{THINKS}<|channel|>commentary to=functions.rain{CALL}{ARGUMENTS}<|call|>",
        thought="Hm.",
        calls=RAIN,
        tools=("rain",),
    ),
    Report(
        "kekzl/imp#1716: a required call is no empty answer",
        f"{THINKS}<|channel|>commentary to=functions.rain<|message|>{ARGUMENTS}<|call|>",
        thought="Hm.",
        calls=RAIN,
        tools=("rain",),
    ),
    Report(
        "ollama/ollama#11991: a call of a tool that nobody declared",
        f"<|channel|>commentary to=functions.ask_followup_question{CALL}{ARGUMENTS}<|call|>",
        calls=(("ask_followup_question", ARGUMENTS),),
        tools=("rain",),
    ),
    Report(
        "ollama/ollama#11991: the same, where there are no tools",
        f"<|channel|>commentary to=functions.ask_followup_question{CALL}{ARGUMENTS}<|call|>",
        ARGUMENTS,
    ),
    # What the model writes in the name of others.
    Report(
        "anthropics/claude-code#68367, of another model: an answer, then the user's, which nobody wrote",
        "<|channel|>final<|message|>Could you confirm?<|end|><|start|>user<|message|>Sure.<|return|>",
        "Could you confirm?",
    ),
    Report(
        "anthropics/claude-code#79293, of another model: a line of the system in the answer",
        "<|channel|>final<|message|>Done.<|end|><|start|>system<|message|>15 tokens left<|end|>",
        "Done.",
    ),
    Report(
        "tried before the gateway: a result that the model invents for its call",
        f"<|channel|>commentary to=functions.rain{CALL}{ARGUMENTS}<|call|><|start|>functions.rain "
        "to=assistant<|channel|>commentary<|message|>Sun.<|end|>",
        calls=RAIN,
        tools=("rain",),
    ),
    Report(
        "tried before the gateway: an author that there is not, and then the answer",
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>narrator<|channel|>final<|message|>Later."
        "<|end|><|start|>assistant<|channel|>final<|message|>Four.<|return|>",
        "Four.",
        "Hm.",
    ),
    # Built-in tools that nobody offered.
    Report(
        "openai/openai-cookbook#2005: python, where there are no tools",
        "<|channel|>analysis to=python code<|message|>print(1)<|call|>",
        "print(1)",
    ),
    Report(
        "sgl-project/sglang#9390: the browser, beside other tools",
        '<|channel|>analysis to=browser.search code<|message|>{"query":"Oslo"}<|call|>',
        calls=(("browser.search", '{"query":"Oslo"}'),),
        tools=("rain",),
    ),
    # Markers in place of others.
    Report(
        "tried before the gateway: the marker of a format where the content begins",
        "<|channel|>final<|constrain|>Paris.<|return|>",
        "Paris.",
    ),
    Report(
        "tried before the gateway: the same with words",
        f"{THINKS}<|channel|>final<|constrain|>It rains in Oslo.<|return|>",
        "It rains in Oslo.",
        "Hm.",
    ),
    # Calls that were meant, for APIs whose arguments are objects.
    Report(
        "tried before the gateway: a list around the arguments",
        f"<|channel|>commentary to=functions.rain{CALL}[{ARGUMENTS}]<|call|>",
        calls=(("rain", f"[{ARGUMENTS}]"),),
        tools=("rain",),
        meant=RAIN,
    ),
    Report(
        "ollama/ollama#12187: code for a tool that takes one text",
        "<|channel|>commentary to=functions.run code<|message|>print(1)<|call|>",
        calls=(("run", "print(1)"),),
        tools=("run",),
        meant=(("run", '{"code":"print(1)"}'),),
        schema={"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
    ),
    Report(
        "ollama/ollama#12159: two calls at once, in the form of another model",
        f"<|channel|>commentary to=multi_tool_use.parallel{CALL}{PARALLEL}<|call|>",
        calls=(("multi_tool_use.parallel", PARALLEL),),
        tools=("rain",),
        meant=(("rain", '{"city":"Oslo"}'), ("rain", '{"city":"Rome"}')),
    ),
    # Thoughts.
    Report(
        "vllm-project/vllm#41902: an answer that is not null",
        f"{THINKS}<|channel|>final<|message|>Four.<|return|>",
        "Four.",
        "Hm.",
    ),
    Report(
        "anomalyco/opencode#1633: no markers in the answer",
        f"{THINKS}<|channel|>final<|message|>Use <b> & \\u0041.<|return|>",
        "Use <b> & \\u0041.",
        "Hm.",
    ),
]


def body_of(report: Report) -> dict[str, Any]:
    functions = [{"name": name, "parameters": dict(report.schema)} for name in report.tools]
    tools = [{"type": "function", "function": function} for function in functions]
    return {"messages": [{"role": "user", "content": "?"}], "tools": tools}


def answered(report: Report, encoding: HarmonyEncoding, size: int) -> dict[str, Any]:
    """The message of an answer whose tokens come ``size`` at a time."""
    reply = chat_completions.read(body_of(report)).reply(encoding, model="m")
    tokens = encoding.encode(report.sampled, allowed_special="all")
    for start in range(0, len(tokens), size):
        reply.feed(tokens[start : start + size])
    reply.finish("stop")
    message: dict[str, Any] = reply.response()["choices"][0]["message"]
    return message


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.source)
@pytest.mark.parametrize("size", [1, 3, 10**6])
def test_chat_completions(report: Report, size: int, encoding: HarmonyEncoding) -> None:
    message = answered(report, encoding, size)
    assert message.get("reasoning_content", "") == report.thought
    assert message["content"] == report.said
    functions = [call["function"] for call in message.get("tool_calls", ())]
    assert tuple((one["name"], one["arguments"]) for one in functions) == report.calls


def is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except ValueError:
        return False


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.source)
def test_apis_whose_arguments_are_objects(report: Report, encoding: HarmonyEncoding) -> None:
    """Calls with other arguments are text there; nothing is lost."""
    calls = report.calls if report.meant is None else report.meant
    if not all(is_object(arguments) for _, arguments in calls):
        return
    tokens = encoding.encode(report.sampled, allowed_special="all")
    tools = [{"name": name, "input_schema": dict(report.schema)} for name in report.tools]
    asked = {"max_tokens": 99, "messages": [{"role": "user", "content": "?"}], "tools": tools}
    message = anthropic.read(asked).reply(encoding, model="m")
    message.feed(tokens)
    message.finish("stop")
    blocks = message.response()["content"]
    called = [(block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"]
    expected = [(name, json.loads(arguments)) for name, arguments in calls]
    assert called == expected
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    assert "\n\n".join(texts) == (report.said or "")

    line = ollama.read(body_of(report)).reply(encoding, model="m")
    line.feed(tokens)
    line.finish("stop")
    answer = line.response()["message"]
    functions = [call["function"] for call in answer.get("tool_calls", ())]
    assert [(one["name"], one["arguments"]) for one in functions] == expected


def test_a_piece_with_the_end_of_a_thought_and_an_answer(encoding: HarmonyEncoding) -> None:
    """vllm-project/vllm#32125: with many tokens in a chunk, the rest of the thought was content."""
    text = "<|channel|>analysis<|message|>Only a name.<|end|><|start|>assistant<|channel|>final"
    tokens = encoding.encode(f"{text}<|message|>Hello, Nik.<|return|>", allowed_special="all")
    for size in range(1, len(tokens) + 1):
        turn = chat_completions.read({"messages": [{"role": "user", "content": "?"}]})
        reply = turn.reply(encoding, model="m")
        chunks = [
            chunk
            for start in range(0, len(tokens), size)
            for chunk in reply.feed(tokens[start : start + size])
        ]
        deltas = [chunk["choices"][0]["delta"] for chunk in [*chunks, *reply.finish("stop")]]
        thought = "".join(delta.get("reasoning_content") or "" for delta in deltas)
        said = "".join(delta.get("content") or "" for delta in deltas)
        assert (thought, said) == ("Only a name.", "Hello, Nik.")


def test_a_call_comes_before_the_line_that_ends_the_answer(encoding: HarmonyEncoding) -> None:
    """awaescher/OllamaSharp#305: a client that stops at ``done`` saw no call."""
    turn = ollama.read({**body_of(Report("", "", tools=("rain",))), "stream": True})
    reply = turn.reply(encoding, model="m")
    text = f"<|channel|>commentary to=functions.rain{CALL}{ARGUMENTS}<|call|>"
    lines = reply.feed(encoding.encode(text, allowed_special="all")) + reply.finish("stop")
    assert [line["done"] for line in lines if "tool_calls" in line["message"]] == [False]
    assert lines[-1]["done"] is True


def test_thoughts_under_the_name_that_vllm_gives_them(encoding: HarmonyEncoding) -> None:
    """BerriAI/litellm#20246: a proxy in front looked for the other one of the two names."""
    turn = chat_completions.read({"messages": [{"role": "user", "content": "?"}]})
    reply = turn.reply(encoding, model="m", reasoning_field="both")
    reply.feed(encoding.encode("<|channel|>analysis<|message|>Hm.<|end|>", allowed_special="all"))
    reply.finish("stop")
    message = reply.response()["choices"][0]["message"]
    assert (message["reasoning"], message["reasoning_content"]) == ("Hm.", "Hm.")
