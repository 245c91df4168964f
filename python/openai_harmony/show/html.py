"""A picture as HTML: one element with its style sheet, without scripts. All text is escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from pathlib import Path

from openai_harmony._counted import counted
from openai_harmony.show.cells import Cell, cells
from openai_harmony.show.difference import Difference, folded
from openai_harmony.show.lines import heading, kind_of
from openai_harmony.show.picture import Block, Mark, Meeting, Picture, preview

_OPEN_MESSAGES = 12
"""Of a longer conversation only the last few messages are unfolded."""
_LAST_OPEN = 4
_MOST_OPEN_TOKENS = 2_000


@cache
def style_sheet() -> str:
    """The rules of pictures, all within the class ``harmony-show``."""
    return Path(__file__).with_name("style.css").read_text(encoding="utf-8")


def picture_piece(picture: Picture, *, max_tokens: int | None = None, style: bool = True) -> str:
    """A picture as a ``<div>``; ``style=False`` leaves out the style sheet."""
    blocks, room = picture.within(max_tokens)
    parts = [f"<p class=summary>{escape(picture.summary)}</p>"]
    for place, block in enumerate(blocks):
        if isinstance(block, int):
            parts.append(f"<p class=cut>… {counted(block, 'message')} left out …</p>")
            continue
        is_late = place >= len(blocks) - _LAST_OPEN or len(blocks) <= _OPEN_MESSAGES
        is_open = is_late and (block.end - block.start <= _MOST_OPEN_TOKENS or len(blocks) == 1)
        parts.append(_details(picture, block, room, is_open and not block.is_dropped))
    parts += [f"<p class=note>{_text(note)}</p>" for note in picture.notes]
    return _piece("".join(parts), style)


def difference_piece(difference: Difference, *, style: bool = True) -> str:
    """A difference as a ``<div>`` with two columns; ``style=False`` leaves out the style sheet."""
    rows = [f"<p class=summary>{escape(difference.summary)}</p><div class=sides>"]
    rows += [f"<b>{_text(name)}</b>" for name in difference.names]
    for run in difference.runs:
        rows.append(f"<div class={'equal' if run.equal else 'removed'}>")
        rows += [*_side(difference.a.tokens, run.a, run.equal), "</div>"]
        rows.append(f"<div class={'equal' if run.equal else 'added'}>")
        rows += [*_side(difference.b.tokens, run.b, run.equal), "</div>"]
    rows.append("</div>")
    return _piece("".join(rows), style)


def _piece(content: str, style: bool) -> str:
    rules = f"<style>{style_sheet()}</style>" if style else ""
    return f'<div class="harmony-show">{rules}{content}</div>'


def _details(picture: Picture, block: Block, room: int | None, is_open: bool) -> str:
    marks = picture.marks_of(block)
    kinds = f"{kind_of(block)} dropped" if block.is_dropped else kind_of(block)
    count = f" <em>{counted(len(marks), 'repair')}</em>" if marks else ""
    meeting = Meeting(marks)
    content = "".join(
        _cell(picture, block, meeting, one)
        if isinstance(one, Cell)
        else f"<span class=cut> … {counted(one, 'token')} left out … </span>"
        for one in picture.cells_of(block, room)
    )
    return (
        f'<details class="message {kinds}"{" open" if is_open else ""}>'
        f"<summary><b>{_text(heading(block))}</b>{count}"
        f"<span class=preview>{_text(preview(picture, block))}</span></summary>"
        f"<div class=tokens>{content}</div>{''.join(map(_mark, marks))}</details>"
    )


def _mark(mark: Mark) -> str:
    where = f"tokens {mark.start} to {mark.end}"
    return f"<p class=repair>{_text(mark.reason)} <span>({where})</span></p>"


def _cell(picture: Picture, block: Block, meeting: Meeting, cell: Cell) -> str:
    names = _kind(cell)
    if not block.is_dropped:
        if picture.is_trained(cell):
            names += " trained"
        reasons = [mark.reason for mark in meeting.at(cell)]
        if reasons:
            return _token(cell, f"{names} repaired", "\n" + "\n".join(reasons))
    return _token(cell, names)


def _kind(cell: Cell) -> str:
    if cell.is_special:
        return "s"
    return "u" if cell.is_unknown else "t"


def _token(cell: Cell, names: str, more: str = "") -> str:
    ids = " ".join(map(str, cell.ids))
    label = f"{cell.start}: {ids}\n{_bytes(cell)}{more}"
    quoted = f'"{names}"' if " " in names else names
    return f'<i class={quoted} data-t="{_text(label)}">{_text(_with_ends(cell.text))}</i>'


def _with_ends(text: str) -> str:
    """Ends of lines and tabs are marked, and still there."""
    return text.replace("\n", "⏎\n").replace("\t", "⇥\t")


def _bytes(cell: Cell) -> str:
    """The bytes of a cell as Python writes them; hexadecimal where they are not ASCII."""
    if cell.is_unknown:
        return "not in the vocabulary"
    if cell.is_special:
        return "special token"
    return repr(cell.raw)[1:]


def _text(text: str) -> str:
    return escape(text, quote=True)


def _side(tokens: Sequence[int], place: range, is_equal: bool) -> Iterator[str]:
    head, left_out, tail = folded(place) if is_equal else (place, 0, range(0))
    for part in (head, tail):
        for cell in cells(tokens[part.start : part.stop], part.start):
            yield _token(cell, _kind(cell))
        if left_out:
            yield f"<span class=cut> … {counted(left_out, 'equal token')} … </span>"
            left_out = 0


__all__ = ["difference_piece", "picture_piece", "style_sheet"]
