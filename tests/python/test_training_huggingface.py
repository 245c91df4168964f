"""`datasets.map` with the real `datasets`, without a network."""

from __future__ import annotations

import copy
import json
import logging
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chats import chats, mixed_chats
from fences import fenced
from openai_harmony import HarmonyError, RenderConversationConfig
from openai_harmony.training import LossMask, render, render_batches
from openai_harmony.training.huggingface import RenderRows

reason = "datasets is tested with the first Python alone"
datasets = pytest.importorskip("datasets", reason=reason)
Hasher = pytest.importorskip("datasets.fingerprint").Hasher

ROWS = chats(30)
BAD = [*ROWS[:5], {"id": "bad", "messages": [{"role": "nobody", "content": "?"}]}, *ROWS[5:]]


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    datasets.disable_progress_bars()
    yield
    datasets.enable_progress_bars()


def expected(columns: Any = "trl", rows: list[Any] = ROWS, **options: Any) -> dict[str, Any]:
    return dict(render(rows, format="chat", **options).to_arrow(columns).to_pydict())


def mapped(dataset: Any, function: Any, **options: Any) -> Any:
    options = {"remove_columns": ["id", "messages"], "batch_size": 7, **options}
    return dataset.map(function, batched=True, **options)


@pytest.mark.parametrize("form", [None, "arrow"])
@pytest.mark.parametrize("columns", ["trl", "axolotl", "torchtune", "flat"])
def test_map(form: str | None, columns: Any) -> None:
    dataset = datasets.Dataset.from_list(ROWS).with_format(form)
    result = mapped(dataset, RenderRows(columns, format="chat")).with_format(None).to_dict()
    whole = expected(columns)
    if columns == "flat":  # Rows are counted in each batch.
        whole["row"] = [row % 7 for row in whole["row"]]
    assert result == whole


def test_two_processes() -> None:
    """The parent has rendered before it forks, and threads do not come along."""
    dataset = datasets.Dataset.from_list(ROWS)
    function = RenderRows(format="chat", threads=1)
    assert mapped(dataset, function, num_proc=2).to_dict() == expected()
    many = RenderRows(format="chat", threads=3)
    arrow = mapped(dataset.with_format("arrow"), many, num_proc=2)
    assert arrow.with_format(None).to_dict() == expected()


@pytest.mark.parametrize("form", [None, "arrow"])
def test_streaming(form: str | None) -> None:
    stream = datasets.Dataset.from_list(ROWS).to_iterable_dataset(num_shards=2).with_format(form)
    result = mapped(stream, RenderRows(format="chat")).with_format(None)
    whole = expected()
    rows = [dict(zip(whole, values)) for values in zip(*whole.values())]
    assert list(result) == rows


def test_types(tmp_path: Path) -> None:
    dataset = datasets.Dataset.from_list(ROWS)
    function = RenderRows("trl", format="chat")
    typed = mapped(dataset, function, features=function.features)
    arrow = mapped(dataset.with_format("arrow"), function)
    assert typed.features == arrow.features == function.features
    schema = typed.features.arrow_schema
    assert [str(field.type.value_type) for field in schema] == ["int32", "int32", "int8"]
    with pytest.raises(ValueError, match="^features: the types of kept columns"):
        _ = RenderRows(keep=["id"]).features


@pytest.mark.parametrize("form", [None, "arrow"])
def test_columns_are_kept_with_each_example(form: str | None) -> None:
    dataset = datasets.Dataset.from_list(ROWS).with_format(form)
    function = RenderRows(format="chat", examples="turns", keep=["id"], rows=["messages"])
    result = mapped(dataset, function).with_format(None).to_dict()
    batch = render(ROWS, format="chat", examples="turns")
    assert len(batch) > len(ROWS)
    assert result["id"] == [ROWS[row]["id"] for row in batch.row]
    assert result["input_ids"] == [list(example.tokens) for example in batch]


@pytest.mark.parametrize("form", [None, "arrow"])
def test_a_column_can_be_the_rows(form: str | None) -> None:
    texts = [{"text": json.dumps(row["messages"]), "messages": row["messages"]} for row in ROWS]
    dataset = datasets.Dataset.from_list(texts).with_format(form)
    for column in ("text", "messages"):
        function = RenderRows(format="chat", rows=column)
        result = mapped(dataset, function, remove_columns=["text", "messages"])
        assert result.with_format(None).to_dict() == expected()


def test_columns_that_hold_json(tmp_path: Path) -> None:
    """As `load_dataset` reads messages whose fields differ, and here also by each part of them."""
    pa = pytest.importorskip("pyarrow")
    if not hasattr(pa, "json_"):
        pytest.skip("this pyarrow has no type for JSON")
    messages = [[json.dumps(message) for message in row["messages"]] for row in ROWS]
    whole = pa.array([json.dumps(row["messages"]) for row in ROWS]).cast(pa.json_(pa.string()))
    items = pa.array(messages, pa.list_(pa.string())).cast(pa.list_(pa.json_(pa.string())))
    for column in (whole, items):
        batch = render(pa.table({"messages": column}), format="chat")
        assert batch.to_arrow().to_pydict() == expected()
    broken = pa.array(['{"role"']).cast(pa.json_(pa.string()))
    [(_, error)] = render(pa.table({"messages": broken}), format="chat").errors
    assert str(error) == "Invalid row: messages: expected JSON text"


@pytest.mark.parametrize("form", [None, "arrow"])
class TestBadRows:
    def test_the_first_ends_it(self, form: str | None) -> None:
        dataset = datasets.Dataset.from_list(BAD * 2).with_format(form)
        function = RenderRows(format="chat")
        with pytest.raises(HarmonyError, match=r"^row 5 of this batch: .*messages\[0\].role"):
            mapped(dataset, function)
        with pytest.raises(HarmonyError, match=r"^row 36: .*messages\[0\].role") as raised:
            mapped(dataset.select(range(6, 62)), self.Shifted(), with_indices=True)
        assert raised.value.kind == "invalid_row"

    class Shifted(RenderRows):
        """As if the rows were those of the whole dataset."""

        def __init__(self) -> None:
            super().__init__(format="chat")

        def __call__(self, batch: Any, indices: Any = None) -> Any:
            return super().__call__(batch, [index + 6 for index in indices])

        def __reduce__(self) -> Any:
            return type(self), ()

    def test_they_are_counted_in_a_warning(
        self, form: str | None, caplog: pytest.LogCaptureFixture
    ) -> None:
        dataset = datasets.Dataset.from_list(BAD).with_format(form)
        with caplog.at_level(logging.WARNING, "openai_harmony.training"):
            result = mapped(dataset, RenderRows(format="chat", on_error="drop"), with_indices=True)
        assert result.with_format(None).to_dict() == expected()
        [record] = caplog.records
        text = record.getMessage()
        plain = r"dropped 1 of \d+ rows because of errors \(invalid_row: 1\); the first is row 5: Invalid"
        assert re.match(plain, text)

    def test_they_are_rows_with_an_error(self, form: str | None) -> None:
        dataset = datasets.Dataset.from_list(BAD).with_format(form)
        for columns in ("trl", "torchtune", "flat"):
            function = RenderRows(columns, format="chat", on_error="column", keep=["id"])
            result = mapped(dataset, function).with_format(None).to_list()
            bad = result.pop(5)
            assert [row["id"] for row in result] == [row["id"] for row in ROWS]
            assert {row.pop("error") for row in result} == {None}
            assert bad.pop("error").startswith("invalid_row: Invalid row: messages[0].role")
            assert bad.pop("id") == "bad"
            assert bad.pop("row", 5) == 5
            assert set(map(str, bad.values())) == {"[]"}


def test_fingerprints_say_what_is_rendered() -> None:
    config = RenderConversationConfig(thoughts="keep")
    functions = [
        RenderRows(),
        RenderRows("axolotl"),
        RenderRows(format="chat"),
        RenderRows(mask=LossMask(channels=["final"])),
        RenderRows(mask=LossMask(turns="last")),
        RenderRows(config=config),
        RenderRows(max_tokens=100),
        RenderRows(rows="messages"),
        RenderRows(rows=["messages"]),
        RenderRows(keep=["id"]),
        RenderRows(on_error="drop"),
        RenderRows(format="chat", identity="I"),
    ]
    assert len({Hasher.hash(function) for function in functions}) == len(functions)
    for function in functions:
        same = pickle.loads(pickle.dumps(function))
        assert Hasher.hash(same) == Hasher.hash(copy.deepcopy(function)) == Hasher.hash(function)
        assert same.options == function.options


# Prints the fingerprint of a map over stored rows, and whether it was in the cache.
OTHER_PROCESS = """
import sys, datasets
from openai_harmony.training import LossMask, map_rows
from openai_harmony.training.huggingface import RenderRows
rendered = []
real = map_rows.training.render
map_rows.training.render = lambda rows, **options: rendered.append(rows) or real(rows, **options)
folder, channel = sys.argv[1:]
dataset = datasets.load_from_disk(folder)
rows = RenderRows(format="chat", mask=LossMask(channels=["".join(channel)]))
rendered.clear()
mapped = dataset.map(rows, batched=True, remove_columns=dataset.column_names)
print(mapped._fingerprint, len(rendered))
"""


def test_the_cache_is_found_by_another_process(tmp_path: Path) -> None:
    datasets.Dataset.from_list(ROWS).save_to_disk(tmp_path / "rows")

    def run(channel: str, seed: str) -> list[str]:
        command = [sys.executable, "-c", OTHER_PROCESS, str(tmp_path / "rows"), channel]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, timeout=120
        )
        return done.stdout.split()

    first, again, other = run("final", "1"), run("final", "2"), run("analysis", "1")
    assert first[0] == again[0] != other[0]
    assert (first[1], again[1], other[1]) == ("1", "0", "1")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"columns": "TRL"}, "^columns: expected one of"),
        ({"on_error": "ignore"}, "^on_error: expected 'raise', 'drop' or 'column', got 'ignore'"),
        ({"keep": "id"}, "^keep: expected a list of columns, got 'id'"),
        ({"format": "chats"}, "format"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"threads": 0}, "threads"),
        ({"reasoning_effort": "x", "format": "chat"}, "^reasoning_effort: expected"),
    ],
)
def test_wrong_options_are_found_at_once(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        RenderRows(**wrong)


@pytest.mark.parametrize("form", [None, "arrow"])
def test_columns_that_are_not_there_are_named(form: str | None) -> None:
    dataset = datasets.Dataset.from_list(ROWS).with_format(form)
    for wrong in ({"rows": "texts"}, {"rows": ["messages", "texts"]}, {"keep": ["texts"]}):
        [option] = wrong
        with pytest.raises(ValueError, match=f"^{option}: no column 'texts' among id, messages"):
            mapped(dataset, RenderRows(format="chat", **wrong))


def test_unknown_options_are_named() -> None:
    with pytest.raises(TypeError, match=r"^foo: unknown option of RenderRows \(known: columns, "):
        RenderRows(foo=1)  # type: ignore[call-arg]


@pytest.mark.parametrize("form", [None, "numpy", "arrow"])
@pytest.mark.parametrize("rows", [None, "messages", ["messages"]])
def test_single_rows_are_refused(form: str | None, rows: Any) -> None:
    """As `map` hands them over where it is not asked for batches."""
    dataset = datasets.Dataset.from_list(ROWS).with_format(form)
    if form == "arrow":  # A row is a table of one row there, and as good as a batch.
        result = dataset.map(
            RenderRows(format="chat", rows=rows), remove_columns=["id", "messages"]
        )
        assert result.with_format(None).to_dict() == expected()
        return
    with pytest.raises(ValueError, match="got a single row: call `map` with batched=True"):
        dataset.map(RenderRows(format="chat", rows=rows))


@pytest.mark.parametrize(
    "row",
    [
        {"messages": [{"role": "user", "content": "Hi"}]},
        {"conversations": [{"from": "human", "value": "Hi"}], "tools": [{}]},
        {"prompt": "Hi", "completion": "Hi"},
        {"messages": [{"role": "user", "content": "Hi"}], "reasoning_effort": None},
    ],
)
def test_single_rows_of_streams_are_refused(row: Any) -> None:
    """They are plain dicts."""
    with pytest.raises(ValueError, match="got a single row: call `map` with batched=True"):
        RenderRows(format="chat")(row)


def test_a_data_set_of_tables_is_read_as_tables() -> None:
    dataset = datasets.Dataset.from_list(ROWS)
    for given in (dataset, dataset.with_format("arrow"), dataset.to_iterable_dataset()):
        assert render(given, format="chat").to_arrow().to_pydict() == expected()
        parts = list(render_batches(given, format="chat", batch_rows=7))
        assert [len(part) for part in parts] == [7, 7, 7, 7, 2]
        assert [row for part in parts for row in part.row] == list(range(30))
    streamed = dataset.to_iterable_dataset().with_format("arrow")
    assert render(streamed, format="chat").to_arrow().to_pydict() == expected()
    chosen = dataset.with_format("arrow").select([7, 3])
    assert render(chosen, format="chat").tokens == render([ROWS[7], ROWS[3]], format="chat").tokens


def test_numbers_have_the_types_that_map_is_given() -> None:
    """`datasets` makes int64 of lists."""
    dataset = datasets.Dataset.from_list(ROWS)
    arrow = mapped(dataset.with_format("arrow"), RenderRows(format="chat"))
    lists = mapped(dataset, RenderRows(format="chat"))
    typed = mapped(dataset, RenderRows(format="chat"), features=arrow.features)
    assert str(lists.features["labels"].feature.dtype) == "int64"
    assert typed.features == arrow.features
    assert typed.to_dict() == lists.to_dict() == arrow.with_format(None).to_dict()


def test_other_formats_are_refused() -> None:
    with pytest.raises(
        ValueError, match="^batch: expected a pyarrow.Table or columns as a mapping"
    ):
        RenderRows()([{"messages": []}])


def test_the_example_of_the_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    rows = mixed_chats(3000)
    (tmp_path / "chats.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    names: dict[str, Any] = {}
    exec(fenced("datasets"), names)
    tokens = names["tokens"]
    assert isinstance(tokens[0]["labels"], list)  # Trainers do not read tables.
    assert tokens.to_dict() == expected(rows=rows)
