"""Hands the compiled extension the classes that it reads and makes."""

from openai_harmony import _lowlevel, chat, errors
from openai_harmony.stream import StreamState

_lowlevel.use_classes(chat, errors, StreamState)
