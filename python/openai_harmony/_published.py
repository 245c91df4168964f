"""The classes that version 0.0.8 has, too."""

from __future__ import annotations

from typing import TypeVar

_Class = TypeVar("_Class", bound=type)


def published(cls: _Class) -> _Class:
    """Marks a class of 0.0.8: pickles name it by the module that it has there."""
    cls.__module__ = "openai_harmony"
    return cls
