"""Loss masks as Python sees them; tests/library/mask_laws.rs and test_oracle_masks.py have their law."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from openai_harmony import (
    Author,
    Conversation,
    HarmonyEncoding,
    HeaderStyle,
    Message,
    MessageSpan,
    Prefill,
    RenderConversationConfig,
    Rendered,
    Role,
)
from openai_harmony.training import LossMask

KEEP = RenderConversationConfig(auto_drop_analysis=False)
COMPLETED = RenderConversationConfig(thoughts="drop")


def user(text: str = "?") -> Message:
    return Message.from_role_and_content(Role.USER, text)


def said(text: str, channel: str | None = None, recipient: str | None = None) -> Message:
    message = Message.from_role_and_content(Role.ASSISTANT, text)
    message.channel, message.recipient = channel, recipient
    return message


def result(text: str, name: str = "functions.f") -> Message:
    return Message.from_author_and_content(Author.new(Role.TOOL, name), text)


def marked(encoding: HarmonyEncoding, rendered: Rendered, mask: LossMask | None = None) -> str:
    """The text, with what is trained in brackets."""
    trained = rendered.loss_mask(mask)
    shown, before = "", 0
    for token, now in zip(rendered, trained):
        shown += ("", "⟦", "⟧")[now - before] + encoding.decode([token])
        before = now
    return shown + "⟧" * before


def of(encoding: HarmonyEncoding, *messages: Message, **options: Any) -> str:
    """The marked text of these messages, with all that they say."""
    options = {"ending": "training", "config": KEEP, **options}
    mask = options.pop("mask", None)
    conversation = Conversation.from_messages(messages)
    return marked(encoding, encoding.render_with_spans(conversation, **options), mask)


TURN = [
    user("1?"),
    said("Think.", "analysis"),
    said("{}", "commentary", "functions.f"),
    result("42"),
    said("It is.", "final"),
]


def test_a_turn_with_a_call(encoding: HarmonyEncoding) -> None:
    assert of(encoding, *TURN) == (
        "<|start|>user<|message|>1?<|end|><|start|>assistant"
        "⟦<|channel|>analysis<|message|>Think.<|end|>"
        "<|start|>assistant to=functions.f<|channel|>commentary<|message|>{}<|call|>⟧"
        "<|start|>functions.f<|message|>42<|end|><|start|>assistant"
        "⟦<|channel|>final<|message|>It is.<|return|>⟧"
    )


@pytest.mark.parametrize(
    ("style", "call"),
    [
        (HeaderStyle.RECIPIENT_IN_ROLE, "⟦ to=f<|channel|>commentary<|message|>{}<|call|>⟧"),
        (HeaderStyle.RECIPIENT_IN_CHANNEL, "⟦<|channel|>commentary to=f<|message|>{}<|call|>⟧"),
    ],
)
def test_the_recipient_is_sampled_wherever_it_stands(
    encoding: HarmonyEncoding, style: HeaderStyle, call: str
) -> None:
    config = RenderConversationConfig(header_style=style)
    shown = of(encoding, said("{}", "commentary", "f"), config=config)
    assert shown == f"<|start|>assistant{call}"


A = "<|start|>assistant"
ENDS = [
    # An answer in a history was ended with `<|return|>`, and the next is prompted for again.
    ([said("a", "final"), said("b", "final")], f"{A}⟦<|channel|>final<|message|>a⟧<|end|>{A}⟦<|channel|>final<|message|>b<|return|>⟧"),
    # Sampling stops at a call, to whomever it is.
    ([said("a", None, "f"), said("b", "final")], f"{A}⟦ to=f<|message|>a<|call|>⟧{A}⟦<|channel|>final<|message|>b<|return|>⟧"),
    ([said("a", None, "all"), said("b")], f"{A}⟦<|message|>a<|call|>⟧{A}⟦<|message|>b<|end|>⟧"),
    ([said("a", None, "assistant"), said("b")], f"{A}⟦ to=assistant<|message|>a<|call|>⟧{A}⟦<|message|>b<|end|>⟧"),
    # Without a channel nothing says that the model stopped.
    ([said("a"), said("b")], f"{A}⟦<|message|>a<|end|>{A}<|message|>b<|end|>⟧"),
    # A turn that was broken off.
    ([said("a", "analysis"), user("u"), said("b")], f"{A}⟦<|channel|>analysis<|message|>a<|end|>⟧<|start|>user<|message|>u<|end|>{A}⟦<|message|>b<|end|>⟧"),
    # A tool's result is never sampled, whatever the tool is named.
    ([result("a", "assistant"), said("b")], f"{A}<|message|>a<|end|>{A}⟦<|message|>b<|end|>⟧"),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "expected"), ENDS)
def test_where_sampling_begins_and_ends(
    encoding: HarmonyEncoding, messages: list[Message], expected: str
) -> None:
    assert of(encoding, *messages) == expected


def test_a_history_ends_without_what_was_sampled(encoding: HarmonyEncoding) -> None:
    expected = f"{A}⟦<|channel|>final<|message|>a⟧<|end|>"
    assert of(encoding, said("a", "final"), ending="none") == expected
    assert of(encoding, said("a", "final"), ending="completion") == expected + A
    prefill = Prefill(channel="final", text="b")
    shown = of(encoding, said("a", "final"), ending="completion", prefill=prefill)
    assert shown == f"{expected}{A}<|channel|>final<|message|>b"


def test_a_thought_that_was_dropped_leaves_a_prompt_behind(encoding: HarmonyEncoding) -> None:
    again = [*TURN[:2], TURN[4], user("2?"), said("Well.", "analysis"), said("Yes.", "final")]
    assert of(encoding, *again, config=COMPLETED) == (
        "<|start|>user<|message|>1?<|end|><|start|>assistant"
        "⟦<|channel|>final<|message|>It is.⟧<|end|>"
        "<|start|>user<|message|>2?<|end|><|start|>assistant"
        "⟦<|channel|>analysis<|message|>Well.<|end|>"
        "<|start|>assistant<|channel|>final<|message|>Yes.<|return|>⟧"
    )


@pytest.mark.parametrize(
    ("mask", "trained"),
    [
        (LossMask(), "⟦<|channel|>analysis<|message|>Think.<|end|><|start|>assistant to=functions.f<|channel|>commentary<|message|>{}<|call|>⟧⟦<|channel|>final<|message|>It is.<|return|>⟧"),
        (LossMask(channels=["final"]), "⟦<|channel|>final<|message|>It is.<|return|>⟧"),
        (LossMask(channels=["commentary"]), "⟦<|start|>assistant to=functions.f<|channel|>commentary<|message|>{}<|call|>⟧"),
        (LossMask(channels=["commentary", "final"], headers=False), "⟦{}<|call|>⟧⟦It is.<|return|>⟧"),
        (LossMask(stop_tokens=False, headers=False), "⟦Think.⟧⟦{}⟧⟦It is.⟧"),
        (LossMask(channels=["final"], stop_tokens=False), "⟦<|channel|>final<|message|>It is.⟧"),
    ],
)  # fmt: skip
def test_options_leave_out_what_they_say(
    encoding: HarmonyEncoding, mask: LossMask, trained: str
) -> None:
    shown = of(encoding, *TURN, mask=mask)
    assert "".join("⟦" + part.split("⟧")[0] + "⟧" for part in shown.split("⟦")[1:]) == trained


def test_the_last_turn_is_behind_the_last_user(encoding: HarmonyEncoding) -> None:
    last = LossMask(turns="last")
    first = of(encoding, *TURN, ending="none").replace("⟦", "").replace("⟧", "")
    assert of(encoding, *TURN, *TURN, mask=last) == first + of(encoding, *TURN)
    # Without a user there is one turn; behind a user who was not answered there is nothing.
    assert of(encoding, *TURN[1:], mask=last) == of(encoding, *TURN[1:])
    asked = Conversation.from_messages([*TURN, user("2?")])
    assert not any(encoding.render_with_spans(asked, KEEP).loss_mask(last))
    # A user's message that only begins is none yet.
    begun = of(encoding, *TURN, ending="completion", role="user")
    assert of(encoding, *TURN, ending="completion", role="user", mask=last) == begun


def test_numpy_takes_it_without_a_copy(encoding: HarmonyEncoding) -> None:
    rendered = encoding.render_with_spans(Conversation.from_messages(TURN), ending="training")
    mask = rendered.loss_mask()
    array = np.asarray(mask)
    assert (array.dtype, array.shape) == (np.uint8, (len(rendered),))
    assert np.shares_memory(array, np.frombuffer(mask, dtype=np.uint8))
    assert array.tolist() == list(mask)
    assert set(mask) == {0, 1}


def test_copies_and_pickles_have_the_same_mask(encoding: HarmonyEncoding) -> None:
    rendered = encoding.render_with_spans(Conversation.from_messages(TURN), ending="training")
    for same in (copy.copy(rendered), pickle.loads(pickle.dumps(rendered))):
        assert same.loss_mask() == rendered.loss_mask()
    mask = LossMask(channels=["final"], turns="last")
    assert pickle.loads(pickle.dumps(mask)) == mask
    assert LossMask.model_validate_json(mask.model_dump_json()) == mask
    assert hash(mask) == hash(LossMask(channels=("final",), turns="last"))


def test_a_mask_does_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        LossMask().headers = False  # type: ignore[misc]


def test_what_was_changed_has_no_mask(encoding: HarmonyEncoding) -> None:
    def fresh() -> Rendered:
        return encoding.render_with_spans(Conversation.from_messages(TURN))

    rendered = fresh()
    rendered.append(1)
    with pytest.raises(ValueError, match="^spans: a loss mask needs the tokens and spans as"):
        rendered.loss_mask()
    rendered = fresh()
    rendered.spans.pop()
    with pytest.raises(ValueError, match="^spans: "):
        rendered.loss_mask()
    rendered = fresh()
    rendered.spans[1] = MessageSpan(1, 3, 2, 4, 5)
    with pytest.raises(ValueError, match=r"^spans\[1\]: "):
        rendered.loss_mask()
    with pytest.raises(ValueError, match=r"^spans\[0\]: "):
        Rendered(fresh(), fresh().spans).loss_mask()
    assert Rendered().loss_mask() == b""
