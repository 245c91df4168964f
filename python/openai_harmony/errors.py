"""The errors of the package: its own, and what bad arguments and bad JSON raise."""

from __future__ import annotations

from typing import Optional, Tuple


class HarmonyError(RuntimeError):
    """Rendering, parsing, encoding or decoding failed.

    ``kind`` names what went wrong, in snake case (``unexpected_token``, ``unexpected_eos``, ...).
    ``token_index`` is the index of the token to blame, from 0, or ``None`` where there is none.
    """

    def __init__(
        self, message: str = "", kind: str = "unknown", token_index: Optional[int] = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.token_index = token_index

    def __reduce__(self) -> Tuple[type, Tuple[str, str, Optional[int]]]:
        return type(self), (str(self), self.kind, self.token_index)


class WrongTypeError(TypeError, ValueError):
    """An argument, or a field somewhere inside one, has a wrong type; the text names it.

    Both a ``TypeError`` and a ``ValueError``, so that one clause catches all bad arguments.
    """


class MissingFieldError(ValueError, KeyError):
    """A field that the JSON form must have is not there.

    Also a ``KeyError``, which is what version 0.0.8 raised.
    """

    __str__ = Exception.__str__
