"""What lenient parsing returns beside messages; test_conformance.py has the cases."""

from __future__ import annotations

import pytest

from openai_harmony import StreamableParser, WrongTypeError, load_harmony_encoding


def test_a_call_that_was_cut_off_has_no_stop_token() -> None:
    encoding = load_harmony_encoding("HarmonyGptOss")
    thought = "<|channel|>analysis<|message|>t<|end|><|start|>assistant"
    call = "<|channel|>commentary to=functions.f<|message|>{}<|call|>"
    tokens = encoding.encode(thought + call, allowed_special="all")
    assert encoding.parse_with_repairs(tokens, "assistant").stop_tokens == [200007, 200012]
    assert encoding.parse_with_repairs(tokens[:-1], "assistant").stop_tokens == [200007, None]
    # The next message begins without it, and a header has no <|message|>.
    text = "<|channel|>analysis<|message|>t<|start|>assistant<|channel|>final Yes<|return|>"
    tokens = encoding.encode(text, allowed_special="all")
    assert encoding.parse_with_repairs(tokens, "assistant").stop_tokens == [None, 200002]
    parser = StreamableParser(encoding, "assistant")
    parser.feed(tokens[:4])
    assert parser.stop_tokens == []
    assert parser.reset().stop_tokens == []


def test_well_formed_tokens_have_no_repairs() -> None:
    encoding = load_harmony_encoding("HarmonyGptOss")
    text = "<|channel|>final<|message|>Hi<|return|>"
    messages, repairs, stop_tokens = encoding.parse_with_repairs(
        iter(encoding.encode(text, allowed_special="all")), "assistant"
    )
    assert [message.text for message in messages] == ["Hi"]
    assert repairs == []
    assert stop_tokens == [200002]
    assert encoding.parse_with_repairs([]) == ([], [], [])
    with pytest.raises(WrongTypeError, match="role"):
        encoding.parse_with_repairs([], 3)  # type: ignore[arg-type]
