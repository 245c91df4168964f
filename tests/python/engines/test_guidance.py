"""llguidance as a processor of logits, without a model. `make test-engines`."""

from __future__ import annotations

import pytest

pytest.importorskip("llguidance", reason="make test-engines installs llguidance")
pytest.importorskip("torch", reason="make test-engines installs PyTorch")

import torch

from gateways import ENCODING
from openai_harmony import HarmonyError
from openai_harmony.serve.engines.guidance import SIZE, Guidance, vocabulary

PROMPT = [200006, 1428]
RETURN = 200002


def follow(guidance: Guidance, sampled: list[int]) -> set[int]:
    """What may follow, by the scores, of which none but those of refused tokens changes."""
    scores = torch.arange(SIZE, dtype=torch.float32)[None]
    left = guidance(torch.tensor([PROMPT + sampled]), scores)[0]
    kept = left != float("-inf")
    assert torch.equal(left[kept], scores[0][kept])
    return set(torch.nonzero(kept)[:, 0].tolist())


def test_only_what_the_grammar_lets_through_follows() -> None:
    guidance = Guidance(f"start: /x|ab/ <[{RETURN}]>", len(PROMPT))
    x, a, b, both = (ENCODING.encode(text)[0] for text in ("x", "a", "b", "ab"))
    assert follow(guidance, []) == {x, a, both}
    # A step may bring several tokens.
    assert follow(guidance, [a, b]) == {RETURN}
    # After its end nothing is refused.
    assert follow(guidance, [a, b, RETURN]) == set(range(SIZE))


def test_a_step_may_bring_nothing() -> None:
    guidance = Guidance(f'start: "ab" <[{RETURN}]>', len(PROMPT))
    assert follow(guidance, []) == follow(guidance, [])


def test_a_grammar_that_it_does_not_read() -> None:
    with pytest.raises(HarmonyError, match="^llguidance: "):
        Guidance("start: nothing_of_that_name", 0)


@pytest.mark.parametrize("text", ["Hello, world", "Straße 😀", "<|end|>"])
def test_forced_text_has_the_tokens_of_the_encoding(text: str) -> None:
    expected = ENCODING.encode(text, disallowed_special=())
    assert vocabulary().tokenize_str(text) == expected
    assert vocabulary().tokenize_bytes(text.encode()) == expected
