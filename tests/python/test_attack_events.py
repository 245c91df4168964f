"""Events hold values of fixed types: they cannot be nested, nor be part of a cycle."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from openai_harmony import Author, ContentDelta, MessageEnd, MessageStart, Repair, Role

USER = Author(role=Role.USER)
END = MessageEnd(None, (0, 0), 0)


class TestFields:
    @pytest.mark.parametrize(
        "make",
        [
            lambda nested: MessageStart(nested, None, None, None, (0, 1), 0),
            lambda nested: MessageStart(USER, nested, None, None, (0, 1), 0),
            lambda nested: MessageStart(USER, None, nested, None, (0, 1), 0),
            lambda nested: MessageStart(USER, None, None, nested, (0, 1), 0),
            lambda nested: ContentDelta(nested, (0, 1), 0),
            lambda nested: MessageEnd(nested, (0, 1), 0),
            lambda nested: MessageEnd(None, nested, 0),
            lambda nested: MessageEnd(None, (nested, 1), 0),
            lambda nested: MessageEnd(None, (0, 1), nested),
            lambda nested: Repair(nested, "", (0, 1), 0),
            lambda nested: Repair("kind", nested, (0, 1), 0),
            lambda nested: Repair("kind", "", (0, 1), nested),
        ],
    )
    @pytest.mark.parametrize("nested", [END, [], object()], ids=["event", "list", "object"])
    def test_events_refuse_other_objects(
        self, make: Callable[[Any], object], nested: object
    ) -> None:
        with pytest.raises(TypeError):
            make(nested)

    def test_the_author_is_copied(self) -> None:
        author = Author(role=Role.TOOL, name="a")
        event = MessageStart(author, None, None, None, (0, 1), 0)
        # What would be a cycle.
        author.name = event  # type: ignore[assignment]
        assert event.author == Author(role=Role.TOOL, name="a")

    def test_a_string_of_a_subclass_is_copied(self) -> None:
        class Text(str):
            pass

        text = Text("text")
        event = ContentDelta(text, (0, 1), 0)
        text.event = event  # type: ignore[attr-defined]
        assert type(event.text) is str

    def test_an_author_that_is_not_one_is_named(self) -> None:
        with pytest.raises(TypeError, match="author: expected an Author, got MessageEnd"):
            MessageStart(END, None, None, None, (0, 1), 0)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        "event",
        [
            MessageStart(USER, "final", "all", "json", (0, 3), 7),
            ContentDelta("Hello 🤷", (3, 4), 7),
            MessageEnd(200002, (4, 5), 7),
            Repair("stray_text", "x", (5, 6), None),
        ],
    )
    def test_copies_are_equal(self, event: object) -> None:
        for copied in (copy.copy(event), copy.deepcopy(event), pickle.loads(pickle.dumps(event))):
            assert copied == event
            assert repr(copied) == repr(event)
        assert event != END
