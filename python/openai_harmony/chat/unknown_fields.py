"""Unknown fields in JSON: a misspelt ``chanel`` is reported, not lost in silence."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count
from types import FrameType
from typing import (
    Any,
    NamedTuple,
)

from pydantic import BaseModel

from openai_harmony.errors import UnknownFieldError, UnknownFieldWarning, brief, quoted

CHAT_HINT = (
    "requests of OpenAI's API are read by openai_harmony.interop.chat_completions.read and "
    "openai_harmony.interop.responses.read"
)
"""What errors say of messages in the form of another API."""

_OF_MESSAGE = {"tool_calls", "tool_call_id", "function_call", "refusal", "audio"}
_OF_REQUEST = {
    "model", "input", "instructions", "tools", "tool_choice", "temperature", "top_p", "stream",
    "max_tokens", "max_completion_tokens", "reasoning", "reasoning_effort", "response_format",
}  # fmt: skip
_OF_CHAT = _OF_MESSAGE | _OF_REQUEST

MOST_AT_ONCE = 10
"""How many unknown fields one call names: hostile input may have millions."""

MOST_WARNINGS = 1000
"""How many different warnings name their field: Python remembers each that it has shown, and a
server's clients could make up new names without end."""

_PLAIN = {str, bool, type(None)}
"""Types of most fields' values, in which nothing lies."""

_texts: set[str] = set()
"""The warnings that were given."""


class UnknownField(NamedTuple):
    """A field that the object around it does not have."""

    path: tuple[str, ...]
    """The steps to that object: ``.content`` is a field, ``[0]`` an index or a key."""
    name: object
    """The field's name, a string unless the input was not JSON."""
    known: tuple[str, ...]
    """The fields that the object may have."""

    def inside(self, *steps: str) -> UnknownField:
        """The same field, seen from an object further out."""
        return self._replace(path=(*steps, *self.path))


def chat_hint(fields: Mapping[Any, Any]) -> str:
    """What to add to an error of what has a field of OpenAI's API."""
    return f"; {CHAT_HINT}" if _OF_CHAT & fields.keys() else ""


def unknown_fields(
    given: Mapping[Any, Any], made: BaseModel, known: tuple[str, ...] | None = None
) -> list[UnknownField]:
    """The fields of the input for which the model made from it has no place, at any depth.

    ``known`` replaces the outermost model's own field names.
    """
    found: list[UnknownField] = []
    kind: Any = type(made)
    _look_into(given, made, known or _fields_of(kind) or (), (), found)
    return found


def _look_into(
    given: object,
    made: Any,
    known: tuple[str, ...],
    path: tuple[str, ...],
    found: list[UnknownField],
) -> None:
    """Appends the unknown fields of an object at a path, and of those inside it.

    Whether a model is inside is seen by what was made, since other values are the caller's own: a
    schema may have any keys.
    """
    if type(given) is not dict and not isinstance(given, Mapping):
        return
    for name in given:
        if name not in known and name not in (made.model_extra or ()):
            found.append(UnknownField(path, name, known))
    for name, value in vars(made).items():
        kind: Any = type(value)
        if kind in _PLAIN:
            continue
        if (inner := _fields_of(kind)) is not None:
            _look_into(given.get(name), value, inner, (*path, f".{name}"), found)
        else:
            for key, entry, model in _entries(given.get(name), value):
                kind = type(model)
                if (inner := _fields_of(kind)) is not None:
                    _look_into(entry, model, inner, (*path, f".{name}", f"[{key!r}]"), found)


def _entries(given: Any, made: Any) -> Iterable[tuple[Any, Any, Any]]:
    """The entries of a list or dict: index or key, what was given, what was made of it."""
    if isinstance(made, list) and isinstance(given, (list, tuple)):
        return zip(count(), given, made)
    if isinstance(made, dict) and isinstance(given, Mapping):
        return [(key, given.get(key), value) for key, value in made.items()]
    return ()


@lru_cache(maxsize=64)
def _fields_of(kind: type) -> tuple[str, ...] | None:
    """What a model reads, under its aliases too: a subclass may have some. ``None`` for others.

    Cached, since pydantic takes longer to say what is a model than to make a small one.
    """
    if not issubclass(kind, BaseModel):
        return None
    fields = kind.model_fields
    aliases = [field.alias for field in fields.values() if field.alias]
    only_in_json = kind._only_in_json() if hasattr(kind, "_only_in_json") else ()
    return (*only_in_json, *fields, *aliases)


def report(unknown: Sequence[UnknownField], root: str, *, strict: bool) -> None:
    """Raises ``UnknownFieldError`` if strict, else warns once per field and place.

    A place is a path without its indexes, so that a long conversation does not warn of the same
    field again and again. ``root`` is what the caller reads: ``message``.
    """
    if not unknown:
        return
    if strict:
        raise UnknownFieldError(_error_text(unknown))
    for text in dict.fromkeys(_warning_texts(unknown, root)):
        warnings.warn(text, UnknownFieldWarning, stacklevel=_level_of_caller())


def _error_text(unknown: Sequence[UnknownField]) -> str:
    named = [
        f"{_path(field.path, field.name)}: unknown field (known: {', '.join(field.known)})"
        for field in unknown[:MOST_AT_ONCE]
    ]
    more = len(unknown) - MOST_AT_ONCE
    named += [f"and {more} more"] if more > 0 else []
    return "; ".join(named) + chat_hint({field.name: None for field in unknown})


def _warning_texts(unknown: Sequence[UnknownField], root: str) -> Iterator[str]:
    seen: set[tuple[str, object]] = set()
    for field in unknown:
        steps = "".join("[*]" if step[0] == "[" else step for step in field.path)
        place = steps.lstrip(".") or f"the {root}"
        if (place, field.name) in seen:
            continue
        if len(seen) == MOST_AT_ONCE:
            yield f"More unknown fields in the {root} are ignored"
            return
        seen.add((place, field.name))
        yield _warning_text(field, place)


def _warning_text(field: UnknownField, place: str) -> str:
    known = ", ".join(field.known)
    text = f"Unknown field {quoted(field.name)} in {place} is ignored (known: {known})"
    if isinstance(field.name, str):
        text += chat_hint({field.name: None})
    if text not in _texts and len(_texts) >= MOST_WARNINGS:
        return f"Unknown fields in {place} are ignored (known: {known})"
    _texts.add(text)
    return text


def _path(steps: Sequence[str], name: object) -> str:
    last = f".{name}" if isinstance(name, str) and name.isidentifier() else f"[{name!r}]"
    return "".join(brief(step) for step in [*steps, last]).lstrip(".")


def _level_of_caller() -> int:
    """The ``stacklevel`` at which :func:`report` warns of its caller outside of this package."""
    level = 2
    frame: FrameType | None = sys._getframe(level)
    while frame and _is_ours(frame.f_globals.get("__name__")):
        level, frame = level + 1, frame.f_back
    return level


def _is_ours(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == "openai_harmony"
