"""A picture as data, for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from openai_harmony.errors import WrongTypeError
from openai_harmony.show.picture import Block, Picture


def data(picture: Picture) -> dict[str, Any]:
    """The tokens, messages and repairs of a picture, ready for JSON.

    Messages have their span, as indexes of tokens: the header is ``start:content``, the content
    ``content:stop``, the stop token ``stop:end``. A dropped message has its own tokens.

    >>> from openai_harmony.show import picture
    >>> data(picture([200005, 17196, 200008, 12194]))["messages"][0]["channel"]
    'final'
    """
    if not isinstance(picture, Picture):
        raise WrongTypeError(f"picture: expected a Picture, got {type(picture).__name__}")
    made: dict[str, Any] = {
        "title": picture.title,
        "tokens": list(picture.tokens),
        "messages": [_block(block) for block in picture.blocks],
        "repairs": [{**mark._asdict(), "reason": mark.reason} for mark in picture.marks],
        "notes": picture.notes,
    }
    if picture.mask is not None:
        made["mask"] = list(picture.mask)
    return made


def _block(block: Block) -> dict[str, Any]:
    made: dict[str, Any] = {"message": block.message}
    if block.speaker is not None:
        made |= {name: value for name, value in asdict(block.speaker).items() if value is not None}
    if block.is_dropped:
        return {**made, "dropped": True, "tokens": list(block.tokens)}
    return {
        **made,
        "start": block.start,
        "content": block.content,
        "stop": block.stop,
        "end": block.end,
    }
