"""Where the output of a run is: a folder of shards, or one file that is joined from them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from openai_harmony._extras import needed
from openai_harmony.errors import WrongTypeError, quoted
from openai_harmony.training.dataset import files
from openai_harmony.training.dataset.shards import SUFFIXES, FileFormat, join, paths_of
from openai_harmony.training.dataset.state import State, StateError
from openai_harmony.training.whole_files import unfinished

STDOUT = "-"


class Output:
    """The paths of a run's output.

    A folder has the shards ``part-00000`` and so on, ``_report.json`` and ``_errors.jsonl``. A file
    has the latter two next to it, and while the run lasts its shards in a folder with ``.shards``
    after its name. While a run lasts there is a ``lock`` next to them.

    Files are known only by these names, never by names that a report has.
    """

    def __init__(self, output: str | os.PathLike[str], to: FileFormat | None = None) -> None:
        """``ValueError`` if neither the name nor ``to`` names a format, or it is no path."""
        if not isinstance(output, (str, os.PathLike)):
            raise WrongTypeError(f"output: expected a path, got {type(output).__name__}")
        output = os.fspath(output)
        if output == STDOUT:
            raise ValueError(
                f"the output is files, not standard output; {os.curdir}{os.sep}- is a folder"
            )
        if not output:
            raise ValueError("output: the path is empty")
        if files.is_url(output):
            raise ValueError(
                f"output: {output} is a URL, and a run is resumed from local files; write into a "
                "folder, and copy it when it is complete"
            )
        kinds = list(SUFFIXES.values())
        if to is not None and to not in kinds:
            known = ", ".join(map(repr, kinds))
            raise ValueError(f"to: expected one of {known}, got {quoted(to)}")
        path = Path(output)
        kind = SUFFIXES.get(path.suffix)
        is_folder = path.is_dir() or output.endswith(os.sep)
        self.is_file = kind is not None and not is_folder
        if self.is_file and to not in (None, kind):
            raise ValueError(f"{output} is named as {kind}, not as {to}")
        if not self.is_file and path.suffix and not is_folder and to is None:
            *most, last = SUFFIXES
            raise ValueError(
                f"{output}: cannot write {path.suffix}: use {', '.join(most)} or {last}, or a "
                f"folder name ending in {os.sep}"
            )
        self.path = path
        self.kind: FileFormat = kind if self.is_file and kind is not None else to or "parquet"
        prefix = f"{path}." if self.is_file else f"{path}{os.sep}_"
        self.report = Path(f"{prefix}report.json")
        self.errors = Path(f"{prefix}errors.jsonl")
        self.lock = Path(f"{prefix}lock")
        self.shards = path.with_name(f"{path.name}.shards") if self.is_file else path

    def stem(self, index: int) -> Path:
        """The path of a shard, without suffix."""
        return self.shards / f"part-{index:05}"

    def shard_paths(self, index: int) -> list[Path]:
        """The files of a shard."""
        return paths_of(self.stem(index), self.kind)

    def file_paths(self) -> list[Path]:
        """The files that the shards are joined to; none in a folder."""
        return paths_of(self.path.with_suffix(""), self.kind) if self.is_file else []

    def files(self, state: State) -> list[Path]:
        """The files of a complete run."""
        shards = (path for index in range(len(state.shards)) for path in self.shard_paths(index))
        return self.file_paths() or list(shards)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the output against other runs.

        ``StateError`` if another run has it. The lock ends with the process, however that ends.
        """
        filelock = needed("filelock", "training")
        is_new = not self.path.exists()
        self.lock.parent.mkdir(parents=True, exist_ok=True)
        if self.lock.is_symlink() or _size(self.lock):
            raise _unknown(self.lock)
        lock = filelock.FileLock(self.lock, timeout=0)
        try:
            lock.acquire()
        except filelock.Timeout as error:
            raise StateError(f"another run writes {self.path}") from error
        try:
            yield
        finally:
            if self.is_file:
                with suppress(OSError):
                    self.shards.rmdir()
            # While it is locked: a process that has opened it meanwhile sees that it has no name.
            # Windows removes no open file.
            with suppress(OSError):
                self.lock.unlink()
            lock.release()
            # Of a folder that nothing was written into.
            if is_new and not self.is_file:
                with suppress(OSError):
                    self.path.rmdir()

    def begin(self, state: State, *, restart: bool) -> State:
        """The state from which to continue: the one that is there, or a new one.

        ``StateError`` if what is there is another run's, or of an unknown run.
        """
        if self.is_file and self.shards.is_symlink():
            raise _unknown(self.shards)
        for path in [self.report, unfinished(self.report)]:
            if path.is_symlink():
                raise _unknown(path)
        if self.report.exists():
            before = State.load(self.report)
            # What was refused is not needed, unless it was accepted later.
            is_refused = before.refused and not before.complete
            is_other = is_refused and not before.is_of(state.settings, state.inputs)
            if before.shards and not restart and not is_other:
                before.check(state.settings, state.inputs)
                self._check_files(before)
                return before
            written = self._written(before)
            self._check_folder(written)
            self._check_replaced(before, written)
            for path in written:
                path.unlink(missing_ok=True)
        else:
            for path in [self.errors, *self.file_paths()]:
                for name in [path, unfinished(path)]:
                    if name.exists() or name.is_symlink():
                        raise _unknown(name)
            self._check_folder([])
        self.shards.mkdir(exist_ok=True)
        state.save(self.report)
        return state

    def forget(self, state: State) -> None:
        """Removes what a run that failed before its first shard wrote: nothing is to be resumed."""
        if not state.shards:
            for path in self._written(state):
                path.unlink(missing_ok=True)
            with suppress(OSError):
                self.shards.rmdir()

    def left(self) -> list[Path]:
        """What a run that did not complete has left: its folder, or the files by the output."""
        files = [self.report, self.shards, unfinished(self.errors)]
        return [path for path in (files if self.is_file else [self.path]) if path.exists()]

    def end(self, state: State) -> None:
        """Gives all files of a complete run their names: the joined one, the errors, the report."""
        shards = range(len(state.shards))
        if self.is_file and not state.joined:
            join([self.stem(index) for index in shards], self.path.with_suffix(""), self.kind)
            state.joined = {path.name: path.stat().st_size for path in self.file_paths()}
            # From here on the shards are not needed.
            state.save(self.report)
        if state.counts.error_bytes:
            # A run that was interrupted here may have given it its name.
            with suppress(FileNotFoundError):
                os.replace(unfinished(self.errors), self.errors)
        else:
            unfinished(self.errors).unlink(missing_ok=True)
        if self.is_file:
            for path in (path for index in shards for path in self.shard_paths(index)):
                path.unlink(missing_ok=True)
        state.complete = True
        state.save(self.report)

    def _check_files(self, state: State) -> None:
        """``StateError`` if a file of a state is not as it was written."""
        changed = [path for path, size in self._sizes(state).items() if _size(path) != size]
        if not state.complete and not state.joined:
            if unfinished(self.errors).is_symlink() or self.errors.is_symlink():
                raise _unknown(self.errors)
            # The run may have ended between giving the errors their name and saying so.
            if self.errors.exists():
                os.replace(self.errors, unfinished(self.errors))
            if _size(unfinished(self.errors)) < state.counts.error_bytes:
                changed.append(unfinished(self.errors))
        if changed:
            raise StateError(
                f"missing or changed since it was written: {changed[0]}; to write all again pass "
                "restart=True"
            )

    def _check_replaced(self, state: State, written: list[Path]) -> None:
        """``StateError`` if somebody else's file has the name of one that the run wrote."""
        for path in written:
            if path.is_symlink():
                raise _unknown(path)
        for path, size in self._sizes(state).items():
            if path.exists() and _size(path) != size:
                raise StateError(f"not as the run wrote it: {path}; remove it yourself")

    def _sizes(self, state: State) -> dict[Path, int]:
        """The size of each file that a state has; -1 if its report has none."""
        if state.joined:
            return _by_path(self.file_paths(), state.joined)
        sizes: dict[Path, int] = {}
        for index, entry in enumerate(state.shards):
            sizes |= _by_path(self.shard_paths(index), entry.bytes)
        return sizes

    def _written(self, state: State) -> list[Path]:
        """What a run wrote, and the shard after its state, if it was as far."""
        whole = [self.errors, *self.file_paths()]
        if not (state.complete and self.is_file):
            shards = range(len(state.shards) + 1)
            whole += [path for index in shards for path in self.shard_paths(index)]
        return [self.report, *whole, *map(unfinished, [self.report, *whole])]

    def _check_folder(self, mine: Iterable[Path]) -> None:
        """``StateError`` if the folder of shards has files that are not a run's."""
        if not self.shards.exists():
            return
        known = {self.lock, unfinished(self.report), *mine}
        others = sorted(path for path in self.shards.iterdir() if path not in known)
        if others or not self.shards.is_dir():
            raise _unknown(others[0])


def _by_path(paths: list[Path], sizes: dict[str, int]) -> dict[Path, int]:
    """The size of each file; -1 for one without."""
    return {path: sizes.get(path.name, -1) for path in paths}


def _unknown(path: Path) -> StateError:
    return StateError(f"not of a run of this command: {path}")


def _size(path: Path) -> int:
    """The size of a file; 0 if there is none. A link is not followed."""
    return path.stat().st_size if path.is_file() and not path.is_symlink() else 0
