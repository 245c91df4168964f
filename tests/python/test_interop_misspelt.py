"""No member of a body is lost without a word: what is unknown is in ``unused`` or an error, and what is misspelt is named.

The bodies have each kind of object that a reader reads. Not tested are the insides of what passes through as it is or what
nothing reads (``FREE``).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from openai_harmony import interop
from openai_harmony.interop import InvalidRequestError

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
FREE = {
    *("parameters", "input_schema", "schema", "json", "arguments", "input", "cache_control"),
    *("action", "operation", "environment", "caller", "image_url", "metadata", "logit_bias"),
}
"""Members whose insides are not the API's (schemas, arguments), or of which nothing is read."""

CHAT = {
    "messages": [
        {"role": "system", "content": [{"type": "text", "text": "S"}]},
        {"role": "user", "content": [{"type": "text", "text": "U"}], "name": "bob"},
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "T"}, {"type": "refusal", "refusal": "R"}],
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "b", "type": "custom", "custom": {"name": "c", "input": "x"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "1"}]},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
        {"role": "user", "content": "U"},
        {
            "role": "assistant",
            "reasoning_content": "T",
            "function_call": {"name": "f", "arguments": "{}"},
        },
        {"role": "function", "name": "f", "content": "3"},
        {
            "role": "assistant",
            "reasoning_details": [{"type": "reasoning.text", "text": "T"}],
            "content": "A",
        },
        {"role": "user", "content": "U"},
    ],
    "tools": [
        {
            "type": "function",
            "function": {"name": "f", "description": "F.", "parameters": SCHEMA, "strict": True},
        },
        {
            "type": "custom",
            "custom": {
                "name": "c",
                "format": {
                    "type": "grammar",
                    "grammar": {"syntax": "lark", "definition": 'start: "a"'},
                },
            },
        },
    ],
    "tool_choice": {
        "type": "allowed_tools",
        "allowed_tools": {
            "mode": "auto",
            "tools": [{"type": "function", "function": {"name": "f"}}],
        },
    },
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "n", "description": "D.", "strict": True, "schema": SCHEMA},
    },
    "reasoning": {"effort": "low", "max_tokens": 5, "exclude": True},
    "thinking": {"type": "enabled", "budget_tokens": 5},
    "chat_template_kwargs": {"enable_thinking": True},
    "stream_options": {"include_usage": True},
    "structured_outputs": {"json": SCHEMA},
    "parallel_tool_calls": False,
    "thinking_token_budget": 5,
}

RESPONSES = {
    "instructions": "I",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "U"}]},
        {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "T"}], "summary": []},
        {"type": "function_call", "call_id": "a", "name": "f", "namespace": "n", "arguments": "{}"},
        {
            "type": "function_call_output",
            "call_id": "a",
            "output": [{"type": "input_text", "text": "1"}],
        },
        {"type": "custom_tool_call", "call_id": "b", "name": "c", "input": "x"},
        {"type": "custom_tool_call_output", "call_id": "b", "output": "2"},
        {
            "type": "shell_call",
            "call_id": "c",
            "action": {"commands": ["ls"]},
            "status": "completed",
        },
        {
            "type": "shell_call_output",
            "call_id": "c",
            "output": [{"stdout": "", "stderr": "", "outcome": {"type": "exit", "exit_code": 1}}],
        },
        {
            "role": "assistant",
            "phase": "final_answer",
            "content": [{"type": "output_text", "text": "A"}],
        },
        {"type": "configuration_update", "reasoning": {"effort": "low"}},
        {"type": "additional_tools", "tools": [{"type": "function", "name": "g"}]},
        {"role": "user", "content": "U"},
    ],
    "tools": [
        {
            "type": "function",
            "name": "f",
            "description": "F.",
            "parameters": SCHEMA,
            "strict": True,
        },
        {
            "type": "custom",
            "name": "c",
            "format": {"type": "grammar", "syntax": "lark", "definition": 'start: "a"'},
        },
        {
            "type": "namespace",
            "name": "n",
            "description": "N.",
            "tools": [{"type": "function", "name": "f"}],
        },
        {"type": "shell"},
    ],
    "tool_choice": {
        "type": "allowed_tools",
        "mode": "auto",
        "tools": [{"type": "function", "name": "f"}],
    },
    "text": {"format": {"type": "json_schema", "name": "n", "strict": True, "schema": SCHEMA}},
    "reasoning": {"effort": "low", "context": "all_turns"},
    "parallel_tool_calls": False,
}

ANTHROPIC = {
    "max_tokens": 9,
    "system": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "U"},
                {
                    "type": "document",
                    "title": "T",
                    "context": "C",
                    "source": {"type": "text", "media_type": "text/plain", "data": "D"},
                },
                {
                    "type": "search_result",
                    "title": "T",
                    "source": "S",
                    "content": [{"type": "text", "text": "X"}],
                },
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "T", "signature": ""},
                {"type": "tool_use", "id": "a", "name": "f", "input": {"a": "b"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "a",
                    "is_error": True,
                    "content": [{"type": "text", "text": "1"}],
                }
            ],
        },
        {
            "role": "system",
            "content": [{"type": "tool_removal", "tool": {"type": "tool_reference", "name": "f"}}],
            "output_config": {"effort": "low"},
        },
    ],
    "tools": [{"name": "f", "description": "F.", "input_schema": SCHEMA, "strict": True}],
    "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
    "thinking": {"type": "enabled", "budget_tokens": 2048, "display": "omitted"},
    "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}},
    "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
}

OLLAMA = {
    "messages": [
        {"role": "user", "content": "U"},
        {
            "role": "assistant",
            "thinking": "T",
            "tool_calls": [{"function": {"name": "f", "arguments": {"a": "b"}}}],
        },
        {"role": "tool", "tool_name": "f", "content": "1"},
        {"role": "user", "content": "U"},
    ],
    "tools": [
        {"type": "function", "function": {"name": "f", "description": "F.", "parameters": SCHEMA}}
    ],
    "options": {"temperature": 1, "num_predict": 5, "stop": ["x"], "repeat_penalty": 1},
    "think": "low",
    "stream": False,
}

BODIES = {
    interop.chat_completions: CHAT,
    interop.responses: RESPONSES,
    interop.anthropic: ANTHROPIC,
    interop.ollama: OLLAMA,
}


def places(value: Any, path: str = "") -> Iterator[str]:
    """The paths of all objects of which members are read."""
    if isinstance(value, dict):
        yield path
        for key, member in value.items():
            if key not in FREE:
                yield from places(member, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, f"{path}[{index}]")


def at(body: Any, path: str) -> dict[str, Any]:
    for step in path.replace("[", ".").replace("]", "").split("."):
        if step:
            body = body[int(step)] if isinstance(body, list) else body[step]
    assert isinstance(body, dict)
    return body


PLACES = [(dialect, path) for dialect, body in BODIES.items() for path in places(body)]


def name(dialect: Any) -> str:
    return str(dialect.__name__.rpartition(".")[2])


IDS = [f"{name(dialect)}-{path}" for dialect, path in PLACES]


@pytest.mark.parametrize("dialect", BODIES, ids=name)
def test_nothing_of_the_bodies_is_unused(dialect: Any) -> None:
    assert dialect.read(BODIES[dialect]).unused == []


@pytest.mark.parametrize(("dialect", "path"), PLACES, ids=IDS)
def test_an_unknown_member_is_listed(dialect: Any, path: str) -> None:
    body = copy.deepcopy(BODIES[dialect])
    at(body, path)["odd_member"] = 1
    found = [unused.path for unused in dialect.read(body).unused]
    assert found == [f"{path}.odd_member" if path else "odd_member"]


@pytest.mark.parametrize(("dialect", "path"), PLACES, ids=IDS)
def test_a_misspelt_member_is_named_or_an_error(dialect: Any, path: str) -> None:
    """Each name of four letters or more with two swapped in its middle, and one without its last but one."""
    for key in at(BODIES[dialect], path):
        middle = len(key) // 2
        swapped = key[: middle - 1] + key[middle] + key[middle - 1] + key[middle + 1 :]
        for wrong in [swapped, key[:-2] + key[-1]] if len(key) > 4 else []:
            if wrong == key:
                continue
            body = copy.deepcopy(BODIES[dialect])
            found = at(body, path)
            found[wrong] = found.pop(key)
            try:
                unused = dialect.read(body).unused
            except InvalidRequestError:
                continue  # it is required, or something refers to it
            place = f"{path}.{wrong}" if path else wrong
            reasons = [one.reason for one in unused if one.path == place]
            # Two members of blocks, `content` and `context`, are one letter apart.
            names = {key, "content"} if wrong == "contet" else {key}
            assert reasons in [[f"not used; did you mean {one}?"] for one in names], (wrong, unused)
