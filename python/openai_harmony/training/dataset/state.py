"""What a run has done, and where to continue: a file next to its output, also its report."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from openai_harmony._counted import counted
from openai_harmony.errors import quoted
from openai_harmony.training.dataset.inputs import Position
from openai_harmony.training.whole_files import write_whole

_AGAIN = "; choose another output, or pass restart=True"


class StateError(Exception):
    """A run cannot continue with the output that is there; the text has the reason."""


@dataclass(slots=True)
class ShardEntry:
    """A shard that is complete."""

    stem: str
    """The name of its files, without suffix."""
    rows: int
    """Examples, or packs of them, or pairs."""
    examples: int
    tokens: int
    trained: int
    """Tokens with the mask 1."""
    bytes: dict[str, int]
    """The size of each of its files."""


@dataclass(slots=True)
class Counts:
    """What became of rows."""

    rows: int = 0
    blank: int = 0
    """Blank lines, which are not rows."""
    dropped: int = 0
    """Examples that ``max_tokens`` left out."""
    truncated: int = 0
    """Examples that lost turns to ``max_tokens``."""
    dropped_thoughts: int = 0
    """Reasoning of completed turns, which a model does not see."""
    lengths: dict[int, int] = field(default_factory=dict)
    """How many examples have how many tokens."""
    errors: dict[str, int] = field(default_factory=dict)
    """Bad rows by the kind of error."""
    first_error: str | None = None
    """The text of the first, with its place."""
    error_bytes: int = 0
    """The size of the file of errors."""
    unused: dict[str, int] = field(default_factory=dict)
    """What does not reach the prompt, or not as written."""

    def add_error(self, kind: str, said: str) -> None:
        """Counts a bad row."""
        self.errors[kind] = self.errors.get(kind, 0) + 1
        self.first_error = self.first_error or said

    def add_lengths(self, lengths: Iterable[int]) -> None:
        """Counts the tokens of examples."""
        for length, count in Counter(lengths).items():
            self.lengths[length] = self.lengths.get(length, 0) + count

    def longest_of(self, share: float) -> int:
        """The most tokens that so large a part of the examples has, the shortest first.

        >>> Counts(lengths={10: 3, 20: 1}).longest_of(0.5)
        10
        """
        rank = share * sum(self.lengths.values())
        for length in sorted(self.lengths):
            rank -= self.lengths[length]
            if rank <= 0:
                return length
        return 0

    def add_unused(self, fields: dict[str, int]) -> None:
        """Counts the fields of a batch that nothing reads."""
        for name, count in fields.items():
            self.unused[name] = self.unused.get(name, 0) + count


@dataclass(slots=True, repr=False)
class State:
    """What is done, and with which options."""

    settings: dict[str, Any]
    """Whatever changes a byte of the output."""
    inputs: list[dict[str, Any]]
    position: Position = field(default_factory=Position)
    """In front of the chunk from which to continue."""
    examples_done: int = 0
    """How many examples of that chunk are already in a shard."""
    shards: list[ShardEntry] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    """Of the chunks in front of the position; of all, if the run is complete."""
    complete: bool = False
    refused: bool = False
    """Too large a share of the rows was bad."""
    joined: dict[str, int] = field(default_factory=dict)
    """The size of each file that the shards of a complete run were joined to."""
    found_complete: bool = field(default=False, compare=False)
    """The output was complete, and nothing was done. This is not saved."""
    rows_before: int = field(default=0, compare=False)
    """The rows that an earlier run did. This is not saved."""

    @property
    def rows(self) -> int:
        """The rows of the shards: examples, packs or pairs."""
        return sum(shard.rows for shard in self.shards)

    @property
    def examples(self) -> int:
        """The examples in the shards."""
        return sum(shard.examples for shard in self.shards)

    @property
    def tokens(self) -> int:
        """Their tokens."""
        return sum(shard.tokens for shard in self.shards)

    @property
    def trained(self) -> int:
        """Those with mask 1."""
        return sum(shard.trained for shard in self.shards)

    def __repr__(self) -> str:
        bad = counted(sum(self.counts.errors.values()), "error")
        made = f"{counted(self.examples, 'example')}, {counted(self.tokens, 'token')}"
        how = "complete" if self.complete else "not complete"
        rows = counted(self.counts.rows, "row")
        return f"<State: {how}, {rows}, {made}, {self.trained:,} trained, {bad}>"

    def save(self, path: Path) -> None:
        """Writes the state; the file is always a whole one."""
        fields = {"harmony_dataset": 2, **asdict(self)}
        del fields["found_complete"], fields["rows_before"]
        text = json.dumps(fields, indent=1)
        write_whole(path, text + "\n")

    @classmethod
    def load(cls, path: Path) -> State:
        """Reads a state; ``StateError`` if the file has none."""
        try:
            fields = json.loads(path.read_text(encoding="utf-8"))
            if fields.pop("harmony_dataset") != 2:
                raise ValueError("of another version")
            fields["position"] = Position(*fields["position"])
            fields["shards"] = [ShardEntry(**shard) for shard in fields["shards"]]
            counts = Counts(**fields["counts"])
            counts.lengths = {int(length): count for length, count in counts.lengths.items()}
            fields["counts"] = counts
            return cls(**fields)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StateError(f"{path} is not the state of a run: {error!r}") from error

    def is_of(self, settings: dict[str, Any], inputs: list[dict[str, Any]]) -> bool:
        """Whether the state is of these options and files."""
        return (self.settings, self.inputs) == (settings, inputs)

    def check(self, settings: dict[str, Any], inputs: list[dict[str, Any]]) -> None:
        """``StateError`` that names the options or files that are not those of this state."""
        # `pack` sets `max_tokens`, too: what was given is named.
        names = sorted({*settings, *self.settings}, key=lambda name: (name != "pack", name))
        for name in names:
            before, now = self.settings.get(name), settings.get(name)
            if before != now:
                begun = _argument(name, before)
                raise StateError(f"this output was started {begun}, now {quoted(now)}{_AGAIN}")
        before_paths = [entry["path"] for entry in self.inputs]
        paths = [entry["path"] for entry in inputs]
        if paths != before_paths:
            others = sorted(set(paths) ^ set(before_paths))
            files = ", ".join(others[:3]) or "another order"
            raise StateError(f"this output was started with other files: {files}{_AGAIN}")
        for before, now in zip(self.inputs, inputs):
            if before != now:
                raise StateError(f"changed since the run began: {now['path']}{_AGAIN}")


def _argument(setting: str, value: object) -> str:
    """The argument that a setting is of, as it was given; versions are of none."""
    is_version = setting.startswith("version of ")
    name = "to" if setting == "format of the output" else setting.replace(" ", "_")
    if value is None:
        return f"without {setting if is_version else name}"
    return f"with {setting} {quoted(value)}" if is_version else f"with {name}={quoted(value)}"
