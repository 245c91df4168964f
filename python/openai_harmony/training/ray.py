"""Rows of Ray Data become examples: a class for ``Dataset.map_batches``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openai_harmony.training.map_rows import MapRows


class RenderRows(MapRows):
    """A class for ``map_batches``: Ray makes an actor of it, which renders batch after batch.

    ``dataset.map_batches(RenderRows, fn_constructor_kwargs={"format": "chat"},
    batch_format="pyarrow", compute=ray.data.ActorPoolStrategy(size=2))``

    An actor renders on the one core that Ray reserves for it; for more give both ``num_cpus`` to
    ``map_batches`` and ``threads`` here. Leave a core to the tasks that read and write: where the
    actors have all of them, Ray waits forever.

    The arguments are those of :class:`openai_harmony.training.huggingface.RenderRows`; ``threads``
    is 1 by default. With ``on_error="raise"`` the first bad row ends the job; ``"drop"`` logs the
    number of bad rows in each batch, which Ray shows; ``"column"`` keeps them, with the error, for
    the next step to count or write.

    Columns that Ray pickles, since Arrow has no common type for their values, are read, too. A NaN
    in their place is a row without the field, as in pandas.
    """

    def __init__(self, columns: Any = "trl", **options: Any) -> None:
        super().__init__(columns, **{"threads": 1, **options})

    def _rows(self, given: Any) -> Any:
        columns = {} if isinstance(given, Mapping) else dict(zip(given.column_names, given.columns))
        if not any(_is_pickled(column) for column in columns.values()):
            return super()._rows(given)
        rows = super()._rows({name: _objects(column) for name, column in columns.items()})
        if isinstance(self.rows, str):
            return rows
        return [{name: value for name, value in row.items() if value == value} for row in rows]


def _is_pickled(column: Any) -> bool:
    return getattr(column.type, "extension_name", None) == "ray.data.arrow_pickled_object"


def _objects(column: Any) -> list[Any]:
    """The values of a column; where Arrow has a null inside a struct, there is no field."""
    values: list[Any] = column.to_pylist()
    return values if _is_pickled(column) else [_without_nulls(value) for value in values]


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


__all__ = ["RenderRows"]
