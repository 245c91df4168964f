# The compiled extension, made by python/src/. mypy's stubtest compares it with the module. Editors
# show these docstrings; their examples run as tests, which know `encoding` and all public names.

from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from types import ModuleType
from typing import Any, Literal, TypeAlias, final

from typing_extensions import Self, disjoint_base

from openai_harmony.chat import Author, Conversation, Message, Role, RoleName, ToolNamespaceConfig
from openai_harmony.interop.turn import Sampling
from openai_harmony.kinds import RepairKind
from openai_harmony.loss_mask import LossMask
from openai_harmony.next_prompt import Break
from openai_harmony.options import Prefill, RenderConversationConfig, RenderOptions
from openai_harmony.stream import Event, StreamState

__all__ = [
    "OF_PROGRAM",
    "Body",
    "ContentDelta",
    "EngineReader",
    "HarmonyEncoding",
    "MessageEnd",
    "MessageStart",
    "Repair",
    "Reply",
    "StreamableParser",
    "Turn",
    "_GrammarState",
    "_Rollout",
    "_TurnGrammar",
    "__version__",
    "cache_usage",
    "clear_cache",
    "decode_batch",
    "derender",
    "encode_batch",
    "error_body",
    "extend_prompt",
    "get_tool_namespace_config",
    "loss_mask",
    "plain_message",
    "read_step",
    "render_arrow",
    "render_rows",
    "text_message",
    "use_classes",
    "vocabulary",
]

__version__: str
OF_PROGRAM: list[str]

# Any iterable of ints: a list, a tuple, a range, an array, a NumPy array of integers.
_Tokens: TypeAlias = Iterable[int]
# For each token: what `openai_harmony.interop.TokenLogprob` has, only its number, or nothing.
_Logprobs: TypeAlias = Iterable[tuple[float, dict[int, float] | None] | float | None]
# Tokens, the reason, log-probabilities as `Reply.feed` takes them, and a fault's status and text.
_EngineOutput: TypeAlias = tuple[
    list[int],
    Literal["stop", "length", "abort"] | None,
    list[tuple[float, dict[int, float]] | None] | None,
    tuple[int, str] | None,
]
# The fields of a `MessageSpan`.
_Span: TypeAlias = tuple[int | None, int, int, int, int]
# The same with `source`.
_SpanInBody: TypeAlias = tuple[int | None, int, int, int, int, str | None]
# The role and the channel of a message that was rendered.
_Speaker: TypeAlias = tuple[str, str | None]

def use_classes(
    classes: Callable[[], tuple[ModuleType, type[Role], type[StreamState]]],
    models: Callable[[], ModuleType],
) -> None: ...

# Both make a `Message`. Their callers return it as `Self`, and a cast takes time for each message.
def plain_message(data: object) -> Any: ...
def text_message(author: Author | Role, text: str) -> Any: ...
def decode_batch(
    encoding: HarmonyEncoding,
    batch: Iterable[int] | Iterable[Iterable[int]],
    offsets: Iterable[int] | None,
    errors: str,
    threads: int | None,
) -> list[str]: ...
def encode_batch(
    encoding: HarmonyEncoding,
    texts: Iterable[str],
    allowed_special: Literal["all"] | Collection[str],
    disallowed_special: Literal["all"] | Collection[str] | None,
    threads: int | None,
) -> tuple[array[int], array[int]]: ...
def get_tool_namespace_config(name: str) -> ToolNamespaceConfig: ...
def cache_usage() -> tuple[int, int]: ...
def clear_cache() -> None: ...
def loss_mask(
    tokens: _Tokens, spans: Sequence[_Span], speakers: Sequence[_Speaker], mask: LossMask | None
) -> bytearray: ...
def render_arrow(
    encoding: HarmonyEncoding, stream: object, **options: object
) -> dict[str, Any]: ...
def render_rows(
    encoding: HarmonyEncoding, rows: Iterable[object], **options: object
) -> dict[str, Any]: ...
def vocabulary() -> bytes: ...

class HarmonyEncoding:
    """Renders conversations to token ids and parses token ids to messages.

    Get it from ``load_harmony_encoding``. It is a handle on immutable data that the whole process
    shares: free to make, copy and pickle, and safe to use from many threads.

    Example:
        >>> encoding = load_harmony_encoding("HarmonyGptOss")
        >>> question = Message.from_role_and_content(Role.USER, "What is 2 + 2?")
        >>> conversation = Conversation.from_messages([question])
        >>> prompt = encoding.render_conversation_for_completion(conversation, Role.ASSISTANT)
        >>> encoding.decode(prompt)
        '<|start|>user<|message|>What is 2 + 2?<|end|><|start|>assistant'
    """

    def __new__(cls, name: str | HarmonyEncoding) -> Self: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @property
    def name(self) -> str:
        """The encoding's name, ``"HarmonyGptOss"``."""

    @property
    def n_vocab(self) -> int:
        """The size of the vocabulary in the models' configuration, 201088."""

    def _special_tokens(self) -> list[str]: ...
    def encode(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | Collection[str] = (),
        disallowed_special: Literal["all"] | Collection[str] | None = "all",
    ) -> list[int]:
        """Encodes text by tiktoken's rules for the names of special tokens.

        For text from users or tools use :meth:`encode_ordinary`: ``allowed_special`` lets a text
        write markers. Time grows nearly linearly with the text.

        Args:
            text: The text. Lone surrogates become U+FFFD.
            allowed_special: Names that become their special token, or ``"all"``.
            disallowed_special: Names that raise, ``"all"`` meaning all that are not allowed. Names
                in neither are ordinary text; ``()`` and ``None`` disallow none.

        Returns:
            Token ids.

        Raises:
            HarmonyError: The text has a disallowed name; its ``kind`` is ``disallowed_special``.
            ValueError: An argument has another type or value.

        Example:
            >>> encoding.encode("Hello<|end|>", allowed_special={"<|end|>"})
            [13225, 200007]
        """

    def encode_array(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | Collection[str] = (),
        disallowed_special: Literal["all"] | Collection[str] | None = "all",
    ) -> array[int]:
        """Encodes text to an array of uint32 instead of a list, by the rules of :meth:`encode`.

        The array is an ``array.array``, as ``TokenBatch.tokens`` is. NumPy, and anything else that
        reads the buffer protocol, takes it without a copy; no ints are made.

        Args:
            text: The text.
            allowed_special: As for :meth:`encode`.
            disallowed_special: As for :meth:`encode`.

        Returns:
            Token ids.

        Raises:
            HarmonyError: As :meth:`encode`.
            ValueError: An argument has another type or value.

        Example:
            >>> encoding.encode_array("Hello, world")
            array('I', [13225, 11, 2375])
        """

    def encode_ordinary(self, text: str) -> list[int]:
        """Encodes text as ordinary text, whatever markers it spells.

        Args:
            text: The text. Lone surrogates become U+FFFD.

        Returns:
            Token ids, never that of a special token.

        Raises:
            WrongTypeError: ``text`` is not a string.

        Example:
            >>> encoding.encode_ordinary("Hello, world")
            [13225, 11, 2375]
        """

    def decode(self, tokens: _Tokens, errors: str = "replace") -> str:
        """Returns the text of tokens, special tokens by their names.

        Args:
            tokens: Token ids.
            errors: What to do with bytes that are not UTF-8, as in ``bytes.decode``. A token may
                contain half a character; by default that becomes U+FFFD.

        Returns:
            The text.

        Raises:
            HarmonyError: An id that does not exist; ``token_index`` says where.
            UnicodeDecodeError: With ``errors="strict"``, bytes that are not UTF-8.
            LookupError: ``errors`` is no error handler's name, and bytes are not UTF-8.
            ValueError: Something that is not a token id.

        Example:
            >>> encoding.decode([13225, 11, 2375])
            'Hello, world'
        """

    def decode_utf8(self, tokens: _Tokens) -> str:
        """Returns the text of tokens with bytes that are UTF-8.

        Args:
            tokens: Token ids.

        Returns:
            The text.

        Raises:
            HarmonyError: Bytes that are not UTF-8 (``invalid_utf8``), or an id that does not exist
                (``invalid_token``).
            ValueError: Something that is not a token id.

        Example:
            >>> encoding.decode_utf8(encoding.encode_ordinary("é"))
            'é'
        """

    def decode_bytes(self, tokens: _Tokens) -> bytes:
        """Returns the bytes of tokens, even if they end inside a character.

        Args:
            tokens: Token ids.

        Returns:
            The bytes of all tokens, joined.

        Raises:
            HarmonyError: An id that does not exist; ``token_index`` says where.
            ValueError: Something that is not a token id.

        Example:
            >>> crab = encoding.encode_ordinary("🦀")
            >>> b"".join(encoding.decode_bytes([token]) for token in crab).decode()
            '🦀'
        """

    def is_special_token(self, token: int) -> bool:
        """Returns whether a token id is that of a special token.

        Args:
            token: A token id; it need not exist.

        Returns:
            ``True`` for a special token, the reserved ones included.

        Raises:
            ValueError: Something that is not a token id.

        Example:
            >>> encoding.is_special_token(200007)
            True
        """

    def special_token(self, name: str) -> int:
        """Returns the id of a special token.

        Args:
            name: The name with its brackets, one of ``special_tokens_set``.

        Returns:
            The token id.

        Raises:
            ValueError: No special token has that name.

        Example:
            >>> encoding.special_token("<|call|>")
            200012
        """

    def stop_tokens(self) -> list[int]:
        """Returns the tokens at which a message ends: ``<|return|>``, ``<|end|>``, ``<|call|>``.

        Returns:
            Token ids, always in this order.

        Example:
            >>> encoding.stop_tokens()
            [200002, 200007, 200012]
        """

    def stop_tokens_for_assistant_actions(self) -> list[int]:
        """Returns the tokens at which to stop sampling: ``<|return|>``, ``<|call|>``.

        Returns:
            Token ids, always in this order.

        Example:
            >>> encoding.stop_tokens_for_assistant_actions()
            [200002, 200012]
        """

    def render(self, message: Message, render_options: RenderOptions | None = None) -> list[int]:
        """Renders a single message.

        It cannot see the rest of the conversation:
        ``RenderOptions(conversation_has_function_tools=True)`` makes a system message mention
        function tools.

        Args:
            message: The message.
            render_options: Options; ``None`` for the defaults.

        Returns:
            Token ids, from ``<|start|>`` to ``<|end|>`` or ``<|call|>``.

        Raises:
            HarmonyError: A message that cannot be rendered, such as a tool's without a name.
            ValueError: A field of a wrong type or value; the text has its path.

        Example:
            >>> encoding.decode(encoding.render(Message.from_role_and_content("user", "Hi")))
            '<|start|>user<|message|>Hi<|end|>'
        """

    def render_conversation(
        self, conversation: Conversation, config: RenderConversationConfig | None = None
    ) -> list[int]:
        """Renders a conversation and nothing after it.

        Args:
            conversation: The conversation.
            config: Options; ``None`` for the defaults, which drop earlier chains of thought by
                version 0.0.8's rule.

        Returns:
            Token ids.

        Raises:
            HarmonyError: A message that cannot be rendered, such as a tool's without a name.
            ValueError: A field of a wrong type or value; the text has its path.

        Example:
            >>> hi = Conversation.from_messages([Message.from_role_and_content("user", "Hi")])
            >>> encoding.render_conversation(hi)
            [200006, 1428, 200008, 12194, 200007]
        """

    def render_conversation_for_completion(
        self,
        conversation: Conversation,
        next_turn_role: Role | RoleName,
        config: RenderConversationConfig | None = None,
        *,
        prefill: Prefill | None = None,
    ) -> list[int]:
        """Renders a prompt: a conversation and the beginning of the next message.

        Sample from it until one of :meth:`stop_tokens_for_assistant_actions`, and parse the sampled
        tokens with the same role.

        Args:
            conversation: The conversation.
            next_turn_role: Who speaks next, ``Role.ASSISTANT``.
            config: Options; ``None`` for the defaults, which drop earlier chains of thought by
                version 0.0.8's rule.
            prefill: More of the next message, which the model continues: a channel, a tool to call,
                the beginning of its text. Pass the same to the parser.

        Returns:
            Token ids, which end with ``<|start|>``, the role and the prefill.

        Raises:
            HarmonyError: A message that cannot be rendered, such as a tool's without a name; a
                prefill that could be read as another header.
            ValueError: A field of a wrong type or value; the text has its path.

        Example:
            >>> hi = Conversation.from_messages([Message.from_role_and_content("user", "Hi")])
            >>> encoding.decode(encoding.render_conversation_for_completion(hi, Role.ASSISTANT))
            '<|start|>user<|message|>Hi<|end|><|start|>assistant'
        """

    def render_conversation_for_training(
        self, conversation: Conversation, config: RenderConversationConfig | None = None
    ) -> list[int]:
        """Renders a training example; **by default without the reasoning of a single turn**.

        The default is version 0.0.8's rule: if the last message is the assistant's on ``final``,
        everything on ``analysis`` before the first ``final`` is dropped. To train on the thought of
        the last turn, pass ``RenderConversationConfig(thoughts=ThoughtPolicy.DROP)``, which drops
        only the reasoning of earlier turns, or ``auto_drop_analysis=False``, which drops none.

        If the last message is the assistant's on ``final``, ``<|return|>`` takes the place of its
        ``<|end|>``, as the model itself ends an answer.

        Args:
            conversation: The conversation.
            config: Options; ``None`` for the defaults.

        Returns:
            Token ids.

        Raises:
            HarmonyError: A message that cannot be rendered, such as a tool's without a name.
            ValueError: A field of a wrong type or value; the text has its path.

        Example:
            >>> turn = Conversation.from_messages([
            ...     Message.from_role_and_content("assistant", "Easy.").with_channel("analysis"),
            ...     Message.from_role_and_content("assistant", "4.").with_channel("final"),
            ... ])
            >>> encoding.decode(encoding.render_conversation_for_training(turn))
            '<|start|>assistant<|channel|>final<|message|>4.<|return|>'
            >>> config = RenderConversationConfig(thoughts=ThoughtPolicy.DROP)
            >>> "Easy." in encoding.decode(encoding.render_conversation_for_training(turn, config))
            True
        """

    def _render_with_spans(
        self,
        conversation: Conversation,
        config: RenderConversationConfig | None,
        ending: str,
        role: Role | RoleName,
        prefill: Prefill | None,
    ) -> tuple[array[int], list[_Span], list[_Speaker]]: ...
    def parse_messages_from_completion_tokens(
        self,
        tokens: _Tokens,
        role: Role | RoleName | None = None,
        *,
        strict: bool = True,
        tools: Iterable[str] | None = None,
        prefill: Prefill | None = None,
        spelled_markers: bool = False,
    ) -> list[Message]:
        """Parses a whole sequence of tokens.

        Args:
            tokens: Token ids; the stop token at their end may be missing.
            role: The author of the first message, if the tokens begin after its role, as a
                completion's do. Tokens that begin with ``<|start|>`` name their own.
            strict: Whether to raise where the tokens are not well-formed. If not, malformed ones
                are repaired; :meth:`parse_with_repairs` also returns the repairs.
            tools: The recipients that the model was offered, by full or short names
                (``functions.bash``, ``bash``, ``python``). Without ``strict``, they tell calls from
                other words.
            prefill: What the prompt contains of the first message beyond its role.
            spelled_markers: Whether to read markers that ordinary tokens spell, as fine-tuned
                models write them; only without ``strict``.

        Returns:
            The messages, as new objects.

        Raises:
            HarmonyError: With ``strict``, tokens that are not well-formed: ``kind`` says what,
                ``token_index`` where. Always, a tool's name that no header can carry, a
                prefill that could be read as another header, or one without ``role``.
            ValueError: A wrong argument.

        Example:
            >>> sampled = [200005, 17196, 200008, 19, 13, 200002]
            >>> [message] = encoding.parse_messages_from_completion_tokens(sampled, "assistant")
            >>> message.channel, message.text
            ('final', '4.')
        """

    def parse_messages_from_text(
        self,
        text: str,
        role: Role | RoleName | None = None,
        *,
        strict: bool = False,
        tools: Iterable[str] | None = None,
    ) -> list[Message]:
        """Parses text in which the special tokens are spelled by their names.

        Logs, and engines that decode special tokens, show the model's output this way. Every
        spelled marker counts as structure: never use it for text from users or tools. If you have
        the tokens, parse those instead.

        Args:
            text: The text, as ``decode`` writes it.
            role: As for :meth:`parse_messages_from_completion_tokens`.
            strict: Whether to raise where the text is not well-formed; by default it is repaired.
            tools: As for :meth:`parse_messages_from_completion_tokens`.

        Returns:
            The messages, as new objects.

        Raises:
            HarmonyError: With ``strict``, text that is not well-formed; ``token_index`` counts the
                tokens of the text. Always, a tool's name that no header can carry.
            ValueError: A wrong argument.

        Example:
            >>> text = "<|channel|>final<|message|>4.<|return|>"
            >>> [message.text for message in encoding.parse_messages_from_text(text, "assistant")]
            ['4.']
        """

    def read_stripped_text(self, text: str, *, tools: Iterable[str] | None = None) -> list[Message]:
        """Guesses the messages of a text from which an engine dropped the special tokens.

        vLLM and others drop them by default. Nothing then marks where a header ends, so this is a
        guess: if you can, have the engine keep special tokens, or parse the token ids. No text is
        lost: all of it is in a content or in a header's field. Text without any header is an answer
        on ``final``.

        Args:
            text: The text.
            tools: The recipients that the model was offered, which distinguish calls from words: a
                known name ends even if text is glued to it, and needs no channel.

        Returns:
            The messages, as new objects.

        Raises:
            HarmonyError: A tool has a name that no header can carry.
            WrongTypeError: ``text`` is not a string, or ``tools`` are not names.

        Example:
            >>> messages = encoding.read_stripped_text("analysisI must add.assistantfinal4.")
            >>> [(message.channel, message.text) for message in messages]
            [('analysis', 'I must add.'), ('final', '4.')]
        """

@disjoint_base
class StreamableParser:
    """Reads tokens as they arrive and gives messages as they become complete.

    Args:
        encoding: The encoding.
        role: The author of the first message, if the tokens begin after its role, as a
            completion's do.
        strict: Whether to raise where the tokens are not well-formed. If not, the parser repairs
            them and reports each repair.
        tools: The recipients that the model was offered, by full or short names
            (``functions.bash``, ``bash``, ``python``). Without ``strict``, they tell calls from
            other words. The cost per token does not grow with their number.
        prefill: What the prompt contains of the first message beyond its role. The parser begins
            inside that message; its first events report header and text, with spans of (0, 0).
        spelled_markers: Whether to read markers that ordinary tokens spell (``<``, ``|``, ``end``,
            ``|``, ``>``), as fine-tuned models write them; each is a repair. Then no text can
            contain a marker. Only without ``strict``.

    Raises:
        HarmonyError: A tool's name that no header can carry; a prefill that could be read as
            another header, or one without ``role``.
        ValueError: A wrong argument.

    Example:
        >>> parser = StreamableParser(encoding, Role.ASSISTANT)
        >>> events = parser.feed([200005, 17196, 200008, 19, 13, 200002]) + parser.finish()
        >>> [event.text for event in events if isinstance(event, ContentDelta)]
        ['4.']
        >>> parser.messages[0].channel
        'final'
    """

    def __new__(cls, *_arguments: Any, **_named: Any) -> Self: ...
    def __init__(
        self,
        encoding: HarmonyEncoding,
        role: Role | RoleName | None = None,
        *,
        strict: bool = True,
        tools: Iterable[str] | None = None,
        prefill: Prefill | None = None,
        spelled_markers: bool = False,
    ) -> None: ...
    def _become(self, other: StreamableParser) -> None: ...
    def _resume(self, encoding: HarmonyEncoding, saved: bytes) -> None: ...
    def process(self, token: int) -> Self:
        """Parses one token, in constant time except for a header's last token.

        Args:
            token: A token id.

        Returns:
            The parser.

        Raises:
            HarmonyError: The token is not allowed there. The parser keeps its messages
                and continues at the next ``<|start|>``. Never with ``strict=False``.
            ValueError: Something that is not a token id.
            RuntimeError: Another thread is using the parser.

        Example:
            >>> parser = StreamableParser(encoding, Role.ASSISTANT)
            >>> for token in [200005, 17196, 200008, 19]:
            ...     delta = parser.process(token).last_content_delta
            >>> delta, parser.current_channel
            ('4', 'final')
        """

    def process_eos(self) -> Self:
        """Declares that the tokens end here: an open message is complete. More may follow.

        Returns:
            The parser.

        Raises:
            HarmonyError: The tokens end inside a header (``unexpected_eos``). Never with
                ``strict=False``.
            RuntimeError: Another thread is using the parser.

        Example:
            >>> parser = StreamableParser(encoding, Role.ASSISTANT)
            >>> for token in [200005, 17196, 200008, 19]:
            ...     _ = parser.process(token)
            >>> [message.text for message in parser.process_eos().messages]
            ['4']
        """

    def feed(self, tokens: _Tokens) -> list[Event]:
        """Parses any number of tokens and returns what happened.

        Args:
            tokens: Token ids.

        Returns:
            Events in the order of the tokens; their spans cover each token once.

        Raises:
            HarmonyError: A token is not allowed there; ``token_index`` is its index in
                ``parser.tokens``. The tokens after it are not consumed. The events before it are
                returned by the next call; ``feed([])`` returns them at once. Never with
                ``strict=False``.
            ValueError: Something that is not a token id; then none is consumed.
            RuntimeError: Another thread is using the parser.

        Example:
            >>> parser = StreamableParser(encoding, Role.ASSISTANT)
            >>> [type(event).__name__ for event in parser.feed([200005, 17196, 200008, 19])]
            ['MessageStart', 'ContentDelta']
        """

    def finish(self) -> list[Event]:
        """Ends the stream: an open message is complete. No token can follow, except after `reset`.

        Returns:
            The events that were not returned yet.

        Raises:
            HarmonyError: The tokens end inside a header (``unexpected_eos``). Never with
                ``strict=False``.
            RuntimeError: Another thread is using the parser.

        Example:
            >>> parser = StreamableParser(encoding, Role.ASSISTANT)
            >>> _ = parser.feed([200005, 17196, 200008, 19])
            >>> parser.finish()
            [MessageEnd(stop_token=None, span=(4, 4), index=0)]
        """

    def to_bytes(self) -> bytes:
        """The parser as bytes, from which ``from_bytes`` resumes it, in any process.

        Returns:
            Unencrypted JSON with a version, about 8 bytes per token.

        Raises:
            HarmonyError: An error held events back; ``feed([])`` returns them.
            RuntimeError: Another thread is using the parser.

        Example:
            >>> from openai_harmony import StreamableParser
            >>> parser = StreamableParser(encoding, Role.ASSISTANT)
            >>> _ = parser.feed([200005, 17196, 200008, 19])
            >>> StreamableParser.from_bytes(encoding, parser.to_bytes()).current_content
            '4'
        """

    def to_checkpoint(self) -> bytes:
        """Like ``to_bytes``, but only what is needed to continue, however much was read.

        Later events are the same. The parser that ``from_bytes`` restores lacks earlier messages,
        repairs, tokens and text, though its spans and indices count them.

        Returns:
            JSON with a version, a few hundred bytes.

        Raises:
            HarmonyError: An error held events back; ``feed([])`` returns them.
            RuntimeError: Another thread is using the parser.

        Example:
            >>> from openai_harmony import StreamableParser
            >>> parser = StreamableParser(encoding, Role.ASSISTANT)
            >>> _ = parser.feed([200005, 17196, 200008, 19])
            >>> parser = StreamableParser.from_bytes(encoding, parser.to_checkpoint())
            >>> parser.current_channel, parser.current_content
            ('final', '')
            >>> parser.feed([13])
            [ContentDelta(text='.', span=(4, 5), index=0)]
        """

    def reset(self, role: Role | RoleName | None = None) -> Self:
        """Resets the parser for the next stream. Its options stay.

        Args:
            role: The author of the first message; ``None`` for the role it was made with.

        Returns:
            The parser.

        Raises:
            ValueError: An unknown role.
            RuntimeError: Another thread is using the parser.

        Example:
            >>> parser = StreamableParser(encoding, Role.ASSISTANT)
            >>> _ = parser.feed([200005, 17196, 200008, 19])
            >>> parser.reset().tokens
            []
        """

    @property
    def messages(self) -> list[Message]:
        """The complete messages, as new objects each time. The cost grows with their size."""

    @property
    def tokens(self) -> list[int]:
        """All token ids fed, including those that raised. The cost grows with their number."""

    @property
    def stop_tokens(self) -> list[int | None]:
        """For each of ``messages`` the token that ended it, or ``None``.

        ``None``: the next message began without one, or the tokens ended. Such a call may be
        incomplete, so do not run it.

        >>> parser = StreamableParser(encoding, "assistant")
        >>> cut = "<|channel|>final<|message|>The answer is"
        >>> events = parser.feed(encoding.encode(cut, allowed_special="all")) + parser.finish()
        >>> parser.stop_tokens
        [None]
        """

    @property
    def repairs(self) -> list[Repair]:
        """What lenient parsing repaired, in the order in which it was reported."""

    @property
    def state(self) -> StreamState:
        """Where in a message the parser is. Constant time."""

    @property
    def state_data(self) -> dict[str, Any]:
        """The state with the tokens and the header that belong to it, as version 0.0.8 shows it."""

    @property
    def current_role(self) -> Role | None:
        """The role of the open message, or the role given for the next one."""

    @property
    def current_channel(self) -> str | None:
        """The channel of the open message."""

    @property
    def current_recipient(self) -> str | None:
        """The recipient of the open message: the tool that a call goes to."""

    @property
    def current_content_type(self) -> str | None:
        """The content type of the open message, such as ``<|constrain|>json``."""

    @property
    def current_content(self) -> str:
        """The text of the open message so far, empty between messages. The cost grows with it."""

    @property
    def last_content_delta(self) -> str | None:
        """What the last token added to the content: whole characters, or ``None``."""

@final
class MessageStart:
    """A header is complete.

    Example:
        >>> parser = StreamableParser(encoding, Role.ASSISTANT)
        >>> [start] = parser.feed([200005, 17196, 200008])
        >>> start.channel, start.span, start.index
        ('final', (0, 3), 0)
    """

    __match_args__ = ("author", "channel", "recipient", "content_type")
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    def __new__(
        cls,
        author: Author,
        channel: str | None,
        recipient: str | None,
        content_type: str | None,
        span: tuple[int, int],
        index: int,
    ) -> Self: ...
    @property
    def author(self) -> Author:
        """Who the message comes from."""

    @property
    def channel(self) -> str | None:
        """The channel, such as ``final``."""

    @property
    def recipient(self) -> str | None:
        """The recipient: the tool that a call goes to."""

    @property
    def content_type(self) -> str | None:
        """The content type, such as ``<|constrain|>json``."""

    @property
    def span(self) -> tuple[int, int]:
        """The header's tokens: their first index, and the index after the last."""

    @property
    def index(self) -> int:
        """The index that the message has, or will have, in ``parser.messages``."""

@final
class ContentDelta:
    """Content arrived: whole characters, everything that one call added to the message.

    Example:
        >>> parser = StreamableParser(encoding, Role.ASSISTANT)
        >>> [_, delta] = parser.feed([200005, 17196, 200008, 19, 13])
        >>> delta.text, delta.span, delta.index
        ('4.', (3, 5), 0)
    """

    __match_args__ = ("text",)
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    def __new__(cls, text: str, span: tuple[int, int], index: int) -> Self: ...
    @property
    def text(self) -> str:
        """The text. The joined deltas of a message are its content."""

    @property
    def span(self) -> tuple[int, int]:
        """The content's tokens: their first index, and the index after the last."""

    @property
    def index(self) -> int:
        """The index that the message will have in ``parser.messages``."""

@final
class MessageEnd:
    """A message is complete.

    Example:
        >>> parser = StreamableParser(encoding, Role.ASSISTANT)
        >>> [_, _, end] = parser.feed([200005, 17196, 200008, 19, 13, 200002])
        >>> end.stop_token, end.span, end.index
        (200002, (5, 6), 0)
    """

    __match_args__ = ("stop_token",)
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    def __new__(cls, stop_token: int | None, span: tuple[int, int], index: int) -> Self: ...
    @property
    def stop_token(self) -> int | None:
        """The id of the token that ended it; ``None`` if the stream or the next message did."""

    @property
    def span(self) -> tuple[int, int]:
        """The stop token's span; empty if there is none."""

    @property
    def index(self) -> int:
        """The message's index in ``parser.messages``."""

@final
class Repair:
    """Lenient parsing repaired something.

    Example:
        >>> sampled = encoding.encode("<|channel|>final Hi<|return|>", allowed_special="all")
        >>> messages, [repair], _ = encoding.parse_with_repairs(sampled, Role.ASSISTANT)
        >>> repair.kind, repair.text, repair.span, repair.index
        ('missing_message', ' Hi', (2, 3), 0)
    """

    __match_args__ = ("kind", "text")
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    def __new__(
        cls, kind: RepairKind, text: str, span: tuple[int, int], index: int | None
    ) -> Self: ...
    @property
    def kind(self) -> RepairKind:
        """What was wrong, in snake case; docs/parsing.md has an example of each kind."""

    @property
    def text(self) -> str:
        """The text of the span, special tokens by their names."""

    @property
    def span(self) -> tuple[int, int]:
        """The tokens concerned: their first index, and the index after the last."""

    @property
    def index(self) -> int | None:
        """The index of the message that contains the repair; ``None`` outside of messages."""

@final
class Body:
    """A request's body, read from its bytes without making Python objects.

    The ``read`` functions take it, and their ``resolve`` and ``previous`` may return it. ``data``
    is JSON in UTF-8; half of a surrogate pair becomes U+FFFD; of equal keys the last counts.
    ``max_values`` limits the number of values, including keys: each takes up to 24 bytes.
    ``InvalidRequestError`` if it is not JSON, or has more values.

    Example:
        >>> from openai_harmony.interop import Body, chat_completions
        >>> body = Body(b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "n": 2}')
        >>> body.text("model"), body.kind("messages"), body.kind("tools"), body.json("n")
        ('m', 'list', None, b'2')
        >>> chat_completions.read(body.with_member("n", b"1")).sampling["n"]
        1
    """

    def __new__(cls, data: bytes, *, max_values: int = ...) -> Self: ...
    def kind(
        self, name: str | None = None
    ) -> Literal["string", "number", "boolean", "list", "object"] | None:
        """The kind of a member; ``None`` if it is missing or null.

        Args:
            name: The member; without it, the body itself.

        Returns:
            A word.

        Example:
            >>> from openai_harmony.interop import Body
            >>> body = Body(b'{"messages": []}')
            >>> body.kind(), body.kind("messages"), body.kind("tools")
            ('object', 'list', None)
        """

    def text(self, name: str) -> str | None:
        """The text of a member, if it is a string.

        Args:
            name: The member.

        Returns:
            The text, or ``None``.

        Example:
            >>> from openai_harmony.interop import Body
            >>> Body(b'{"model": "m"}').text("model")
            'm'
        """

    def flag(self, name: str) -> bool | None:
        """The value of a member, if it is true or false.

        Args:
            name: The member.

        Returns:
            The value, or ``None``.

        Example:
            >>> from openai_harmony.interop import Body
            >>> Body(b'{"stream": true}').flag("stream")
            True
        """

    def json(self, name: str | None = None) -> bytes | None:
        """The JSON text of a member, in one line.

        Args:
            name: The member; without it, the text of the body itself.

        Returns:
            The text in UTF-8, or ``None`` if there is no such member.

        Example:
            >>> from openai_harmony.interop import Body
            >>> Body(b'{ "stop": [ "x" ] }').json("stop")
            b'["x"]'
        """

    def items(self, name: str) -> list[tuple[str | None, str | None, bytes]]:
        """The items of a list, each with two of its members.

        Args:
            name: The member that is a list.

        Returns:
            For each item ``id`` and ``type``, where they are strings, and its JSON text.

        Example:
            >>> from openai_harmony.interop import Body
            >>> Body(b'{"input": [{"id": "msg_1", "role": "user"}]}').items("input")
            [('msg_1', None, b'{"id":"msg_1","role":"user"}')]
        """

    def with_member(self, name: str, json: bytes) -> Body:
        """A copy of the body in which a member has another value.

        Args:
            name: The member.
            json: Its value as JSON text.

        Returns:
            Another body.

        Raises:
            InvalidRequestError: It is not JSON.

        Example:
            >>> from openai_harmony.interop import Body
            >>> Body(b'{"n": 2}').with_member("n", b"1").json()
            b'{"n":1}'
        """

@final
class EngineReader:
    r"""Reads what an engine streams: server-sent events or lines of JSON, cut anywhere.

    The output ends at ``max_tokens`` and at the stop tokens, whatever the engine does. ``form`` is
    ``"completions"`` (vLLM's, and OpenAI's with ``token_ids``), ``"sglang"`` or ``"llama.cpp"``.

    Example:
        >>> from openai_harmony.interop import EngineReader
        >>> reader = EngineReader("completions", 100, [200002])
        >>> reader.feed(b'data: {"choices": [{"token_ids": [35')
        ([], None, None, None)
        >>> reader.feed(b', 200002]}]}\n\n')
        ([35, 200002], 'stop', None, None)
    """

    def __new__(
        cls,
        form: Literal["completions", "sglang", "llama.cpp"],
        max_tokens: int,
        stop_token_ids: _Tokens,
    ) -> Self: ...
    def feed(self, data: bytes) -> _EngineOutput:
        r"""Takes more bytes.

        Args:
            data: The bytes.

        Returns:
            The new tokens; why the output ends with them, if it does; their log-probabilities, if
            the engine gives any; and what it did wrong after them, if it did: the status for the
            client, and the rest of a sentence about the engine.

        Example:
            >>> from openai_harmony.interop import EngineReader
            >>> EngineReader("sglang", 100, []).feed(b"oops\n")
            ([], None, None, (502, 'sends data that is not JSON: oops'))
        """

    def besides(self) -> dict[str, str]:
        r"""What vLLM sent besides tokens, as JSON.

        Returns:
            What it sent, by name; usually nothing.

        Example:
            >>> from openai_harmony.interop import EngineReader
            >>> reader = EngineReader("completions", 100, [])
            >>> reader.feed(b'{"choices": [{"token_ids": [35], "routed_experts": "x"}]}\n')
            ([35], None, None, None)
            >>> reader.besides()
            {'routed_experts': '"x"'}
        """

    def finish(self) -> _EngineOutput:
        """Takes the end of the stream: an output without a finish reason broke off.

        Returns:
            As ``feed``.

        Example:
            >>> from openai_harmony.interop import EngineReader
            >>> EngineReader("sglang", 100, []).finish()[3]
            (502, 'broke off: its stream ended without a finish reason')
        """

@disjoint_base
class Turn:
    """A request, read for harmony. The ``read`` functions make turns.

    Example:
        >>> from openai_harmony.interop import chat_completions
        >>> said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]
        >>> turn = chat_completions.read({"messages": said, "stop": "X", "stream": True})
        >>> turn.dialect, turn.stop_strings, turn.stop_token_names, turn.stream
        ('chat_completions', ['X'], ['<|return|>', '<|call|>'], True)
        >>> turn.sources, turn.source_indices
        ([None, 'messages[0]', 'messages[1]'], [None, 0, 1])
    """

    def __new__(cls, dialect: str, body: Any, **options: Any) -> Self: ...
    @property
    def dialect(self) -> str:
        """``chat_completions``, ``responses``, ``anthropic`` or ``ollama``."""

    @property
    def sources(self) -> list[str | None]:
        """For each message of ``conversation`` the path of its source in the body.

        ``messages[3]``, ``input[2]``, or ``history[0]`` of the option. ``None`` for the first
        system and developer message, which are made from several fields, and for a text that is the
        whole ``input``. ``render_with_spans`` has the source of each rendered message.
        """

    @property
    def source_indices(self) -> list[int | None]:
        """The indices in ``sources``; ``None`` for what is not in the body, such as a history."""

    @property
    def stop_token_ids(self) -> list[int]:
        """The tokens at which the engine stops: ``<|return|>``, ``<|call|>``."""

    @property
    def stop_token_names(self) -> list[str]:
        """The names of ``stop_token_ids``, for engines that stop at text."""

    @property
    def stop_strings(self) -> list[str]:
        """The body's own stop strings, which act on visible text only."""

    @property
    def sampling(self) -> Sampling:
        """How to sample: the body's values, else the recommended ones."""

    @property
    def stream(self) -> bool:
        """Whether the body asks for a streamed answer."""

    @property
    def model(self) -> str | None:
        """The model that the body names."""

    @property
    def store(self) -> bool | None:
        """Responses: whether the response is to be kept.

        The body's value, unless the option ``stores`` overrides it.
        """

    @property
    def previous_response_id(self) -> str | None:
        """Responses: the response that this one follows."""

    @property
    def strict_format(self) -> bool:
        """Whether the body wants its schema enforced on the answer: ``strict``."""

    @property
    def thinking_budget(self) -> int | None:
        """The most reasoning tokens, if the body sets a limit.

        Anthropic's ``thinking.budget_tokens``, and ``max_tokens`` in the ``reasoning`` of chat and
        Responses. ``Reply.force`` ends them.
        """

    @property
    def may_truncate(self) -> bool:
        """Whether the body lets the server leave out old turns: Responses' ``truncation: auto``."""

    def prompt(self, encoding: HarmonyEncoding, *, max_tokens: int | None = None) -> list[int]:
        """The tokens to sample from: the conversation and the beginning of the assistant's message.

        Args:
            encoding: What renders them.
            max_tokens: The most tokens that the prompt may have. The oldest turns of a longer
                conversation are left out, as few as possible and never a part of one, so no result
                remains without its call. The system and developer messages before the first turn,
                and the last turn, always stay. The body asks for this if ``may_truncate`` is true.

        Returns:
            Token ids.

        Raises:
            HarmonyError: A schema that cannot be rendered.
            PromptTooLongError: The last turn has too many tokens; ``error_body`` writes it in the
                API's form.

        Example:
            >>> from openai_harmony.interop import chat_completions
            >>> hi = {"role": "user", "content": "Hi"}
            >>> hello = {"role": "assistant", "content": "Hello!"}
            >>> short = chat_completions.read({"messages": [hi, hello, hi]}).prompt(encoding)
            >>> long = chat_completions.read({"messages": [hi, hello, hi, hello, hi]})
            >>> long.prompt(encoding, max_tokens=len(short)) == short
            True
        """

    def prompt_array(
        self, encoding: HarmonyEncoding, *, max_tokens: int | None = None
    ) -> array[int]:
        """The tokens of :meth:`prompt` as an array of uint32, for engines that take arrays.

        Args:
            encoding: As for :meth:`prompt`.
            max_tokens: As for :meth:`prompt`.

        Returns:
            Token ids: an ``array.array``, which NumPy takes without a copy.

        Raises:
            HarmonyError: As :meth:`prompt`.
            InvalidRequestError: As :meth:`prompt`.

        Example:
            >>> from openai_harmony.interop import chat_completions
            >>> turn = chat_completions.read({"messages": [{"role": "user", "content": "Hi"}]})
            >>> prompt = turn.prompt_array(encoding)
            >>> prompt.typecode, prompt.tolist() == turn.prompt(encoding)
            ('I', True)
        """

    def prompt_json(self, encoding: HarmonyEncoding) -> bytes:
        """The tokens of :meth:`prompt` as JSON, for servers that pass them on.

        Args:
            encoding: As for :meth:`prompt`.

        Returns:
            The text of a list of numbers.

        Raises:
            HarmonyError: As :meth:`prompt`.

        Example:
            >>> import json
            >>> from openai_harmony.interop import chat_completions
            >>> turn = chat_completions.read({"messages": [{"role": "user", "content": "Hi"}]})
            >>> json.loads(turn.prompt_json(encoding)) == turn.prompt(encoding)
            True
        """

    @property
    def _messages(self) -> list[Message]: ...
    def _part(self, name: str) -> Any: ...
    def _tool_by_recipient(self, recipient: str) -> dict[str, Any] | None: ...
    def _tool_by_name(self, name: str, namespace: str | None) -> dict[str, Any] | None: ...
    @property
    def _tool_choice(self) -> tuple[Literal["auto", "none", "required", "named"], list[str]]: ...
    @property
    def _not_used(self) -> int: ...
    def _render_with_spans(
        self, encoding: HarmonyEncoding
    ) -> tuple[array[int], list[_SpanInBody], list[_Speaker]]: ...

def derender(
    body: Body,
    encoding: HarmonyEncoding,
    *,
    model: str,
    created: int,
    context: int,
) -> bytes:
    """Turns another engine's tokens into a chat completion, as vLLM's ``/derender`` does.

    Nothing is decoded before all lengths are known, and the state of a stream is checked.

    Args:
        body: The answer of ``/inference/v1/generate``, with the request; with ``"stream": true`` a
            chunk of it, and the ``stream_state`` of the previous chunk.
        encoding: The encoding.
        model: The model's name in the answer.
        created: Now, in seconds since 1970.
        context: The most tokens of prompt and output together.

    Returns:
        The JSON of the answer, or of the chunk and the next state.

    Raises:
        InvalidRequestError: The body has another form, or is too long.
        HarmonyError: The state belongs to another stream.

    Example:
        >>> import json
        >>> from openai_harmony.interop import Body, derender
        >>> sampled = [200005, 17196, 200008, 19, 13, 200002]
        >>> request = {"messages": [{"role": "user", "content": "2 + 2?"}]}
        >>> generated = {"request_id": "r", "choices": [{"index": 0, "token_ids": sampled}]}
        >>> given = {"chat_request": request, "generate_response": generated}
        >>> body = Body(json.dumps(given).encode())
        >>> answer = derender(body, encoding, model="m", created=0, context=131_072)
        >>> json.loads(answer)["choices"][0]["message"]["content"]
        '4.'
    """

@disjoint_base
class Reply:
    """An answer in progress. ``Turn.reply`` begins one.

    Example:
        >>> from openai_harmony.interop import chat_completions
        >>> turn = chat_completions.read({"messages": [{"role": "user", "content": "2 + 2?"}]})
        >>> reply = turn.reply(encoding, model="gpt-oss-20b")
        >>> stream = reply.feed_bytes([200005, 17196, 200008, 19, 13, 200002])
        >>> stream += reply.finish_bytes("stop")
        >>> reply.response()["choices"][0]["message"]["content"]
        '4.'
    """

    def __new__(
        cls, turn: Turn, encoding: HarmonyEncoding, *, saved: bytes | None = None, **options: Any
    ) -> Self: ...
    def to_bytes(self) -> bytes:
        """The reply as bytes, from which ``from_bytes`` resumes it, in any process.

        Returns:
            Unencrypted JSON with a version, about 8 bytes per token, more with log-probabilities.

        Raises:
            RuntimeError: Another thread is using the reply.

        Example:
            >>> from openai_harmony.interop import Reply, chat_completions
            >>> turn = chat_completions.read({"messages": [{"role": "user", "content": "2 + 2?"}]})
            >>> reply = turn.reply(encoding, model="gpt-oss-20b")
            >>> chunks = reply.feed([200005, 17196, 200008, 19])
            >>> reply = Reply.from_bytes(turn, encoding, reply.to_bytes())
            >>> reply.response()["choices"][0]["message"]["content"]
            '4'
        """

    def to_checkpoint(self) -> bytes:
        """Like ``to_bytes``, but only what is needed to continue the stream.

        The rest of the stream is the same. The reply that ``from_bytes`` restores lacks what was
        sent before: its response, messages, repairs and calls are the later ones. What was not
        sent yet is kept in full: an unfinished header, a call that is held back until it is
        complete, a call of a built-in tool of the server, a custom tool's object whose input does
        not come first, and with Anthropic's API reasoning.

        Returns:
            JSON with a version: about a kilobyte, however long the answer is.

        Raises:
            HarmonyError: The API is Responses, whose last event repeats the whole answer.
            RuntimeError: Another thread is using the reply.

        Example:
            >>> from openai_harmony.interop import Reply, chat_completions
            >>> turn = chat_completions.read({"messages": [{"role": "user", "content": "2 + 2?"}]})
            >>> reply = turn.reply(encoding, model="gpt-oss-20b")
            >>> chunks = reply.feed([200005, 17196, 200008, 19])
            >>> reply = Reply.from_bytes(turn, encoding, reply.to_checkpoint())
            >>> reply.feed([13])[0]["choices"][0]["delta"]
            {'content': '.'}
        """

    def feed(self, tokens: _Tokens, logprobs: _Logprobs | None = None) -> list[dict[str, Any]]:
        """Takes sampled tokens and returns the chunks or events to send.

        The first call also returns the opening of the stream; ``feed([])`` does so before the first
        token.

        Args:
            tokens: Token ids, any number of them.
            logprobs: One for each token, if ``turn.sampling`` has ``logprobs``: a number, or a
                ``TokenLogprob`` with the likely tokens there, or ``None`` if the engine has none.
                The answer contains those of visible text.

        Returns:
            The chunks or events as dicts.

        Raises:
            HarmonyError: A call after ``finish``; never because of the tokens. ``invalid_logprobs``
                if there are not as many log-probabilities as tokens, or for NaN; then nothing is
                consumed.
            ValueError: Something that is not a token id; then none is consumed.
            WrongTypeError: Log-probabilities of another type.
            RuntimeError: Another thread is using the reply.

        Example:
            >>> from openai_harmony.interop import chat_completions
            >>> turn = chat_completions.read({"messages": [{"role": "user", "content": "2 + 2?"}]})
            >>> reply = turn.reply(encoding, model="gpt-oss-20b")
            >>> chunks = reply.feed([200005, 17196, 200008, 19])
            >>> [chunk["choices"][0]["delta"] for chunk in chunks]
            [{'role': 'assistant', 'content': ''}, {'content': '4'}]
            >>> body = {"messages": [{"role": "user", "content": "2 + 2?"}], "logprobs": True}
            >>> reply = chat_completions.read(body).reply(encoding, model="gpt-oss-20b")
            >>> chunks = reply.feed([200005, 17196, 200008, 19], [None, None, None, -0.25])
            >>> chunks[1]["choices"][0]["logprobs"]["content"]
            [{'token': '4', 'logprob': -0.25, 'bytes': [52], 'top_logprobs': []}]
        """

    def feed_bytes(self, tokens: _Tokens, logprobs: _Logprobs | None = None) -> bytes:
        """``feed`` and ``frame`` in one, in a fraction of their time.

        Args:
            tokens: Token ids, any number of them.
            logprobs: As of ``feed``.

        Returns:
            The bytes on the wire.

        Raises:
            HarmonyError: A call after ``finish``, and ``invalid_logprobs``, as for ``feed``.
            ValueError: Something that is not a token id; then none is consumed.
            WrongTypeError: Log-probabilities of another type.
            RuntimeError: Another thread is using the reply.

        Example:
            >>> from openai_harmony.interop import chat_completions
            >>> turn = chat_completions.read({"messages": [{"role": "user", "content": "2 + 2?"}]})
            >>> reply = turn.reply(encoding, model="gpt-oss-20b")
            >>> b'"delta":{"content":"4"}' in reply.feed_bytes([200005, 17196, 200008, 19])
            True
        """

    def finish(
        self, reason: Literal["stop", "length", "abort"], stop_sequence: str | None = None
    ) -> list[dict[str, Any]]:
        """Ends the answer and returns the last chunks or events.

        Args:
            reason: The model stopped, the limit was reached, or the engine gave up.
            stop_sequence: The stop string at which the engine stopped, if it looks for the body's
                itself; those in ``Turn.stop_strings`` are found without it.

        Returns:
            The last chunks or events as dicts; a second call returns none.

        Raises:
            ValueError: Another reason.
            RuntimeError: Another thread is using the reply.

        Example:
            >>> from openai_harmony.interop import chat_completions
            >>> turn = chat_completions.read({"messages": [{"role": "user", "content": "2 + 2?"}]})
            >>> reply = turn.reply(encoding, model="gpt-oss-20b")
            >>> _ = reply.feed([200005, 17196, 200008, 19, 13, 200002])
            >>> [chunk["choices"][0]["finish_reason"] for chunk in reply.finish("stop")]
            ['stop']
        """

    def finish_bytes(
        self, reason: Literal["stop", "length", "abort"], stop_sequence: str | None = None
    ) -> bytes:
        """``finish`` and ``frame`` in one, with the end of the stream unless the answer failed.

        Args:
            reason: The model stopped, the limit was reached, or the engine gave up.
            stop_sequence: The stop string at which the engine stopped, if it looks for the body's
                itself; those in ``Turn.stop_strings`` are found without it.

        Returns:
            The last bytes on the wire; a second call returns none.

        Raises:
            ValueError: Another reason.
            RuntimeError: Another thread is using the reply.

        Example:
            >>> from openai_harmony.interop import chat_completions
            >>> turn = chat_completions.read({"messages": [{"role": "user", "content": "2 + 2?"}]})
            >>> reply = turn.reply(encoding, model="gpt-oss-20b")
            >>> reply.finish_bytes("stop").rstrip().endswith(b"data: [DONE]")
            True
        """

    def fail(self, message: str, status: int = 500) -> list[dict[str, Any]]:
        """Ends the stream of an answer that cannot be completed, in its API's form.

        Chat completions sends an ``error`` chunk, Anthropic an ``error`` event, Ollama a line with
        an ``error``, and nothing after it; Responses sends ``response.failed``. Client libraries
        then raise, and agents ask again. ``finish("abort")`` does the same with a general message.

        Args:
            message: What went wrong, for the client.
            status: The status of the same error before a stream has begun.

        Returns:
            The last chunks or events as dicts; none after ``finish``.

        Raises:
            RuntimeError: Another thread is using the reply.

        Example:
            >>> from openai_harmony.interop import ollama
            >>> turn = ollama.read({"messages": [{"role": "user", "content": "2 + 2?"}]})
            >>> turn.reply(encoding, model="gpt-oss-20b").fail("the engine broke off", 502)
            [{'error': 'the engine broke off'}]
        """

    def fail_bytes(self, message: str, status: int = 500) -> bytes:
        r"""``fail`` and ``frame`` in one.

        Args:
            message: What went wrong, for the client.
            status: The status of the same error before a stream has begun.

        Returns:
            The last bytes on the wire; none after ``finish``.

        Raises:
            RuntimeError: Another thread is using the reply.

        Example:
            >>> from openai_harmony.interop import ollama
            >>> turn = ollama.read({"messages": [{"role": "user", "content": "2 + 2?"}]})
            >>> turn.reply(encoding, model="gpt-oss-20b").fail_bytes("the engine broke off", 502)
            b'{"error":"the engine broke off"}\n'
        """

    def response_bytes(self) -> bytes:
        """``response`` as JSON, with all digits of the numbers in calls.

        Returns:
            The bytes on the wire.

        Raises:
            RuntimeError: Another thread is using the reply.

        Example:
            >>> from openai_harmony.interop import chat_completions
            >>> turn = chat_completions.read({"messages": [{"role": "user", "content": "2 + 2?"}]})
            >>> reply = turn.reply(encoding, model="gpt-oss-20b")
            >>> _ = reply.feed([200005, 17196, 200008, 19, 13, 200002]), reply.finish("stop")
            >>> b'"content":"4."' in reply.response_bytes()
            True
        """

    def response(self) -> dict[str, Any]:
        """The complete answer, for a request without a stream.

        Returns:
            The response; before ``finish`` the part so far.

        Raises:
            RuntimeError: Another thread is using the reply.

        Example:
            >>> from openai_harmony.interop import chat_completions
            >>> turn = chat_completions.read({"messages": [{"role": "user", "content": "2 + 2?"}]})
            >>> reply = turn.reply(encoding, model="gpt-oss-20b")
            >>> _ = reply.feed([200005, 17196, 200008, 19, 13, 200002]), reply.finish("stop")
            >>> reply.response()["choices"][0]["message"]["content"]
            '4.'
        """

    def frame(self, chunk: dict[str, Any] | None = None) -> bytes:
        r"""A chunk's bytes on the wire: an event of a stream (SSE), or for Ollama a line of JSON.

        Args:
            chunk: A chunk of ``feed`` or ``finish``, changed or not. Without one: the end of the
                stream.

        Returns:
            The bytes; without a chunk, ``data: [DONE]`` for chat and nothing for others.

        Raises:
            WrongTypeError: The chunk is not a dict, or has something that is not JSON.
            ValueError: It has a number that JSON does not have, or is nested more than 254 levels
                deep.
            RuntimeError: Another thread is using the reply.

        Example:
            >>> from openai_harmony.interop import chat_completions
            >>> turn = chat_completions.read({"messages": [{"role": "user", "content": "2 + 2?"}]})
            >>> reply = turn.reply(encoding, model="gpt-oss-20b")
            >>> reply.frame({"id": "chatcmpl-1"})
            b'data: {"id":"chatcmpl-1"}\n\n'
            >>> reply.frame()
            b'data: [DONE]\n\n'
        """

    @property
    def media_type(self) -> str:
        """The stream's media type: ``text/event-stream``, for Ollama ``application/x-ndjson``."""

    @property
    def stop_sequence(self) -> str | None:
        """The stop string of the body that ended the visible answer; the engine can stop."""

    @property
    def is_ended(self) -> bool:
        """Whether the model ended its turn, by ``<|return|>`` or ``<|call|>``; the engine can stop.

        The engine may not know: with ``spelled_markers`` these may be ordinary tokens.
        """

    @property
    def _spelled_markers(self) -> bool: ...
    @property
    def messages(self) -> list[Message]:
        """The complete messages, as the parser gives them."""

    @property
    def tokens(self) -> list[int]:
        """All tokens that were fed, as a new list."""

    @property
    def budget_spent(self) -> bool:
        """Whether the reasoning has used up its budget; ``False`` without one."""

    @property
    def force(self) -> list[int]:
        """The tokens that end the reasoning and begin the answer, once its budget is spent.

        Empty before, outside of reasoning, and inside a character of several tokens. If there are
        any after a ``feed``, stop the engine, feed them to the reply, and continue sampling after
        the prompt and ``tokens``.

        Example:
            >>> from openai_harmony.interop import chat_completions
            >>> turn = chat_completions.read({"messages": [{"role": "user", "content": "2 + 2?"}]})
            >>> reply = turn.reply(encoding, model="gpt-oss-20b", thinking_budget=2)
            >>> chunks = reply.feed([200005, 35644, 200008, 12845, 668])
            >>> encoding.decode(reply.force)
            '<|end|><|start|>assistant<|channel|>final<|message|>'
        """

    @property
    def repairs(self) -> list[Repair]:
        """What was repaired.

        This includes calls delivered as text (``call_as_text``) or with corrected arguments
        (``repaired_arguments``), and messages of other authors (``foreign_author``).
        """

    @property
    def _builtin_calls(self) -> list[dict[str, Any]]: ...
    @property
    def _usage(self) -> dict[str, int]: ...

def error_body(
    dialect: str,
    status: int,
    message: str,
    path: str | None,
    code: str | None,
    content: str | None,
    tokens: tuple[int, int] | None,
) -> str: ...
def extend_prompt(
    encoding: HarmonyEncoding,
    prompt: Iterable[int],
    sampled: Iterable[int],
    messages: Iterable[Message],
    **options: Any,
) -> tuple[Break | None, list[int]]: ...

# A message that was sampled: itself, kind, span, whether the model ended it, whether it waits.
_Said: TypeAlias = tuple[
    Message, Literal["thought", "preamble", "answer", "call", "other"], _Span, bool, bool
]
_Step: TypeAlias = tuple[list[_Said], int | None, list[Repair]]

def read_step(
    encoding: HarmonyEncoding,
    prompt: Iterable[int],
    sampled: Iterable[int],
    tools: Iterable[str] | None,
) -> _Step: ...

@final
class _TurnGrammar:
    def __new__(
        cls, tools: list[tuple[str, Any, tuple[str, str] | None]], **options: Any
    ) -> Self: ...
    @staticmethod
    def of_turn(turn: Turn, **options: Any) -> _TurnGrammar: ...
    def write(
        self, form: str, stops: Iterable[int]
    ) -> tuple[str, list[tuple[str, str, str, str]]]: ...
    def accepts(self, tokens: Iterable[int]) -> tuple[bool, int | None, str | None]: ...
    def state(self) -> _GrammarState: ...

@final
class _GrammarState:
    def feed(self, token: int) -> str | None: ...
    def is_complete(self) -> bool: ...
    def expected(self) -> str: ...
    def copy(self) -> _GrammarState: ...

@final
class _Rollout:
    def __new__(
        cls,
        encoding: HarmonyEncoding,
        messages: Iterable[Message],
        prefill: Prefill | None,
        **options: Any,
    ) -> Self: ...
    def prompt(self) -> array[int]: ...
    def sampled(self, sampled: Iterable[int], logprobs: Iterable[float] | None) -> _Step: ...
    def extend(self, messages: Iterable[Message]) -> Break | None: ...
    def messages(self) -> list[Message]: ...
    def segments(
        self,
    ) -> list[
        tuple[
            array[int],
            bytearray,
            array[float],
            list[_Span],
            Break | None,
            list[tuple[int, int]],
        ]
    ]: ...
    def branch(self) -> Self: ...
