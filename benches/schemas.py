"""What engines make of schemas as clients write them: held or loosened, seconds to compile, milliseconds for a mask.

::

    make .venv-trainers/.engines .venv/.built
    PYTHONPATH=python .venv-trainers/bin/python benches/schemas.py            # all that is installed
    PYTHONPATH=python .venv-trainers/bin/python benches/schemas.py --only mcp/ --engine xgrammar

``inputs/schemas.jsonl`` has shapes of tools of MCP servers, of agents, of Zod's and pydantic's, and of answers. Each is
an argument of one tool that has to be called; an answer of at least 200 tokens, in one turn or several, is sampled at
random from the masks, mostly words. Times are those of the processor, so that other programs do not count.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [
    str(HERE.parent / "tests" / "python"),
    str(HERE.parent / "tests" / "python" / "engines"),
]

from openai_harmony import Prefill, load_harmony_encoding  # noqa: E402
from openai_harmony.grammar import TurnGrammar  # noqa: E402

ENCODING = load_harmony_encoding("HarmonyGptOss")
SIZE = 201_088
STOPS = [200002, 200012]
WORDS = ENCODING.encode(
    'The quick brown fox jumps over the lazy dog. {"a": [1, 2.5, null], "b": true}, "c": "x"} '
    "2024-05-17T08:30:00Z https://example.com/a_b-c.txt def f(x): return x\n #!/bin/sh"
)
TOKENS = 200


class Xgrammar:
    """Its compiler and its masks."""

    form = "xgrammar"

    def __init__(self) -> None:
        import xgrammar

        self._module = xgrammar
        tokens = [bytes(ENCODING.decode_bytes([n])) if n < 200_019 else b"" for n in range(SIZE)]
        self._vocabulary = xgrammar.TokenizerInfo(
            tokens, vocab_type=xgrammar.VocabType.RAW, vocab_size=SIZE, stop_token_ids=STOPS
        )
        self._mask = xgrammar.allocate_token_bitmask(1, SIZE)

    def compiled(self, text: str) -> Any:
        compiler = self._module.GrammarCompiler(
            self._vocabulary, cache_enabled=False, max_threads=1
        )
        return compiler.compile_structural_tag(text)

    def begin(self, made: Any) -> None:
        self._matcher = self._module.GrammarMatcher(made, override_stop_tokens=STOPS)

    def mask(self) -> bytes:
        self._matcher.fill_next_token_bitmask(self._mask, 0)
        return bytes(self._mask.numpy().tobytes())

    def take(self, token: int) -> bool:
        return bool(self._matcher.accept_token(token))


class Llguidance:
    """Its compiler and its masks."""

    form = "lark"

    def __init__(self) -> None:
        import llguidance

        from openai_harmony.serve.engines import guidance

        self._module, self._vocabulary = llguidance, guidance.vocabulary()

    def compiled(self, text: str) -> Any:
        made = self._module.LLMatcher(self._vocabulary, text)
        if error := made.get_error():
            raise ValueError(error)
        return made

    def begin(self, made: Any) -> None:
        self._matcher = made
        made.reset()

    def mask(self) -> bytes:
        return bytes(self._matcher.compute_bitmask())

    def take(self, token: int) -> bool:
        return bool(self._matcher.consume_token(token))


class LlamaCpp:
    """Its grammars. Its server asks first whether the sampled token may follow; so does this."""

    form = "gbnf"

    def __init__(self) -> None:
        import llama_grammar
        import tiny_gguf

        self._module = llama_grammar
        model = Path(tempfile.mkdtemp()) / "tiny.gguf"
        tiny_gguf.write(model)
        self._vocabulary = llama_grammar.Vocabulary(model)
        self._chosen = random.Random(0)

    def compiled(self, text: str) -> Any:
        return self._module.Grammar(self._vocabulary, text)

    def begin(self, made: Any) -> None:
        import numpy

        some = [*STOPS, *WORDS, *self._chosen.sample(range(SIZE), 2000)]
        self._state = self._module.State(made, numpy.unique(some))

    def mask(self) -> bytes:
        return bytes(self._state.mask())

    def take(self, token: int) -> bool:
        return bool(self._state.take(token))


ENGINES: dict[str, Any] = {"xgrammar": Xgrammar, "llguidance": Llguidance, "llama.cpp": LlamaCpp}


@dataclass
class Measured:
    """What one engine makes of one schema."""

    name: str
    loosened: list[str] = field(default_factory=list)
    error: str | None = None
    compiled: float = 0.0
    """Seconds."""
    slowest: float = 0.0
    """Milliseconds for one token, its mask and its reading."""
    tokens: int = 0


def schemas() -> Iterator[tuple[str, Any]]:
    for line in (HERE / "inputs" / "schemas.jsonl").read_text("utf-8").splitlines():
        found = json.loads(line)
        yield found["name"], found["schema"]


def measured(engine: Any, name: str, schema: Any) -> Measured:
    found = Measured(name)
    tool = {"name": "tool", "parameters": schema}
    prefill = Prefill(channel="commentary", recipient="functions.tool", text="")
    grammar = TurnGrammar([tool], "required", strict=[], prefill=prefill)
    written = grammar.write(engine.form, STOPS)
    found.loosened = [one.keyword for one in written.loosened]
    begun = time.process_time()
    try:
        made = engine.compiled(written.text)
    except Exception as error:  # whatever an engine raises is what is looked for
        found.error = str(error).splitlines()[0]
        return found
    found.compiled = time.process_time() - begun
    chosen = random.Random(name)
    while found.tokens < TOKENS:
        sample(engine, made, chosen, found)
    return found


def sample(engine: Any, made: Any, chosen: random.Random, found: Measured) -> None:
    """One answer, cut off at a number of tokens."""
    engine.begin(made)
    for _ in range(TOKENS):
        begun = time.process_time()
        mask = engine.mask()
        spent = time.process_time() - begun
        token = next_token(mask, chosen)
        begun = time.process_time()
        assert engine.take(token), (found.name, token)
        taken = time.process_time() - begun
        if engine.form == "gbnf":
            spent = 0.0  # a mask of some tokens is no measure of one of all
        found.slowest = max(found.slowest, 1e3 * (spent + taken))
        found.tokens += 1
        if token in STOPS:
            return


def next_token(mask: bytes, chosen: random.Random) -> int:
    def may_follow(token: int) -> bool:
        return token < 8 * len(mask) and bool(mask[token >> 3] >> (token & 7) & 1)

    likely = [token for token in WORDS if may_follow(token)]
    if likely and chosen.random() < 0.9:
        return chosen.choice(likely)
    byte = chosen.choice([at for at, byte in enumerate(mask) if byte])
    return chosen.choice([8 * byte + bit for bit in range(8) if mask[byte] >> bit & 1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", choices=ENGINES, help="one engine only")
    parser.add_argument("--only", default="", help="schemas whose names begin so")
    parser.add_argument("--each", action="store_true", help="a line for each schema")
    asked = parser.parse_args()
    print("| engine | compiled | whole | loosened | seconds to compile | slowest mask, ms |")
    print("|---|---|---|---|---|---|")
    for name in [asked.engine] if asked.engine else ENGINES:
        try:
            engine = ENGINES[name]()
        except ImportError as error:
            print(f"{name}: not installed ({error})", file=sys.stderr)
            continue
        found = [measured(engine, *one) for one in schemas() if one[0].startswith(asked.only)]
        show(name, found, asked.each)


def show(engine: str, found: list[Measured], each: bool) -> None:
    if each:
        for one in found:
            print(one, file=sys.stderr)
    good = [one for one in found if one.error is None]
    whole = sum(not one.loosened for one in good)
    counted = Counter(keyword for one in good for keyword in one.loosened)
    loosened = ", ".join(f"{count} {keyword}" for keyword, count in counted.most_common())
    seconds, masks = [one.compiled for one in good], [one.slowest for one in good]
    print(
        f"| {engine} | {len(good)} of {len(found)} | {whole} | {loosened or 'none'} "
        f"| {statistics.median(seconds):.3f}, at most {max(seconds):.2f} "
        f"| {statistics.median(masks):.1f}, at most {max(masks):.1f} |"
    )


if __name__ == "__main__":
    main()
