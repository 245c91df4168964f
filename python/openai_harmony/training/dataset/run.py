"""A run: chunks of rows are read and rendered while the one before is written.

After each shard the state is saved: the position of the chunk from which the next shard begins, and
how many examples of it are already in a shard. A run that continues renders that chunk again and
leaves these out, so its output is the same byte for byte.
"""

from __future__ import annotations

import copy
import json
import os
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any

from openai_harmony import training
from openai_harmony._counted import counted
from openai_harmony.training.arrow import Columns
from openai_harmony.training.dataset.inputs import STDIN, Chunk, Inputs, Position
from openai_harmony.training.dataset.output import Output
from openai_harmony.training.dataset.shards import Shard, open_shard
from openai_harmony.training.dataset.state import Counts, ShardEntry, State
from openai_harmony.training.megatron import MegatronWriter
from openai_harmony.training.options import RowOptions, unmapped
from openai_harmony.training.whole_files import unfinished

if TYPE_CHECKING:
    from openai_harmony.training import Batch

CHUNK_BYTES = 16 * 2**20
"""About how many bytes of input are rendered together."""


class NoExamplesError(Exception):
    """No row gave an example."""


class ErrorLimitError(Exception):
    """There are more bad rows than the caller allows."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run does."""

    inputs: Inputs
    output: Output
    columns: Columns
    batch_rows: int
    shard_tokens: int
    pack: int | None
    max_errors: int | float | None
    options: RowOptions
    """The options of ``training.render``."""


class Run:
    """Writes the shards of a plan, from where a state is."""

    def __init__(self, plan: Plan, state: State, progress: Callable[[int, Counts], None]) -> None:
        """``progress`` gets the bytes of the input that were read, and what became of rows."""
        self._plan = plan
        self._state = state
        self._counts = copy.deepcopy(state.counts)
        self._skip = state.examples_done
        self._progress = progress
        self._shard: Shard | MegatronWriter | None = None
        self._rows = self._examples = self._tokens = self._trained = 0

    def write(self) -> None:
        """Reads, renders and writes all that is left.

        ``InputError``, ``OSError``, ``ErrorLimitError`` or ``NoExamplesError`` end the run. It can
        continue later.
        """
        with open(unfinished(self._plan.output.errors), "ab") as errors:
            errors.truncate(self._counts.error_bytes)
            try:
                end = self._state.position
                for chunk, batch in self._rendered():
                    self._write_chunk(chunk, batch, errors)
                    end = chunk.end
                self._close_shard(end, 0, errors)
            except BaseException:
                if self._shard is not None:
                    self._shard.discard()
                raise
        self._state.counts = self._counts
        if not self._state.shards:
            raise NoExamplesError(self._why_none())

    def check_all_rows(self) -> None:
        """``ErrorLimitError`` if too many rows are bad, or ``map`` does nothing; asked at the end.

        A whole number is asked again: a run that was refused for its share has no chunks left at
        which it would be.
        """
        counts, allowed = self._counts, self._plan.max_errors
        found = sum(counts.errors.values())
        if why := unmapped(self._plan.options.get("map"), counts.unused, counts.rows - found):
            raise ErrorLimitError(f"{why}: correct it and start over with restart=True")
        most = allowed * counts.rows if isinstance(allowed, float) else allowed
        self._state.refused = most is not None and found > most
        if not self._state.refused:
            return
        self._state.save(self._plan.output.report)
        limit = f"{100 * allowed:g} %" if isinstance(allowed, float) else f"{allowed:,}"
        raise ErrorLimitError(
            f"{found:,} of {counts.rows:,} rows are bad, {limit} allowed: see "
            f"{unfinished(self._plan.output.errors)}; the first is {counts.first_error}. Fix the "
            "rows and run again, or accept this output with a higher max_errors"
        )

    def refuse_empty(self) -> None:
        """``NoExamplesError`` if no row gives an example; asked before anything is removed.

        Costs the rendering of all rows up to the first example. Standard input, which cannot be
        read twice, is asked only whether there is any.
        """
        paths = self._plan.inputs.paths
        if STDIN in paths:
            if paths == [STDIN] and not sys.stdin.buffer.peek(1):  # type: ignore[union-attr]
                raise NoExamplesError(self._why_none())
            return
        with open(os.devnull, "wb") as errors:
            for chunk, batch in self._rendered():
                if len(batch):
                    return
                self._count_rows(chunk, batch, errors)
        raise NoExamplesError(self._why_none())

    def _rendered(self) -> Iterator[tuple[Chunk, Batch]]:
        """The chunks and what they render to: one ahead of what is written."""
        plan = self._plan
        chunks = plan.inputs.chunks(self._state.position, plan.batch_rows, CHUNK_BYTES)

        def following() -> tuple[Chunk, Batch] | None:
            chunk = next(chunks, None)
            if chunk is None:
                return None
            size = max(chunk.count, 1)
            batches = training.render_batches(
                chunk.rows, batch_rows=size, first_row=chunk.start.row, **plan.options
            )
            batch = next(batches, training.render((), **plan.options))
            return chunk, batch if plan.pack is None else batch.pack(plan.pack)

        with ThreadPoolExecutor(1) as ahead:
            waiting = ahead.submit(following)
            while (rendered := waiting.result()) is not None:
                waiting = ahead.submit(following)
                yield rendered

    def _write_chunk(self, chunk: Chunk, batch: Batch, errors: IO[bytes]) -> None:
        plan, done = self._plan, self._skip
        self._skip = 0
        table: Any = None if plan.output.kind == "megatron" else batch.to_arrow(plan.columns)
        rows = batch.rows_of(plan.columns)
        ends = [batch.offsets[example] for example in rows]
        while done < len(rows) - 1:
            room = self._room(ends, done)
            if not room:
                self._close_shard(chunk.start, done, errors)
                continue
            if self._shard is None:
                self._shard = open_shard(self._stem(), plan.output.kind)
            if isinstance(self._shard, MegatronWriter):
                self._shard.write(batch, done, done + room)
            else:
                self._shard.write(table.slice(done, room))
            self._count(batch, rows[done], rows[done + room])
            self._rows += room
            done += room
        self._count_rows(chunk, batch, errors)
        self._progress(chunk.read, self._counts)
        self._check_errors()

    def _room(self, ends: Sequence[int], first: int) -> int:
        """How many rows from the first the shard still takes: at least one, if it is empty."""
        left = self._plan.shard_tokens - self._tokens
        fit = bisect_right(ends, ends[first] + left) - 1 - first
        return max(fit, 0 if self._examples else 1)

    def _count(self, batch: Batch, first: int, end: int) -> None:
        begin, stop = batch.offsets[first], batch.offsets[end]
        self._examples += end - first
        self._tokens += stop - begin
        self._trained += batch.loss_mask.count(1, begin, stop)

    def _count_rows(self, chunk: Chunk, batch: Batch, errors: IO[bytes]) -> None:
        """Adds what became of a chunk's rows, once all its examples are written."""
        counts = self._counts
        counts.rows += chunk.count
        counts.blank += chunk.blank
        counts.dropped += len(batch.dropped)
        counts.truncated += len(batch.truncated)
        counts.dropped_thoughts += batch.dropped_thoughts
        counts.add_lengths(end - begin for begin, end in pairwise(batch.offsets))
        counts.add_unused(batch.unused)
        path = self._plan.inputs.paths[chunk.start.file]
        for row, error in batch.errors:
            line = chunk.lines[row - chunk.start.row] + 1
            counts.add_error(error.kind, f"{path}:{line}: {error}")
            place = {"file": path, "line": line, "row": row}
            said = {"kind": error.kind, "path": getattr(error, "path", None), "message": str(error)}
            text = json.dumps({**place, **said}, ensure_ascii=False) + "\n"
            counts.error_bytes += errors.write(text.encode("utf-8", "surrogatepass"))

    def _check_errors(self) -> None:
        found, allowed = sum(self._counts.errors.values()), self._plan.max_errors
        if isinstance(allowed, int) and found > allowed:
            where = unfinished(self._plan.output.errors)
            are = "is" if allowed == 1 else "are"
            raise ErrorLimitError(
                f"{counted(found, 'bad row')}, {allowed:,} {are} allowed: see {where}. Fix the "
                "rows and start over with restart=True, or resume with a higher max_errors"
            )

    def _stem(self) -> Any:
        return self._plan.output.stem(len(self._state.shards))

    def _close_shard(self, position: Position, done: int, errors: IO[bytes]) -> None:
        """Completes the shard, if one is open, and saves where to continue.

        That is at the position of a chunk, with the number of its examples that are done.
        """
        if self._shard is None:
            return
        self._shard.close()
        self._shard = None
        paths = self._plan.output.shard_paths(len(self._state.shards))
        sizes = {path.name: path.stat().st_size for path in paths}
        made = (self._rows, self._examples, self._tokens, self._trained)
        entry = ShardEntry(self._stem().name, *made, sizes)
        self._rows = self._examples = self._tokens = self._trained = 0
        errors.flush()
        os.fsync(errors.fileno())
        state = self._state
        state.shards.append(entry)
        state.position, state.examples_done = position, done
        state.counts = copy.deepcopy(self._counts)
        state.save(self._plan.output.report)

    def _why_none(self) -> str:
        counts = self._counts
        if not counts.rows:
            return f"no rows in {', '.join(self._plan.inputs.paths[:3])}"
        reasons = [f"{count:,} {kind}" for kind, count in counts.errors.items()]
        if counts.dropped:
            reasons.append(f"{counts.dropped:,} longer than max_tokens")
        first = f"; the first is {counts.first_error}" if counts.first_error else ""
        return f"none of {counts.rows:,} rows gave an example: {', '.join(reasons)}{first}"
