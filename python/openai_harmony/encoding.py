"""The encoding: conversations to tokens, tokens to messages, text to tokens and back."""

from __future__ import annotations

import copyreg
from collections.abc import Collection, Iterable
from enum import Enum
from functools import cache, cached_property
from itertools import starmap
from typing import TYPE_CHECKING, Any, Literal

from openai_harmony import _lowlevel
from openai_harmony._elsewhere import WAYS_OF_ENCODING, NamesTheWay
from openai_harmony._published import published
from openai_harmony.errors import WrongTypeError, quoted
from openai_harmony.next_prompt import Broken, Extended
from openai_harmony.rendered import MessageSpan, Rendered
from openai_harmony.roles import Role, RoleName
from openai_harmony.stream import Parsed, StreamableParser
from openai_harmony.token_batch import FlatTokens, TokenBatch

if TYPE_CHECKING:
    # Models, which only some methods need.
    from openai_harmony.chat import Conversation, Message
    from openai_harmony.options import Prefill, RenderConversationConfig


@published
class HarmonyEncodingName(str, Enum):
    """The names of the encodings."""

    HARMONY_GPT_OSS = "HarmonyGptOss"

    def __str__(self) -> str:
        return self.value


class HarmonyEncoding(_lowlevel.HarmonyEncoding, NamesTheWay):
    """The encoding of the gpt-oss models; get it from :func:`load_harmony_encoding`.

    A handle on shared, immutable data: free to make, copy and pickle, safe to use from many
    threads. The methods are compiled; ``help(HarmonyEncoding.render)`` describes one.
    """

    _ways = WAYS_OF_ENCODING

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The names of all special tokens, the reserved ones included."""
        return set(self._special_tokens())

    def encode_batch(
        self,
        texts: Iterable[str],
        *,
        allowed_special: Literal["all"] | Collection[str] = (),
        disallowed_special: Literal["all"] | Collection[str] | None = "all",
        threads: int | None = None,
    ) -> TokenBatch:
        """Encodes many texts to flat arrays, on all cores and with the GIL released.

        Args:
            texts: The texts, any iterable of strings.
            allowed_special: As for :meth:`encode`.
            disallowed_special: As for :meth:`encode`; ``()`` encodes names of special tokens as
                ordinary text.
            threads: How many threads encode; by default as many as there are cores. The tokens do
                not depend on it.

        Returns:
            The tokens of :meth:`encode` for each text, in order.

        Raises:
            HarmonyError: A text has a disallowed name; the error names the first: ``texts[3]:
                ...``.
            ValueError: An argument has another type or value.

        Signal handlers run between parts of a few thousand texts or some megabytes, and between
        parts of a text of millions of characters.

        >>> encoding = load_harmony_encoding("HarmonyGptOss")
        >>> batch = encoding.encode_batch(["Hi", "Hello, world"])
        >>> batch.tokens, batch.offsets
        (array('I', [12194, 13225, 11, 2375]), array('q', [0, 1, 4]))
        >>> encoding.decode_batch(batch)
        ['Hi', 'Hello, world']
        """
        return TokenBatch(
            *_lowlevel.encode_batch(self, texts, allowed_special, disallowed_special, threads)
        )

    def decode_batch(
        self,
        batch: FlatTokens | tuple[Any, Any] | Iterable[Iterable[int]],
        errors: str = "replace",
        *,
        threads: int | None = None,
    ) -> list[str]:
        """Decodes the tokens of many texts, on all cores and with the GIL released.

        Args:
            batch: A :class:`TokenBatch`, or anything else with ``tokens`` and ``offsets``, such as
                a training ``Batch``; a tuple of these two, arrays or lists; or the token ids of
                each text, any iterable except a tuple of what :meth:`decode` takes.
            errors: What to do with bytes that are not UTF-8, as in ``bytes.decode``.
            threads: How many threads decode; by default as many as there are cores.

        Returns:
            The texts of :meth:`decode`, in order.

        Raises:
            HarmonyError: An id does not exist: ``batch[3]: ...``, with its ``token_index`` in that
                text.
            UnicodeDecodeError: Bytes are not UTF-8 and ``errors`` is ``"strict"``.
            ValueError: An argument has another type or value; offsets that do not ascend or go
                beyond the tokens.

        >>> encoding = load_harmony_encoding("HarmonyGptOss")
        >>> encoding.decode_batch([[12194], [13225, 11, 2375]])
        ['Hi', 'Hello, world']
        >>> encoding.decode_batch(([12194, 13225, 11, 2375], [0, 1, 4]))
        ['Hi', 'Hello, world']
        """
        tokens: Any = batch
        offsets: Any = None
        if isinstance(batch, tuple):
            if len(batch) != 2:
                got = f"a tuple of {len(batch)}"
                raise ValueError(f"batch: expected a tuple of tokens and offsets, got {got}")
            tokens, offsets = batch
        elif hasattr(batch, "tokens") and hasattr(batch, "offsets"):
            tokens, offsets = batch.tokens, batch.offsets
        return _lowlevel.decode_batch(self, tokens, offsets, errors, threads)

    def render_with_spans(
        self,
        conversation: Conversation,
        config: RenderConversationConfig | None = None,
        *,
        ending: Literal["completion", "training", "none"] = "completion",
        role: Role | RoleName | None = None,
        prefill: Prefill | None = None,
    ) -> Rendered:
        """Renders a conversation and returns the span of each message.

        Args:
            conversation: The conversation.
            config: Options; ``None`` for the defaults, as in the other renderers.
            ending: What to render: ``"completion"`` a prompt, ``"training"`` a training example,
                ``"none"`` only the conversation.
            role: Who speaks next in a prompt; the assistant by default.
            prefill: More of the next message in a prompt.

        Returns:
            The tokens as an array of uint32, with a ``MessageSpan`` for each message that was
            rendered.

        Raises:
            HarmonyError: A message that cannot be rendered; a prefill that could be read as another
                header.
            ValueError: A wrong argument; ``role`` or ``prefill`` where nothing comes next.

        >>> from openai_harmony import Conversation, Message
        >>> encoding = load_harmony_encoding("HarmonyGptOss")
        >>> answer = Message.from_role_and_content("assistant", "4.").with_channel("final")
        >>> answered = Conversation.from_messages([answer])
        >>> rendered = encoding.render_with_spans(answered, ending="training")
        >>> [span] = rendered.spans
        >>> encoding.decode(rendered[span.start : span.content])
        '<|start|>assistant<|channel|>final<|message|>'
        >>> encoding.decode(rendered[span.content : span.stop])
        '4.'
        >>> encoding.decode(rendered[span.stop : span.end])
        '<|return|>'
        """
        if ending not in ("completion", "training", "none"):
            raise ValueError(
                f"ending: expected 'completion', 'training' or 'none', got {quoted(ending)}"
            )
        if ending != "completion" and not (role is None and prefill is None):
            name = "role" if prefill is None else "prefill"
            raise ValueError(f"{name}: with ending={ending!r} no message comes next")
        tokens, spans, speakers = self._render_with_spans(
            conversation, config, ending, Role.ASSISTANT if role is None else role, prefill
        )
        return Rendered(tokens, starmap(MessageSpan, spans), speakers)

    def parse_with_repairs(
        self,
        tokens: Iterable[int],
        role: Role | RoleName | None = None,
        *,
        tools: Iterable[str] | None = None,
        prefill: Prefill | None = None,
        spelled_markers: bool = False,
    ) -> Parsed:
        """Parses a complete sequence of tokens leniently and reports the repairs.

        Args:
            tokens: Token ids, any iterable of ints.
            role: The author of the first message, if the tokens begin after its role, as a
                completion's do.
            tools: The recipients that the model was offered, by full or short names
                (``functions.bash``, ``bash``, ``python``), which distinguish calls from other
                words.
            prefill: What the prompt contains of the first message beyond its role.
            spelled_markers: Whether to read markers that ordinary tokens spell, as fine-tuned
                models write them.

        Returns:
            The messages of ``parse_messages_from_completion_tokens`` with ``strict=False``, the
            repairs in the order in which they were found, and for each message the token that ended
            it. The spans of repairs are indices into ``tokens``. Well-formed tokens need no
            repairs.

        Raises:
            HarmonyError: A tool's name that no header can carry, or a prefill that could be read as
                another header. Never because of the tokens.
            ValueError: A wrong argument.

        >>> encoding = load_harmony_encoding("HarmonyGptOss")
        >>> tokens = encoding.encode("<|channel|>final Hi<|return|>", allowed_special="all")
        >>> messages, repairs, stop_tokens = encoding.parse_with_repairs(tokens, "assistant")
        >>> messages[0].channel, messages[0].text
        ('final', 'Hi')
        >>> [(repair.kind, repair.span) for repair in repairs]
        [('missing_message', (2, 3))]
        >>> stop_tokens
        [200002]
        """
        parser = StreamableParser(
            self, role, strict=False, tools=tools, prefill=prefill, spelled_markers=spelled_markers
        )
        parser.feed(tokens)
        parser.finish()
        return Parsed(parser.messages, parser.repairs, parser.stop_tokens)

    def extend(
        self,
        prompt: Iterable[int],
        sampled: Iterable[int],
        messages: Iterable[Message] = (),
        config: RenderConversationConfig | None = None,
        *,
        keep_return: bool = False,
        tools: Iterable[str] | None = None,
    ) -> Extended | Broken:
        """Makes the next prompt from a prompt, the tokens sampled after it, and new messages.

        Prompt and sampled tokens stay as they are wherever the format allows it, so that prefix
        caches hit and trainers see what was sampled. ``openai_harmony.rollout.Rollout`` keeps a
        whole episode.

        Args:
            prompt: Its token ids; it ends with an open message of the assistant.
            sampled: The token ids sampled after it, with the stop token if there is one.
            messages: What follows: results of tools, questions.
            config: The config of the prompt, and of the messages.
            keep_return: Whether a sampled ``<|return|>`` stays where the conversation continues. By
                default such a prompt breaks.
            tools: The recipients that were offered, to recognise malformed calls.

        Returns:
            ``Extended``, whose tokens begin with ``prompt`` and ``sampled``, or ``Broken`` with the
            reason and the whole conversation rendered again.

        Raises:
            HarmonyError: ``invalid_rollout``: the prompt does not end with an open message; the
                sample is empty, has an unknown id or tokens after a stop token; an assistant
                message, or a result without a call. Also any error of rendering the messages.
            ValueError: A wrong argument.

        >>> from openai_harmony import Message
        >>> encoding = load_harmony_encoding("HarmonyGptOss")
        >>> prompt = encoding.encode("<|start|>user<|message|>Hi<|end|><|start|>assistant",
        ...     allowed_special="all")
        >>> sampled = encoding.encode("<|channel|>final<|message|>Hel", allowed_special="all")
        >>> goes_on = encoding.extend(prompt, sampled, [Message.from_role_and_content("user", "?")])
        >>> encoding.decode(goes_on.added)
        '<|end|><|start|>user<|message|>?<|end|><|start|>assistant'
        """
        from openai_harmony.chat import Message

        prompt, sampled = list(prompt), list(sampled)
        if isinstance(messages, Message):  # Which is an iterable, as every model is.
            raise WrongTypeError("messages: expected a list of messages, got Message")
        broken, tokens = _lowlevel.extend_prompt(
            self, prompt, sampled, messages, config=config, keep_return=keep_return, tools=tools
        )
        if broken is not None:
            return Broken(broken, tokens)
        return Extended(prompt + sampled + tokens, tokens)

    def __reduce__(self) -> tuple[Any, ...]:
        if type(self) is HarmonyEncoding:
            return load_harmony_encoding, (self.name,)
        # A subclass: its constructor may take other arguments.
        return copyreg.__newobj__, (type(self), self.name), vars(self)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @property
    def _inner(self) -> HarmonyEncoding:
        """Itself, for callers written for version 0.0.8."""
        return self


def load_harmony_encoding(name: HarmonyEncodingName | str) -> HarmonyEncoding:
    """The encoding of this name, ``"HarmonyGptOss"``; ``ValueError`` for any other.

    It costs next to nothing: the vocabulary is part of the package, and is used in place.

    >>> load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS).name
    'HarmonyGptOss'
    """
    return _load(name.value if isinstance(name, HarmonyEncodingName) else str(name))


@cache
def _load(name: str) -> HarmonyEncoding:
    return HarmonyEncoding(name)
