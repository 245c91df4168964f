"""The models: constructors, builders, mutation, copies, validation, dumps."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

import openai_harmony
from openai_harmony import (
    Author,
    ChannelConfig,
    Content,
    Conversation,
    DeveloperContent,
    Message,
    ReasoningEffort,
    ResponseFormat,
    Role,
    SystemContent,
    TextContent,
    ToolDescription,
    ToolNamespaceConfig,
    load_harmony_encoding,
)
from openai_harmony.errors import UnknownFieldWarning
from tables import table

SCHEMA = {"type": "object", "properties": {"x": {"default": None}}}


def every_kind() -> Conversation:
    """A conversation with every model and every field."""
    system = (
        SystemContent.new()
        .with_model_identity("You are ä.")
        .with_reasoning_effort(ReasoningEffort.HIGH)
        .with_conversation_start_date("2025-06-28")
        .with_knowledge_cutoff("2024-06")
        .with_channel_config(ChannelConfig(valid_channels=["final"], channel_required=False))
        .with_browser_tool()
        .with_python_tool()
    )
    developer = (
        DeveloperContent.new()
        .with_instructions("Be brief.")
        .with_function_tools(
            [ToolDescription.new("f", "Does f.", parameters=SCHEMA), ToolDescription(name="g")]
        )
        .with_tools(ToolNamespaceConfig(name="other", description="Others.", tools=[]))
        .with_response_format("list", SCHEMA, "A list.")
    )
    call = (
        Message.from_role_and_content(Role.ASSISTANT, "{}")
        .with_channel("commentary")
        .with_recipient("functions.f")
        .with_content_type("<|constrain|>json")
    )
    return Conversation.from_messages(
        [
            Message.from_role_and_content(Role.SYSTEM, system),
            Message.from_role_and_contents(Role.DEVELOPER, [developer, "More."]),
            Message.from_author_and_content(Author.new(Role.USER, "bob"), "Hi"),
            call,
            Message(author=Author(role=Role.TOOL, name="functions.f")),
        ]
    )


def test_builders_return_the_object_that_they_change() -> None:
    message = Message.from_role_and_content("user", "a")
    assert message.adding_content("b").with_channel("c") is message
    assert message.with_recipient("r").with_content_type("t") is message
    system = SystemContent.new()
    assert system.with_required_channels(("a", "b")).with_python_tool() is system
    assert system.channel_config == ChannelConfig.require_channels(["a", "b"])
    developer = DeveloperContent()
    assert developer.with_instructions("x").with_browser_tool() is developer


def test_a_conversation_is_iterated_by_messages() -> None:
    messages = [Message.from_role_and_content("user", text) for text in ("a", "b")]
    conversation = Conversation.from_messages(messages)
    assert all(one is other for one, other in zip(conversation, messages))
    assert list(conversation) == messages
    assert list(Conversation()) == []


@pytest.mark.parametrize("role", list(Role))
def test_words_are_accepted_for_roles(role: Role) -> None:
    word = role.value
    assert Message.from_role_and_content(word, "x") == Message.from_role_and_content(role, "x")
    assert Author.new(word, "n").role is role
    assert Author(role=word).role is role  # type: ignore[arg-type]
    assert Role(word) is role


def test_a_role_is_accepted_for_a_string() -> None:
    message = Message(author=Author(role=Role.USER), recipient=Role.ASSISTANT)
    assert message.recipient == "assistant"
    tokens = load_harmony_encoding("HarmonyGptOss").render(
        Message.from_role_and_content("user", "x").with_recipient(Role.ASSISTANT)
    )
    assert " to=assistant" in load_harmony_encoding("HarmonyGptOss").decode(tokens)


def test_fields_are_assignable() -> None:
    message = Message.from_role_and_content("user", "x")
    message.content[0].text = "y"  # type: ignore[attr-defined]
    message.channel = "final"
    message.author.name = "bob"
    assert message.to_dict()["content"] == [{"type": "text", "text": "y"}]
    assert (message.channel, message.author.name) == ("final", "bob")


def test_defaults_are_not_shared() -> None:
    SystemContent.new().with_python_tool().channel_config.valid_channels.clear()  # type: ignore[union-attr]
    DeveloperContent.new().with_response_format("f", {})
    assert SystemContent.new().tools is None
    assert SystemContent.new().channel_config == ChannelConfig.require_channels(
        ["analysis", "commentary", "final"]
    )
    assert DeveloperContent.new().response_formats == []


@pytest.mark.parametrize("name", ["high", "HIGH", "High", "hIgH"])
def test_an_effort_is_named_in_any_case_of_letters(name: str) -> None:
    assert ReasoningEffort(name) is ReasoningEffort.HIGH
    content = SystemContent.new().with_reasoning_effort(name)
    assert content.reasoning_effort is ReasoningEffort.HIGH
    assert content == SystemContent.from_dict({"reasoning_effort": name})
    assert content.to_dict()["reasoning_effort"] == "High"


def test_the_text_of_a_message_is_that_of_its_parts() -> None:
    assert Message.from_role_and_content("user", "Hi").text == "Hi"
    parts = ["Hi ", SystemContent.new(), "there", TextContent(text="!"), DeveloperContent.new()]
    assert Message.from_role_and_contents("user", parts).text == "Hi there!"
    assert Message.from_role_and_contents("user", []).text == ""
    assert "text" not in Message.from_role_and_content("user", "Hi").model_dump()


def test_only_text_content_has_text() -> None:
    assert not hasattr(SystemContent.new(), "text")
    assert not hasattr(DeveloperContent.new(), "text")


def test_a_tool_needs_no_description() -> None:
    assert ToolDescription(name="f", description=None) == ToolDescription.new("f", None)


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, True, False])
def test_a_response_format_has_a_field_named_schema(schema: Any) -> None:
    made = ResponseFormat(name="f", schema=schema)
    assert made.schema is schema or made.schema == schema
    assert made.model_dump() == {"name": "f", "description": None, "schema": schema}
    assert ResponseFormat.model_validate_json(made.model_dump_json()) == made


class TestCopies:
    def test_are_equal_and_independent(self) -> None:
        original = every_kind()
        for other in (
            copy.deepcopy(original),
            pickle.loads(pickle.dumps(original)),
            original.model_copy(deep=True),
            Conversation.model_validate(original.model_dump()),
            Conversation.model_validate_json(original.model_dump_json()),
            Conversation.from_json(original.to_json()),
            Conversation.from_dict(original.to_dict()),
        ):
            assert other == original
            assert [type(part) for message in other.messages for part in message.content] == [
                type(part) for message in original.messages for part in message.content
            ]
            other.messages[0].content[0].model_identity = "changed"  # type: ignore[attr-defined]
            assert other != original

    def test_shallow_ones_share_their_parts(self) -> None:
        message = Message.from_role_and_content("user", "x")
        assert copy.copy(message).content is message.content

    def test_a_message_made_without_validation_is_like_any_other(self) -> None:
        part = TextContent.model_construct(text="x")
        message = Message.model_construct(author=Author(role=Role.USER), content=[part])
        assert message == Message.from_role_and_content("user", "x")


class TestDumps:
    def test_carry_all_content(self) -> None:
        dump = every_kind().model_dump(mode="json")
        assert dump["messages"][2]["content"] == [{"type": "text", "text": "Hi"}]
        developer = dump["messages"][1]["content"][0]
        assert developer["type"] == "developer_content"
        assert developer["response_formats"] == [
            {"name": "list", "description": "A list.", "schema": SCHEMA}
        ]
        assert set(developer["tools"]) == {"functions", "other"}

    def test_obey_exclusions(self) -> None:
        message = Message.from_role_and_contents("user", ["a", "b"])
        assert message.model_dump(exclude_none=True, exclude={"content": {0}}) == {
            "author": {"role": Role.USER},
            "content": [{"type": "text", "text": "b"}],
        }

    def test_of_a_part_alone_are_its_fields(self) -> None:
        assert TextContent(text="x").model_dump() == {"text": "x"}


class TestParts:
    def test_subclasses_keep_their_class_and_fields(self) -> None:
        class Note(TextContent):
            weight: int = 3

        class Picture(Content):
            url: str

            def to_dict(self) -> dict[str, Any]:
                return {"type": "picture", "url": self.url}

        message = Message.from_role_and_contents("user", [Note(text="x"), Picture(url="u")])
        assert [type(part) for part in message.content] == [Note, Picture]
        assert message.model_dump()["content"] == [
            {"type": "text", "text": "x", "weight": 3},
            {"url": "u"},
        ]
        assert message.to_dict()["content"][1] == {"type": "picture", "url": "u"}

    def test_a_string_is_accepted_for_a_single_text(self) -> None:
        expected = Message.from_role_and_content("user", "x")
        author = Author(role=Role.USER)
        assert Message(author=author, content="x") == expected  # type: ignore[arg-type]
        assert Message.model_validate({"author": {"role": "user"}, "content": "x"}) == expected

    @pytest.mark.parametrize(
        ("part", "said"),
        table("chat", "others are refused"),
    )
    def test_others_are_refused(self, part: Any, said: str | None) -> None:
        with pytest.raises(ValidationError) as caught:
            Message.model_validate({"author": {"role": "user"}, "content": [part]})
        assert said in str(caught.value)
        assert caught.value.errors()[0]["loc"][:2] == ("content", 0)


def test_models_may_be_subclassed() -> None:
    class Turn(Message):
        stamp: int = 0

    turn = Turn.from_role_and_content("user", "x").with_channel("final")
    assert type(turn) is Turn
    encoding = load_harmony_encoding("HarmonyGptOss")
    assert encoding.render(turn) == encoding.render(
        Message.from_role_and_content("user", "x").with_channel("final")
    )


def test_parsed_messages_are_like_validated_ones() -> None:
    encoding = load_harmony_encoding("HarmonyGptOss")
    text = "<|start|>assistant to=f<|channel|>commentary json<|message|>{}<|call|>"
    [parsed] = encoding.parse_messages_from_completion_tokens(
        encoding.encode(text, allowed_special="all")
    )
    made = Message(
        author=Author(role=Role.ASSISTANT, name=None),
        content=[TextContent(text="{}")],
        channel="commentary",
        recipient="f",
        content_type="json",
    )
    for ours, theirs in (
        (parsed, made),
        (parsed.author, made.author),
        (parsed.content[0], made.content[0]),
    ):
        assert ours == theirs
        assert type(ours) is type(theirs)
        assert vars(ours) == vars(theirs)
        assert list(vars(ours)) == list(vars(theirs))
        assert ours.model_fields_set == theirs.model_fields_set
        assert ours.__pydantic_extra__ is None
        assert ours.__pydantic_private__ is None
        assert repr(ours) == repr(theirs)
        assert ours.model_dump_json() == theirs.model_dump_json()
        assert pickle.loads(pickle.dumps(ours)) == theirs
        assert copy.deepcopy(ours) == copy.copy(ours) == theirs
    parsed.model_fields_set.clear()
    parsed.author.name = "other"
    [again] = encoding.parse_messages_from_completion_tokens(
        encoding.encode(text, allowed_special="all")
    )
    assert again == made
    assert again.model_fields_set == made.model_fields_set


@pytest.mark.parametrize("author", [Author(role=Role.USER), Author.new("tool", "f")])
def test_constructors_give_what_validation_gives(author: Author) -> None:
    text = "some text"
    made = Message.from_author_and_content(author, text)
    validated = Message(author=author, content=[TextContent(text=text)])
    assert made == validated
    assert made.author is author
    assert made.model_fields_set == validated.model_fields_set == {"author", "content"}
    assert vars(made) == vars(validated)
    assert made.model_dump_json() == validated.model_dump_json()
    of_role = Message.from_role_and_content(author.role, text)
    assert of_role.author.model_fields_set == Author(role=author.role).model_fields_set
    assert of_role.with_channel("c").model_fields_set == {"author", "content", "channel"}


class Request(BaseModel):
    messages: list[Message]
    last: Message | None = None


def test_messages_are_fields_of_other_models() -> None:
    request = Request.model_validate(
        {
            "messages": [
                {"author": {"role": "user", "name": "bob"}, "content": "Hi"},
                {"author": {"role": "system"}, "content": [{"type": "system_content"}]},
            ]
        }
    )
    assert request.messages == [
        Message.from_author_and_content(Author.new("user", "bob"), "Hi"),
        Message.from_role_and_content("system", SystemContent.new()),
    ]
    assert Request.model_validate_json(request.model_dump_json()) == request
    with pytest.raises(ValidationError) as caught:
        Request.model_validate({"messages": [{"author": {"role": "bot"}, "content": "Hi"}]})
    assert caught.value.errors()[0]["loc"] == ("messages", 0, "author", "role")


@pytest.mark.parametrize(
    "data",
    [
        {"role": "assistant", "tool_calls": []},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
        {"role": "user", "content": [{"type": "input_text", "text": "x"}]},
    ],
)
def test_messages_of_openais_api_name_its_reader(data: Any) -> None:
    for read in (Message.from_dict, lambda one: Conversation.from_dict({"messages": [one]})):
        with pytest.raises(ValueError, match=r"openai_harmony\.interop\.chat_completions\.read"):
            read(data)
    with pytest.warns(UnknownFieldWarning, match=r"interop\.chat_completions\.read"):
        Message.from_dict({"role": "tool", "content": "x", "tool_call_id": "1"})


def test_the_package_shows_public_names_only() -> None:
    assert set(openai_harmony.__all__) <= set(dir(openai_harmony))
    assert not [name for name in dir(openai_harmony) if name.startswith("_") and name[1] != "_"]


@pytest.mark.parametrize(
    "make",
    [
        lambda flat: Message(**flat),
        Message.model_validate,
        lambda flat: Conversation.from_messages([flat]),
        lambda flat: Conversation.model_validate({"messages": [flat]}),
    ],
)
def test_a_flat_message_given_to_pydantic_names_what_reads_it(make: Any) -> None:
    with pytest.raises(ValidationError, match=r"Message\.from_dict.*chat_completions\.read"):
        make({"role": "user", "content": "Hi"})
