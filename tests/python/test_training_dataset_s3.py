"""Inputs of whole data sets in a store: a local server of S3's protocol."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openai_harmony.training import dataset
from openai_harmony.training.dataset import write_dataset
from whole_data import CHAT, ROWS, expected, interrupting, small_chunks

pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow has no wheel for this Python")
moto = pytest.importorskip("moto.server", reason="make test-frameworks installs moto")
s3fs = pytest.importorskip("s3fs", reason="make test-frameworks installs s3fs")


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    }.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    made = s3fs.S3FileSystem()
    made.mkdir("rows")
    yield made
    server.stop()


def test_rows_are_read_and_a_run_resumes(
    store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    store.pipe("rows/in/a.jsonl", lines)
    store.pipe("rows/in/b.jsonl.gz", gzip.compress(lines))
    small_chunks(monkeypatch)
    monkeypatch.chdir(tmp_path)
    given: Any = (["s3://rows/in"], "out")
    with pytest.raises(KeyboardInterrupt):
        write_dataset(*given, shard_tokens=3000, progress=interrupting(5), **CHAT)
    write_dataset(*given, shard_tokens=3000, **CHAT)
    shards = [pq.read_table(path) for path in sorted(Path("out").glob("part-*.parquet"))]
    assert [row for table in shards for row in table.to_pylist()] == expected(rows=ROWS * 2)
    assert {path.name for path in tmp_path.iterdir()} == {"out"}
    store.pipe("rows/in/a.jsonl", lines + lines)
    with pytest.raises(
        dataset.StateError, match="changed since the run began: s3://rows/in/a.jsonl"
    ):
        write_dataset(*given, shard_tokens=3000, **CHAT)
    with pytest.raises(dataset.InputError, match="no such file or folder: s3://rows/none"):
        write_dataset(["s3://rows/none"], "no")
