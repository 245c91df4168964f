"""Fields with names that pydantic's base class reserves."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def field_named(name: str) -> Iterator[None]:
    """Lets the models defined inside have a field of this name without pydantic's warning.

    ``BaseModel`` reserves ``schema``, ``validate`` and others for callers of pydantic 1 and warns
    of fields that shadow them. Nothing here calls those methods, and the fields' names are fixed,
    by OpenAI's guide or by the API.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", f'Field name "{name}"', UserWarning)
        yield
