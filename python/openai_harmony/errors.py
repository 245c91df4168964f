"""The errors and the warning of the package."""

from __future__ import annotations

from openai_harmony._published import published
from openai_harmony.kinds import ErrorKind


def brief(text: str) -> str:
    """A text as errors quote it: at most its first 200 characters."""
    return text if len(text) <= 200 else f"{text[:200]}…"


def quoted(value: object) -> str:
    """A value as errors quote it: its ``repr``, :func:`brief`."""
    return brief(repr(value))


@published
class HarmonyError(RuntimeError):
    """Rendering, parsing, encoding or decoding failed.

    >>> from openai_harmony import load_harmony_encoding
    >>> try:
    ...     load_harmony_encoding("HarmonyGptOss").decode([200007, 999999])
    ... except HarmonyError as error:
    ...     print(error.kind, error.token_index, error)
    invalid_token 1 Invalid token for decoding: 999999 (at tokens[1])
    """

    kind: ErrorKind
    """What went wrong, in snake case: ``unexpected_token``."""
    token_index: int | None
    """The index of the token at fault, from 0; ``None`` if no token is."""
    path: str | None
    """The path in the input: ``messages[3].role``, ``logprobs[3].top[0]``. Empty for the input
    itself, ``None`` for an error without a path."""

    def __init__(
        self,
        message: str = "",
        kind: ErrorKind = "unknown",
        token_index: int | None = None,
        path: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.token_index = token_index
        self.path = path


class InvalidRequestError(HarmonyError):
    """A request's body breaks its API's rules (:mod:`openai_harmony.interop`).

    :func:`openai_harmony.interop.error_body` writes it in the API's form.
    """

    path: str
    """Where in the body: ``messages[3].role``; empty for the body itself."""
    code: str | None
    """The API's own code for the error, if there is one: ``thread_unsupported_request``."""

    def __init__(
        self,
        message: str = "",
        kind: ErrorKind = "invalid_request",
        token_index: int | None = None,
        path: str = "",
        code: str | None = None,
    ) -> None:
        super().__init__(message, kind, token_index, path)
        self.code = code


class UnsupportedContent(InvalidRequestError):  # noqa: N818  (what it says is unsupported)
    """A request contains something that the format cannot carry: an image, audio, a file.

    ``path`` says where: ``messages[3].content[0].image_url``. Servers answer with status 400, and
    :func:`openai_harmony.interop.error_body` uses the API's own wording.
    """

    content: str
    """What it is: ``images``, ``audio``, ``files``."""

    def __init__(
        self,
        message: str = "",
        kind: ErrorKind = "unsupported_content",
        token_index: int | None = None,
        path: str = "",
        content: str = "",
    ) -> None:
        super().__init__(message, kind, token_index, path)
        self.content = content


class PromptTooLongError(InvalidRequestError):
    """A prompt has too many tokens.

    :func:`openai_harmony.interop.error_body` uses the API's own wording, with both numbers.
    """

    tokens: int
    """Its number of tokens; if turns may be left out, with only its last turn."""
    max_tokens: int
    """The maximum."""

    def __init__(
        self, message: str = "", path: str = "", tokens: int = 0, max_tokens: int = 0
    ) -> None:
        code = "context_length_exceeded"
        super().__init__(message, "prompt_too_long", path=path, code=code)
        self.tokens, self.max_tokens = tokens, max_tokens


class InvalidRowError(HarmonyError):
    """A row of a data set is not a conversation, or not one that can be rendered.

    ``path`` says where: ``messages[3].role``; it is empty for the row itself
    (:mod:`openai_harmony.training`). It is not an :class:`InvalidRequestError`, since there is no
    request.
    """

    path: str


class InvalidGrammarError(HarmonyError):
    """A grammar that no turn can satisfy, or one with a schema that an engine cannot enforce.

    From :mod:`openai_harmony.grammar`.
    """

    path: str
    """Which option, and where in it: ``tools[3].parameters``."""
    recipient: str | None
    """If an engine cannot enforce a schema, the tool's recipient; ``""`` for the answer's
    schema."""

    def __init__(
        self,
        message: str = "",
        kind: ErrorKind = "invalid_grammar",
        token_index: int | None = None,
        path: str = "",
        recipient: str | None = None,
    ) -> None:
        super().__init__(message, kind, token_index, path)
        self.recipient = recipient


class WrongTypeError(TypeError, ValueError):
    """An argument, or a field somewhere inside one, has a wrong type; the text names it.

    Both a ``TypeError`` and a ``ValueError``, so that one clause catches all bad arguments.
    """


class MissingFieldError(ValueError, KeyError):
    """A field that the JSON form must have is missing.

    Also a ``KeyError``, which is what version 0.0.8 raised.
    """

    __str__ = Exception.__str__


class UnknownFieldError(ValueError):
    """JSON that was read with ``strict=True`` has unknown fields; the text has their paths.

    >>> from openai_harmony import Message
    >>> message = {"role": "assistant", "content": "4", "chanel": "final"}
    >>> Message.from_dict(message, strict=True)
    Traceback (most recent call last):
    openai_harmony.errors.UnknownFieldError: chanel: unknown field (known: role, name, content, \
channel, recipient, content_type)
    """


class UnknownFieldWarning(UserWarning):
    """JSON has an unknown field, which is ignored as version 0.0.8 ignored it.

    With ``strict=True`` it is an error instead. The text has the field's name and path. Each field
    is reported once per place and call, however many messages have it; Python's filters decide how
    often the same warning is shown.
    """


__all__ = [
    "HarmonyError",
    "InvalidGrammarError",
    "InvalidRequestError",
    "InvalidRowError",
    "MissingFieldError",
    "PromptTooLongError",
    "UnknownFieldError",
    "UnknownFieldWarning",
    "UnsupportedContent",
    "WrongTypeError",
    "brief",
    "quoted",
]
