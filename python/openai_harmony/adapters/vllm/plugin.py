"""What vLLM calls when it starts, in each of its processes."""

from __future__ import annotations

import os

from openai_harmony._extras import needed

SWITCH = "OPENAI_HARMONY_VLLM"
"""The environment variable that turns the plugin on: ``1``."""


def register() -> None:
    """Gives vLLM this library's parser for gpt-oss, if ``OPENAI_HARMONY_VLLM`` is ``1``.

    The entry point of the group ``vllm.general_plugins``. vLLM calls it more than once.

    Raises:
        ValueError: The variable is something else than ``0`` or ``1``, which ends vLLM.
        ModuleNotFoundError: vLLM is not there, or is one without its parser of harmony.
    """
    asked = os.environ.get(SWITCH, "0")
    if asked not in ("", "0", "1"):
        raise ValueError(f"{SWITCH}: expected 0 or 1, got {asked!r}")
    if asked != "1":
        return
    harmony = needed("vllm.parser.harmony", "vllm")
    # It imports the class that is replaced, so it cannot be imported before.
    from openai_harmony.adapters.vllm.parser import HarmonyParser

    # vLLM looks the name up here for each server that it starts.
    harmony.HarmonyParser = HarmonyParser
    needed("vllm.parser", "vllm").HarmonyParser = HarmonyParser
