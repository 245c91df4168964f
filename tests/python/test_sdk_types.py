"""Every type and member of the SDKs' requests is read, listed as unused, or known to mean nothing here.

Bodies are made from the SDKs' own types: each type once, alone and with each of its members. A member
is silent if a body with it gives the same prompt, settings, response and unused parts as one without.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, Union, get_args, get_origin

import pytest
from typing_extensions import NotRequired, Required, get_type_hints, is_typeddict

from openai_harmony import HarmonyEncoding, interop
from openai_harmony.interop import InvalidRequestError, UnsupportedContent
from tables import table

Wrap = Callable[[Any], Any]
USER = {"role": "user", "content": "A"}

NO_EFFECT = dict(table("sdk_types", "no effect"))
"""Members that change nothing, by why."""
SILENT = {name for names in NO_EFFECT.values() for name in names.split()}


def alternatives(hint: Any) -> Iterator[Any]:
    """The types of a hint, without what only describes them."""
    origin = get_origin(hint)
    if origin in (Required, NotRequired) or str(origin) == "typing.Annotated":
        yield from alternatives(get_args(hint)[0])
    elif origin is Union or str(origin) == "<class 'types.UnionType'>":
        for one in get_args(hint):
            yield from alternatives(one)
    elif hint is not type(None):
        yield hint


def is_list(hint: Any) -> bool:
    return bool(re.search(r"[Ll]ist|Iterable|[Ss]equence", str(get_origin(hint) or hint)))


def required(hints: dict[str, Any]) -> list[str]:
    """The keys that a value must have; the classes do not tell, since their hints are texts."""
    return [key for key, hint in hints.items() if get_origin(hint) is Required]


def least(hint: Any, name: str = "") -> Any:
    """The smallest value of a type."""
    [first, *_] = alternatives(hint)
    if is_typeddict(first):
        hints = get_type_hints(first, include_extras=True)
        return {key: least(hints[key], key) for key in sorted(required(hints))}
    if get_origin(first) is Literal:
        return get_args(first)[0]
    if is_list(first):
        inner = get_args(first)
        return [least(inner[0])] if inner else ["x"]
    texts = {"name": "f", "definition": "start: /a/"}
    simple = {str: texts.get(name, "x"), int: 2, float: 0.5, bool: True}
    return simple.get(first, {})


def values(hint: Any, name: str) -> Iterator[Any]:
    for one in alternatives(hint):
        if get_origin(one) is Literal:
            yield from get_args(one)
        else:
            yield from (True, False) if one is bool else (least(one, name),)


def walk(hint: Any, wrap: Wrap, seen: set[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Each type within, alone and with each member: its name, and the body with it and without."""
    for one in alternatives(hint):
        if is_list(one) and get_args(one):
            yield from walk(get_args(one)[0], lambda value: wrap([value]), seen)
        if not is_typeddict(one) or one in seen:
            continue
        seen.add(one)
        base, hints = least(one), get_type_hints(one, include_extras=True)
        yield one.__name__, wrap(base), None
        for name, of_member in hints.items():

            def within(value: Any, name: str = name, base: Any = base) -> Any:
                return wrap({**base, name: value})

            if name not in required(hints):
                for value in values(of_member, name):
                    yield f"{one.__name__}.{name}", within(value), wrap(base)
            yield from walk(of_member, within, seen)


REFUSED = dict(table("sdk_types", "refused"))
"""What is an error, and why."""


def roots(api: str) -> tuple[Any, list[tuple[Any, Wrap]]]:
    if api == "anthropic":
        beta = pytest.importorskip("anthropic.types.beta")
        params = pytest.importorskip("anthropic.types.beta.message_create_params")
        body = {"max_tokens": 99, "messages": [USER], "tools": [{"name": "f", "input_schema": {}}]}
        return interop.anthropic, [
            (beta.BetaMessageParam, lambda v: {**body, "messages": [USER, _by_the_assistant(v)]}),
            (beta.BetaToolUnionParam, lambda v: {**body, "tools": [v]}),
            (params.MessageCreateParamsNonStreaming, lambda v: {**body, **v, "messages": [USER]}),
        ]
    if api == "responses":
        types = pytest.importorskip("openai.types.responses")
        params = pytest.importorskip("openai.types.responses.response_create_params")
        body = {"input": "A", "tools": [{"type": "function", "name": "f"}]}
        return interop.responses, [
            (types.ResponseInputItemParam, lambda v: {**body, "input": [USER, v]}),
            (types.ToolParam, lambda v: {**body, "tools": [v]}),
            (params.ResponseCreateParamsNonStreaming, lambda v: {**body, **v, "input": "A"}),
        ]
    chat = pytest.importorskip("openai.types.chat")
    params = pytest.importorskip("openai.types.chat.completion_create_params")
    body = {"messages": [USER], "tools": [{"type": "function", "function": {"name": "f"}}]}
    return interop.chat_completions, [
        (chat.ChatCompletionMessageParam, lambda v: {**body, "messages": [USER, v]}),
        (params.CompletionCreateParamsNonStreaming, lambda v: {**body, **v, "messages": [USER]}),
    ]


def _by_the_assistant(message: dict[str, Any]) -> dict[str, Any]:
    """A message, the assistant's if only the assistant writes such blocks."""
    blocks = message.get("content")
    kinds = {block.get("type") for block in blocks} if isinstance(blocks, list) else set()
    own = kinds & {"thinking", "redacted_thinking", "tool_use"}
    return {**message, "role": "assistant"} if own else message


def seen_of(dialect: Any, body: Any, encoding: HarmonyEncoding) -> Any:
    """What a body becomes."""
    turn = dialect.read(body, date="2026-11-28")
    fixed: dict[str, Any] = {"model": "m", "id": "x", "created": 0, "prompt_tokens": 1}
    response = turn.reply(encoding, **fixed).response()
    unused = [(unused.path, unused.reason) for unused in turn.unused]
    said = turn.stop_strings, turn.tool_choice, turn.may_truncate, turn.stream, turn.model
    tools = [(tool.name, tool.strict, tool.declared) for tool in turn.tools]
    return turn.prompt(encoding), turn.sampling, response, unused, said, tools, turn.thinking_budget


def difference(one: Any, other: Any) -> list[str | int]:
    """Where two bodies differ, as the path of a member."""
    if isinstance(one, dict) and isinstance(other, dict):
        names = [name for name in one if one[name] != other.get(name)]
        return [names[0], *difference(one[names[0]], other.get(names[0]))] if names else []
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        at = next(at for at, pair in enumerate(zip(one, other)) if pair[0] != pair[1])
        return [at, *difference(one[at], other[at])]
    return []


def said(body: Any, without: Any) -> bool:
    """Whether a member says anything: an empty object does not."""
    return str(body).replace("{}", "").count("'") > str(without).replace("{}", "").count("'") + 2


def is_within(path: list[str | int], unused: list[tuple[str, str]]) -> bool:
    """Whether a part of the body that is listed as unused contains this one."""
    spelled = ""
    for part in path:
        spelled += (
            f"[{part}]" if isinstance(part, int) else f".{part}".lstrip("." if not spelled else "")
        )
        if any(listed == spelled for listed, _ in unused):
            return True
    return False


@pytest.mark.parametrize("api", ["chat", "responses", "anthropic"])
def test_no_type_is_unknown_and_no_member_is_silent(api: str, encoding: HarmonyEncoding) -> None:
    dialect, starts = roots(api)
    seen: set[Any] = set()
    wrong: dict[str, str] = {}
    heard: set[str] = set()
    for start, wrap in starts:
        for name, body, without in walk(start, wrap, seen):
            try:
                found = seen_of(dialect, body, encoding)
                before = None if without is None else seen_of(dialect, without, encoding)
            except UnsupportedContent:
                heard.add(name)
                continue
            except InvalidRequestError as error:
                if name not in REFUSED:
                    wrong[name] = f"{error}: {body}"
                heard.add(name)
                continue
            if (
                before is None
                or found != before
                or not said(body, without)
                or is_within(difference(body, without), found[3])
            ):
                heard.add(name)
            elif name.rpartition(".")[2] not in SILENT:
                wrong.setdefault(name, f"silent: {body}")
    assert len(heard) > {"chat": 100, "responses": 400, "anthropic": 300}[api]
    assert {
        name: why for name, why in wrong.items() if name not in heard or why[:6] != "silent"
    } == {}
