"""Episodes that go on from sampled tokens as they are: for agents, and for reinforcement learning.

Rendering a conversation anew after each turn spells the model's headers and arguments another way.
So a trainer trains on tokens that the policy never sampled, and a prefix cache misses. Here the
next prompt is the last one, the sampled tokens, and what is new; where the format does not allow
that, the break has a reason.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from typing_extensions import Self

from openai_harmony import _lowlevel
from openai_harmony.chat import Author, Conversation, Message, Role
from openai_harmony.errors import WrongTypeError, quoted
from openai_harmony.interop.turn import Turn
from openai_harmony.next_prompt import Break, Broken, Extended
from openai_harmony.options import AnalysisPolicy, Prefill, RenderConversationConfig
from openai_harmony.rendered import MessageSpan
from openai_harmony.stream import Repair
from openai_harmony.token_batch import TokenBatch

if TYPE_CHECKING:
    from openai_harmony.encoding import HarmonyEncoding

# `array` takes a subscript when the program runs only from Python 3.12 on.
if TYPE_CHECKING:
    _IntArray: TypeAlias = array[int]
    _FloatArray: TypeAlias = array[float]
else:
    _IntArray = _FloatArray = array


class Said(NamedTuple):
    """A message that was sampled."""

    message: Message
    kind: Literal["thought", "preamble", "answer", "call", "other"]
    """``thought`` on ``analysis``, ``preamble`` visible text before the answer, ``answer`` on
    ``final``, ``call`` to a tool on any channel, ``other`` as if another role spoke."""
    span: MessageSpan
    """Its tokens, as indexes into those that were sampled."""
    complete: bool
    """Whether the model ended it."""

    @property
    def text(self) -> str:
        """The message's text."""
        return self.message.text


class Call(NamedTuple):
    """A call of a tool."""

    name: str
    """The recipient: ``functions.get_weather``."""
    arguments: str
    """As they were sampled."""
    status: Literal["complete", "cut_off", "not_json"]
    """``cut_off``: sampling ended before the call did, and it must not run. ``not_json``: a
    function's arguments that are no JSON object."""
    span: MessageSpan
    """Its tokens, as indexes into those that were sampled."""
    message: Message

    def result(self, text: str) -> Message:
        """The message that answers it, for :meth:`Rollout.extend`.

        Raises:
            WrongTypeError: The result is no text: ``json.dumps`` makes one of other values.
        """
        if not isinstance(text, str):
            got = type(text).__name__
            raise WrongTypeError(f"text: expected a string, got {got}; json.dumps makes one")
        author = Author.new(Role.TOOL, self.name)
        message = Message.from_author_and_content(author, text).with_recipient("assistant")
        return message.with_channel(self.message.channel or "commentary")


class Step(NamedTuple):
    """What was sampled at once."""

    said: list[Said]
    """The messages, in their order. The first one includes what the prompt prefilled."""
    stop: int | None
    """The stop token at the end; ``None`` if sampling was cut off."""
    repairs: list[Repair]
    """What of the tokens was malformed. Spans are of sampled tokens."""
    calls: list[Call]
    """The calls of tools. A well-formed step has one at most, its last message; of several, all may
    be answered."""

    @property
    def complete(self) -> bool:
        """Whether the model itself ended its turn, with ``<|return|>`` or ``<|call|>``."""
        return self.stop in (200002, 200012)

    @property
    def thought_closed(self) -> bool:
        """Whether no thought was cut off. True if there is none."""
        return all(said.complete for said in self.thoughts)

    @property
    def thoughts(self) -> list[Said]:
        """The thoughts."""
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


class Examples(TokenBatch):
    """What to train on: one text for each unbroken segment of a rollout.

    ``tokens``, ``loss_mask`` and ``logprobs`` have an item for each token of all segments; segment
    ``i`` is ``offsets[i]:offsets[i + 1]``.
    """

    loss_mask: bytearray
    """1 for each token that was sampled in its segment, else 0."""
    logprobs: _FloatArray
    """The log-probability of each token, float32; NaN where none was given."""
    spans: list[list[MessageSpan]]
    """For each segment the spans of its messages, counted from the segment's first token;
    ``message`` is the index in :attr:`Rollout.messages`. Malformed tokens that say nothing are in
    none."""
    breaks: list[Break | None]
    """Why the segment before each of them ended; ``None`` for the first."""

    def __init__(self, segments: Iterable[tuple[Any, ...]]) -> None:
        """From what ``_Rollout.segments`` gives."""
        tokens, self.logprobs = array("I"), array("f")
        offsets, self.loss_mask = array("q", [0]), bytearray()
        self.spans, self.breaks = [], []
        for ids, mask, logprobs, spans, broken in segments:
            tokens += ids
            self.logprobs += logprobs
            self.loss_mask += mask
            offsets.append(len(tokens))
            self.spans.append([MessageSpan(*span) for span in spans])
            self.breaks.append(broken)
        super().__init__(tokens, offsets)

    def __repr__(self) -> str:
        trained = sum(self.loss_mask)
        return f"<Examples: {len(self)} segments, {len(self.tokens)} tokens, {trained} sampled>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._segments(),)

    def _samples(self) -> list[tuple[_IntArray, _FloatArray | None]]:
        """The tokens of each sampling, in their order, and their log-probabilities."""
        samples: list[tuple[_IntArray, _FloatArray | None]] = []
        for start, end in zip(self.offsets, self.offsets[1:]):
            for run in re.finditer(b"\1+", self.loss_mask[start:end]):
                first, last = start + run.start(), start + run.end()
                logprobs = self.logprobs[first:last]
                given = not all(map(math.isnan, logprobs))
                samples.append((self.tokens[first:last], logprobs if given else None))
        return samples

    def _segments(self) -> list[tuple[Any, ...]]:
        parts = []
        for index, (spans, broken) in enumerate(zip(self.spans, self.breaks)):
            part = slice(self.offsets[index], self.offsets[index + 1])
            ids, mask, logprobs = self.tokens[part], self.loss_mask[part], self.logprobs[part]
            parts.append((ids, mask, logprobs, spans, broken))
        return parts


class Rollout:
    """An episode: prompts, what was sampled from them, and what followed.

    It alternates between :attr:`prompt`, which waits for :meth:`sampled`, and a step, which waits
    for :meth:`extend`. Where the format does not allow to go on, the prompt is rendered anew and a
    new segment begins. It pickles. One thread at a time can use it.

    >>> from openai_harmony import Conversation, Message, load_harmony_encoding
    >>> encoding = load_harmony_encoding("HarmonyGptOss")
    >>> question = Message.from_role_and_content("user", "Rain in Oslo?")
    >>> rollout = Rollout(Conversation.from_messages([question]), encoding)
    >>> call = '<|channel|>commentary to=functions.rain<|message|>{"in": "Oslo"}<|call|>'
    >>> step = rollout.sampled(encoding.encode(call, allowed_special="all"))
    >>> [(call.name, call.arguments, call.status) for call in step.calls]
    [('functions.rain', '{"in": "Oslo"}', 'complete')]
    >>> prompt = rollout.extend([step.calls[0].result("yes")])
    >>> encoding.decode(prompt[-14:])
    'functions.rain to=assistant<|channel|>commentary<|message|>yes<|end|><|start|>assistant'
    >>> answer = "<|channel|>final<|message|>It rains.<|return|>"
    >>> step = rollout.sampled(encoding.encode(answer, allowed_special="all"))
    >>> step.answer.text, step.complete
    ('It rains.', True)
    >>> rollout.examples()
    <Examples: 1 segments, 49 tokens, 24 sampled>
    """

    def __init__(
        self,
        begin: Turn | Conversation,
        encoding: HarmonyEncoding,
        thoughts: Literal["drop", "keep"] | None = None,
        *,
        config: RenderConversationConfig | None = None,
        prefill: Prefill | None = None,
        keep_return: bool = False,
        tools: Iterable[str] | None = None,
    ) -> None:
        """Begins with a conversation, or with a request's turn as it is rendered.

        Args:
            begin: The conversation or the turn.
            encoding: The encoding.
            thoughts: ``"drop"`` drops the thoughts of completed turns, as the guide says, which
                breaks the prompt there; ``"keep"`` keeps all. By default as ``config`` or the turn
                says; without them they are dropped.
            config: How to render; by default as the turn says.
            prefill: More of the assistant's message, which the model continues; by default the
                turn's.
            keep_return: Whether a sampled ``<|return|>`` stays where the conversation goes on. The
                model was trained on ``<|end|>`` there; by default such a prompt breaks.
            tools: Recipients that were offered, by which malformed calls are recognised, besides
                those that the conversation declares.

        Raises:
            HarmonyError: A message that cannot be rendered.
            WrongTypeError: ``begin`` is of another type.
        """
        free: set[str] = set()
        if tools is not None and (isinstance(tools, str) or not isinstance(tools, Iterable)):
            raise WrongTypeError(f"tools: expected a list, got {type(tools).__name__}")
        names = [*(tools or ())]
        if isinstance(begin, Turn):
            names += [tool.recipient for tool in begin.tools if tool.declared]
            free = {tool.recipient for tool in begin.tools if tool.kind != "function"}
            conversation, prefill = begin.conversation, prefill or begin.prefill
            config = config or begin.config
        elif isinstance(begin, Conversation):
            conversation = begin
        else:
            got = type(begin).__name__
            raise WrongTypeError(f"begin: expected a Turn or a Conversation, got {got}")
        policies = {
            "drop": AnalysisPolicy.DROP_COMPLETED_TURNS,
            "keep": AnalysisPolicy.KEEP_ALL,
        }
        if thoughts not in (None, *policies):
            raise ValueError(f"thoughts: expected 'drop' or 'keep', got {quoted(thoughts)}")
        if thoughts is not None or config is None:
            config = config or RenderConversationConfig()
            config = config.model_copy(update={"analysis": policies[thoughts or "drop"]})
        options = {"config": config, "keep_return": keep_return, "tools": names}
        self._start(encoding, conversation, prefill, options, free)

    def _start(
        self,
        encoding: HarmonyEncoding,
        conversation: Conversation,
        prefill: Prefill | None,
        options: dict[str, Any],
        free: set[str],
    ) -> None:
        self._encoding, self._free = encoding, free
        self._prefill, self._options = prefill, options
        self._messages = list(conversation.messages)
        self._counts = [len(self._messages)]
        self._raw = _lowlevel._Rollout(encoding, conversation.to_json(), prefill, **options)

    @property
    def prompt(self) -> _IntArray:
        """The tokens to sample from, an array of uint32. Costs a copy of them."""
        return self._raw.prompt()

    @property
    def conversation(self) -> Conversation:
        """All messages, those that were sampled included."""
        return Conversation.from_messages(self._messages)

    @property
    def messages(self) -> list[Message]:
        """All messages, as a new list."""
        return list(self._messages)

    def sampled(self, tokens: Iterable[int], logprobs: Iterable[float] | None = None) -> Step:
        """Takes what was sampled behind the prompt. The cost is that of these tokens.

        Args:
            tokens: Their ids, with the stop token if there is one.
            logprobs: The log-probability of each.

        Raises:
            HarmonyError: ``invalid_rollout``, and the rollout is as before: no tokens, an id that
                does not exist, tokens behind a stop token, log-probabilities of another number, or
                this prompt was sampled from already.
        """
        said, stop, repairs = self._raw.sampled(tokens, logprobs)
        all_said = [
            Said(message, kind, MessageSpan(*span), complete)
            for message, kind, span, complete in said
        ]
        self._messages += [said.message for said in all_said]
        calls = [self._call(said) for said in all_said if said.kind == "call"]
        return Step(all_said, stop, repairs, calls)

    def _call(self, said: Said) -> Call:
        name = said.message.recipient or ""
        status: Literal["complete", "cut_off", "not_json"] = "complete"
        if not said.complete:
            status = "cut_off"
        elif name.startswith("functions.") and name not in self._free and not _is_object(said.text):
            status = "not_json"
        return Call(name, said.text, status, said.span, said.message)

    def extend(self, messages: Iterable[Message] = ()) -> _IntArray:
        """Adds what follows: results of tools, questions. Returns the next :attr:`prompt`.

        Whether it goes on from the last one, ``examples().breaks`` says. Without a break the cost
        is that of the messages, and of a copy of the prompt.

        Raises:
            HarmonyError: ``invalid_rollout``, and the rollout is as before: nothing was sampled, a
                message of the assistant, a result for no call. Whatever rendering refuses.
        """
        new = Conversation.from_messages(messages)
        self._raw.extend(new.to_json())
        self._messages += new.messages
        self._counts.append(len(new.messages))
        return self.prompt

    def examples(self) -> Examples:
        """What to train on, an example for each unbroken segment."""
        return Examples(self._raw.segments())

    def branch(self) -> Self:
        """Another rollout that goes on from here. Both share the tokens so far."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._messages, other._counts = list(self._messages), list(self._counts)
        other._raw = self._raw.branch()
        return other

    def __repr__(self) -> str:
        return f"<Rollout: {len(self._messages)} messages, {len(self.examples())} segments>"

    def __getstate__(self) -> dict[str, Any]:
        """What to play again: the beginning, what was sampled, and what was added."""
        return {
            "encoding": self._encoding,
            "prefill": self._prefill,
            "options": self._options,
            "free": self._free,
            "messages": self._messages,
            "counts": self._counts,
            "samples": self.examples()._samples(),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        first, *counts = state["counts"]
        messages: list[Message] = state["messages"]
        begin = Conversation.from_messages(messages[:first])
        self._start(state["encoding"], begin, state["prefill"], state["options"], state["free"])
        for index, (tokens, logprobs) in enumerate(state["samples"]):
            self.sampled(tokens, logprobs)
            if index < len(counts):
                at = len(self._messages)
                self.extend(messages[at : at + counts[index]])


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


__all__ = ["Break", "Broken", "Call", "Examples", "Extended", "Rollout", "Said", "Step"]
