"""Tools: what the model may call."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from typing_extensions import Self

from openai_harmony import _lowlevel
from openai_harmony._published import published


@published
class ToolDescription(BaseModel):
    """A callable tool (guide, section "Defining available tools")."""

    name: str
    """The name within its namespace: ``get_location`` is called as ``functions.get_location``."""
    description: str | None = None
    """What the tool does; becomes the comment above its type. ``None`` writes no comment."""
    parameters: dict[Any, Any] | None = None
    """JSON Schema of the arguments; ``None`` for a tool without arguments. The order of its keys
    decides tokens."""

    @classmethod
    def new(
        cls,
        name: str,
        description: str | None = None,
        parameters: dict[Any, Any] | None = None,
    ) -> Self:
        """A tool, its fields in order.

        >>> ToolDescription.new("get_location", "Gets the location of the user.").parameters
        """
        return cls(name=name, description=description, parameters=parameters)


@published
class ToolNamespaceConfig(BaseModel):
    """Tools under one name, such as ``functions``.

    >>> search = ToolDescription.new("search", "Searches the archive.")
    >>> archive = ToolNamespaceConfig(name="archive", description="Old papers.", tools=[search])
    >>> archive.tools[0].name
    'search'
    """

    name: str
    """The namespace, ``functions`` for a developer's own tools."""
    description: str | None = None
    """What the tools have in common."""
    tools: list[ToolDescription]
    """The tools; a namespace may have none, as ``python`` does."""

    @staticmethod
    def browser() -> ToolNamespaceConfig:
        """The browser that the model was trained with (guide, section "Browser tool").

        >>> [tool.name for tool in ToolNamespaceConfig.browser().tools]
        ['search', 'open', 'find']
        """
        return _lowlevel.get_tool_namespace_config("browser")

    @staticmethod
    def python() -> ToolNamespaceConfig:
        """The stateful notebook that the model was trained with (guide, "Python tool")."""
        return _lowlevel.get_tool_namespace_config("python")
