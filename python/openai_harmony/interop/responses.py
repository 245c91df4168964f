"""The dialect of Responses, ``/v1/responses``."""

from __future__ import annotations

from typing import Any

from typing_extensions import Unpack

from openai_harmony._options import completed, takes
from openai_harmony.interop.options import ReadResponsesOptions
from openai_harmony.interop.turn import Turn


@takes(ReadResponsesOptions)
def read(body: Any, **options: Unpack[ReadResponsesOptions]) -> Turn:
    """Reads a request's body: a mapping, JSON text, or an SDK's object.

    >>> kept = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi."}]
    >>> turn = read({"input": "Who are you?", "previous_response_id": "resp_1"}, history=kept)
    >>> [message.text for message in turn.conversation.messages[1:]]
    ['Hello', 'Hi.', 'Who are you?']

    Args:
        body: The body. Any part of it may be a Pydantic model.
        options: Those of ReadResponsesOptions.

    Raises:
        InvalidRequestError: What the API does not allow, with its ``path``.
        UnsupportedContent: What the format cannot carry, with its ``path``.
    """
    return Turn("responses", body, **completed(read, options))
