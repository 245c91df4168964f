"""`StreamableParser` and its events as Python sees them."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from openai_harmony import (
    Author,
    ContentDelta,
    HarmonyEncoding,
    HarmonyError,
    Message,
    MessageEnd,
    MessageStart,
    Repair,
    Role,
    StreamableParser,
    StreamState,
)

ANSWER = "<|channel|>final<|message|>Hi 🤷!<|return|>"


def ids(encoding: HarmonyEncoding, text: str) -> list[int]:
    return encoding.encode(text, allowed_special="all")


class TestMaking:
    @pytest.mark.parametrize("role", [Role.ASSISTANT, "assistant"])
    def test_takes_roles_and_words(self, encoding: HarmonyEncoding, role: Any) -> None:
        assert StreamableParser(encoding, role).current_role is Role.ASSISTANT
        assert StreamableParser(encoding, role=role).state is StreamState.HEADER

    def test_takes_no_role(self, encoding: HarmonyEncoding) -> None:
        parser = StreamableParser(encoding, None)
        assert parser.current_role is None
        assert parser.state is StreamState.EXPECT_START

    def test_takes_no_others(self, encoding: HarmonyEncoding) -> None:
        with pytest.raises(TypeError, match="encoding"):
            StreamableParser()  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="rôle"):
            StreamableParser(encoding, rôle="user")  # type: ignore[call-arg]

    def test_inner_is_itself(self, encoding: HarmonyEncoding) -> None:
        parser = StreamableParser(encoding, "assistant")
        assert parser._inner is parser


BARE_CALL = "<|channel|>commentary<|message|>x<|end|><|start|>bash<|channel|>commentary <|constrain|>json<|message|>{}<|call|>"


class TestTools:
    """Lenient parsing knows the tools that were offered; tests/repairs.rs has what it does then."""

    def test_distinguish_calls_from_other_words(self, encoding: HarmonyEncoding) -> None:
        tokens = encoding.encode(BARE_CALL, allowed_special="all")
        for tools, recipient in [
            (["functions.bash"], "functions.bash"),
            (["bash"], "functions.bash"),
            (None, None),
            ([], None),
            (iter(["python"]), None),
        ]:
            parser = StreamableParser(encoding, "assistant", strict=False, tools=tools)
            parser.feed(tokens)
            parser.finish()
            assert parser.messages[-1].recipient == recipient, tools
        for tools in (["functions.bash"], ("bash",), {"bash"}):
            whole = encoding.parse_messages_from_completion_tokens(
                tokens, "assistant", strict=False, tools=tools
            )
            messages, repairs, _ = encoding.parse_with_repairs(tokens, "assistant", tools=tools)
            assert whole == messages
            assert whole == encoding.parse_messages_from_text(BARE_CALL, "assistant", tools=tools)
            assert whole[-1].recipient == "functions.bash"
            assert "misplaced_recipient" in [repair.kind for repair in repairs]

    def test_do_not_matter_where_nothing_is_repaired(self, encoding: HarmonyEncoding) -> None:
        tokens = encoding.encode(BARE_CALL, allowed_special="all")
        for strict in (True, None):
            assert encoding.parse_messages_from_completion_tokens(
                tokens,
                "assistant",
                strict=strict,
                tools=["bash"],  # type: ignore[arg-type]
            ) == encoding.parse_messages_from_completion_tokens(tokens, "assistant")

    def test_stay_when_the_parser_is_reset(self, encoding: HarmonyEncoding) -> None:
        tokens = encoding.encode(BARE_CALL, allowed_special="all")
        parser = StreamableParser(encoding, "assistant", strict=False, tools=["bash"])
        for _ in range(2):
            parser.feed(tokens)
            assert parser.messages[-1].recipient == "functions.bash"
            parser.reset()


class TestSpelledMarkers:
    """tests/library/lenient/spelled.rs has the cases."""

    def test_are_read_where_asked(self, encoding: HarmonyEncoding) -> None:
        spelled = encoding.encode(ANSWER, disallowed_special=())
        assert 200005 not in spelled
        parser = StreamableParser(encoding, "assistant", strict=False, spelled_markers=True)
        events = [event for token in spelled for event in parser.feed([token])]
        assert [event.text for event in events if isinstance(event, ContentDelta)] == [
            "Hi",
            " ",
            "🤷",
            "!",
        ]
        assert parser.messages == encoding.parse_messages_from_completion_tokens(
            spelled, "assistant", strict=False, spelled_markers=True
        )
        assert parser.messages[0].channel == "final"
        assert StreamableParser.from_bytes(encoding, parser.to_bytes()).repairs == parser.repairs
        read = encoding.parse_with_repairs(spelled, "assistant", spelled_markers=True)
        assert read == (parser.messages, parser.repairs, [200002])
        assert {(repair.kind, repair.index) for repair in read.repairs} == {
            ("spelled_marker", None)
        }
        [text] = encoding.parse_with_repairs(spelled, "assistant").messages
        assert text.text == ANSWER


class Counting(StreamableParser):
    """As version 0.0.8's users may have written: a constructor with arguments of its own."""

    def __init__(self, encoding: HarmonyEncoding, words: list[str], *, strict: bool = True) -> None:
        super().__init__(encoding, Role.ASSISTANT, strict=strict)
        self.words = words

    def process(self, token: int) -> Counting:
        super().process(token)
        self.words.append(self.last_content_delta or "")
        return self


class TestSubclasses:
    def test_may_have_a_constructor(self, encoding: HarmonyEncoding) -> None:
        parser = Counting(encoding, words=["so far"])
        for token in ids(encoding, ANSWER):
            assert parser.process(token) is parser
        assert "".join(parser.words) == "so farHi 🤷!"
        assert len(parser.messages) == 1

    def test_pass_on_what_they_are_given(self, encoding: HarmonyEncoding) -> None:
        parser = Counting(encoding, [], strict=False)
        parser.feed(ids(encoding, "<|channel|>final<|message|>x<|end|>stray<|start|>user"))
        assert [repair.kind for repair in parser.repairs] == ["stray_text"]

    def test_that_make_no_parser_have_a_blank_one(self, encoding: HarmonyEncoding) -> None:
        class Forgetful(StreamableParser):
            def __init__(self, *_: object) -> None:
                pass

        parser = Forgetful(1, 2)
        assert (parser.state, parser.current_role) == (StreamState.EXPECT_START, None)
        with pytest.raises(HarmonyError):
            parser.process(5)

    def test_initializing_again_makes_a_new_parser(self, encoding: HarmonyEncoding) -> None:
        parser = Counting(encoding, [])
        parser.feed(ids(encoding, ANSWER))
        parser.__init__(encoding, ["again"])  # type: ignore[misc]
        assert (parser.messages, parser.tokens, parser.words) == ([], [], ["again"])


class TestCopies:
    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
    def test_are_independent(self, encoding: HarmonyEncoding, copied: Any) -> None:
        tokens = ids(encoding, ANSWER)
        parser = StreamableParser(encoding, "assistant")
        parser.feed(tokens[:4])
        other = copied(parser)
        assert type(other) is StreamableParser
        assert other.feed(tokens[4:]) == parser.feed(tokens[4:])
        other.feed(ids(encoding, "<|start|>user<|message|>x<|end|>"))
        assert (len(parser.messages), len(other.messages)) == (1, 2)

    def test_keep_class_and_attributes(self, encoding: HarmonyEncoding) -> None:
        parser = Counting(encoding, ["word"], strict=False)
        parser.itself = parser  # type: ignore[attr-defined]
        shallow, deep = copy.copy(parser), copy.deepcopy(parser)
        assert type(shallow) is type(deep) is Counting
        assert shallow.words is parser.words
        assert deep.words == parser.words
        assert deep.words is not parser.words
        assert deep.itself is deep  # type: ignore[attr-defined]


class TestProcess:
    def test_returns_the_parser_and_shows_each_step(self, encoding: HarmonyEncoding) -> None:
        parser = StreamableParser(encoding, Role.ASSISTANT)
        seen = []
        for token in ids(encoding, ANSWER):
            assert parser.process(token) is parser
            seen.append((parser.state, parser.current_channel, parser.last_content_delta))
        assert seen[2:5] == [
            (StreamState.CONTENT, "final", None),
            (StreamState.CONTENT, "final", "Hi"),
            (StreamState.CONTENT, "final", " "),
        ]
        assert parser.process_eos() is parser
        assert parser.tokens == ids(encoding, ANSWER)
        assert parser.messages == [
            Message.from_role_and_content("assistant", "Hi 🤷!").with_channel("final")
        ]
        assert parser.current_content == ""
        assert parser.current_recipient is parser.current_content_type is None

    def test_state_data(self, encoding: HarmonyEncoding) -> None:
        parser = StreamableParser(encoding, None)
        assert parser.state_data == {"state": "ExpectStart"}
        parser.feed(ids(encoding, "<|start|>functions.f to=assistant<|channel|>"))
        assert parser.state_data["state"] == "Header"
        parser.feed(ids(encoding, "final json<|message|>x"))
        assert parser.state_data == {
            "state": "Content",
            "header": {
                "author": {"role": "tool", "name": "functions.f"},
                "recipient": "assistant",
                "channel": "final",
                "content_type": "json",
            },
            "content_tokens": ids(encoding, "x"),
        }

    def test_takes_objects_that_convert_to_ints(self, encoding: HarmonyEncoding) -> None:
        parser = StreamableParser(encoding, "assistant")
        for token in np.array(ids(encoding, ANSWER)):
            parser.process(token)
        assert len(parser.messages) == 1

    def test_errors_say_kind_and_token(self, encoding: HarmonyEncoding) -> None:
        parser = StreamableParser(encoding, "assistant")
        parser.feed(ids(encoding, ANSWER))
        with pytest.raises(HarmonyError, match="Unexpected token 5 while expecting") as caught:
            parser.process(5)
        assert (caught.value.kind, caught.value.token_index) == (
            "unexpected_token",
            len(parser.tokens) - 1,
        )
        assert len(parser.messages) == 1
        parser.process(200006)
        with pytest.raises(HarmonyError, match="Unexpected EOS") as caught:
            parser.process_eos()
        assert caught.value.kind == "unexpected_eos"

    def test_messages_are_new_each_time(self, encoding: HarmonyEncoding) -> None:
        parser = StreamableParser(encoding, "assistant")
        parser.feed(ids(encoding, ANSWER))
        parser.messages[0].channel = "changed"
        parser.messages.clear()
        assert parser.messages[0].channel == "final"

    def test_messages_are_those_of_the_tokens_since_the_last_reset(
        self, encoding: HarmonyEncoding
    ) -> None:
        def texts(parser: StreamableParser) -> list[str]:
            return [message.content[0].text for message in parser.messages]  # type: ignore[attr-defined]

        parser = StreamableParser(encoding, Role.ASSISTANT)
        parser.feed(ids(encoding, ANSWER))
        assert texts(parser) == ["Hi 🤷!"]
        parser.feed(ids(encoding, "<|start|>user<|message|>Bye<|end|>"))
        assert texts(parser) == ["Hi 🤷!", "Bye"]
        other = copy.copy(parser)
        other.reset(Role.USER).feed(ids(encoding, "<|message|>New<|end|>"))
        assert (texts(other), texts(parser)) == (["New"], ["Hi 🤷!", "Bye"])
        parser.__init__(encoding, Role.USER)  # type: ignore[misc]
        assert texts(parser) == []


class TestFeed:
    def test_returns_what_happened(self, encoding: HarmonyEncoding) -> None:
        parser = StreamableParser(encoding, "assistant")
        events = parser.feed(ids(encoding, ANSWER)) + parser.finish()
        assert events == [
            MessageStart(Author(role=Role.ASSISTANT, name=None), "final", None, None, (0, 3), 0),
            ContentDelta("Hi 🤷!", (3, len(parser.tokens) - 1), 0),
            MessageEnd(200002, (len(parser.tokens) - 1, len(parser.tokens)), 0),
        ]
        assert (
            b"".join(encoding.decode_bytes(parser.tokens[slice(*event.span)]) for event in events)
            == ANSWER.encode()
        )

    @pytest.mark.parametrize("kind", [list, tuple, np.array, iter])
    def test_takes_any_ints(self, encoding: HarmonyEncoding, kind: Any) -> None:
        tokens = ids(encoding, ANSWER)
        events = StreamableParser(encoding, "assistant").feed(kind(tokens))
        assert events == StreamableParser(encoding, "assistant").feed(tokens)

    def test_an_error_keeps_the_events_before_it(self, encoding: HarmonyEncoding) -> None:
        parser = StreamableParser(encoding, "assistant")
        with pytest.raises(HarmonyError) as caught:
            parser.feed([*ids(encoding, ANSWER), 5, *ids(encoding, "<|start|>")])
        index = caught.value.token_index
        assert index == len(ids(encoding, ANSWER))
        assert [type(event) for event in parser.feed([])] == [
            MessageStart,
            ContentDelta,
            MessageEnd,
        ]
        parser.feed(ids(encoding, "<|start|>user<|message|>x<|end|>"))
        assert len(parser.messages) == 2

    def test_nothing_follows_the_end_but_a_reset(self, encoding: HarmonyEncoding) -> None:
        parser = StreamableParser(encoding, "assistant")
        parser.feed(ids(encoding, ANSWER))
        parser.finish()
        with pytest.raises(HarmonyError) as caught:
            parser.feed([200006])
        assert caught.value.kind == "finished"
        assert parser.reset() is parser
        assert (parser.tokens, parser.messages, parser.current_role) == ([], [], Role.ASSISTANT)
        assert parser.reset("user").current_role is Role.USER

    def test_may_be_called_while_its_events_are_read(self, encoding: HarmonyEncoding) -> None:
        parser = StreamableParser(encoding, "assistant")
        events = parser.feed(ids(encoding, ANSWER))
        for _ in events:
            parser.feed(ids(encoding, "<|start|>user<|message|>x<|end|>"))
        assert len(parser.messages) == 1 + len(events)

    def test_tokens_may_look_at_the_parser(self, encoding: HarmonyEncoding) -> None:
        parser = StreamableParser(encoding, "assistant")
        seen = []

        def tokens() -> Any:
            for token in ids(encoding, ANSWER):
                seen.append((parser.state, parser.tokens))
                yield token

        parser.feed(tokens())
        # All are read before any is parsed.
        assert seen == [(StreamState.HEADER, [])] * len(ids(encoding, ANSWER))
        assert len(parser.messages) == 1

    def test_tokens_may_be_parsed_as_they_are_read(self, encoding: HarmonyEncoding) -> None:
        parser = StreamableParser(encoding, "assistant")
        first, second = (ids(encoding, text) for text in ("<|channel|>final", "<|message|>x"))

        def tokens() -> Any:
            for token in first:
                parser.process(token)
            yield from second

        parser.feed(tokens())
        assert parser.tokens == first + second
        assert (parser.current_channel, parser.current_content) == ("final", "x")

    def test_an_interrupted_read_consumes_nothing(self, encoding: HarmonyEncoding) -> None:
        class Interrupted:
            def __index__(self) -> int:
                raise KeyboardInterrupt

        parser = StreamableParser(encoding, "assistant")
        with pytest.raises(KeyboardInterrupt):
            parser.process(Interrupted())  # type: ignore[arg-type]
        with pytest.raises(KeyboardInterrupt):
            parser.feed([200005, Interrupted()])  # type: ignore[list-item]
        assert parser.tokens == []

    def test_a_header_is_known_as_long_as_its_text_comes(self, encoding: HarmonyEncoding) -> None:
        parser = StreamableParser(encoding, "assistant", strict=False)
        for token in ids(encoding, "<|channel|>final an answer<|return|>"):
            parser.process(token)
        assert parser.messages[0].channel == "final"
        assert (parser.last_content_delta, parser.current_channel) == ("an answer", "final")
        parser.process_eos()
        assert (parser.last_content_delta, parser.current_channel) == (None, None)

    def test_parsing_is_strict_by_default(self, encoding: HarmonyEncoding) -> None:
        for strict in (None, True):
            with pytest.raises(HarmonyError):
                StreamableParser(encoding, None, strict=strict).process(5)  # type: ignore[arg-type]

    def test_repairs(self, encoding: HarmonyEncoding) -> None:
        parser = StreamableParser(encoding, "assistant", strict=False)
        events = parser.feed(ids(encoding, "<|channel|>final<|message|>x<|end|>stray<|start|>user"))
        [repair] = [event for event in events if isinstance(event, Repair)]
        assert (repair.kind, repair.text, repair.index) == ("stray_text", "stray", None)
        assert parser.repairs == [repair]


IN_USE = "the parser is in use by another call"


class TestThreads:
    def test_one_parser_gives_an_error_or_all_tokens(self, encoding: HarmonyEncoding) -> None:
        parser = StreamableParser(encoding, None, strict=False)
        tokens = ids(encoding, "<|start|>user<|message|>some words<|end|>") * 500
        fed, refused = [], []

        def feed() -> None:
            for _ in range(10):
                try:
                    parser.feed(tokens)
                    fed.append(1)
                except RuntimeError as error:
                    refused.append(str(error))

        threads = [threading.Thread(target=feed) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(fed) + len(refused) == 40
        assert len(parser.tokens) == len(fed) * len(tokens)
        assert set(refused) <= {IN_USE}

    def test_a_parser_in_use_raises_a_clear_error(self, encoding: HarmonyEncoding) -> None:
        tokens = ids(encoding, "<|start|>user<|message|>some words<|end|>") * 30_000
        uses: list[Callable[[StreamableParser], object]] = [
            lambda parser: parser.process(200006),
            lambda parser: parser.process_eos(),
            lambda parser: parser.feed([]),
            lambda parser: parser.finish(),
            lambda parser: parser.reset(),
            lambda parser: parser.current_content,
            copy.copy,
        ]
        for use in uses:
            assert used_while_feeding(StreamableParser(encoding, None), tokens, use) == IN_USE


def used_while_feeding(
    parser: StreamableParser, tokens: list[int], use: Callable[[StreamableParser], object]
) -> str:
    """The error of a parser that is used while another thread feeds it tokens."""
    for _ in range(20):  # The thread may have been done before its parser could be used.
        thread = threading.Thread(target=parser.feed, args=(tokens,))
        thread.start()
        try:
            while thread.is_alive():
                assert parser.state  # Raises once the thread is at work.
        except RuntimeError:
            try:
                use(parser)
            except RuntimeError as error:
                return str(error)
        finally:
            thread.join()
        parser.reset()
    return "no error"


EVENTS: list[Any] = [
    MessageStart(Author(role=Role.USER), "c", None, None, (0, 3), 0),
    ContentDelta("text", (3, 4), 0),
    MessageEnd(None, (4, 4), 0),
    Repair("stray_text", "x", (5, 6), None),
]


class TestEvents:
    @pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
    def test_are_values(self, event: Any) -> None:
        assert pickle.loads(pickle.dumps(event)) == event
        assert repr(event).startswith(f"{type(event).__name__}(")
        assert f"span={event.span}, index={event.index})" in repr(event)
        assert all((event == other) == (event is other) for other in EVENTS)
        assert event != "text"
        with pytest.raises(AttributeError):
            event.span = (0, 1)
        with pytest.raises(TypeError, match="unhashable"):
            hash(event)

    def test_are_matched_by_their_first_fields(self) -> None:
        assert MessageStart.__match_args__ == ("author", "channel", "recipient", "content_type")
        assert ContentDelta.__match_args__ == ("text",)
        assert MessageEnd.__match_args__ == ("stop_token",)
        assert Repair.__match_args__ == ("kind", "text")


def test_a_parser_shows_its_state(encoding: HarmonyEncoding) -> None:
    parser = StreamableParser(encoding, "assistant", strict=False)
    assert repr(parser) == "<StreamableParser: header, 0 messages, 0 repairs>"
    text = "<|channel|>analysis Hm<|end|><|start|>assistant<|channel|>final<|message|>Ye"
    parser.feed(encoding.encode(text, allowed_special="all"))
    expected = "<StreamableParser: in content of assistant final, 1 message, 1 repair>"
    assert repr(parser) == expected


class TestSaving:
    def test_a_parser_goes_on_where_it_was(self, encoding: HarmonyEncoding) -> None:
        text = "<|channel|>analysis<|message|>Hm.<|end|>stray<|start|>assistant<|channel|>final Hi"
        tokens = encoding.encode(text + "<|return|>", allowed_special="all")
        for cut in range(len(tokens) + 1):
            stayed = StreamableParser(encoding, Role.ASSISTANT, strict=False, tools=["f"])
            before = stayed.feed(tokens[:cut])
            moved = StreamableParser.from_bytes(encoding, stayed.to_bytes())
            assert (moved.messages, moved.repairs) == (stayed.messages, stayed.repairs)
            assert repr(moved) == repr(stayed)
            after = moved.feed(tokens[cut:]) + moved.finish()
            assert after == stayed.feed(tokens[cut:]) + stayed.finish(), before

    def test_a_subclass_goes_on_as_itself(self, encoding: HarmonyEncoding) -> None:
        class Own(StreamableParser):
            def __init__(self, name: str) -> None:
                super().__init__(encoding, Role.ASSISTANT)
                self.name = name

        own = Own("a")
        own.feed([200005, 17196, 200008, 19])
        resumed = Own.from_bytes(encoding, own.to_bytes())
        assert (type(resumed), resumed.current_content) == (Own, "4")

    def test_other_bytes_are_refused(self, encoding: HarmonyEncoding) -> None:
        with pytest.raises(HarmonyError, match="not a saved parser: missing field") as raised:
            StreamableParser.from_bytes(encoding, b"{}")
        assert raised.value.kind == "invalid_state"
        with pytest.raises(TypeError):
            StreamableParser.from_bytes(encoding, cast(bytes, "{}"))
