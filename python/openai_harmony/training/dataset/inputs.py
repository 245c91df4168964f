"""The files of a data set, and their rows in chunks of bounded size.

Chunks depend on nothing but the files and the chunks' limits, so a run that continues where another
was interrupted cuts the same ones.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

from openai_harmony._extras import needed
from openai_harmony.errors import WrongTypeError
from openai_harmony.training.dataset import files

STDIN = "-"
_JSON = (".jsonl", ".ndjson", ".json")
_PARQUET = (".parquet", ".pq")
_BOM = b"\xef\xbb\xbf"
_MEBIBYTE = 2**20
LONGEST_LINE = 512 * _MEBIBYTE
"""A file without line ends must not fill the memory."""


def _zstandard(file: IO[bytes]) -> IO[bytes]:
    pa = needed("pyarrow", "training")
    stream: IO[bytes] = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")
    return stream


_COMPRESSED: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _zstandard,
}


class InputError(Exception):
    """The input cannot be read; the text names the file."""


class Position(NamedTuple):
    """A place between two rows."""

    file: int = 0
    """The index of the file."""
    line: int = 0
    """The lines of the file in front of it, or the rows of a Parquet file or a list."""
    byte: int = 0
    """The bytes in front of it, unpacked, in a file of lines."""
    row: int = 0
    """The rows in front of it, in all files."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows that are rendered together."""

    rows: Any
    """JSON texts, the items of a JSON list, or a table of Arrow."""
    count: int
    """How many rows."""
    start: Position
    end: Position
    lines: Sequence[int]
    """The index of each row in its file, counting blank lines."""
    blank: int
    """Blank lines, which are not rows."""
    read: int
    """The bytes of all files that were read so far, as stored."""


class Inputs:
    """The files of a data set, in order."""

    def __init__(self, given: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> None:
        """Finds the files: those that are given, and a folder's with a known suffix, by name.

        ``InputError`` if there is no such file, or its suffix is unknown. ``ValueError`` for what
        is no path and no list of them.
        """
        self.given = _paths(given)
        """The files and folders that were given."""
        self.not_read: dict[str, str] = {}
        """What else is in folders, by folder."""
        self.paths = [path for name in self.given for path in self._files(name)]
        times = Counter(map(_same, self.paths))
        twice = [path for path in self.paths if times[_same(path)] > 1]
        if twice:
            raise InputError(f"given twice: {twice[-1]}")

    def _files(self, name: str) -> list[str]:
        try:
            if name == STDIN or files.is_file(name):
                if name != STDIN and not _is_known(name):
                    raise InputError(f"cannot read {name} ({_known()}{_converted(name)})")
                return [name]
            folder = files.inside(name)
        except OSError as error:
            raise InputError(f"cannot read {name}: {error}") from error
        if folder is None:
            raise InputError(f"no such file or folder: {name}")
        return self._of_folder(name, folder)

    def _of_folder(self, name: str, folder: list[tuple[str, bool]]) -> list[str]:
        named = [(path, os.path.basename(path), is_file) for path, is_file in folder]
        shown = [one for one in named if one[1][:1] not in ("", ".", "_")]
        # A folder's .json is as often a tool's report about the rows.
        is_read = [is_file and _is_known(last) and not _is_json(last) for _, last, is_file in shown]
        found = [path for (path, _, _), read in zip(shown, is_read) if read]
        others = [last for (_, last, _), read in zip(shown, is_read) if not read]
        if not found:
            jsons = "; of a folder, .json is not read" if any(map(_is_json, others)) else ""
            raise InputError(f"no files of rows in {name} ({_known()}{jsons})")
        if others:
            more = f" and {len(others) - 3} more" if len(others) > 3 else ""
            self.not_read[name] = ", ".join(others[:3]) + more
        return found

    def identity(self) -> list[dict[str, Any]]:
        """By what the same files are known again; a stream has nothing of the kind."""
        return [{"path": STDIN} if path == STDIN else files.identity(path) for path in self.paths]

    def check_unchanged(self, before: list[dict[str, Any]]) -> None:
        """``InputError`` if a file is another one than it was, by :meth:`identity`.

        A file that grows while it is read may have more rows than were.
        """
        try:
            for then, now in zip(before, self.identity()):
                if then != now:
                    raise InputError(f"changed while it was read: {now['path']}")
        except OSError as error:
            raise InputError(f"changed while it was read: {error.filename}") from error

    def needs_pyarrow(self, path: str) -> bool:
        """Whether pyarrow reads this file."""
        return path.endswith((*_PARQUET, ".zst"))

    def size(self) -> int | None:
        """The bytes of all files; ``None`` where a stream is among them."""
        if STDIN in self.paths:
            return None
        return sum(map(files.size, self.paths))

    def chunks(self, start: Position, rows: int, size: int) -> Iterator[Chunk]:
        """The rows after a position, in chunks of at most ``rows`` rows and about ``size`` bytes.

        ``InputError`` if a file cannot be read.
        """
        before = sum(map(files.size, self.paths[: start.file]))
        for index in range(start.file, len(self.paths)):
            path = self.paths[index]
            if index > start.file:
                start = Position(index, row=start.row)
            read = self._table_chunks if path.endswith(_PARQUET) else self._line_chunks
            try:
                for chunk in read(path, start, rows, size, before):
                    start = chunk.end
                    yield chunk
            except (OSError, EOFError, lzma.LZMAError, zlib.error, _arrow_error()) as error:
                raise InputError(f"cannot read {path}: {error}") from error
            if path != STDIN:
                before += files.size(path)

    def _line_chunks(
        self, path: str, start: Position, rows: int, size: int, before: int
    ) -> Iterator[Chunk]:
        with _opened(path) as (stored, unpacked):
            if _is_json(path) and _is_list(unpacked):
                yield from self._item_chunks(path, unpacked, start, rows, size, before)
                return
            _skip(unpacked, start.byte, seekable=stored is unpacked)
            while True:
                texts, lines, end = _lines(unpacked, start, rows, size)
                if end == start:
                    return
                read = before + (stored.tell() if path != STDIN else end.byte)
                blank = end.line - start.line - len(lines)
                yield Chunk(texts, len(texts), start, end, lines, blank, read)
                start = end

    def _item_chunks(
        self, path: str, file: IO[bytes], start: Position, rows: int, size: int, before: int
    ) -> Iterator[Chunk]:
        """The items of a file that is one list, which is loaded whole."""
        items = _list_in(file)
        each = max(1, min(rows, size * len(items) // file.tell()))
        for first in range(start.line, len(items), each):
            chosen = items[first : first + each]
            end = start._replace(line=first + len(chosen), row=start.row + len(chosen))
            read = before + files.size(path) * end.line // len(items)
            yield Chunk(chosen, len(chosen), start, end, range(first, end.line), 0, read)
            start = end

    def _table_chunks(
        self, path: str, start: Position, rows: int, size: int, before: int
    ) -> Iterator[Chunk]:
        pq = needed("pyarrow.parquet", "training")
        with ExitStack() as stack:
            # Of a local file pyarrow reads by itself what it needs.
            source = stack.enter_context(files.opened(path)) if files.is_url(path) else path
            file = stack.enter_context(pq.ParquetFile(source, pre_buffer=False))
            total = max(file.metadata.num_rows, 1)
            stored = files.size(path)
            for first, batch in _record_batches(file, start.line, rows, size):
                end = start._replace(
                    line=first + batch.num_rows, row=start.row + batch.num_rows, byte=0
                )
                lines = range(first, end.line)
                read = before + stored * end.line // total
                yield Chunk(batch, batch.num_rows, start, end, lines, 0, read)
                start = end


def _paths(given: Any) -> list[str]:
    """The paths that are given, one or several, as texts."""
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        got = type(given).__name__
        raise WrongTypeError(f"inputs: expected a path or a list of them, got {got}")
    paths = []
    for index, path in enumerate(given):
        if not isinstance(path, (str, os.PathLike)):
            raise WrongTypeError(f"inputs[{index}]: expected a path, got {type(path).__name__}")
        paths.append(os.fspath(path))
    if not paths:
        raise ValueError("inputs: expected at least one path, got none")
    return paths


def _lines(
    file: IO[bytes], start: Position, rows: int, size: int
) -> tuple[list[bytes], list[int], Position]:
    """The next lines, without blank ones; the index of each in the file; and where they end."""
    texts: list[bytes] = []
    indexes: list[int] = []
    line, byte, limit = start.line, start.byte, start.byte + size
    while len(texts) < rows and byte < limit:
        text = file.readline(LONGEST_LINE)
        if not text:
            break
        if len(text) == LONGEST_LINE:
            raise OSError(f"line {line + 1} has {LONGEST_LINE >> 20} MiB or more")
        byte += len(text)
        if line == 0 and text.startswith(_BOM):
            text = text[len(_BOM) :]
        if line == 0 and text.strip() == b"[":
            raise OSError("this is one JSON list, not a row on each line: name it .json")
        if not text.isspace() and text:
            texts.append(text)
            indexes.append(line)
        line += 1
    return texts, indexes, start._replace(line=line, byte=byte, row=start.row + len(texts))


def _is_list(file: IO[bytes]) -> bool:
    """Whether a file, at its beginning, is a JSON list. Nothing is read."""
    begin: bytes = file.peek(64)  # type: ignore[attr-defined]
    return begin.replace(_BOM, b"").lstrip()[:1] == b"["


def _list_in(file: IO[bytes]) -> list[Any]:
    """The items of a file that is one JSON list; ``OSError`` if it is not."""
    try:
        items: list[Any] = json.load(file)
    except ValueError as error:
        raise OSError(f"not a JSON list: {error}") from error
    except RecursionError:
        raise OSError("not a JSON list: nested too deeply") from None
    return items


def _record_batches(file: Any, skip: int, rows: int, size: int) -> Iterator[tuple[int, Any]]:
    """The batches of a Parquet file after a number of rows, each with its first row.

    No batch crosses the end of a row group, whose size decides how many rows it has.
    """
    first = 0
    for group in range(file.metadata.num_row_groups):
        about = file.metadata.row_group(group)
        end = first + about.num_rows
        if end > skip:
            each = max(1, min(rows, size * about.num_rows // max(about.total_byte_size, 1)))
            for batch in file.iter_batches(each, row_groups=[group]):
                if first >= skip:
                    yield first, batch
                first += batch.num_rows
        first = end


def _same(path: str) -> str:
    return path if files.is_url(path) else os.path.realpath(path)


def _is_json(name: str) -> bool:
    stem, suffix = os.path.splitext(name)
    return (stem if suffix in _COMPRESSED else name).endswith(".json")


def _is_known(name: str) -> bool:
    stem, suffix = os.path.splitext(name)
    return name.endswith(_PARQUET) or (stem if suffix in _COMPRESSED else name).endswith(_JSON)


def _known() -> str:
    packed = ", ".join(_COMPRESSED)
    return f"known: {', '.join(_PARQUET + _JSON)}, and the latter packed: {packed}"


def _converted(name: str) -> str:
    """How another package makes a file of a known suffix."""
    stem, suffix = os.path.splitext(name)
    kind = {".csv": "csv", ".tsv": "csv", ".arrow": "arrow"}.get(suffix)
    if kind is None:
        return ""
    more = ", sep='\\t'" if suffix == ".tsv" else ""
    loaded = f"load_dataset({kind!r}, data_files={name!r}, split='train'{more})"
    return f"; in Python, datasets.{loaded}.to_parquet({stem + '.parquet'!r}) makes one"


@contextmanager
def _opened(path: str) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """A file of lines: as it is stored, for its position, and unpacked, for its lines."""
    if path == STDIN:
        yield sys.stdin.buffer, sys.stdin.buffer
        return
    unpack = _COMPRESSED.get(os.path.splitext(path)[1])
    with files.opened(path) as stored:
        # With its buffer, a read of each line is no call of Python code.
        yield stored, stored if unpack is None else io.BufferedReader(unpack(stored), _MEBIBYTE)


def _skip(file: IO[bytes], count: int, *, seekable: bool) -> None:
    if count and seekable:
        file.seek(count)
        return
    while count:
        skipped = len(file.read(min(count, _MEBIBYTE)))
        if not skipped:
            raise EOFError("the file is shorter than it was")
        count -= skipped


def _arrow_error() -> type[Exception]:
    """What pyarrow raises for damaged files, if it is there."""
    try:
        return needed("pyarrow", "training").ArrowException  # type: ignore[no-any-return]
    except ModuleNotFoundError:
        return OSError
