"""A request of vLLM's -> the grammar of its turn, as vLLM takes it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from openai_harmony.grammar import Loosened, TurnGrammar, recipient_of

STOPS = [200002, 200012]
"""At which vLLM ends a turn of gpt-oss by itself."""

_FUNCTION, _PARAMETER = 1, 2
"""vLLM's ``--tool-strict-level``: calls are always constrained; so are their arguments."""


def function_names(tools: Iterable[Any] | None) -> list[str]:
    """The names of the functions of a request of either API."""
    return [_function(tool).name for tool in tools or () if tool.type == "function"]


def _function(tool: Any) -> Any:
    """In chat completions a tool has a function, in Responses it is one."""
    return getattr(tool, "function", tool)


def structural_tag(
    request: Any, *, with_tools: bool, level: int, loosened: list[Loosened]
) -> str | None:
    """The structural tag of a request; ``None`` if it is not this library's.

    Those are requests that promise nothing, that bring a grammar, or that have tools
    of other kinds than functions.

    Args:
        request: Of chat completions or of Responses.
        with_tools: Whether the server reads calls.
        level: Its ``--tool-strict-level``, 0 to 2.
        loosened: Gets the keywords of other schemas that the grammar does not enforce.

    Raises:
        HarmonyError: ``invalid_grammar``: a strict schema, or that of the answer, has what no
            grammar can enforce, or a function a name that no header can carry.
    """
    outputs = request.extract_structured_outputs()
    if outputs is not None and (outputs.grammar is not None or outputs.structural_tag is not None):
        return None
    tools = list(request.tools or ()) if with_tools and request.tool_choice != "none" else []
    if any(tool.type != "function" for tool in tools):
        return None
    functions = [_function(tool) for tool in tools]
    strict = [level >= _PARAMETER or function.strict is True for function in functions]
    choice = _choice(request.tool_choice) if functions else "none"
    is_free = choice == "none" or (choice == "auto" and level < _FUNCTION and not any(strict))
    if choice is None or (outputs is None and is_free):
        return None
    recipients = [recipient_of(function.name) for function in functions]
    grammar = TurnGrammar(
        [_tool(function) for function in functions],
        choice,
        # The answer's schema is left to vLLM where this library cannot enforce it.
        strict=["", *(name for name, held in zip(recipients, strict) if held)],
        # vLLM puts a preamble in front of the answer, in the same content.
        preambles=bool(functions) or outputs is None,
        header_forms="all",
        json_space="compact" if outputs and outputs.disable_any_whitespace else "bounded",
        **(_answer(outputs) if outputs is not None else {}),
    )
    written = grammar.write("xgrammar", STOPS)
    loosened += written.loosened
    return written.text


def _choice(choice: Any) -> Any:
    """``tool_choice`` as a grammar takes it; ``None`` for those that it does not know."""
    if choice is None or isinstance(choice, str):
        return choice or "auto"
    return {"name": _function(choice).name} if choice.type == "function" else None


def _tool(function: Any) -> dict[str, Any]:
    return {"name": function.name, "parameters": function.parameters or {}}


def _answer(outputs: Any) -> dict[str, Any]:
    """What the answer has to be."""
    if outputs.json_object:
        return {"response_schema": {"type": "object"}}
    if outputs.json is not None:
        schema = outputs.json
        return {"response_schema": json.loads(schema) if isinstance(schema, str) else schema}
    if outputs.choice is not None:
        return {"response_choices": outputs.choice}
    return {"response_regex": outputs.regex}
