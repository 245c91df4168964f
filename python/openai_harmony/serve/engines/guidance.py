"""llguidance as a logits processor for `transformers`."""

from __future__ import annotations

from functools import cache
from typing import Any

from openai_harmony._extras import needed
from openai_harmony.encoding import HarmonyEncodingName, load_harmony_encoding
from openai_harmony.errors import HarmonyError

SIZE = 201_088
"""How many tokens gpt-oss has."""


class Guidance:
    """Refuses all tokens but those of the grammar, for one answer."""

    def __init__(self, lark: str, prompt: int) -> None:
        """After a prompt of ``prompt`` tokens.

        ``HarmonyError`` for a schema that llguidance cannot enforce.
        """
        llguidance = needed("llguidance", "transformers")
        self._numpy = needed("numpy", "transformers")
        self._torch = needed("torch", "transformers")
        self._matcher = llguidance.LLMatcher(vocabulary(), lark)
        self._read = prompt
        if error := self._matcher.get_error():
            raise HarmonyError(f"llguidance: {error}", "invalid_grammar")

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """The scores, with minus infinity for each token that may not follow."""
        numpy, torch = self._numpy, self._torch
        new = input_ids[0, self._read :].tolist()
        self._read += len(new)
        self._matcher.consume_tokens(new)
        if self._matcher.is_stopped():
            return scores
        mask = numpy.frombuffer(self._matcher.compute_bitmask(), numpy.uint8)
        bits = numpy.unpackbits(mask, count=scores.shape[-1], bitorder="little")
        refused = torch.from_numpy(bits == 0).to(scores.device)
        return scores.masked_fill(refused, float("-inf"))


@cache
def vocabulary() -> Any:
    """The tokens as llguidance reads them, which takes half a second."""
    llguidance = needed("llguidance", "transformers")
    encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)

    class Vocabulary:
        eos_token_id = encoding.special_token("<|endoftext|>")
        bos_token_id = None
        special_token_ids = [n for n in range(SIZE) if encoding.is_special_token(n)]  # noqa: RUF012
        tokens = [bytes(encoding.decode_bytes([n])) for n in range(SIZE)]  # noqa: RUF012

        def __call__(self, text: bytes) -> list[int]:
            """What llguidance asks to find the tokens of a text that is forced."""
            return encoding.encode(text.decode(), disallowed_special=())

    return llguidance.LLTokenizer(llguidance.TokenizerWrapper(Vocabulary()))
