"""The dialect of Responses, ``/v1/responses``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

from openai_harmony.interop.turn import Date, Turn, read_request
from openai_harmony.options import RenderConversationConfig


def read(
    body: Any,
    *,
    date: Date | Literal["today"] = "today",
    identity: str | None = None,
    config: RenderConversationConfig | None = None,
    history: Iterable[Any] = (),
    builtin_tools: Iterable[Literal["browser", "python"]] = (),
    resolve: Callable[[str], Any] | None = None,
    declare_on_none: bool = False,
    named: Literal["prefill", "grammar"] = "prefill",
    unsupported: Literal["error", "placeholder"] = "error",
) -> Turn:
    """Reads a request's body: a mapping, JSON text, or an SDK's object.

    >>> kept = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi."}]
    >>> turn = read({"input": "Who are you?", "previous_response_id": "resp_1"}, history=kept)
    >>> [message.text for message in turn.conversation.messages[1:]]
    ['Hello', 'Hi.', 'Who are you?']

    Args:
        body: The body. Pydantic models may stand anywhere in it.
        date: The system message's date; ``None`` writes none.
        identity: The model's identity; bodies never set it.
        config: How to render. Left out: thoughts of completed turns are dropped, recipients stand
            in the channel, schemas are written in full, header fields are checked.
        history: What the server keeps for ``previous_response_id``: items, without
            ``instructions``.
        builtin_tools: Those that this server runs; one is declared if the body asks for web search
            or code execution, too.
        resolve: From the id of an ``item_reference`` to the item, or ``None``.
        declare_on_none: Whether tools are declared although ``tool_choice`` is ``none``, which
            keeps the prefix that engines have cached.
        named: How a named tool call is forced: by the prompt's end, or by a grammar that the
            server makes.
        unsupported: What becomes of images, audio and files: an error, or a placeholder, which they
            always are in the results of tools.

    Raises:
        InvalidRequestError: What is not as the API says, with its ``path``.
        UnsupportedContent: What the format cannot carry, with its ``path``.
    """
    return read_request(
        "responses",
        body,
        date,
        identity=identity,
        config=config,
        history=history,
        builtin_tools=builtin_tools,
        resolve=resolve,
        declare_on_none=declare_on_none,
        named=named,
        unsupported=unsupported,
    )
