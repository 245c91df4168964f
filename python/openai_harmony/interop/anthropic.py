"""The dialect of Anthropic Messages, ``/v1/messages``, and of its count of tokens."""

from __future__ import annotations

from typing import Any

from typing_extensions import Unpack

from openai_harmony._options import completed, takes
from openai_harmony.interop.options import ReadOptions
from openai_harmony.interop.turn import Turn


@takes(ReadOptions)
def read(body: Any, **options: Unpack[ReadOptions]) -> Turn:
    """Reads a request's body: a mapping, JSON text, or an SDK's object.

    >>> turn = read({"max_tokens": 10, "messages": [{"role": "user", "content": "Hello"}]})
    >>> turn.sampling["max_tokens"]
    10

    Args:
        body: The body. Any part of it may be a Pydantic model.
        options: Those of ReadOptions.

    Raises:
        InvalidRequestError: What the API does not allow, with its ``path``.
        UnsupportedContent: What the format cannot carry, with its ``path``.
    """
    return Turn("anthropic", body, **completed(read, options))
