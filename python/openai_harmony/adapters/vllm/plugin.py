"""What vLLM calls when it starts, in each of its processes."""

from __future__ import annotations

import os
from importlib.metadata import packages_distributions

from openai_harmony._extras import DISTRIBUTION, needed

SWITCH = "OPENAI_HARMONY_VLLM"
"""The environment variable that turns the plugin on: ``1``."""


def register() -> None:
    """Gives vLLM this library's parser for gpt-oss, if ``OPENAI_HARMONY_VLLM`` is ``1``.

    The entry point of the group ``vllm.general_plugins``. vLLM calls it more than once.

    Raises:
        ValueError: The variable is something else than ``0`` or ``1``, which ends vLLM.
        ModuleNotFoundError: vLLM is not there, or is one without its parser of harmony.
        ImportError: Another package has written its files over this one's.
    """
    asked = os.environ.get(SWITCH, "0")
    if asked not in ("", "0", "1"):
        raise ValueError(f"{SWITCH}: expected 0 or 1, got {asked!r}")
    if asked != "1":
        return
    if taken_by := _taken_by():
        raise ImportError(
            f"{taken_by} has taken the place of the module openai_harmony: pip uninstall -y "
            f"{taken_by}, then pip install --force-reinstall --no-deps {DISTRIBUTION}",
            name="openai_harmony",
        )
    harmony = needed("vllm.parser.harmony", "vllm")
    # It imports the class that is replaced, so it cannot be imported before.
    from openai_harmony.adapters.vllm.parser import HarmonyParser

    # vLLM looks the name up here for each server that it starts.
    harmony.HarmonyParser = HarmonyParser
    needed("vllm.parser", "vllm").HarmonyParser = HarmonyParser


def _taken_by() -> str | None:
    """The package whose module is imported instead of this one, as ``oss-harmony`` has the same."""
    import openai_harmony

    if hasattr(openai_harmony, "MessageStart"):
        return None
    found = packages_distributions().get("openai_harmony", [])
    others = [name for name in found if name != DISTRIBUTION]
    return others[0] if others else "another package"
