"""Keyword arguments that several functions take, each declared once.

A table of options is a ``TypedDict`` with values annotated with the option's default and
description:

>>> from typing import Annotated
>>> from typing_extensions import TypedDict, Unpack
>>> class Sizes(TypedDict, total=False):
...     width: Annotated[int, Option(80, "How many columns a line has.")]
>>> @takes(Sizes)
... def draw(text: str, **options: Unpack[Sizes]) -> str:
...     return text.center(completed(draw, options)["width"])
>>> inspect.signature(draw).parameters["width"]
<Parameter "width: int = 80">
>>> draw("x", height=2)
Traceback (most recent call last):
    ...
TypeError: height: unknown option of draw (known: width)

Type checkers know the options through ``Unpack``.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Options = TypeVar("_Options")


class Option(NamedTuple):
    """The default and the description of an option."""

    default: Any
    description: str


def annotated_with(table: type, kind: type[_Options]) -> dict[str, tuple[Any, _Options]]:
    """For each name annotated with an instance of ``kind``, the type and that instance."""
    found: dict[str, tuple[Any, _Options]] = {}
    for name, hint in get_type_hints(table, include_extras=True).items():
        if get_origin(hint) is Annotated:
            value_type, *extras = get_args(hint)
            found.update((name, (value_type, one)) for one in extras if isinstance(one, kind))
    return found


class _Taken(NamedTuple):
    """The named arguments of a function."""

    name: str
    own: tuple[str, ...]
    defaults: dict[str, Any]


_TAKEN: dict[Callable[..., Any], _Taken] = {}


def takes(table: type, name: str | None = None) -> Callable[[_Function], _Function]:
    """Gives a function with ``**options`` the signature that the table describes.

    The line ``options: Those of TABLE.`` of its docstring becomes a line for each option. Errors
    call the function ``name``, by default its own name. The function itself calls
    :func:`completed`.
    """
    options = annotated_with(table, Option)

    def decorate(function: _Function) -> _Function:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        added = [
            inspect.Parameter(
                option, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=value_type
            )
            for option, (value_type, (default, _)) in options.items()
        ]
        function.__signature__ = signature.replace(parameters=own + added)  # type: ignore[attr-defined]
        if function.__doc__ is not None:
            function.__doc__ = _described(function.__doc__, table, options)
        named = tuple(p.name for p in own if p.default is not p.empty or p.kind is p.KEYWORD_ONLY)
        defaults = {option: default for option, (_, (default, _)) in options.items()}
        _TAKEN[function] = _Taken(name or function.__name__, named, defaults)
        return function

    return decorate


def _described(text: str, table: type, options: dict[str, tuple[Any, Option]]) -> str:
    before, line, after = text.partition(f"options: Those of {table.__name__}.")
    indent = " " * (len(before) - len(before.rstrip(" ")))
    described = [
        textwrap.fill(
            f"{name}: {' '.join(option.description.split())}",
            width=100,
            initial_indent=indent,
            subsequent_indent=f"{indent}    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for name, (_, option) in options.items()
    ]
    return before.rstrip(" ") + "\n".join(described) + after if line else text


def completed(function: Callable[..., Any], options: _Options) -> _Options:
    """All options of a function, with defaults for those left out.

    For an unknown option, ``TypeError`` names it and the known ones.
    """
    # Of a class method: the function in it.
    name, own, defaults = _TAKEN[getattr(function, "__func__", function)]
    given: Any = options
    for option in given:
        if option not in defaults:
            known = ", ".join((*own, *defaults))
            raise TypeError(f"{option}: unknown option of {name} (known: {known})")
    every: Any = {**defaults, **given}
    return every  # type: ignore[no-any-return]


__all__ = ["Option", "annotated_with", "completed", "takes"]
