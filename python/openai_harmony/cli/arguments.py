"""Types of arguments that several commands have."""

from __future__ import annotations

import argparse
import datetime

_CHANNELS = ("analysis", "commentary", "final")


def number(text: str) -> int:
    """A whole number from 0 on, also with separators: ``250_000_000``."""
    try:
        value = int(text.replace(",", ""))
    except ValueError:
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"expected a whole number, got {text!r}")
    return value


def channels(text: str) -> list[str]:
    """Channels with commas between them."""
    names = [channel.strip() for channel in text.split(",")]
    for name in names:
        if name not in _CHANNELS:
            known = ", ".join(_CHANNELS)
            raise argparse.ArgumentTypeError(f"unknown channel {name!r} (known: {known})")
    return names


def date(text: str) -> str:
    """A date as ``2026-01-31``."""
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected YYYY-MM-DD, got {text!r}") from None


def pair(text: str) -> tuple[str, str]:
    """Two names as ``prompt=text``."""
    first, equals, second = text.partition("=")
    if not (first and equals and second):
        raise argparse.ArgumentTypeError(f"expected NAME=COLUMN, got {text!r}")
    return first, second
