"""What to train on: the segments of a rollout as flat arrays."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from openai_harmony._arrays import FloatArray
from openai_harmony._counted import counted
from openai_harmony.errors import WrongTypeError
from openai_harmony.next_prompt import Break
from openai_harmony.rendered import MessageSpan
from openai_harmony.token_batch import TokenBatch

Data: TypeAlias = dict[str, list[Any]]
"""By its name, for each token what was given with it."""


class Segment(NamedTuple):
    """A segment as trainers take it: a prompt, and a response up to the last sampled token."""

    prompt: list[int]
    response: list[int]
    """Sampled tokens, and between them results of tools and questions."""
    loss_mask: list[int]
    """For each token of the response 1 if it was sampled, else 0."""
    logprobs: list[float]
    """For each token of the response its log-probability: 0 if it was not sampled, NaN if none was
    given."""
    data: Data
    """For each token of the response what else was given; ``None`` if nothing was."""


class Examples(TokenBatch):
    """What to train on: one text for each unbroken segment of a rollout.

    ``tokens``, ``loss_mask`` and ``logprobs`` have an item for each token of all segments; segment
    ``i`` is ``offsets[i]:offsets[i + 1]``.
    """

    loss_mask: bytearray
    """1 for each token that was sampled in its segment, else 0."""
    logprobs: FloatArray
    """The log-probability of each token, float32; NaN where none was given."""
    spans: list[list[MessageSpan]]
    """For each segment the spans of its messages, counted from the segment's first token;
    ``message`` is the index in :attr:`Rollout.messages`. Malformed tokens that say nothing are in
    none."""
    breaks: list[Break | None]
    """Why the segment before each of them ended; ``None`` for the first."""
    steps: list[slice]
    """For each step where its tokens are: ``tokens[steps[0]]`` was sampled first."""
    data: Data
    """For each token what :meth:`Rollout.sampled` was given with it; ``None`` where nothing
    was."""

    def __init__(
        self, segments: Iterable[tuple[Any, ...]], data: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        """From what ``_Rollout.segments`` gives, and the data of each step."""
        tokens, self.logprobs = array("I"), array("f")
        offsets, self.loss_mask = array("q", [0]), bytearray()
        self.spans, self.breaks, self.steps = [], [], []
        for ids, mask, logprobs, spans, broken, samples in segments:
            self.steps += [slice(offsets[-1] + start, offsets[-1] + end) for start, end in samples]
            tokens += ids
            self.logprobs += logprobs
            self.loss_mask += mask
            offsets.append(len(tokens))
            self.spans.append([MessageSpan(*span) for span in spans])
            self.breaks.append(broken)
        super().__init__(tokens, offsets)
        names = dict.fromkeys(name for values in data for name in values)
        self.data = {name: [None] * len(tokens) for name in names}
        for step, values in zip(self.steps, data):
            for name, items in values.items():
                self.data[name][step] = items

    def __repr__(self) -> str:
        segments, tokens = counted(len(self), "segment"), counted(len(self.tokens), "token")
        trained = sum(self.loss_mask)
        return f"<Examples: {segments}, {tokens}, {trained:,} sampled>"

    @property
    def segments(self) -> list[Segment]:
        """The segments in which something was sampled, each as a prompt and a response.

        >>> from openai_harmony import Conversation, Message, load_harmony_encoding
        >>> from openai_harmony.rollout import Rollout
        >>> encoding = load_harmony_encoding("HarmonyGptOss")
        >>> question = Message.from_role_and_content("user", "2 + 2?")
        >>> rollout = Rollout(Conversation.from_messages([question]), encoding)
        >>> answer = "<|channel|>final<|message|>4<|return|>"
        >>> sampled = encoding.encode(answer, allowed_special="all")
        >>> step = rollout.sampled(sampled, [-0.5] * 5, {"version": [7] * 5})
        >>> [segment] = rollout.examples().segments
        >>> len(segment.prompt), segment.response == sampled, segment.loss_mask
        (11, True, [1, 1, 1, 1, 1])
        >>> segment.logprobs, segment.data
        ([-0.5, -0.5, -0.5, -0.5, -0.5], {'version': [7, 7, 7, 7, 7]})
        """
        found = []
        for start, end in zip(self.offsets, self.offsets[1:]):
            first = self.loss_mask.find(1, start, end)
            if first != -1:
                response = slice(first, self.loss_mask.rfind(1, start, end) + 1)
                found.append(self._segment(start, response))
        return found

    def _segment(self, start: int, response: slice) -> Segment:
        mask = list(self.loss_mask[response])
        logprobs = zip(self.logprobs[response], mask)
        return Segment(
            self.tokens[start : response.start].tolist(),
            self.tokens[response].tolist(),
            mask,
            [logprob if sampled else 0.0 for logprob, sampled in logprobs],
            {name: items[response] for name, items in self.data.items()},
        )


def checked_data(data: Mapping[str, Iterable[Any]], tokens: int) -> Data:
    """The data of a step, an item for each of its tokens."""
    if not isinstance(data, Mapping):
        raise WrongTypeError(f"data: expected a dict, got {type(data).__name__}")
    checked = {name: list(items) for name, items in data.items()}
    for name, items in checked.items():
        if len(items) != tokens:
            raise ValueError(f"data.{name}: {len(items)} items for {tokens} tokens")
    return checked


__all__ = ["Data", "Examples", "Segment", "checked_data"]
