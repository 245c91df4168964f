"""The options that a function takes by a table of `openai_harmony._options`, in the reference."""

from __future__ import annotations

import importlib
import inspect
import operator
from typing import Any

import griffe


class Options(griffe.Extension):
    """Gives them a parameter for each option, and its description."""

    def on_object(self, *, obj: Any, loader: Any, **_: Any) -> None:
        """Replaces `**options` of what says so, and the docstring by that of the running package.

        `on_function` would be called after the other extension has read the docstring.
        """
        said = obj.docstring.value if obj.is_function and obj.docstring else ""
        if "options: Those of" not in said or "options" not in obj.parameters:
            return
        name = obj.path.removeprefix(f"{obj.module.path}.")
        running = operator.attrgetter(name)(importlib.import_module(obj.module.path))
        obj.docstring.value = inspect.getdoc(running)
        options = obj.parameters["options"]
        del obj.parameters["options"]
        table = loader.modules_collection[obj.resolve(str(options.annotation.slice))]
        for name, one in inspect.signature(running).parameters.items():
            if name not in obj.parameters:
                obj.parameters.add(
                    griffe.Parameter(
                        name,
                        annotation=_plain(table.all_members[name].annotation),
                        kind=griffe.ParameterKind.keyword_only,
                        default=repr(one.default),
                    )
                )


def _plain(annotation: Any) -> Any:
    """The type of `Annotated`."""
    return annotation.slice.elements[0]
