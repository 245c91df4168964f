"""An episode: prompts, what was sampled from them, and what followed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from typing_extensions import Self

from openai_harmony import _lowlevel
from openai_harmony._arrays import IntArray
from openai_harmony._counted import counted
from openai_harmony.chat import Conversation, Message
from openai_harmony.errors import WrongTypeError, quoted
from openai_harmony.interop.turn import Turn
from openai_harmony.options import Prefill, RenderConversationConfig, ThoughtPolicy
from openai_harmony.rollout.examples import Data, Examples, checked_data
from openai_harmony.rollout.following import following
from openai_harmony.rollout.step import Call, Step, step_of

if TYPE_CHECKING:
    from openai_harmony.encoding import HarmonyEncoding


class Rollout:
    """An episode: prompts, what was sampled from them, and what followed.

    It alternates between :attr:`prompt`, which waits for :meth:`sampled`, and a step, which waits
    for :meth:`extend`. Where the format does not allow that, the prompt is rendered again and a new
    segment begins. It pickles. One thread at a time can use it.

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
    >>> step.answer.text, step.is_complete
    ('It rains.', True)
    >>> rollout.examples()
    <Examples: 1 segment, 49 tokens, 24 sampled>
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
            keep_return: Whether a sampled ``<|return|>`` stays if the conversation continues. The
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
        if thoughts not in (None, "drop", "keep"):
            raise ValueError(f"thoughts: expected 'drop' or 'keep', got {quoted(thoughts)}")
        if thoughts is not None or config is None:
            config = config or RenderConversationConfig()
            policy = ThoughtPolicy(thoughts or "drop")
            config = config.model_copy(update={"thoughts": policy})
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
        self._counts = [len(conversation.messages)]
        self._waiting: list[Call] = []
        self._data: list[Data] = []
        self._raw = _lowlevel._Rollout(encoding, conversation.messages, prefill, **options)

    @property
    def prompt(self) -> IntArray:
        """The tokens to sample from, an array of uint32. Costs a copy of them."""
        return self._raw.prompt()

    @property
    def conversation(self) -> Conversation:
        """All messages, those that were sampled included: new copies."""
        return Conversation.from_messages(self.messages)

    @property
    def messages(self) -> list[Message]:
        """All messages, as new copies."""
        return self._raw.messages()

    def sampled(
        self,
        tokens: Iterable[int],
        logprobs: Iterable[float] | None = None,
        data: Mapping[str, Iterable[Any]] | None = None,
    ) -> Step:
        """Takes what was sampled from the prompt. The cost is that of these tokens.

        Args:
            tokens: Their ids, with the stop token if there is one.
            logprobs: The log-probability of each.
            data: What else there is of each, by a name of your own: routed experts, the version of
                the weights. :attr:`Examples.data` has it, aligned.

        Raises:
            HarmonyError: ``invalid_rollout``, and the rollout is as before: no tokens, an id that
                does not exist, tokens after a stop token, log-probabilities of another number, or
                this prompt was sampled from already.
            ValueError: Data of another number.
        """
        checked: Data = {}
        if data is not None:
            tokens = list(tokens)
            checked = checked_data(data, len(tokens))
        step = step_of(self._raw.sampled(tokens, logprobs), self._free)
        self._waiting = step.waiting
        self._data.append(checked)
        return step

    def extend(self, messages: Iterable[Message | Mapping[str, Any]] = ()) -> IntArray:
        """Adds what follows: results of tools, questions. Returns the next :attr:`prompt`.

        Whether it continues the last one, ``examples().breaks`` says. Without a break the cost
        is that of the messages, and of a copy of the prompt.

        Args:
            messages: Messages, or chat messages as dicts, which :func:`following` reads.

        Raises:
            HarmonyError: ``invalid_rollout``, and the rollout is as before: nothing was sampled, a
                message of the assistant, a result for no call. Whatever rendering refuses.
            InvalidRequestError: A dict that is no chat message.
            WrongTypeError: ``messages`` is a single message.
        """
        new = self._read(messages)
        self._raw.extend(new)
        self._counts.append(len(new))
        self._waiting = []
        return self.prompt

    def _read(self, messages: Iterable[Message | Mapping[str, Any]]) -> list[Message]:
        """The messages, those of the same form that follow one another read at once."""
        if isinstance(messages, (Message, Mapping, str)):
            got = type(messages).__name__
            raise WrongTypeError(f"messages: expected a list of messages, got {got}")
        read: list[Message] = []
        waiting = list(self._waiting)
        for is_chat, run in groupby(messages, lambda message: isinstance(message, Mapping)):
            new: Any = list(run)
            if is_chat:
                new = following(waiting, new).messages
            for message in new:
                named = [call for call in waiting if call.name == message.author.name]
                if named:
                    waiting.remove(named[0])
            read += new
        return read

    def examples(self) -> Examples:
        """What to train on, an example for each unbroken segment."""
        return Examples(self._raw.segments(), self._data)

    def branch(self) -> Self:
        """Another rollout that continues from here. Both share the tokens so far."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._counts, other._data = list(self._counts), list(self._data)
        other._raw = self._raw.branch()
        return other

    def __repr__(self) -> str:
        messages = counted(len(self.messages), "message")
        return f"<Rollout: {messages}, {counted(len(self.examples()), 'segment')}>"

    def __getstate__(self) -> dict[str, Any]:
        """What to play again: the beginning, what was sampled, and what was added."""
        examples = self.examples()
        return {
            "encoding": self._encoding,
            "prefill": self._prefill,
            "options": self._options,
            "free": self._free,
            "messages": self.messages,
            "counts": self._counts,
            "samples": [(examples.tokens[at], examples.logprobs[at]) for at in examples.steps],
            "data": self._data,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        first, *counts = state["counts"]
        messages: list[Message] = state["messages"]
        begin = Conversation.from_messages(messages[:first])
        self._start(state["encoding"], begin, state["prefill"], state["options"], state["free"])
        at = first
        for index, (tokens, logprobs) in enumerate(state["samples"]):
            at += len(self.sampled(tokens, logprobs, state["data"][index]).said)
            if index < len(counts):
                self.extend(messages[at : at + counts[index]])
                at += counts[index]


__all__ = ["Rollout"]
