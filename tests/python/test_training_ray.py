"""Ray Data with a real Ray on this machine, without a network."""

from __future__ import annotations

import json
import os
import pickle
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chats import chats, mixed_chats
from fences import fenced
from openai_harmony.training import LossMask, render
from openai_harmony.training.ray import RenderRows

reason = "make test-ray installs Ray"
ray = pytest.importorskip("ray", reason=reason)
data = pytest.importorskip("ray.data", reason=reason)
pa = pytest.importorskip("pyarrow", reason=reason)

ROWS = chats(60)

# Ray deprecates options that it sets itself.
pytestmark = pytest.mark.filterwarnings(r"ignore::DeprecationWarning:ray\..*")


@pytest.fixture(scope="module", autouse=True)
def _cluster() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Two actors, and room for the tasks around them: with two cores Ray would wait forever.
        ray.init(
            num_cpus=4,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="error",
            object_store_memory=100 * 2**20,
        )
    data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def mapped(dataset: Any, actors: int = 2, **options: Any) -> Any:
    return dataset.map_batches(
        RenderRows,
        fn_constructor_kwargs={"format": "chat", **options},
        batch_format="pyarrow",
        batch_size=10,
        compute=data.ActorPoolStrategy(size=actors),
    )


def rows_of(dataset: Any) -> list[dict[str, Any]]:
    tables = list(dataset.iter_batches(batch_format="pyarrow", batch_size=None))
    rows: list[dict[str, Any]] = pa.concat_tables(tables).to_pylist()
    return sorted(rows, key=lambda row: int(row["id"].split("-")[1]))


def test_two_actors(tmp_path: Path) -> None:
    """From JSONL to Parquet, as a cluster would; bad rows come through with their errors."""
    lines = [{"id": row["id"], "text": json.dumps(row["messages"])} for row in ROWS]
    lines[17]["text"] = '[{"role": "user", "content": "Nobody answers."}]'
    source = pa.Table.from_pylist(lines)
    options = {"rows": "text", "keep": ["id"], "on_error": "column"}
    mask = LossMask(channels=["final"])
    result = mapped(data.from_arrow(source).repartition(3), mask=mask, **options)
    result.write_parquet(str(tmp_path / "tokens"))
    rows = rows_of(data.read_parquet(str(tmp_path / "tokens")))
    bad = rows.pop(17)
    assert bad["error"].startswith("nothing_to_train: ")
    assert bad["input_ids"] == bad["labels"] == []
    batch = render(ROWS[:17] + ROWS[18:], format="chat", mask=mask)
    assert [row["input_ids"] for row in rows] == [list(e.tokens) for e in batch]
    assert [row["assistant_masks"] for row in rows] == [list(e.loss_mask) for e in batch]
    assert {row["error"] for row in rows} == {None}


def test_a_bad_row_ends_the_job() -> None:
    dataset = data.from_arrow(pa.Table.from_pylist([*ROWS[:5], {"id": "chat-5", "messages": []}]))
    with pytest.raises(
        ray.exceptions.RayTaskError, match="row 5 of this batch: Invalid row: messages"
    ):
        mapped(dataset, actors=1).take_all()


def test_pickled_columns_are_read(tmp_path: Path) -> None:
    """Ray pickles what has no common type; pandas, which reads the file, has NaN for what is missing."""
    rows = mixed_chats(300)
    path = tmp_path / "chats.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    dataset = data.read_json(str(path), lines=True)
    assert [str(kind) for kind in dataset.schema().types] == ["<class 'object'>"] * 3
    result = mapped(dataset, actors=1).take_all()
    examples = render(rows, format="chat")
    assert [list(row["input_ids"]) for row in result] == [list(e.tokens) for e in examples]


def test_pickled_columns_stand_beside_structs() -> None:
    parts = [{"type": "text", "text": "Hi"}]
    chats = [
        [{"role": "user", "content": parts}, {"role": "assistant", "content": "Hi"}],
        [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hi"}],
    ]
    number: dict[str, Any] = {"type": "number"}
    schemas = [{"type": "object", "properties": {"a": number}}, {"type": "object"}]
    tools = [[{"function": {"name": "f", "parameters": schema}}] for schema in schemas]
    rows = [dict(zip(("messages", "tools"), row)) for row in zip(chats, tools)]
    result = mapped(data.from_items(rows), actors=1).take_all()
    examples = render(rows, format="chat")
    assert [list(row["input_ids"]) for row in result] == [list(e.tokens) for e in examples]


def test_wrong_options_are_found_where_the_class_is_made() -> None:
    with pytest.raises(ValueError, match="max_tokens"):
        RenderRows(max_tokens=0)
    with pytest.raises(TypeError, match=r"^colunms: unknown option of RenderRows \(known: columns"):
        RenderRows(colunms="trl")


def test_one_thread_for_one_core() -> None:
    assert RenderRows().options["threads"] == 1
    assert RenderRows(threads=4).options["threads"] == 4
    assert pickle.loads(pickle.dumps(RenderRows("flat"))).columns == "flat"


def test_usage_is_not_reported() -> None:
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


def test_the_example_of_the_documents(tmp_path: Path) -> None:
    chats = mixed_chats(3000)
    (tmp_path / "chats.jsonl").write_text("".join(json.dumps(row) + "\n" for row in chats))
    example = fenced("ray")
    for name in ("chats.jsonl", "tokens"):  # Ray's processes are in another folder.
        example = example.replace(f'"{name}"', repr(str(tmp_path / name)))
    exec(example, {})
    files = sorted((tmp_path / "tokens").glob("*.parquet"))
    rows = [row for path in files for row in pa.parquet.read_table(path).to_pylist()]
    assert {row["error"] for row in rows} == {None}
    assert [row["input_ids"] for row in rows] == [
        list(example.tokens) for example in render(chats, format="chat")
    ]
