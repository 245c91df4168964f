"""`HarmonyEncoding` as Python sees it: arguments, errors, copies, threads."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
from array import array
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum
from typing import Any

import numpy as np
import pytest
from typing_extensions import Self

from openai_harmony import (
    Author,
    Conversation,
    DeveloperContent,
    HarmonyEncoding,
    HarmonyEncodingName,
    HarmonyError,
    HeaderStyle,
    Message,
    RenderConversationConfig,
    RenderOptions,
    Role,
    SystemContent,
    TextContent,
    ThoughtPolicy,
    ToolDescription,
    ToolSchemaStyle,
    WrongTypeError,
    load_harmony_encoding,
)
from tables import table


class Own(HarmonyEncoding):
    """With a constructor of its own, as subclasses have."""

    def __new__(cls, name: str, factor: int = 1) -> Self:
        return super().__new__(cls, name)

    def __init__(self, name: str, factor: int = 1) -> None:
        self.factor = factor


class TestLoading:
    def test_by_name_and_by_member(self) -> None:
        by_name = load_harmony_encoding("HarmonyGptOss")
        assert by_name.name == "HarmonyGptOss"
        assert by_name.n_vocab == 201_088
        member = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
        assert member.encode("x") == by_name.encode("x")

    def test_from_many_threads(self) -> None:
        with ThreadPoolExecutor(8) as threads:
            loaded = list(threads.map(lambda _: load_harmony_encoding("HarmonyGptOss"), range(64)))
        assert {one.name for one in loaded} == {"HarmonyGptOss"}

    def test_copies_and_pickles(self, encoding: HarmonyEncoding) -> None:
        assert copy.copy(encoding) is copy.deepcopy(encoding) is encoding
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            other = pickle.loads(pickle.dumps(encoding, protocol))
            assert type(other) is HarmonyEncoding
            assert other.name == encoding.name
            own = pickle.loads(pickle.dumps(Own("HarmonyGptOss", 3), protocol))
            assert (type(own), own.name, own.factor) == (Own, encoding.name, 3)

    def test_inner_is_itself(self, encoding: HarmonyEncoding) -> None:
        assert encoding._inner is encoding

    def test_takes_attributes(self) -> None:
        encoding = HarmonyEncoding("HarmonyGptOss")
        encoding.nickname = "o200k"  # type: ignore[attr-defined]
        assert encoding.nickname == "o200k"  # type: ignore[attr-defined]


class TestText:
    def test_special_names_are_refused_unless_allowed(self, encoding: HarmonyEncoding) -> None:
        text = "a<|start|>b"
        ordinary = encoding.encode_ordinary(text)
        assert 200006 not in ordinary
        assert encoding.encode(text, disallowed_special=()) == ordinary
        assert encoding.encode(text, disallowed_special=set()) == ordinary
        for allowed in ("all", {"<|start|>"}, frozenset(["<|start|>"]), ["<|start|>"]):
            assert encoding.encode(text, allowed_special=allowed) == [64, 200006, 65]
        with pytest.raises(HarmonyError, match="disallowed special token '<|start|>'") as caught:
            encoding.encode(text)
        assert caught.value.kind == "disallowed_special"

    @pytest.mark.parametrize("word", ["none", "<|start|>", ""])
    def test_a_word_that_is_not_all_names_its_letters(
        self, encoding: HarmonyEncoding, word: str
    ) -> None:
        text = "a<|start|>b"
        ordinary = encoding.encode_ordinary(text)
        assert encoding.encode(text, allowed_special=word, disallowed_special=()) == ordinary
        with pytest.raises(HarmonyError, match="disallowed special token '<|start|>'"):
            encoding.encode(text, allowed_special=word)
        batch = encoding.encode_batch([text], allowed_special=word, disallowed_special="xyz")
        assert batch.tokens.tolist() == ordinary

    def test_special_token_names(self, encoding: HarmonyEncoding) -> None:
        names = encoding.special_tokens_set
        assert type(names) is set
        assert len(names) == 1091
        assert encoding.special_tokens_set is names
        assert {"<|start|>", "<|reserved_201088|>"} <= names
        assert encoding.is_special_token(200006)
        assert not encoding.is_special_token(5)

    def test_special_tokens_have_ids(self, encoding: HarmonyEncoding) -> None:
        assert encoding.special_token("<|call|>") == 200012
        for name in encoding.special_tokens_set:
            assert encoding.encode(name, allowed_special="all") == [encoding.special_token(name)]

    def test_a_special_token_is_named_by_a_string(self, encoding: HarmonyEncoding) -> None:
        for name in (200012, None, b"<|call|>"):
            with pytest.raises(WrongTypeError, match="^name: expected a string"):
                encoding.special_token(name)  # type: ignore[arg-type]
        with pytest.raises(ValueError) as raised:
            encoding.special_token("x" * 100_000)
        assert len(str(raised.value)) < 300

    @pytest.mark.parametrize("nothing", [None, "", (), [], set()])
    def test_false_values_disallow_nothing(self, encoding: HarmonyEncoding, nothing: Any) -> None:
        text = "a<|start|>b"
        ordinary = encoding.encode_ordinary(text)
        assert encoding.encode(text, disallowed_special=nothing) == ordinary
        if nothing is not None:
            with pytest.raises(HarmonyError, match="disallowed special token"):
                encoding.encode(text, allowed_special=nothing)

    def test_broken_text_is_decoded_as_errors_says(self, encoding: HarmonyEncoding) -> None:
        broken = encoding.encode("🤷")[:1]
        data = encoding.decode_bytes(broken)
        assert encoding.decode(broken) == data.decode(errors="replace")
        assert encoding.decode(broken, errors="ignore") == data.decode(errors="ignore")
        assert encoding.decode(broken, "backslashreplace") == data.decode(errors="backslashreplace")
        with pytest.raises(UnicodeDecodeError):
            encoding.decode(broken, errors="strict")
        with pytest.raises(LookupError):
            encoding.decode(broken, errors="nonsense")
        with pytest.raises(HarmonyError, match="Invalid utf-8") as caught:
            encoding.decode_utf8(broken)
        assert caught.value.kind == "invalid_utf8"

    def test_decoding_refuses_ids_that_do_not_exist(self, encoding: HarmonyEncoding) -> None:
        for decode in (encoding.decode, encoding.decode_utf8, encoding.decode_bytes):
            with pytest.raises(HarmonyError, match="Invalid token for decoding: 201089") as caught:
                decode([5, 201_089])
            assert (caught.value.kind, caught.value.token_index) == ("invalid_token", 1)

    def test_ids_are_ordinary_ints(self, encoding: HarmonyEncoding) -> None:
        tokens = encoding.encode("x" * 300)
        assert tokens == [int(str(token)) for token in tokens]
        assert all(type(token) is int for token in tokens)

    def test_the_code_of_a_subclass_is_left_alone(self, encoding: HarmonyEncoding) -> None:
        class Odd(str):
            def __len__(self) -> int:
                raise ZeroDivisionError

            def __str__(self) -> str:
                raise ZeroDivisionError

        for text in ("plain", "Łódź", "long " * 20, "долго " * 20, "😀" * 70):
            assert encoding.encode(Odd(text)) == encoding.encode(text)
            odd, plain = (Message.from_role_and_content("user", one) for one in (Odd(text), text))
            odd.content[0].text = Odd(text)  # type: ignore[union-attr]
            assert encoding.render(odd) == encoding.render(plain)

    def test_ids_outlive_their_lists(self, encoding: HarmonyEncoding) -> None:
        text = "1 of the same ids as ever, up to Łódź"
        tokens = encoding.encode(text)
        kept = encoding.encode(text)[:]
        for _ in range(20_000):
            assert encoding.encode(text) == kept
        held = [encoding.encode(text) for _ in range(1_000)]
        del held
        assert tokens == kept == [int(str(token)) for token in tokens]
        assert encoding.decode(tokens) == text

    def test_stop_tokens_have_a_fixed_order(self, encoding: HarmonyEncoding) -> None:
        assert encoding.stop_tokens() == [200002, 200007, 200012]
        assert encoding.stop_tokens_for_assistant_actions() == [200002, 200012]
        encoding.stop_tokens().clear()
        assert len(encoding.stop_tokens()) == 3


class Index:
    """Stands for an int, as NumPy's and torch's numbers do."""

    def __index__(self) -> int:
        return 72


class TestTextInsteadOfTokens:
    def test_spelled_markers_are_read(self, encoding: HarmonyEncoding) -> None:
        text = (
            "<|channel|>analysis<|message|>é<|end|><|start|>assistant<|channel|>final<|message|>4"
        )
        tokens = encoding.encode(text, allowed_special="all")
        for role in ("assistant", Role.ASSISTANT):
            assert encoding.parse_messages_from_text(
                text, role
            ) == encoding.parse_messages_from_completion_tokens(tokens, role)
        assert encoding.parse_messages_from_text("<|start|>user<|message|>Hi<|end|>") == [
            Message.from_role_and_content("user", "Hi")
        ]

    def test_is_lenient_by_default(self, encoding: HarmonyEncoding) -> None:
        text = "<|channel|>analysis I must refuse<|end|>"
        for options in ({}, {"strict": False}, {"strict": None}):
            [message] = encoding.parse_messages_from_text(text, "assistant", **options)  # type: ignore[arg-type]
            assert (message.channel, message.text) == ("analysis", "I must refuse")
        with pytest.raises(HarmonyError) as raised:
            encoding.parse_messages_from_text(text, "assistant", strict=True)
        with pytest.raises(HarmonyError) as of_tokens:
            encoding.parse_messages_from_completion_tokens(
                encoding.encode(text, allowed_special="all"), "assistant"
            )
        assert raised.value.kind == of_tokens.value.kind
        assert raised.value.token_index == of_tokens.value.token_index

    def test_removed_markers_are_guessed(self, encoding: HarmonyEncoding) -> None:
        text = 'analysisI must add.assistantcommentary to=functions.f json{"a":1}'
        thought, call = encoding.read_stripped_text(text)
        assert (thought.channel, thought.text) == ("analysis", "I must add.")
        assert (call.channel, call.recipient, call.text) == ("commentary", "functions.f", '{"a":1}')
        assert encoding.read_stripped_text("") == []
        _, call = encoding.read_stripped_text("Look. to=bash{}", tools=["functions.bash"])
        assert call.recipient == "functions.bash"
        with pytest.raises(HarmonyError, match="tools"):
            encoding.read_stripped_text("x", tools=["a b"])
        [answer] = encoding.read_stripped_text("Hello\ud800 " * 1_000)
        assert (answer.channel, answer.text) == ("final", "Hello\ufffd " * 1_000)


class TestTokensGiven:
    @pytest.mark.parametrize(
        "tokens",
        [
            [72, 5],
            (72, 5),
            range(72, 78, 5),
            iter([72, 77]),
            (token for token in [72, 77]),
            {72: "a", 77: "b"},
            bytes([72, 77]),
            bytearray([72, 77]),
            array("i", [72, 77]),
            array("H", [72, 77]),
            array("Q", [72, 77]),
            np.array([72, 77]),
            np.array([72, 77], dtype=np.int32),
            np.array([72, 77], dtype=np.uint32),
            np.array([72, 77], dtype=np.uint8),
            np.array([72, 0, 77, 0])[::2],
            np.array([72, 77], dtype=">i4"),
            list(np.array([72, 77])),
            [Index(), True],
            [],
            np.array([], dtype=np.int64),
        ],
        ids=lambda tokens: type(tokens).__name__,
    )
    def test_any_ints_are_accepted(self, encoding: HarmonyEncoding, tokens: Any) -> None:
        kept = tokens if hasattr(tokens, "__len__") else list(tokens)
        as_list = [int(token.__index__()) for token in kept]
        assert encoding.decode(kept) == encoding.decode(as_list)
        assert encoding.decode(iter(kept)) == encoding.decode(as_list)

    def test_errors_of_an_iterator_come_through(self, encoding: HarmonyEncoding) -> None:
        def broken() -> Any:
            yield 5
            raise KeyError("broken")

        with pytest.raises(KeyError, match="broken"):
            encoding.decode(broken())

    def test_errors_before_the_first_token_come_through(self, encoding: HarmonyEncoding) -> None:
        class Interrupted:
            def __iter__(self) -> Any:
                raise KeyboardInterrupt

        interrupted: Any = Interrupted()
        with pytest.raises(KeyboardInterrupt):
            encoding.decode(interrupted)
        with pytest.raises(KeyboardInterrupt):
            encoding.encode("x", allowed_special=interrupted)
        with pytest.raises(KeyboardInterrupt):
            encoding.render_conversation(Duck(messages=interrupted))  # type: ignore[arg-type]

    def test_lengths_that_objects_claim_are_not_trusted(self, encoding: HarmonyEncoding) -> None:
        class Promising:
            def __init__(self, length: int) -> None:
                self._length = length
                self._tokens = iter([9906])

            def __iter__(self) -> Self:
                return self

            def __length_hint__(self) -> int:
                return self._length

            def __next__(self) -> int:
                return next(self._tokens)

        for length in (0, 2**40, sys.maxsize):
            assert encoding.decode(Promising(length)) == encoding.decode([9906])


class Duck:
    """An object that has these attributes and is not a model."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Level(IntEnum):
    """An int that shows itself otherwise."""

    LOW = 1


class TestConversationsGiven:
    def test_objects_with_the_attributes_are_accepted(self, encoding: HarmonyEncoding) -> None:
        duck = Duck(
            messages=(
                Duck(
                    author=Duck(role="assistant", name=None),
                    content=(Duck(text="x"),),
                    channel="final",
                    recipient=None,
                    content_type=None,
                ),
            )
        )
        message = Message.from_role_and_content("assistant", "x").with_channel("final")
        expected = encoding.render_conversation(Conversation.from_messages([message]))
        assert encoding.render_conversation(duck) == expected  # type: ignore[arg-type]

    def test_a_field_that_its_class_computes_is_read(self) -> None:
        """Fields are read where instances have them, but not past the class.

        In a process of its own: classes that were changed are read another way from then on.
        """
        code = """if True:
            from openai_harmony import Message, TextContent, load_harmony_encoding
            encoding = load_harmony_encoding("HarmonyGptOss")
            message = Message.from_role_and_content("user", "kept")
            kept = encoding.render(message)
            computed = encoding.render(Message.from_role_and_content("user", "computed"))
            assert kept != computed
            for _ in range(2):
                TextContent.text = property(lambda content: "computed")
                assert encoding.render(message) == computed
                del TextContent.text
                assert encoding.render(message) == kept
        """
        subprocess.run([sys.executable, "-c", code], check=True)

    def test_a_deleted_field_is_an_error(self, encoding: HarmonyEncoding) -> None:
        for name in ("author", "channel", "content_type"):
            message = Message.from_role_and_content("user", "hi")
            delattr(message, name)
            with pytest.raises(WrongTypeError, match="expected a Message, got Message"):
                encoding.render(message)
            setattr(message, name, getattr(Message.from_role_and_content("user", "hi"), name))
            assert encoding.decode(encoding.render(message)) == "<|start|>user<|message|>hi<|end|>"

    def test_an_instance_that_changes_its_class(self, encoding: HarmonyEncoding) -> None:
        class Louder(TextContent):
            @property
            def volume(self) -> int:
                return 11

        message = Message.from_role_and_content("user", "hi")
        before = encoding.render(message)
        message.content[0].__class__ = Louder
        assert encoding.render(message) == before

    def test_many_messages_render_the_same_however_they_are_made(
        self, encoding: HarmonyEncoding
    ) -> None:
        """Messages are looked for ahead of reading them, where interpreters keep their parts."""

        def validated(text: str) -> Any:
            return Message(author=Author(role=Role.USER), content=[TextContent(text=text)])

        def shown(text: str) -> Any:
            message = Message.from_role_and_content("user", text)
            # An object whose attributes were asked for as a dict keeps them otherwise.
            for model in (message, message.author, message.content[0]):
                assert vars(model)
            return message

        def duck(text: str) -> Any:
            return Duck(**{**vars(validated(text)), "author": Duck(role="user", name=None)})

        def with_content(content: Any) -> Any:
            message = Message.from_role_and_content("user", "")
            message.content = content
            return message

        kinds: list[Callable[[str], Any]] = [
            lambda text: Message.from_role_and_content("user", text),
            lambda text: Message.from_dict({"role": "user", "content": text}),
            lambda text: Message.from_author_and_content(Author.new(Role.USER, "ann"), text),
            lambda text: Message.from_role_and_content("assistant", text).with_channel("é"),
            lambda text: validated(text).model_copy(deep=True),
            lambda text: with_content(text),
            lambda text: with_content([]),
            lambda text: with_content((TextContent(text=text),)),
            lambda text: with_content([TextContent(text=text)] * 3),
            lambda text: with_content([Duck(text=text)]),
            lambda _: Message.from_role_and_content("system", SystemContent.new()),
            validated,
            shown,
            duck,
        ]
        numbers = random.Random(1)
        texts = ["", "a", "é", "好", "a longer text " * 20]
        messages = [numbers.choice(kinds)(numbers.choice(texts)) for _ in range(1_000)]
        keep = RenderConversationConfig(auto_drop_analysis=False)
        for count in (0, 1, 31, 32, 33, 1_000):
            conversation: Any = Duck(messages=messages[:count])
            expected = [token for each in messages[:count] for token in encoding.render(each)]
            assert encoding.render_conversation(conversation, keep) == expected

    @pytest.mark.parametrize("name", [None, "functions.find", "söder"])
    @pytest.mark.parametrize("recipient", [None, "assistant", "всем"])
    @pytest.mark.parametrize("channel", [None, "final", "канал"])
    @pytest.mark.parametrize("content_type", [None, "json", "<|constrain|>json"])
    def test_plain_messages_render_like_all_others(
        self, encoding: HarmonyEncoding, name: Any, recipient: Any, channel: Any, content_type: Any
    ) -> None:
        """Models of this package with one text are read in a way of their own."""
        fields = {"recipient": recipient, "channel": channel, "content_type": content_type}
        for role, text in (("user", ""), ("tool", "plain"), ("assistant", "Ärger 😀")):
            # Tools have a name.
            author = Author(role=Role(role), name=name or ("find" if role == "tool" else None))
            usual = Message.from_author_and_content(author, text)
            for field, value in fields.items():
                setattr(usual, field, value)
            duck = Duck(role=role, name=author.name)
            other = Duck(author=duck, content=[Duck(text=text)], **fields)
            both: list[Any] = [Duck(messages=[usual] * 3), Duck(messages=[other] * 3)]
            rendered = [encoding.render_conversation(one) for one in both]
            assert rendered[0] == rendered[1] == 3 * encoding.render(usual)

    @pytest.mark.parametrize(
        "make", [Duck, object, list, lambda: Message.__new__(Message), lambda: Duck(channel=None)]
    )
    def test_objects_that_are_not_messages_are_refused(
        self, encoding: HarmonyEncoding, make: Any
    ) -> None:
        conversation: Any = Duck(messages=[make() for _ in range(100)])
        with pytest.raises(TypeError, match=r"^messages\[0\]: expected a Message, got"):
            encoding.render_conversation(conversation)

    def test_messages_may_be_deleted_while_they_are_read(self, encoding: HarmonyEncoding) -> None:
        messages: list[Any] = [Message.from_role_and_content("user", "x") for _ in range(100)]
        expected = encoding.render(messages[0]) * 6

        class Emptying(Duck):
            @property
            def author(self) -> Author:
                messages.clear()
                return Author.new(Role.USER, None)

        parts = [TextContent(text="x")]
        fields = {"channel": None, "recipient": None, "content_type": None}
        messages[5] = Emptying(content=parts, **fields)
        assert encoding.render_conversation(Duck(messages=messages)) == expected  # type: ignore[arg-type]

    def test_a_string_assigned_to_content_is_text(self, encoding: HarmonyEncoding) -> None:
        message = Message.from_role_and_content("user", "x")
        expected = encoding.render(message)
        message.content = "x"  # type: ignore[assignment]
        assert encoding.render(message) == expected

    def test_errors_of_the_format_are_raised(self, encoding: HarmonyEncoding) -> None:
        with pytest.raises(HarmonyError, match="Tools should have a name!") as caught:
            encoding.render(Message.from_role_and_content("tool", "x"))
        assert (caught.value.kind, caught.value.token_index) == ("tool_without_name", None)
        with pytest.raises(HarmonyError, match="SystemContent may only appear in system messages"):
            encoding.render(Message.from_role_and_content("user", SystemContent.new()))

    def test_a_forgotten_role_is_named(self, encoding: HarmonyEncoding) -> None:
        sampled = encoding.encode("<|channel|>final<|message|>x<|end|>", allowed_special="all")
        hint = r"start token 200006 \(<\|channel\|>, so .*: give the role"
        with pytest.raises(HarmonyError, match=hint):
            encoding.parse_messages_from_completion_tokens(sampled)

    def test_an_attribute_that_raises(self, encoding: HarmonyEncoding) -> None:
        class Broken:
            @property
            def messages(self) -> Any:
                raise ZeroDivisionError("broken")

        with pytest.raises(ZeroDivisionError, match="broken"):
            encoding.render_conversation(Broken())  # type: ignore[arg-type]


def with_parameters(parameters: Any) -> Message:
    """A developer message with a tool that has these parameters."""
    tool = ToolDescription.new("f", "d")
    tool.parameters = parameters
    content = DeveloperContent.new().with_function_tools([tool])
    return Message.from_role_and_content("developer", content)


class TestSchemas:
    @pytest.mark.parametrize(
        ("value", "written"),
        [
            *table("encoding", "values are written as json"),
            ((1, [2]), "[1,[2]]"),
            ({1: 1, 1.5: 2, False: 3, None: 4}, '{"1":1,"1.5":2,"false":3,"null":4}'),
            ({Level.LOW: Level.LOW}, '{"1":1}'),
            ({"1": 1, "a": 2, 1: 3}, '{"1":3,"a":2}'),
        ],
    )
    def test_values_are_written_as_json(
        self, encoding: HarmonyEncoding, value: Any, written: str
    ) -> None:
        content = DeveloperContent.new().with_response_format("f", {"default": value})
        text = encoding.decode(encoding.render(Message.from_role_and_content("developer", content)))
        assert f'{{"default":{written}}}' in text

    @pytest.mark.parametrize(
        ("value", "said"),
        [
            (float("nan"), "JSON has no such number: nan"),
            (float("-inf"), "JSON has no such number: -inf"),
            (10**400, f"JSON has no such number: 1{199 * '0'}…"),
            (object(), "expected a JSON value, got object"),
            ({1, 2}, "expected a JSON value, got set"),
            ({(1, 2): 3}, "expected a string as key, got tuple"),
            (b"x", "expected a JSON value, got bytes"),
        ],
    )
    def test_others_are_refused(self, encoding: HarmonyEncoding, value: Any, said: str) -> None:
        message = with_parameters({"properties": {"x": {"enum": [1, value]}}})
        with pytest.raises(ValueError) as caught:
            encoding.render(message)
        path = 'content[0].tools["functions"].tools[0].parameters["properties"]["x"]["enum"][1]'
        assert str(caught.value) == f"{path}: {said}"

    def test_keys_after_deep_values_are_written(self, encoding: HarmonyEncoding) -> None:
        """A key that is not ASCII must not lead to reading the values before it a second time: at
        this depth that would never end."""
        value: Any = 1
        for _ in range(100):
            value = {"a": value, "ü": 2}
        content = DeveloperContent.new().with_response_format("f", value)
        text = encoding.decode(encoding.render(Message.from_role_and_content("developer", content)))
        assert '{"a":' * 100 + "1" + ',"ü":2}' * 100 in text

    def test_cycles_and_depths_are_refused(self, encoding: HarmonyEncoding) -> None:
        cycle: dict[str, Any] = {}
        cycle["properties"] = {"x": cycle}
        deep: dict[str, Any] = {}
        for _ in range(10_000):
            deep = {"items": deep}
        for schema in (cycle, deep):
            with pytest.raises(ValueError, match="nested more than") as caught:
                encoding.render(with_parameters(schema))
            path, _, reason = str(caught.value).partition(": ")
            assert path.startswith('content[0].tools["functions"].tools[0].parameters[')
            assert path.endswith("…")
            assert len(path) == 201
            assert reason.startswith("nested more than 128 levels deep")


class TestOptions:
    def test_are_checked_when_made_and_when_set(self) -> None:
        config = RenderConversationConfig(thoughts="keep")  # type: ignore[arg-type]
        assert config.thoughts is ThoughtPolicy.KEEP
        for field, value in [
            ("analysis", "some"),
            ("header_style", None),
            ("tool_schema", "bogus"),
            ("validate", "perhaps"),
            ("auto_drop_analysis", None),
        ]:
            with pytest.raises(ValueError, match=field):
                RenderConversationConfig(**{field: value})
            with pytest.raises(ValueError, match=field):
                setattr(config, field, value)
        with pytest.raises(ValueError, match="auto_drop_analyis"):
            RenderConversationConfig(auto_drop_analyis=False)  # type: ignore[call-arg]

    @pytest.mark.parametrize("wrong", [{}, True, "keep", Duck(auto_drop_analysis=1)])
    def test_others_are_refused(self, encoding: HarmonyEncoding, wrong: Any) -> None:
        with pytest.raises(ValueError, match="^config"):
            encoding.render_conversation(Conversation(), wrong)
        with pytest.raises(ValueError, match="^render_options: expected a RenderOptions"):
            encoding.render(Message.from_role_and_content("user", "x"), wrong)

    def test_reach_the_renderer(self, encoding: HarmonyEncoding) -> None:
        messages = [
            Message.from_role_and_content("assistant", "a").with_channel("analysis"),
            Message.from_role_and_content("assistant", "{}")
            .with_channel("commentary")
            .with_recipient("f"),
            Message.from_role_and_content("assistant", "b").with_channel("final"),
        ]
        conversation = Conversation.from_messages(messages)

        def text(**options: Any) -> str:
            config = RenderConversationConfig(**options) if options else None
            return encoding.decode(encoding.render_conversation(conversation, config))

        assert (
            text()
            == text(auto_drop_analysis=True)
            == text(thoughts=ThoughtPolicy.DROP_BEFORE_FIRST_FINAL)
        )
        assert "analysis" not in text()
        assert "analysis" in text(auto_drop_analysis=False)
        assert text(auto_drop_analysis=False) == text(thoughts=ThoughtPolicy.KEEP)
        assert text(thoughts=ThoughtPolicy.DROP) == text(thoughts=ThoughtPolicy.KEEP)
        in_channel = text(header_style=HeaderStyle.RECIPIENT_IN_CHANNEL)
        assert "<|channel|>commentary to=f<|message|>" in in_channel
        messages[0].with_channel("two words")
        with pytest.raises(HarmonyError) as caught:
            text(validate=True)
        assert caught.value.kind == "unsafe_header_field"

    def test_tool_schema_style(self, encoding: HarmonyEncoding) -> None:
        schema = {
            "type": "object",
            "properties": {"x": {"anyOf": [{"type": "string"}, {"const": 3}]}},
        }
        conversation = Conversation.from_messages([with_parameters(schema)])
        full = RenderConversationConfig(tool_schema=ToolSchemaStyle.FULL)
        assert encoding.render_conversation(conversation) != encoding.render_conversation(
            conversation, full
        )

    def test_render_options(self, encoding: HarmonyEncoding) -> None:
        message = Message.from_role_and_content("system", SystemContent.new())
        with_tools = RenderOptions(conversation_has_function_tools=True)
        assert "'functions'" in encoding.decode(encoding.render(message, with_tools))
        assert "'functions'" not in encoding.decode(encoding.render(message))


class TestThreads:
    def test_share_an_encoding(self, encoding: HarmonyEncoding) -> None:
        text = "Threads share an encoding. Ünïcödé 中文 " * 200
        conversation = Conversation.from_messages(
            [Message.from_role_and_content(Role.USER, text) for _ in range(10)]
        )
        expected = encoding.render_conversation(conversation)

        def work(_: int) -> bool:
            tokens = encoding.render_conversation(conversation)
            return (
                tokens == expected
                and encoding.decode(encoding.encode(text)) == text
                and len(encoding.parse_messages_from_completion_tokens(tokens)) == 10
            )

        with ThreadPoolExecutor(4) as threads:
            assert all(threads.map(work, range(40)))


def test_messages_made_by_parsing_are_new_each_time(encoding: HarmonyEncoding) -> None:
    tokens = encoding.render(Message.from_author_and_content(Author(role=Role.USER), "x"))
    [first] = encoding.parse_messages_from_completion_tokens(tokens)
    first.content.append(TextContent(text="more"))
    [second] = encoding.parse_messages_from_completion_tokens(tokens)
    assert second.content == [TextContent(text="x")]
