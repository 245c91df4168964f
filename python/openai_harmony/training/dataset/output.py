"""Where the output of a run is: a folder of shards, or one file that is joined from them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from openai_harmony.errors import WrongTypeError, quoted
from openai_harmony.training.dataset.shards import SUFFIXES, FileFormat, join, paths_of
from openai_harmony.training.dataset.state import ShardEntry, State, StateError
from openai_harmony.training.whole_files import unfinished

STDOUT = "-"


class Output:
    """The paths of a run's output.

    A folder has the shards ``part-00000`` and so on, ``_report.json`` and ``_errors.jsonl``. A file
    has the latter beside it, and while the run lasts its shards in a folder with ``.shards`` after
    its name.
    """

    def __init__(self, output: str | os.PathLike[str], to: FileFormat | None = None) -> None:
        """``ValueError`` if neither the name nor ``to`` says what to write, or it is no path."""
        if not isinstance(output, (str, os.PathLike)):
            raise WrongTypeError(f"output: expected a path, got {type(output).__name__}")
        output = os.fspath(output)
        if output == STDOUT:
            raise ValueError(
                f"the output is files, not standard output; {os.curdir}{os.sep}- is a folder"
            )
        if not output:
            raise ValueError("output: the path is empty")
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
            known = ", ".join(SUFFIXES)
            raise ValueError(
                f"unknown suffix: {output} (known: {known}; with a slash at its end, or with the "
                "format given, it is a folder)"
            )
        self.path = path
        self.kind: FileFormat = kind if self.is_file and kind is not None else to or "parquet"
        beside = path if self.is_file else path / "_"
        self.report = Path(f"{beside}.report.json" if self.is_file else f"{beside}report.json")
        self.errors = Path(f"{beside}.errors.jsonl" if self.is_file else f"{beside}errors.jsonl")
        self.shards = path.with_name(f"{path.name}.shards") if self.is_file else path

    def stem(self, index: int) -> Path:
        """The path of a shard, without suffix."""
        return self.shards / f"part-{index:05}"

    def files(self, shards: Sequence[ShardEntry]) -> list[Path]:
        """The files of a complete run."""
        stems = (
            [self.path.with_suffix("")] if self.is_file else [self.shards / s.stem for s in shards]
        )
        return [path for stem in stems for path in paths_of(stem, self.kind)]

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Makes the folder of shards and holds it against other runs.

        ``StateError`` if another run has it. The lock ends with the process, however that ends.
        """
        self.shards.mkdir(parents=True, exist_ok=True)
        try:
            import fcntl
        except ImportError:  # There is none on Windows, where nothing holds off another run.
            yield
            return
        handle = os.open(self.shards, os.O_RDONLY)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise StateError(f"another run writes {self.path}") from error
            yield
        finally:
            os.close(handle)
            if self.is_file and self.shards.exists() and not any(self.shards.iterdir()):
                self.shards.rmdir()

    def begin(self, state: State, *, restart: bool) -> State:
        """The state from which to go on: the one that is there, or a new one.

        ``StateError`` if what is there is another run's, or of an unknown run.
        """
        if self.report.exists():
            before = State.load(self.report)
            if before.shards and not restart:
                before.check(state.settings, state.inputs)
                self._check_files(before)
                return before
            self._check_folder(self._written(before))
            for path in self._written(before):
                path.unlink(missing_ok=True)
        elif self.is_file and any(path.exists() for path in self.files([])):
            raise StateError(f"already there, and nothing tells how it was made: {self.path}")
        self._check_folder([])
        self._remove_unfinished()
        state.save(self.report)
        return state

    def end(self, state: State) -> None:
        """Gives all files of a complete run their names: the joined one, the errors, the report."""
        if self.is_file:
            stems = [self.shards / entry.stem for entry in state.shards]
            join(stems, self.path.with_suffix(""), self.kind)
            files = self.files(state.shards)
            state.joined = {path.name: path.stat().st_size for path in files}
        if state.counts.error_bytes:
            os.replace(unfinished(self.errors), self.errors)
        else:
            unfinished(self.errors).unlink(missing_ok=True)
        state.complete = True
        state.save(self.report)
        self.clean()

    def clean(self) -> None:
        """Removes the shards that were joined."""
        if self.is_file:
            shutil.rmtree(self.shards)

    def _check_files(self, state: State) -> None:
        """``StateError`` if a file of a state is not as it was written."""
        shards = {self.shards / name: size for e in state.shards for name, size in e.bytes.items()}
        joined = {self.path.with_name(name): size for name, size in state.joined.items()}
        sizes = joined if state.complete and self.is_file else shards
        missing = [path for path, size in sizes.items() if _size(path) != size]
        if not state.complete:
            # The run may have ended between giving the errors their name and saying so.
            if self.errors.exists():
                os.replace(self.errors, unfinished(self.errors))
            if _size(unfinished(self.errors)) < state.counts.error_bytes:
                missing.append(unfinished(self.errors))
        if missing:
            raise StateError(
                f"missing or changed since it was written: {missing[0]}; restart writes all anew"
            )

    def _written(self, state: State) -> list[Path]:
        """What a run wrote, and the shard after its state, if it was as far."""
        stems = [self.shards / entry.stem for entry in state.shards] + [
            self.stem(len(state.shards))
        ]
        written = [path for stem in stems for path in paths_of(stem, self.kind)]
        return [self.report, self.errors, *written, *(self.files([]) if self.is_file else ())]

    def _check_folder(self, mine: Sequence[Path]) -> None:
        """``StateError`` if the folder of shards has files that are not a run's."""
        known = {*mine, *self._unfinished()}
        others = sorted(path for path in self.shards.iterdir() if path not in known)
        if others:
            raise StateError(f"the folder is not empty: {others[0]}")

    def _remove_unfinished(self) -> None:
        """Removes what an interrupted run left under unfinished names."""
        for path in self._unfinished():
            path.unlink(missing_ok=True)

    def _unfinished(self) -> list[Path]:
        patterns = [unfinished(path).name for path in paths_of(Path("part-*"), self.kind)]
        shards = [path for pattern in patterns for path in self.shards.glob(pattern)]
        return [unfinished(self.errors), unfinished(self.report), *shards]


def _size(path: Path) -> int:
    """The size of a file; 0 if there is none."""
    return path.stat().st_size if path.is_file() else 0
