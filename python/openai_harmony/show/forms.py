"""What a text is, recognised by its form: a conversation, a request of an API, tokens, or text."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from openai_harmony.chat import Conversation, Message
from openai_harmony.errors import HarmonyError
from openai_harmony.interop.turn import Turn
from openai_harmony.kinds import Form
from openai_harmony.show.answers import READERS, answered, whole_answer
from openai_harmony.show.cells import the_encoding

MOST_MESSAGES = 100_000
"""The most messages of a conversation or a request: pictures of more would take gigabytes."""

_MESSAGES = tuple(dict.fromkeys(field for _, field in READERS.values()))
_MARKER = re.compile(r"<\|(?:start|end|message|channel|constrain|return|call)\|>")
_STRIPPED = re.compile(r"\s*(?:assistant)?(?:analysis|commentary|final)(?=\S)")
_NUMBERS = re.compile(r"[\[(\s]*-?\d+(?:[\s,]+-?\d+)*[\],)\s]*")
_TOKEN_FIELDS = ("tokens", "token_ids", "output_ids", "input_ids", "prompt_token_ids")
_MESSAGE_FIELDS = {"author", "channel", "recipient", "content_type"}
_CONTENTS = {"system_content", "developer_content"}


class UnknownForm(ValueError):  # noqa: N818 - what it is, in the sentence that it makes
    """A text in an unknown form, or not well-formed; the message has what is wrong, and where."""


@dataclass(frozen=True, slots=True)
class Recognized:
    """What a text is."""

    form: Form
    value: Conversation | Turn | list[int] | list[Message]
    """Tokens for ``tokens``, ``markers``, ``plain``; messages for ``stripped``, ``answer``."""
    notes: list[str] = field(default_factory=list)
    """What was not understood and left out."""


def recognize(
    text: str | bytes,
    form: Form | None = None,
    *,
    date: str | None = "today",
    tools: Sequence[str] = (),
) -> Recognized:
    """Reads a text by its form.

    Args:
        text: The text, or its bytes.
        form: What it is; left out, it is recognised. Of the four APIs the one is taken whose
            reader uses the most of the body, chat completions where several use all.
        date: The date in the system message of requests: a date, ``"today"``, or ``None``.
        tools: Those that were offered, by which calls in text without markers are told from words.

    Returns:
        The form and what was read.

    Raises:
        UnknownForm: A text in another form, or not as its form must be.

    >>> recognize('{"messages": [{"role": "user", "content": "Hi"}]}').form
    'chat_completions'
    >>> recognize("200006, 1428").value, recognize("<|start|>user").value
    ([200006, 1428], [200006, 1428])
    """
    text = (_decoded(text) if isinstance(text, bytes) else text).removeprefix("\ufeff")
    if not text.strip():
        raise UnknownForm("empty")
    try:
        return _read(text, form, date, tools)
    except UnknownForm:
        raise
    except (ValueError, HarmonyError) as error:
        # In a line; pydantic's have several.
        raise UnknownForm(" ".join(str(error).split())) from None


def _read(text: str, form: Form | None, date: str | None, tools: Sequence[str]) -> Recognized:
    if form in ("markers", "stripped", "plain"):
        return _of_text(text, form, tools)
    may_be_answer = form in (None, "tokens", "answer")
    data = whole_answer(text) if may_be_answer else None
    is_json = data is not None or not may_be_answer or text.lstrip()[0] in "{["
    if data is None and is_json:
        data = _parsed(text)
    if may_be_answer and isinstance(data, dict) and (found := _of_answer(data)):
        return found
    if form == "answer":
        raise UnknownForm("expected the answer of an API, whole or as the log of a stream")
    if is_json:
        return _of_json(data, form, date)
    if _NUMBERS.fullmatch(text):
        # More digits than an id has are not read: Python refuses thousands of them.
        numbers = re.findall(r"-?\d+", text)
        return Recognized("tokens", _ids([int(one[:19]) for one in numbers]))
    if form == "tokens":
        raise UnknownForm("expected token ids: numbers with commas or spaces between them")
    return _of_text(text, None, tools)


def _decoded(raw: bytes) -> str:
    if b"\0" in raw:
        raise UnknownForm("binary data; expected JSON, token ids or text")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise UnknownForm(f"byte {error.start} is not UTF-8") from None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise UnknownForm(f"not JSON: {where}: {error.msg}") from None
    except ValueError as error:
        raise UnknownForm(f"not JSON that can be read: {error}") from None
    except RecursionError:
        raise UnknownForm("not JSON that can be read: nested too deeply") from None


def _of_answer(data: Mapping[str, Any]) -> Recognized | None:
    """What an API or an engine answered."""
    found = answered(data)
    if not found:
        return None
    if isinstance(found[0], Message):
        return Recognized("answer", found)
    return Recognized("tokens", _ids(found, "choices[0].token_ids"))


def _of_text(text: str, form: Form | None, tools: Sequence[str]) -> Recognized:
    # An editor's newline at the end is not what was sampled.
    ended = text.removesuffix("\n")
    if form == "markers" or (form is None and _MARKER.search(text)):
        return Recognized("markers", the_encoding().encode(ended, allowed_special="all"))
    if form == "stripped" or (form is None and _STRIPPED.match(text)):
        try:
            return Recognized("stripped", the_encoding().read_stripped_text(ended, tools=tools))
        except HarmonyError as error:
            raise UnknownForm(f"tool: {error}") from None
    if form == "plain":
        return Recognized("plain", the_encoding().encode(text, disallowed_special=()))
    raise UnknownForm(
        "expected a conversation or a request in JSON, token ids, or text with markers such as "
        "<|start|>; any other text is read with --as plain"
    )


def _of_json(data: Any, form: Form | None, date: str | None) -> Recognized:
    if isinstance(data, list):
        if (not data or isinstance(data[0], (int, float))) and form in (None, "tokens"):
            return Recognized("tokens", _ids(data))
        data = {"messages": data}
    if not isinstance(data, dict):
        raise UnknownForm("expected an object or a list")
    saved = data.get("fed", data.get("read"))
    if isinstance(saved, dict) and "version" in data and form in (None, "tokens"):
        # What was fed to a reply or a parser that ``to_bytes`` saved.
        match saved:
            case {"Tokens": {"tokens": list(tokens)}}:
                return Recognized("tokens", _ids(tokens))
        raise UnknownForm("a saved checkpoint has no tokens, so there is nothing to show")
    for name in _TOKEN_FIELDS:
        if isinstance(data.get(name), list) and form in (None, "tokens"):
            return Recognized("tokens", _ids(data[name], name))
    if form == "tokens":
        raise UnknownForm(f"expected a list of token ids, or an object with {_TOKEN_FIELDS[0]!r}")
    if form is None and not {*_MESSAGES, "previous_response_id"} & set(data):
        fields = ", ".join(map(repr, _MESSAGES))
        raise UnknownForm(
            f"expected an object with {fields} (a conversation, or a request of an API) "
            "or 'tokens'; training rows are read with --format chat"
        )
    for name in _MESSAGES:
        if isinstance(data.get(name), list) and len(data[name]) > MOST_MESSAGES:
            raise UnknownForm(
                f"{name}: {len(data[name]):,} messages; the limit is {MOST_MESSAGES:,}; "
                "`harmony dataset` renders files of any size"
            )
    if form == "harmony" or (form is None and _is_harmony(data)):
        return _of_harmony(data)
    return _of_request(data, form, date)


def _is_harmony(data: Mapping[str, Any]) -> bool:
    """Whether messages have what only this library's own form has."""
    messages = data.get("messages")
    if not isinstance(messages, list) or set(data) != {"messages"}:
        return False
    return any(isinstance(one, dict) and _is_own_message(one) for one in messages)


def _is_own_message(message: Mapping[str, Any]) -> bool:
    if _MESSAGE_FIELDS & set(message):
        return True
    if message.get("name", "") is None:
        return True
    parts = message.get("content")
    return isinstance(parts, list) and any(
        isinstance(part, dict) and part.get("type") in _CONTENTS for part in parts
    )


def _of_harmony(data: Mapping[str, Any]) -> Recognized:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        conversation = Conversation.from_dict(data)
    return Recognized("harmony", conversation, [str(one.message) for one in caught])


def _of_request(data: Mapping[str, Any], form: Form | None, date: str | None) -> Recognized:
    """Reads a request with the reader that leaves the least of it unused."""
    names = [name for name in READERS if _is_of(name, data)] if form is None else [form]
    best: tuple[int, Form, Turn] | None = None
    failed: Exception | None = None
    for name in names:
        try:
            turn = READERS[name][0](data, date=date)
        except (ValueError, HarmonyError) as error:
            failed = failed or error
            continue
        unused = turn._not_used
        if best is None or unused < best[0]:
            best = unused, name, turn  # type: ignore[assignment]
        if unused == 0:
            break
    if best is None:
        raise failed or UnknownForm("expected a request")
    _, form, turn = best
    return Recognized(form, turn, [f"{one.path}: {one.reason}" for one in turn.unused])


def _is_of(name: str, data: Mapping[str, Any]) -> bool:
    """Whether the messages are not in a field that only other APIs have."""
    own = READERS[name][1]
    return own in data or all(data.get(other) is None for other in _MESSAGES if other != own)


def _ids(values: list[Any], name: str = "tokens") -> list[int]:
    if not values:
        raise UnknownForm(f"{name}: empty")
    for index, value in enumerate(values):
        if type(value) is not int:
            raise UnknownForm(f"{name}[{index}]: expected a token id, got {type(value).__name__}")
        # Ids that the vocabulary does not have are shown and repaired.
        if not 0 <= value < 2**32:
            shown = value if abs(value) < 10**18 else "so large a number"
            raise UnknownForm(f"{name}[{index}]: {shown} is not a token id")
    return values


__all__ = ["Recognized", "UnknownForm", "recognize"]
