"""An answer: sampled tokens to what an API sends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn

from typing_extensions import Self, Unpack

from openai_harmony import _lowlevel
from openai_harmony._counted import counted
from openai_harmony._notebook import InNotebooks
from openai_harmony._options import completed, takes
from openai_harmony.interop.options import ResumeOptions

if TYPE_CHECKING:
    from openai_harmony.encoding import HarmonyEncoding

Chunk = dict[str, Any]
"""A chunk or an event as the API sends it."""

FinishReason = Literal["stop", "length", "abort"]
"""The model stopped, the limit was reached, or the engine gave up."""


class BuiltinCall(NamedTuple):
    """A call of a tool that the model was trained with, for the server to run."""

    recipient: str
    """``python``, ``browser.search``."""
    text: str
    """What was sent to it: code, or arguments in JSON."""
    is_complete: bool
    """Whether it came to its end."""


class TokenLogprob(NamedTuple):
    """How likely a sampled token was, from the engine: for ``Reply.feed``."""

    logprob: float
    """The natural logarithm of its probability; minus infinity becomes -9999 in the answer."""
    top: dict[int, float] | None = None
    """The most likely token ids at its place with theirs; the answer has as many as were asked."""


class Usage(NamedTuple):
    """How many tokens a turn took."""

    prompt_tokens: int
    cached_tokens: int
    """Those of the prompt that the engine had cached."""
    completion_tokens: int
    """Sampled tokens, markers and headers included."""
    reasoning_tokens: int
    """Those of them that are the content of thoughts."""

    @property
    def total_tokens(self) -> int:
        """Tokens of prompt and answer."""
        return self.prompt_tokens + self.completion_tokens


class Reply(InNotebooks, _lowlevel.Reply):
    """An answer under way. ``Turn.reply`` begins one.

    Any tokens at all give a well-formed answer, and none of their text is lost: what has no place
    elsewhere is content.

    >>> from openai_harmony import HarmonyEncodingName, load_harmony_encoding
    >>> from openai_harmony.interop import chat_completions
    >>> encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
    >>> turn = chat_completions.read({"messages": [{"role": "user", "content": "What is 2 + 2?"}]})
    >>> reply = turn.reply(encoding, model="gpt-oss-20b")
    >>> sampled = "<|channel|>final<|message|>Four.<|return|>"
    >>> chunks = reply.feed(encoding.encode(sampled, allowed_special="all"))
    >>> [chunk["choices"][0]["delta"] for chunk in chunks]
    [{'role': 'assistant', 'content': ''}, {'content': 'Four.'}]
    >>> reply.finish("stop")[0]["choices"][0]["finish_reason"]
    'stop'
    >>> reply.response()["choices"][0]["message"]["content"]
    'Four.'
    """

    __slots__ = ("_turn",)

    def __init__(self, turn: _lowlevel.Turn, encoding: HarmonyEncoding, **options: Any) -> None:
        """``Turn.reply`` calls it. The options have been read by ``__new__``."""
        # A `Turn`, whose module imports this one.
        self._turn: Any = turn

    @classmethod
    @takes(ResumeOptions)
    def from_bytes(
        cls,
        turn: _lowlevel.Turn,
        encoding: HarmonyEncoding,
        saved: bytes,
        **options: Unpack[ResumeOptions],
    ) -> Self:
        """Resumes a reply that ``to_bytes`` saved, in another process for instance.

        Costs as much as feeding the reply's tokens.

        Args:
            turn: Read from the same body.
            encoding: What parses the tokens.
            saved: What ``to_bytes`` gave.
            options: Those of ResumeOptions.

        ``HarmonyError`` (``invalid_state``) for bytes of another version, of a turn of another API,
        or that ``to_bytes`` did not write.

        >>> from openai_harmony import load_harmony_encoding
        >>> from openai_harmony.interop import Reply, chat_completions
        >>> encoding = load_harmony_encoding("HarmonyGptOss")
        >>> turn = chat_completions.read({"messages": [{"role": "user", "content": "2 + 2?"}]})
        >>> reply = turn.reply(encoding, model="gpt-oss-20b")
        >>> sampled = encoding.encode("<|channel|>final<|message|>Four.", allowed_special="all")
        >>> chunks = reply.feed(sampled[:4])
        >>> reply = Reply.from_bytes(turn, encoding, reply.to_bytes())
        >>> chunks = reply.feed(sampled[4:])
        >>> reply.response()["choices"][0]["message"]["content"]
        'Four.'
        """
        return cls(turn, encoding, saved=saved, **completed(Reply.from_bytes, options))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Reply cannot be pickled or copied: use to_bytes and Reply.from_bytes")

    def __repr__(self) -> str:
        where = f"stopped at {self.stop_sequence!r}, " if self.stop_sequence is not None else ""
        counts = f"{counted(len(self.messages), 'message')}, {counted(len(self.repairs), 'repair')}"
        tokens = counted(len(self.tokens), "token")
        return f"<Reply of {self._turn.dialect}: {where}{tokens}, {counts}>"

    @property
    def builtin_calls(self) -> list[BuiltinCall]:
        """The calls of built-in tools, in their order, for the server to run."""
        return [BuiltinCall(**fields) for fields in self._builtin_calls]

    @property
    def usage(self) -> Usage:
        """How many tokens the turn has taken so far."""
        return Usage(**self._usage)


__all__ = ["Chunk", "FinishReason"]
