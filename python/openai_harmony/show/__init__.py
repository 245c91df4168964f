"""Tokens and conversations as pictures: for terminals, notebooks and web pages.

>>> from openai_harmony import Message, show
>>> show.print(Message.from_role_and_content("user", "Hi"), ids=True)
conversation · 5 tokens · 1 message
● 0 user · 5 tokens
  <|start|>[200006]user[1428]<|message|>[200008]Hi[12194]<|end|>[200007]

Anything that contains tokens can be shown: token ids, a ``Conversation``, a ``Rendered``, a
``Turn``, a ``Reply``, a running parser, an example of training. In notebooks they show themselves.
A picture is made for people, and its text may change between versions; programs read messages and
spans.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import IO, Any

from openai_harmony.errors import WrongTypeError, quoted
from openai_harmony.loss_mask import LossMask
from openai_harmony.options import RenderConversationConfig
from openai_harmony.show.data import data
from openai_harmony.show.difference import Difference, compare
from openai_harmony.show.html import difference_piece, picture_piece
from openai_harmony.show.lines import lines
from openai_harmony.show.picture import Picture
from openai_harmony.show.sources import Ending, picture
from openai_harmony.show.terminal import plain, write


def html(
    x: Any,
    *,
    config: RenderConversationConfig | None = None,
    ending: Ending | None = None,
    mask: LossMask | Sequence[int] | bool | None = None,
    tools: Iterable[str] | None = None,
    max_tokens: int | None = None,
) -> str:
    """The picture as one piece of HTML, which needs nothing from elsewhere and runs no script.

    Args:
        x: Token ids; a ``Conversation``, ``Message`` or list of messages; a ``Rendered``, ``Turn``,
            ``Reply`` or ``StreamableParser``; an example of a ``training.Batch``, with its mask; or
            what :func:`diff` returned.
        config: How a conversation is rendered; messages that it drops are shown as dropped.
        ending: How a conversation ends, as in ``render_with_spans``; by default as a prompt,
            single messages and lists of them with nothing more.
        mask: Which tokens are trained: a ``LossMask`` or ``True`` for what was rendered, or for
            each token 0 or 1.
        tools: The recipients that were offered, which lenient parsing of tokens uses.
        max_tokens: Of a longer message the middle is left out, and how much is said.

    Returns:
        A ``<div>`` with its style sheet. All text is escaped. About 100 bytes a token.

    Raises:
        HarmonyError: A message that cannot be rendered.
        ValueError: Something that is not a token id, or a wrong argument.

    >>> piece = html([12194], ending=None)
    >>> piece.startswith("<div class=") and "<script" not in piece
    True
    """
    if isinstance(x, Difference):
        return difference_piece(x)
    shown = picture(x, config=config, ending=ending, mask=mask, tools=tools)
    return picture_piece(shown, max_tokens=max_tokens)


def text(
    x: Any,
    *,
    ids: bool = False,
    config: RenderConversationConfig | None = None,
    ending: Ending | None = None,
    mask: LossMask | Sequence[int] | bool | None = None,
    tools: Iterable[str] | None = None,
    max_tokens: int | None = None,
) -> str:
    r"""The picture as text without colours; :func:`html` describes the arguments.

    Args:
        x: What is shown.
        ids: Whether the token ids follow their texts.
        config: As for :func:`html`, and so the others.
        ending: How a conversation ends.
        mask: Which tokens are trained: they are between « and », and their number is named.
        tools: The recipients that were offered.
        max_tokens: Of a longer message the middle is left out.

    >>> text(diff([1, 2, 3], [1, 3]))
    'a: 3 tokens · b: 2 tokens · 1 difference, the first at token 1\n  "\n- 1: #\n  $\n'
    """
    if isinstance(x, Difference):
        return plain(x.lines(ids=ids))
    shown = picture(x, config=config, ending=ending, mask=mask, tools=tools)
    return plain(lines(shown, ids=ids, max_tokens=max_tokens))


def print(  # noqa: A001 - `show.print`
    x: Any,
    *,
    ids: bool = False,
    file: IO[str] | None = None,
    config: RenderConversationConfig | None = None,
    ending: Ending | None = None,
    mask: LossMask | Sequence[int] | bool | None = None,
    tools: Iterable[str] | None = None,
    max_tokens: int | None = None,
) -> None:
    """Prints the picture, on a terminal in colours if rich is installed; ``NO_COLOR`` is heeded.

    Arguments are those of :func:`text`, and ``file``, standard output by default. Trained tokens
    are underlined, or where there are no colours between « and »; repaired ones are red.
    """
    if isinstance(x, Difference):
        write(x.lines(ids=ids), file)
        return
    shown = picture(x, config=config, ending=ending, mask=mask, tools=tools)
    write(lines(shown, ids=ids, max_tokens=max_tokens), file)


def diff(
    a: Any,
    b: Any,
    *,
    names: tuple[str, str] = ("a", "b"),
    config: RenderConversationConfig | None = None,
    config_b: RenderConversationConfig | None = None,
) -> Difference:
    """Compares the tokens of two things that can be shown.

    Args:
        a: One, whatever :func:`html` takes.
        b: The other: another renderer's tokens, say.
        names: What they are called in the picture.
        config: How conversations are rendered.
        config_b: How ``b`` is rendered, where that differs: ``diff(x, x, config_b=...)`` shows
            what an option changes.

    Returns:
        The difference: ``equal``, ``first``, ``runs``; it shows itself in notebooks, and
        :func:`print` and :func:`html` take it. Stretches of more than 2,000 tokens on both sides
        between equal ends are compared as wholes.

    >>> diff([1, 2, 3], [1, 3]).first
    1
    """
    two: Any = names
    if not isinstance(two, tuple) or [*map(type, two)] != [str, str]:
        raise WrongTypeError(f"names: expected a tuple of two strings, got {quoted(names)}")
    first = picture(a, config=config)
    return compare(first, picture(b, config=config_b or config), names)


__all__ = ["Difference", "Picture", "data", "diff", "html", "picture", "print", "text"]
