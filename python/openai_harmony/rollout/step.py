"""What the model sampled at one prompt: its messages, and the calls among them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from openai_harmony import _lowlevel
from openai_harmony.chat import Author, Message, Role
from openai_harmony.errors import WrongTypeError
from openai_harmony.rendered import MessageSpan
from openai_harmony.stream import Repair

if TYPE_CHECKING:
    from openai_harmony.encoding import HarmonyEncoding


class Said(NamedTuple):
    """A message that was sampled."""

    message: Message
    kind: Literal["thought", "preamble", "answer", "call", "other"]
    """``thought`` on ``analysis``, ``preamble`` visible text before the answer, ``answer`` on
    ``final``, ``call`` to a tool on any channel, ``other`` as if another role spoke."""
    span: MessageSpan
    """Its tokens, as indexes into those that were sampled."""
    is_complete: bool
    """Whether the model ended it."""
    is_waiting: bool
    """Whether it is a call that waits for a result."""

    @property
    def text(self) -> str:
        """The message's text."""
        return self.message.text


class Call(NamedTuple):
    """A call of a tool."""

    name: str
    """The recipient: ``functions.get_weather``."""
    arguments: str
    """As they were sampled; ``{}`` for a function that was called without any."""
    status: Literal["complete", "cut_off", "not_json", "abandoned"]
    """``complete``: it may run. ``cut_off``: sampling ended before the call did, and it must not
    run. ``not_json``: a function's arguments that are no JSON object. ``abandoned``: the model
    continued without its result, with an answer, reasoning, or a result that it made up. Any other
    call waits for a result."""
    span: MessageSpan
    """Its tokens, as indexes into those that were sampled."""
    message: Message

    def result(self, text: str) -> Message:
        """The message that answers it, for :meth:`Rollout.extend`.

        A function's is on ``commentary``, a built-in tool's on ``analysis`` if its call is.

        Raises:
            WrongTypeError: The result is no text: ``json.dumps`` makes one of other values.
        """
        if not isinstance(text, str):
            got = type(text).__name__
            raise WrongTypeError(f"text: expected a string, got {got}; json.dumps makes one")
        author = Author.new(Role.TOOL, self.name)
        message = Message.from_author_and_content(author, text).with_recipient("assistant")
        is_function = self.name.startswith("functions.")
        on_analysis = self.message.channel == "analysis" and not is_function
        return message.with_channel("analysis" if on_analysis else "commentary")


class Step(NamedTuple):
    """What was sampled at once."""

    said: list[Said]
    """The messages, in their order. The first one includes what the prompt prefilled."""
    stop_token: int | None
    """The stop token that was sampled last; ``None`` if sampling was cut off."""
    repairs: list[Repair]
    """What of the tokens was malformed. Spans are of sampled tokens."""
    calls: list[Call]
    """The calls of tools. A well-formed step has one at most, its last message."""

    @property
    def waiting(self) -> list[Call]:
        """The calls that wait for a result.

        All may be answered, in any order; those that must not run, with an error.
        """
        return [call for call in self.calls if call.status != "abandoned"]

    @property
    def is_complete(self) -> bool:
        """Whether the model itself ended its turn, with ``<|return|>`` or ``<|call|>``."""
        return self.stop_token in (200002, 200012)

    @property
    def thought_closed(self) -> bool:
        """Whether no reasoning was cut off. True if there is none."""
        return all(said.is_complete for said in self.thoughts)

    @property
    def thoughts(self) -> list[Said]:
        """The reasoning messages."""
        return [said for said in self.said if said.kind == "thought"]

    @property
    def preambles(self) -> list[Said]:
        """Visible text before the answer."""
        return [said for said in self.said if said.kind == "preamble"]

    @property
    def answer(self) -> Said | None:
        """The last message on ``final``."""
        answers = [said for said in self.said if said.kind == "answer"]
        return answers[-1] if answers else None


def read_step(
    encoding: HarmonyEncoding,
    sampled: Iterable[int],
    *,
    prompt: Iterable[int] = (),
    tools: Iterable[str] | None = None,
) -> Step:
    """Reads what was sampled, however malformed, without a rollout.

    Also nothing can have been sampled, and more after a stop token.

    Args:
        encoding: The encoding.
        sampled: The tokens.
        prompt: What they were sampled from, if it may contain more than ``<|start|>assistant`` of
            the message. Spans are counted from the first sampled token.
        tools: The recipients that were offered, by which malformed calls are recognised.

    Raises:
        HarmonyError: The prompt does not end with an open message of the assistant.

    >>> from openai_harmony import load_harmony_encoding
    >>> encoding = load_harmony_encoding("HarmonyGptOss")
    >>> sampled = encoding.encode("<|channel|>final Hi<|return|>", allowed_special="all")
    >>> step = read_step(encoding, sampled)
    >>> step.answer.text, step.is_complete, [repair.kind for repair in step.repairs]
    ('Hi', True, ['missing_message'])
    """
    return step_of(_lowlevel.read_step(encoding, prompt, sampled, tools))


def step_of(
    fields: tuple[list[tuple[Any, ...]], int | None, list[Repair]], free: Collection[str] = ()
) -> Step:
    """From what the extension gives; calls to the recipients ``free`` need no JSON."""
    messages, stop, repairs = fields
    said = [
        Said(message, kind, MessageSpan(*span), complete, waits)
        for message, kind, span, complete, waits in messages
    ]
    return Step(said, stop, repairs, [_call(one, free) for one in said if one.kind == "call"])


def _call(said: Said, free: Collection[str]) -> Call:
    name = said.message.recipient or ""
    needs_json = name.startswith("functions.") and name not in free
    arguments = "{}" if needs_json and said.is_complete and not said.text.strip() else said.text
    status: Literal["complete", "cut_off", "not_json", "abandoned"] = "complete"
    if not said.is_waiting:
        status = "abandoned"
    elif not said.is_complete:
        status = "cut_off"
    elif needs_json and not _is_object(arguments):
        status = "not_json"
    return Call(name, arguments, status, said.span, said.message)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text, parse_constant=_refuse_constant), dict)
    except (ValueError, RecursionError):
        return False


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


__all__ = ["Call", "Said", "Step", "read_step", "step_of"]
