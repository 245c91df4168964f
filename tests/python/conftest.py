"""Fixtures that several test modules share."""

from __future__ import annotations

import os
import signal

import pytest

from openai_harmony import HarmonyEncoding, load_harmony_encoding

# Tests have no network, and report to nobody. Both packages look when they are imported.
os.environ.update(HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1", RAY_USAGE_STATS_ENABLED="0")

# A shell ignores Ctrl-C for what it starts in the background. Python and the processes it starts leave that so, and
# the tests of interrupts would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["harmony_command", "oracle.fixtures"]


@pytest.fixture(scope="session")
def encoding() -> HarmonyEncoding:
    return load_harmony_encoding("HarmonyGptOss")
