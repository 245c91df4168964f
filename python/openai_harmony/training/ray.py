"""Rows of Ray Data become examples: a class for ``Dataset.map_batches``."""

from __future__ import annotations

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
    """

    def __init__(self, columns: Any = "trl", **options: Any) -> None:
        super().__init__(columns, **{"threads": 1, **options})


__all__ = ["RenderRows"]
