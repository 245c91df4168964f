"""Fixtures that several test modules share."""

from __future__ import annotations

import pytest

from openai_harmony import HarmonyEncoding, load_harmony_encoding

pytest_plugins = ["oracle.fixtures"]


@pytest.fixture(scope="session")
def encoding() -> HarmonyEncoding:
    return load_harmony_encoding("HarmonyGptOss")
