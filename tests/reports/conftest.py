"""The encoding, for all reports."""

from __future__ import annotations

import pytest

from openai_harmony import HarmonyEncoding, load_harmony_encoding


@pytest.fixture(scope="session")
def encoding() -> HarmonyEncoding:
    return load_harmony_encoding("HarmonyGptOss")
