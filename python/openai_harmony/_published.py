"""The classes that version 0.0.8 has, too."""

from __future__ import annotations

from contextlib import suppress
from typing import TypeVar, get_type_hints

_Class = TypeVar("_Class", bound=type)


def published(cls: _Class) -> _Class:
    """Marks a class of 0.0.8: pickles name it by the module that it has there."""
    own = cls.__annotations__
    with suppress(NameError):  # Of a class that names itself.
        # Evaluated here: later they would be looked up in the module that the class names.
        hints = get_type_hints(cls, include_extras=True) if own else {}
        own.update((name, hints[name]) for name in own)
    cls.__module__ = "openai_harmony"
    return cls
