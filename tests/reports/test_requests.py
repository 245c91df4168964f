"""Requests on which servers failed, or that they read as something else, by the reports about them."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from openai_harmony import HarmonyEncoding
from openai_harmony.interop import (
    InvalidRequestError,
    Turn,
    anthropic,
    chat_completions,
    error_body,
    ollama,
    responses,
)


class Report(NamedTuple):
    """A body, and what of its prompt a person looks at."""

    source: str
    read: Any
    body: dict[str, Any]
    has: tuple[str, ...] = ()
    """What the prompt has."""
    lacks: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    """The places in the body that are listed."""


USER = {"role": "user", "content": "Q"}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
WRITTEN = '## response\n\n{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}'
CHAT, RESPONSES = chat_completions.read, responses.read
ANTHROPIC, OLLAMA = anthropic.read, ollama.read
PNG = {"type": "base64", "media_type": "image/png", "data": "aGk="}


def chat(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"messages": [USER, *messages], **fields}


def tool(parameters: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", "parameters": parameters, **fields}}


def named(schema: dict[str, Any], **fields: Any) -> dict[str, Any]:
    inner = {"name": "response", "schema": schema, **fields}
    return {"type": "json_schema", "json_schema": inner}


def format_of(**fields: Any) -> dict[str, Any]:
    return chat(response_format=fields)


CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "0", "type": "function", "function": {"name": "f", "arguments": '{"a":"1"}'}}
    ],
}

REPORTS = [
    # Effort and thoughts.
    Report(
        "Aider-AI/aider#4630: a level for think",
        OLLAMA,
        chat(think="high"),
        ("Reasoning: high",),
    ),
    Report(
        "Aider-AI/aider#4630: true for think is no level",
        OLLAMA,
        chat(think=True),
        ("Reasoning: medium",),
    ),
    Report(
        "chatboxai/chatbox#2584: an effort in the body",
        CHAT,
        chat(reasoning_effort="high"),
        ("Reasoning: high",),
    ),
    Report(
        "egoist/chatwise-releases#987: an effort as OpenRouter has it",
        CHAT,
        chat(reasoning={"effort": "low"}),
        ("Reasoning: low",),
    ),
    Report(
        "sgl-project/sglang#9626: an effort among the arguments of the template",
        CHAT,
        chat(chat_template_kwargs={"reasoning_effort": "high"}),
        ("Reasoning: high",),
    ),
    Report(
        "NovaSky-AI/SkyRL#390: an effort among them, beside what only other models read",
        CHAT,
        chat(chat_template_kwargs={"reasoning_effort": "low", "custom": 1}),
        ("Reasoning: low",),
        unused=("chat_template_kwargs.custom",),
    ),
    Report(
        "ollama/ollama#11738: thoughts excluded",
        CHAT,
        chat(reasoning={"exclude": True, "effort": "high"}),
        ("Reasoning: high",),
    ),
    Report(
        "Vali-98/ChatterUI#451: thoughts of an answered question are not in the next prompt",
        CHAT,
        chat({"role": "assistant", "content": "A", "reasoning_content": "Old."}, USER),
        ("final<|message|>A<|end|>",),
        ("Old.",),
    ),
    Report(
        "ggml-org/llama.cpp#15181: thoughts stay while calls are under way",
        CHAT,
        chat(
            {**CALLED, "reasoning_content": "Now."},
            {"role": "tool", "tool_call_id": "0", "content": "R"},
        ),
        ("analysis<|message|>Now.<|end|>",),
    ),
    Report(
        "anomalyco/opencode#1633: markup that came back in an answer is text",
        CHAT,
        chat({"role": "assistant", "content": "<|channel|>analysis<|message|>T"}, USER),
        ("final<|message|><|channel|>analysis<|message|>T<|end|>",),
    ),
    # Formats of answers.
    Report(
        "ollama/ollama#11691: a schema stands in the developer message",
        CHAT,
        chat(response_format=named(SCHEMA)),
        ("# Response Formats", WRITTEN),
    ),
    Report(
        "lmstudio-ai/lmstudio-bug-tracker#1105: a strict schema whose flag is a word",
        CHAT,
        chat(response_format=named(SCHEMA, strict="true")),
        (WRITTEN,),
    ),
    Report(
        "ggml-org/llama.cpp#15276: a schema beside json_object",
        CHAT,
        format_of(type="json_object", schema=SCHEMA),
        (WRITTEN,),
    ),
    Report(
        "vllm-project/vllm#23120: a schema in Responses",
        RESPONSES,
        {
            "input": "Q",
            "text": {"format": {"type": "json_schema", "name": "response", "schema": SCHEMA}},
        },
        (WRITTEN,),
    ),
    Report(
        "browser-use/browser-use#2663: a schema as Ollama takes it",
        OLLAMA,
        chat(format=SCHEMA),
        (WRITTEN,),
    ),
    Report(
        "willtho89/stremio-ai-companion#18: any object",
        CHAT,
        format_of(type="json_object"),
        ('## response\n\n{"type":"object"}',),
    ),
    # Tools.
    Report(
        "ollama/ollama#12763: an enumeration of strings",
        OLLAMA,
        chat(
            tools=[
                tool(
                    {
                        "type": "object",
                        "properties": {"unit": {"type": "string", "enum": ["c", "f"]}},
                        "required": ["unit"],
                    }
                )
            ]
        ),
        ('unit: "c" | "f",',),
    ),
    Report(
        "ggml-org/llama.cpp#15517: several types, and an array of objects",
        CHAT,
        chat(
            tools=[
                tool(
                    {
                        "type": "object",
                        "properties": {
                            "a": {"type": ["string", "null"]},
                            "b": {"type": "array", "items": SCHEMA},
                        },
                    }
                )
            ]
        ),
        ("a?: string | null,", "    a: string,\n    }[],"),
        ("any[]",),
    ),
    Report(
        "huggingface/text-generation-inference#3198: a function whose description is null",
        CHAT,
        chat(
            CALLED,
            {"role": "tool", "tool_call_id": "0", "content": "R"},
            tools=[tool(SCHEMA, description=None)],
        ),
        ("type f = (_: {\na: string,\n}) => any;", "functions.f to=assistant"),
    ),
    Report(
        "ollama/ollama#11800: the model's own browser, of which a client has a part",
        OLLAMA,
        chat(tools=[{"type": "function", "function": {"name": "browser.search"}}]),
        ("## browser", "type search = "),
        ("type find", "namespace functions"),
    ),
    Report(
        "vllm-project/vllm#23196: a search that the server does not have",
        RESPONSES,
        {"input": "Q", "tools": [{"type": "web_search_preview"}]},
        lacks=("browser",),
        unused=("tools[0]",),
    ),
    Report(
        "vllm-project/vllm#23108: an interpreter that the server does not have",
        RESPONSES,
        {"input": "Q", "tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]},
        lacks=("python",),
        unused=("tools[0]",),
    ),
    Report(
        "openai/openai-agents-python#1379: a search beside a function",
        RESPONSES,
        {
            "input": "Q",
            "tools": [{"type": "web_search"}, {"type": "function", "name": "f"}],
        },
        ("type f = () => any;",),
        unused=("tools[0]",),
    ),
    # Calls and results.
    Report(
        "HKUDS/nanobot#2007: a result whose call was cut away",
        CHAT,
        chat({"role": "tool", "tool_call_id": "x", "content": "R"}, USER),
        ("<|message|>R<|end|>",),
        unused=("messages[1].tool_call_id",),
    ),
    Report(
        "miurla/morphic#136: a result in front of everything else",
        CHAT,
        {"messages": [{"role": "tool", "tool_call_id": "x", "content": "R"}, USER]},
        ("<|message|>R<|end|>",),
        unused=("messages[0].tool_call_id",),
    ),
    Report(
        "InternLM/lmdeploy#2973: a result that names neither call nor tool",
        CHAT,
        chat({"role": "assistant", "content": "A"}, {"role": "tool", "content": "R"}),
        ("<|message|>R<|end|>",),
        unused=("messages[2]",),
    ),
    Report(
        "crewAIInc/crewAI#1620: the results of one message, in another order",
        CHAT,
        chat(
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": name, "function": {"name": name, "arguments": "{}"}} for name in "fg"
                ],
            },
            {"role": "tool", "tool_call_id": "g", "content": "G"},
            {"role": "tool", "tool_call_id": "f", "content": "F"},
        ),
        (
            "functions.f to=assistant<|channel|>commentary<|message|>F<|end|>",
            "functions.g to=assistant<|channel|>commentary<|message|>G<|end|>",
        ),
    ),
    Report(
        "CopilotKit/CopilotKit#7277: a call that waits for its result is the last thing said",
        CHAT,
        chat(CALLED),
        ('<|message|>{"a":"1"}<|call|>',),
    ),
    Report(
        "openai/codex#6945: an action of a search that the API does not know",
        RESPONSES,
        {"input": [USER, {"type": "web_search_call", "action": {"type": "other"}}, USER]},
        unused=("input[1]",),
    ),
    # Images.
    Report(
        "anthropics/claude-code#91112: an image that stays in the history",
        ANTHROPIC,
        {
            "max_tokens": 9,
            "messages": [
                {"role": "user", "content": [{"type": "image", "source": PNG}]},
                {"role": "assistant", "content": "A"},
                USER,
            ],
        },
        ("[image omitted]",),
    ),
    Report(
        "anthropics/claude-code#62009: text after an image that was refused",
        ANTHROPIC,
        {
            "max_tokens": 9,
            "messages": [
                {"role": "user", "content": [{"type": "image", "source": PNG}]},
                USER,
            ],
        },
        ("[image omitted]",),
    ),
    Report(
        "anthropics/claude-code#47391: an image among files that were read",
        ANTHROPIC,
        {
            "max_tokens": 9,
            "messages": [
                USER,
                {
                    "role": "assistant",
                    "content": [{"type": "tool_use", "id": "a", "name": "Read", "input": {}}],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "a",
                            "content": [{"type": "image", "source": PNG}],
                        }
                    ],
                },
            ],
        },
        ("<|message|>[image omitted]<|end|>",),
    ),
    Report(
        "anthropics/claude-code#61881: an empty text beside an image, later on",
        ANTHROPIC,
        {
            "max_tokens": 9,
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": ""}, {"type": "image", "source": PNG}],
                },
                {"role": "assistant", "content": "A"},
                USER,
            ],
        },
        ("user<|message|>[image omitted]<|end|>",),
    ),
    # Settings.
    Report(
        "vllm-project/vllm#50690: a flag that would sample past the end",
        CHAT,
        chat(ignore_eos=True),
        unused=("ignore_eos",),
    ),
    Report(
        "AIProxyTeam/AIProxySwift#129: thoughts excluded, by the older field",
        CHAT,
        chat(include_reasoning=False),
        ("Reasoning: medium",),
    ),
    Report(
        "corespeed-io/zypher-agent#60: an effort of none is the least",
        CHAT,
        chat(reasoning_effort="none"),
        ("Reasoning: low",),
    ),
]


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.source)
def test_request(report: Report, encoding: HarmonyEncoding) -> None:
    turn: Turn = report.read(report.body, date=None)
    prompt = encoding.decode(turn.prompt(encoding))
    for text in report.has:
        assert text in prompt
    for text in report.lacks:
        assert text not in prompt
    assert tuple(unused.path for unused in turn.unused) == report.unused


def test_the_error_about_an_image_leads_to_it() -> None:
    """anthropics/claude-code#18528: the client finds the image by the path in the message."""
    message = {
        "role": "user",
        "content": [{"type": "text", "text": "?"}, {"type": "image", "source": PNG}],
    }
    with pytest.raises(InvalidRequestError) as raised:
        anthropic.read({"max_tokens": 9, "messages": [USER, message]})
    text = error_body("anthropic", raised.value).body["error"]["message"]
    assert text.startswith("messages.1.content.1.image.source: ")


def test_thoughts_that_a_client_excludes_are_not_sent(encoding: HarmonyEncoding) -> None:
    """yangyaofei/dify-vllm-provider#28: off means that no thought is in the answer."""
    reply = chat_completions.read(chat(include_reasoning=False)).reply(encoding, model="m")
    text = "<|channel|>analysis<|message|>T<|end|><|start|>assistant<|channel|>final<|message|>A"
    reply.feed(encoding.encode(text, allowed_special="all"))
    reply.finish("stop")
    message = reply.response()["choices"][0]["message"]
    assert message["content"] == "A"
    assert "reasoning_content" not in message


def test_a_named_tool_is_called(encoding: HarmonyEncoding) -> None:
    """cloudflare/ai#574: a forced call came as JSON in the content."""
    choice = {"type": "function", "function": {"name": "f"}}
    turn = chat_completions.read(chat(tools=[tool(SCHEMA)], tool_choice=choice))
    reply = turn.reply(encoding, model="m")
    reply.feed(encoding.encode('{"a":"1"}<|call|>', allowed_special="all"))
    reply.finish("stop")
    [choice_of_answer] = reply.response()["choices"]
    [call] = choice_of_answer["message"]["tool_calls"]
    assert (call["function"]["name"], call["function"]["arguments"]) == ("f", '{"a":"1"}')
    assert choice_of_answer["finish_reason"] == "tool_calls"


def test_a_search_of_the_model_that_no_client_offered(encoding: HarmonyEncoding) -> None:
    """sgl-project/sglang#9390: a server that runs the browser has its calls for itself."""
    body = {"input": "Q", "tools": [{"type": "web_search_preview"}]}
    turn = responses.read(body, builtin_tools=["browser"])
    reply = turn.reply(encoding, model="m")
    text = '<|channel|>analysis to=browser.search code<|message|>{"query":"Q"}<|call|>'
    reply.feed(encoding.encode(text, allowed_special="all"))
    reply.finish("stop")
    [call] = reply.builtin_calls
    assert (call.recipient, call.text) == ("browser.search", '{"query":"Q"}')
    assert reply.response()["output"] == []
