"""What a request promises about its answer, as a grammar that the engine enforces."""

from __future__ import annotations

from collections.abc import Callable
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


def constraint_of(turn: Turn) -> Constraint | None:
    """What the engine has to enforce; ``None`` if the request promises nothing.

    A call is required, or of one tool; the answer has a schema; or a tool is ``strict``.
    """
    strict = {tool.recipient for tool in turn.tools if tool.strict and tool.declared}
    choice, has_format = turn.tool_choice.mode, turn.response_format is not None
    if choice not in ("required", "named") and not has_format and not strict:
        return None
    if turn.strict_format:
        strict.add("")
    return Constraint(turn, frozenset(strict))
