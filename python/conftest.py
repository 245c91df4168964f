"""What the examples of the extension are given: they do not load an encoding each."""

from typing import Any

import pytest

from openai_harmony import load_harmony_encoding


@pytest.fixture(autouse=True)
def encoding(doctest_namespace: dict[str, Any]) -> None:
    """The name is the package's own module otherwise."""
    doctest_namespace["encoding"] = load_harmony_encoding("HarmonyGptOss")
