"""What ``datasets`` and Ray Data share: a function from a batch of rows to a batch of examples.

Both give rows by columns. Those that were asked for become the rows of
:func:`openai_harmony.training.render`, and what it returns becomes columns again. Nothing is lost
in silence: a bad row raises, is counted in a warning, or is a row of the result with its error.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from typing_extensions import Unpack

from openai_harmony import training
from openai_harmony._extras import needed
from openai_harmony._options import completed, takes
from openai_harmony.errors import HarmonyError, quoted
from openai_harmony.training.arrow import Columns, checked_columns
from openai_harmony.training.options import RowOptions

if TYPE_CHECKING:
    import pyarrow as pa

    from openai_harmony.training import Batch

OnError: TypeAlias = Literal["raise", "drop", "column"]
"""What becomes of a bad row."""

logger = logging.getLogger("openai_harmony.training")


class MapRows:
    """The base of ``huggingface.RenderRows`` and ``ray.RenderRows``, which document it."""

    @takes(RowOptions, name="RenderRows")
    def __init__(
        self,
        columns: Columns = "trl",
        *,
        rows: str | Sequence[str] | None = None,
        keep: Sequence[str] = (),
        on_error: OnError = "raise",
        **options: Unpack[RowOptions],
    ) -> None:
        self.options = completed(MapRows.__init__, options)
        checked_columns(columns)
        if on_error not in ("raise", "drop", "column"):
            raise ValueError(
                f"on_error: expected 'raise', 'drop' or 'column', got {quoted(on_error)}"
            )
        if isinstance(keep, str) or not isinstance(keep, Iterable):
            raise ValueError(f"keep: expected a list of columns, got {quoted(keep)}")
        if rows is not None and not isinstance(rows, Iterable):
            raise ValueError(f"rows: expected a column or a list of columns, got {quoted(rows)}")
        self.columns = columns
        self.rows = rows if rows is None or isinstance(rows, str) else tuple(rows)
        self.keep = tuple(keep)
        self.on_error = on_error
        training.render([], **self.options)  # Wrong options are found here, not on another machine.

    def __call__(self, batch: Any, indices: Sequence[int] | None = None) -> Any:
        """The examples of a batch of rows, in the form in which it is given.

        Args:
            batch: A pyarrow table, or a mapping of lists, one for each column.
            indices: The rows' numbers, which errors name; by default they count from 0.

        Raises:
            HarmonyError: A row is bad, and ``on_error`` is ``"raise"``; the text names the row.
            ValueError: There is no such column, or the batch is neither a table nor a mapping of
                columns; a single row is neither.
        """
        pa = needed("pyarrow", "training")
        if isinstance(batch, pa.Table):
            return self._table(batch, indices)
        if isinstance(batch, Mapping):
            return self._table(batch, indices).to_pydict()
        raise ValueError(
            f"batch: expected a pyarrow.Table or columns as a mapping, got {type(batch).__name__}: "
            "set the format to 'arrow' or to none"
        )

    def _table(self, given: Any, indices: Sequence[int] | None) -> pa.Table:
        rows = self._rows(given)
        batch = training.render(rows, **self.options)
        self._report(batch, len(rows), indices)
        table = batch.to_arrow(self.columns)
        for name in self.keep:
            table = table.append_column(name, _taken(given, name, list(batch.row)))
        return self._with_errors(table, given, batch) if self.on_error == "column" else table

    def _rows(self, given: Any) -> Any:
        """The rows to render: one column by itself, or objects of several."""
        names = _names(given)
        is_one = isinstance(self.rows, str)
        wanted = names if self.rows is None else [self.rows] if is_one else self.rows
        for name in wanted:
            if name not in names:
                raise ValueError(f"rows: no column {quoted(name)} among {', '.join(names)}")
        if not isinstance(given, Mapping):
            return given[self.rows] if is_one else given.select(list(wanted))
        columns = [given[name] for name in wanted]
        _check_batched(given, columns)
        if is_one:
            return columns[0]
        return [dict(zip(wanted, values)) for values in zip(*columns)]

    def _report(self, batch: Batch, rows: int, indices: Sequence[int] | None) -> None:
        if not batch.errors or self.on_error == "column":
            return
        row, error = batch.errors[0]
        named = f"row {row} of this batch" if indices is None else f"row {indices[row]}"
        if self.on_error == "raise":
            raise HarmonyError(f"{named}: {error}", error.kind, error.token_index) from error
        kinds = Counter(error.kind for _, error in batch.errors)
        logger.warning(
            "dropped %d of %d rows because of errors (%s); the first is %s: %s",
            len(batch.errors),
            rows,
            ", ".join(f"{kind}: {count}" for kind, count in kinds.most_common()),
            named,
            error,
        )

    def _with_errors(self, table: Any, given: Any, batch: Batch) -> Any:
        """The table with a column ``error``, and in its place a row for each error."""
        pa = needed("pyarrow", "training")
        bad = [row for row, _ in batch.errors]
        texts = [f"{error.kind}: {error}" for _, error in batch.errors]
        columns = {
            field.name: pa.array([[]] * len(bad), field.type)
            if pa.types.is_list(field.type)
            else pa.nulls(len(bad), field.type)
            for field in table.schema
        }
        if "row" in columns:
            columns["row"] = pa.array(bad, pa.int64())
        columns.update((name, _taken(given, name, bad)) for name in self.keep)
        columns["error"] = pa.array(texts, pa.string())
        good = table.append_column("error", pa.nulls(len(table), pa.string()))
        rows = list(batch.row) + bad
        order = sorted(range(len(rows)), key=rows.__getitem__)
        return pa.concat_tables([good, pa.table(columns, good.schema)]).take(order)


def _check_batched(given: Any, columns: list[Any]) -> None:
    """``ValueError`` for a single row, which ``map`` hands over where it does not make batches."""
    is_row = (
        type(given).__name__ == "LazyRow"  # As `datasets` calls it; a batch is a `LazyBatch`.
        or any(isinstance(column, (str, bytes, Mapping)) for column in columns)
        or not all(hasattr(column, "__len__") for column in columns)
        or len(set(map(len, columns))) > 1
        # Each value of a column is a list of messages, or a row.
        or any(_is_message(value) for column in columns for value in column[:1])
    )
    if is_row:
        raise ValueError(
            "batch: expected columns with a value for each row, got a single row: "
            "call `map` with batched=True"
        )


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and ("role" in value or "from" in value)


def _names(given: Any) -> list[str]:
    return list(given) if isinstance(given, Mapping) else list(given.column_names)


def _taken(given: Any, name: str, rows: list[int]) -> Any:
    """The values that some rows have in a column."""
    if name not in _names(given):
        raise ValueError(f"keep: no column {quoted(name)} among {', '.join(_names(given))}")
    if not isinstance(given, Mapping):
        return given[name].take(needed("pyarrow", "training").array(rows, "int64"))
    values = given[name]
    return needed("pyarrow", "training").array([values[row] for row in rows])
