"""What a request promises about its answer, as a grammar that the engine enforces."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from openai_harmony.errors import HarmonyError
from openai_harmony.grammar import GrammarForm, Loosened, TurnGrammar, Written
from openai_harmony.interop.turn import Turn
from openai_harmony.options import Prefill

Compiled = TypeVar("Compiled")


@dataclass(frozen=True, slots=True)
class Constraint:
    """A turn that has to end with a call, or with calls or an answer that fit their schemas."""

    turn: Turn
    strict: frozenset[str]
    """The recipients whose schemas have to be enforced, and ``""`` for that of the answer."""
    options: dict[str, Any] = field(default_factory=dict)
    """Of the grammar, besides what the turn says."""
    _written: dict[Any, Written] = field(default_factory=dict)
    """All answers of a request have the same grammar."""

    @property
    def grammar(self) -> TurnGrammar:
        """What the turn has to be."""
        return self.turn.grammar(**self.options)

    def written(self, form: GrammarForm, stop_token_ids: Iterable[int] = ()) -> str:
        """The grammar as an engine takes it; what that cannot enforce is loosened.

        ``HarmonyError`` for keywords of strict schemas, which names all of them.
        """
        stops = (*stop_token_ids,)
        key = (form, stops)
        if key not in self._written:
            self._written[key] = self.grammar.write(form, stops)
        return self._written[key].text

    def compiled(self, form: GrammarForm, compile_it: Callable[[str], Compiled]) -> Compiled:
        """What an engine in this process makes of the grammar.

        If it refuses schemas, those that are not strict are any JSON. ``HarmonyError`` if it still
        does.
        """
        try:
            return compile_it(self.written(form))
        except HarmonyError:
            loose = {*self.grammar.recipients, ""} - self.strict
            if not loose:
                raise
            loosened = self.turn.grammar(any_json=loose, **self.options)
            return compile_it(loosened.write(form).text)

    @property
    def loosened(self) -> list[Loosened]:
        """The keywords that the engine's grammar does not enforce."""
        return [one for written in self._written.values() for one in written.loosened]

    @property
    def needs_call(self) -> bool:
        """Whether the turn ends with a call."""
        return self.turn.tool_choice.mode in ("required", "named")

    def behind_thought(self) -> Constraint:
        """The rest of the turn, after reasoning that was ended because its budget is spent.

        After ``<|start|>assistant`` if a call has to follow, else inside the answer.
        """
        prefill = Prefill() if self.needs_call else Prefill(channel="final", text="")
        options = {"prefill": prefill, "thinking": "off"}
        return replace(self, options=options, _written={})


def constraint_of(turn: Turn) -> Constraint | None:
    """What the engine has to enforce; ``None`` if the request promises nothing.

    A call is required, or of one tool; the answer has a schema; a tool is ``strict``; or the input
    of a custom tool has a grammar.
    """
    declared = [tool for tool in turn.tools if tool.declared]
    strict = {tool.recipient for tool in declared if tool.strict}
    has_grammar = any(tool.input is not None for tool in declared)
    choice, has_format = turn.tool_choice.mode, turn.response_format is not None
    if choice not in ("required", "named") and not (has_format or has_grammar or strict):
        return None
    if turn.strict_format:
        strict.add("")
    return Constraint(turn, frozenset(strict))
