"""What a request promises about its answer, as a grammar that the engine enforces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from openai_harmony.errors import HarmonyError, InvalidGrammarError
from openai_harmony.grammar import TurnGrammar
from openai_harmony.interop.turn import Turn
from openai_harmony.options import Prefill

Written = TypeVar("Written")


@dataclass(frozen=True, slots=True)
class Constraint:
    """A turn that has to end with a call, or whose calls or answer have to fit their schemas."""

    turn: Turn
    strict: frozenset[str]
    """The recipients whose schemas have to be held, and ``""`` for that of the answer. Where an
    engine cannot hold one of the others, any object is taken there."""
    options: dict[str, Any] = field(default_factory=dict)
    """Of the grammar, beside what the turn says."""

    def written(self, write: Callable[[TurnGrammar], Written]) -> Written:
        """The grammar as an engine takes it: ``written(TurnGrammar.to_gbnf)``.

        ``HarmonyError`` for a schema that the engine cannot hold and that is strict.
        """
        loose: set[str] = set()
        while True:
            grammar = self.turn.grammar(any_json=loose, **self.options)
            try:
                return write(grammar)
            except HarmonyError as error:
                if isinstance(error, InvalidGrammarError) and error.recipient is not None:
                    names = {error.recipient}
                else:  # The engine does not name the schema.
                    names = {*grammar.recipients, ""}
                more = names - self.strict - loose
                if not more:
                    raise
                loose |= more

    @property
    def needs_call(self) -> bool:
        """Whether the turn ends with a call."""
        return self.turn.tool_choice.mode in ("required", "named")

    def behind_thought(self) -> Constraint:
        """The rest of the turn, behind a thought that was ended because its budget is spent.

        Behind ``<|start|>assistant`` if a call has to follow, else inside the answer.
        """
        prefill = Prefill() if self.needs_call else Prefill(channel="final", text="")
        return replace(self, options={"prefill": prefill, "thoughts": "off"})


def constraint_of(turn: Turn, body: dict[str, Any]) -> Constraint | None:
    """What the engine has to enforce; ``None`` if the request promises nothing.

    A call is required, or of one tool; the answer has a schema; or a tool is ``strict``.
    """
    strict = set(_strict_tools(turn, body))
    if turn.response_format is not None and _is_strict_format(body):
        strict.add("")
    choice = turn.tool_choice.mode
    if choice not in ("required", "named") and turn.response_format is None:
        declared = {tool.recipient for tool in turn.tools if tool.declared}
        if not strict & declared:
            return None
    return Constraint(turn, frozenset(strict))


def _strict_tools(turn: Turn, body: dict[str, Any]) -> Iterator[str]:
    """The recipients of tools that the body calls strict."""
    if not list(turn.tools):  # Ollama's generate has none, whatever its body has
        return
    for tool in body.get("tools") or ():
        members = tool.get("tools") if tool.get("type") == "namespace" else None
        for one in members or [tool]:
            inner = one.get("function", one)
            if not isinstance(inner, dict) or inner.get("strict") is not True:
                continue
            name = inner.get("name")
            namespace = tool.get("name") if members else None
            found = turn.tools.by_name(name, namespace) if isinstance(name, str) else None
            if found is not None:
                yield found.recipient


def _is_strict_format(body: dict[str, Any]) -> bool:
    """Whether the answer's schema is strict, as chat completions and Responses spell it."""
    text = body.get("text")
    named = body.get("response_format") or (text.get("format") if isinstance(text, dict) else None)
    inner = named.get("json_schema", named) if isinstance(named, dict) else None
    return isinstance(inner, dict) and inner.get("strict") is True
