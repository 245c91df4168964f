"""The memory of the tokenizer's caches, counted in a process of its own."""

import subprocess
import sys

SCRIPT = """
from openai_harmony import HarmonyEncodingName, cache, load_harmony_encoding

encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
assert cache.usage() == cache.CacheUsage(caches=0, bytes=0), cache.usage()
tokens = encoding.encode("some words")
assert cache.usage().caches == 1
assert 4_000_000 < cache.usage().bytes < 6_000_000
cache.clear()
assert cache.usage() == (0, 0)
assert encoding.encode("some words") == tokens
"""


def test_caches_are_counted_and_given_back() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)
