"""Rows of Ray Data become examples: a class for ``Dataset.map_batches``."""

from __future__ import annotations

from typing import Any

from openai_harmony.training.map_rows import MapRows


class RenderRows(MapRows):
    """For ``dataset.map_batches(RenderRows, fn_constructor_kwargs={...}, batch_format="pyarrow", concurrency=n)``.

    Each of the ``n`` actors renders on the one core that Ray reserves for it; for more give both
    ``num_cpus`` to ``map_batches`` and ``threads`` here.

    The arguments are those of :class:`openai_harmony.training.huggingface.RenderRows`; ``threads`` is 1 by
    default. With ``on_error="raise"`` the first bad row ends the job; ``"drop"`` logs the number of bad
    rows in each batch, which Ray shows; ``"column"`` keeps them, with the error, for the next step to
    count or write.
    """

    def __init__(self, columns: Any = "trl", **options: Any) -> None:
        super().__init__(columns, **{"threads": 1, **options})


__all__ = ["RenderRows"]
