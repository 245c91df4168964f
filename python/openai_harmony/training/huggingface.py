"""Rows of Hugging Face ``datasets`` become examples: a callable for ``Dataset.map``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import openai_harmony
from openai_harmony._extras import needed
from openai_harmony.loss_mask import LossMask
from openai_harmony.options import RenderConversationConfig
from openai_harmony.training.map_rows import MapRows
from openai_harmony.training.options import described

if TYPE_CHECKING:
    from datasets import Features


class RenderRows(MapRows):
    """For ``dataset.map(RenderRows(...), batched=True, remove_columns=dataset.column_names)``.

    Rows in, examples out. ``dataset.with_format("arrow")`` in front of ``map`` skips Python's
    objects, and is several times as fast; without it the values are lists, of whose numbers
    ``datasets`` makes int64 unless ``map`` is given ``features``. Rendering uses all cores by
    itself; with ``num_proc`` set ``threads=1``.

    The fingerprint by which ``datasets`` finds a result in its cache comes from the options and the
    version of this package, and from nothing else.

    Args:
        columns: The columns of the result: ``"trl"``, ``"axolotl"``, ``"torchtune"`` or ``"flat"``
            (:meth:`openai_harmony.training.Batch.to_arrow`).
        rows: Which columns to read: the names of a row's fields (``["messages", "tools"]``), or one
            name whose values are themselves the rows, lists of messages or JSON texts.
            By default all columns are a row's fields.
        keep: Columns of the dataset to copy to each example, such as ``["id"]``.
        on_error: What becomes of a bad row. ``"raise"`` stops at the first and names it, by its
            number in the batch, or in the dataset with ``with_indices=True``. ``"drop"`` leaves bad
            rows out and logs their number to ``openai_harmony.training``. ``"column"`` has an
            example without tokens for each, whose text is in the column ``error``, null in the
            others.
        **options: ``format`` and the others, as in :func:`openai_harmony.training.render`.

    Raises:
        ValueError: An option is wrong.
        TypeError: There is no such option.
        ModuleNotFoundError: pyarrow is missing; it comes with ``datasets``.

    >>> chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]
    >>> examples = RenderRows("trl", format="chat")({"messages": [chat]})
    >>> examples["labels"][0][-6:]
    [200005, 17196, 200008, 13225, 0, 200002]
    """

    @property
    def features(self) -> Features:
        """The columns of the result and their types, for ``map(features=...)``.

        Without them ``datasets`` guesses from the values: int64 where no Arrow table has
        another type. Not with ``keep``, whose types the dataset knows.
        """
        if self.keep:
            raise ValueError("features: the types of kept columns are the dataset's")
        schema = self._table({name: [] for name in self._asked()}, None).schema
        return needed("datasets", "training").Features.from_arrow_schema(schema)

    def _asked(self) -> tuple[str, ...]:
        if self.rows is None:
            return ()
        return (self.rows,) if isinstance(self.rows, str) else tuple(self.rows)

    # `datasets` hashes what pickling gives. One text has no memo of which strings are the same
    # object, so it is the same in each process.
    def __getstate__(self) -> str:
        state = {
            "version": openai_harmony.__version__,
            "columns": self.columns,
            "rows": self.rows,
            "keep": self.keep,
            "on_error": self.on_error,
            "options": dict(described(self.options)),
        }
        return json.dumps(state, sort_keys=True)

    def __setstate__(self, text: str) -> None:
        state: dict[str, Any] = json.loads(text)
        options = state["options"]
        if options["mask"] is not None:
            options["mask"] = LossMask(**options["mask"])
        if options["config"] is not None:
            options["config"] = RenderConversationConfig(**options["config"])
        self.__init__(  # type: ignore[misc]
            state["columns"],
            rows=state["rows"],
            keep=state["keep"],
            on_error=state["on_error"],
            **options,
        )


__all__ = ["RenderRows"]
