"""Fields whose names pydantic's base class takes for itself."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def field_named(name: str) -> Iterator[None]:
    """Lets the models defined inside have a field of this name without pydantic's warning.

    ``BaseModel`` keeps ``schema``, ``validate`` and others for callers of pydantic 1 and warns of
    fields that shadow them. Nothing calls those methods here, and the fields' names are given:
    by the format's guide, by the API promised.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", f'Field name "{name}"', UserWarning)
        yield
