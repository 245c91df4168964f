"""Why a run is refused, and which arguments would help, as Python or a command line names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Argument(NamedTuple):
    """An argument of ``write_dataset`` in the text of an error."""

    name: str
    value: str = ""
    """What was given, or what to give."""

    def __str__(self) -> str:
        return f"{self.name}={self.value}" if self.value else self.name


RESTART = Argument("restart", "True")
MAX_ERRORS = Argument("max_errors")


class RefusedError(Exception):
    """Its parts are texts and arguments, and its text has them as Python names them."""

    def __str__(self) -> str:
        return "".join(map(str, self.args))

    def told(self, flag: Callable[[Argument], str]) -> str:
        """The text with the arguments as a function writes them."""
        parts = (flag(part) if isinstance(part, Argument) else part for part in self.args)
        return "".join(parts)


class StateError(RefusedError):
    """A run cannot continue with the output that is there; the text has the reason."""


class ErrorLimitError(RefusedError):
    """There are more bad rows than the caller allows."""


__all__ = ["MAX_ERRORS", "RESTART", "Argument", "ErrorLimitError", "RefusedError", "StateError"]
