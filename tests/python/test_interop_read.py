"""Requests to turns, in Python; tests/interop has the meaning of bodies, field by field."""

from __future__ import annotations

import copy
import datetime
import inspect
import json
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import Any, ClassVar

import pydantic
import pytest

from openai_harmony import (
    HarmonyEncoding,
    RenderConversationConfig,
    interop,
)
from openai_harmony.errors import WrongTypeError
from openai_harmony.interop import (
    InvalidRequestError,
    Turn,
    UnsupportedContent,
    anthropic,
    chat_completions,
    encode_conversations_with_harmony,
    ollama,
    responses,
)
from tables import table

DIALECTS = [anthropic, chat_completions, ollama, responses]
QUESTION = {"role": "user", "content": "What is 2 + 2?"}


def text(turn: Turn, encoding: HarmonyEncoding) -> str:
    return encoding.decode(turn.prompt(encoding))


def weather_tool(name: str = "get weather") -> dict[str, Any]:
    function = {
        "name": name,
        "description": "The weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    }
    return {"type": "function", "function": function}


def test_no_sdk_is_imported() -> None:
    code = "import sys, openai_harmony, openai_harmony.interop\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {name.split(".")[0] for name in run.stdout.split()}
    assert "openai_harmony" in imported
    assert not imported & {"openai", "anthropic", "ollama", "starlette", "fastapi"}


def test_importing_the_package_does_not_import_interop() -> None:
    code = "import sys, openai_harmony\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "openai_harmony.interop" not in run.stdout.split()


class TestBodies:
    BODY: ClassVar[Any] = {
        "messages": [QUESTION],
        "tools": [weather_tool()],
        "stop": ["a"],
        "top_k": 5,
    }

    @pytest.mark.parametrize(
        "given",
        [
            BODY,
            json.dumps(BODY),
            json.dumps(BODY).encode(),
            bytearray(json.dumps(BODY).encode()),
            memoryview(b"x" + json.dumps(BODY).encode())[1:],
            json.dumps(BODY).encode("utf-8-sig"),
            MappingProxyType(BODY),
            {**BODY, "messages": (QUESTION,)},
            {**BODY, "messages": iter([QUESTION])},
        ],
        ids="mapping text bytes bytearray memoryview mark other tuple iterator".split(),
    )
    def test_forms(self, given: Any, encoding: HarmonyEncoding) -> None:
        turn = chat_completions.read(given, date="2025-06-28")
        expected = chat_completions.read(self.BODY, date="2025-06-28")
        assert turn.prompt(encoding) == expected.prompt(encoding)
        assert "type get_weather = (_: {" in text(turn, encoding)
        assert (turn.stop_strings, turn.sampling["top_k"]) == (["a"], 5)

    def test_pydantic_models_stand_for_mappings(self, encoding: HarmonyEncoding) -> None:
        class Said(pydantic.BaseModel):
            role: str
            content: str | None = None
            tool_calls: list[dict[str, Any]] | None = None

        class Body(pydantic.BaseModel):
            messages: list[Said]

        body = Body(messages=[Said(role="user", content="A")])
        inside = {"messages": [Said(role="user", content="A")]}
        plain = {"messages": [{"role": "user", "content": "A"}]}
        prompts = [chat_completions.read(b).prompt(encoding) for b in (body, inside, plain)]
        assert prompts[0] == prompts[1] == prompts[2]

    def test_pydantic_models_have_the_names_of_the_api(self, encoding: HarmonyEncoding) -> None:
        class Said(pydantic.BaseModel):
            who: str = pydantic.Field(serialization_alias="role")
            text: str = pydantic.Field(serialization_alias="content")

        plain = {"messages": [{"role": "user", "content": "A"}]}
        turn = chat_completions.read({"messages": [Said(who="user", text="A")]})
        assert turn.prompt(encoding) == chat_completions.read(plain).prompt(encoding)

    def test_texts_with_half_of_a_pair(self, encoding: HarmonyEncoding) -> None:
        cut = "\N{GRINNING FACE}".encode("utf-16-be")[:2].decode("utf-16-be", "surrogatepass")
        body = {"messages": [{"role": "user", "content": f"a{cut}"}]}
        for given in (body, json.dumps(body)):
            assert "user<|message|>a�<|end|>" in text(chat_completions.read(given), encoding)

    @pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 123456789012345678901234567890])
    @pytest.mark.parametrize("form", [dict, json.dumps, lambda body: json.dumps(body).encode()])
    def test_integers_of_arguments_keep_their_digits(
        self, number: int, form: Callable[[Any], Any], encoding: HarmonyEncoding
    ) -> None:
        expected = f'<|message|>{{"n":[{number},1.5,"é"]}}<|call|>'
        arguments = {"n": [number, 1.5, "é"]}
        call = {"id": "a", "function": {"name": "f", "arguments": arguments}}
        message = {"role": "assistant", "tool_calls": [call]}
        for dialect in (chat_completions, ollama):
            turn = dialect.read(form({"messages": [QUESTION, message]}))
            assert expected in text(turn, encoding)
            assert expected in text(
                dialect.read({"messages": []}, history=[QUESTION, message]), encoding
            )
        use = {"type": "tool_use", "id": "a", "name": "f", "input": arguments}
        turn = anthropic.read(form({"messages": [{"role": "assistant", "content": [use]}]}))
        assert expected in text(turn, encoding)
        item = {"type": "function_call", "name": "f", "arguments": arguments}
        assert expected in text(responses.read(form({"input": [item]})), encoding)
        reference = {"type": "item_reference", "id": "fc_1"}
        turn = responses.read(form({"input": [reference]}), resolve={"fc_1": item}.get)
        assert expected in text(turn, encoding)

    def test_integers_elsewhere_are_those_of_other_parsers(self, encoding: HarmonyEncoding) -> None:
        tool = weather_tool()
        city = tool["function"]["parameters"]["properties"]["city"]
        city["default"] = 10**20
        for form in (dict, json.dumps):
            turn = chat_completions.read(form({"messages": [QUESTION], "tools": [tool]}))
            assert "city?: string, // default: 1e20\n" in text(turn, encoding)

    def test_what_contains_itself(self) -> None:
        body: dict[str, Any] = {"messages": []}
        body["messages"].append(body)
        with pytest.raises(InvalidRequestError, match="nested more than 127 levels deep"):
            chat_completions.read(body)

    def test_the_objects_own_errors_are_raised(self) -> None:
        def messages() -> Iterator[Any]:
            yield QUESTION
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            chat_completions.read({"messages": messages()})

    @pytest.mark.parametrize("place", ["body", "message"])
    def test_what_telling_a_class_raises_is_raised(self, place: str) -> None:
        """`isinstance` asks an object for its class, which may be a property."""

        class Odd:
            @property  # type: ignore[misc]
            def __class__(self) -> Any:
                raise KeyboardInterrupt("mine")

        body: Any = Odd() if place == "body" else {"messages": [Odd()]}
        with pytest.raises(KeyboardInterrupt, match="mine"):
            chat_completions.read(body)


class TestErrors:
    def test_unsupported_content(self) -> None:
        image = {"type": "image_url", "image_url": {"url": "data:"}}
        body = {"messages": [{"role": "user", "content": [image]}]}
        with pytest.raises(UnsupportedContent) as raised:
            chat_completions.read(body)
        error = raised.value
        assert (error.kind, error.path) == (
            "unsupported_content",
            "messages[0].content[0].image_url",
        )
        assert isinstance(error, interop.InvalidRequestError)
        turn = chat_completions.read(body, unsupported="placeholder")
        assert turn.conversation.messages[1].text == "[image omitted]"

    def test_they_pickle(self) -> None:
        with pytest.raises(UnsupportedContent) as raised:
            chat_completions.read({"messages": [], "modalities": ["audio"]})
        copy = pickle.loads(pickle.dumps(raised.value))
        assert type(copy) is UnsupportedContent
        assert (str(copy), copy.path, copy.kind) == (
            str(raised.value),
            "modalities[0]",
            "unsupported_content",
        )


@pytest.mark.parametrize("levels", [119, 122])
def test_messages_hold_schemas_of_every_depth(levels: int, encoding: HarmonyEncoding) -> None:
    schema: dict[str, Any] = {"const": "deepest"}
    for _ in range(levels):
        schema = {"not": schema}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    turn = chat_completions.read({"messages": [QUESTION], "tools": [tool]})
    assert "deepest" in turn.conversation.to_json()


class TestOptions:
    @pytest.mark.parametrize("dialect", DIALECTS)
    def test_dates(self, dialect: Any, encoding: HarmonyEncoding) -> None:
        body = {"messages": [QUESTION], "input": [QUESTION]}
        given = datetime.date(2020, 2, 29)
        assert "date: 2020-02-29\n" in text(dialect.read(body, date=given), encoding)
        night = datetime.datetime(2020, 2, 29, 23, 59)
        assert "date: 2020-02-29\n" in text(dialect.read(body, date=night), encoding)
        assert "date: 1999-12-31\n" in text(dialect.read(body, date="1999-12-31"), encoding)
        assert "date" not in text(dialect.read(body, date=None), encoding)
        days = {datetime.date.today().isoformat() for _ in range(2)}
        today = text(dialect.read(body), encoding)
        assert any(f"date: {day}\n" in today for day in days | {datetime.date.today().isoformat()})

    def test_config(self, encoding: HarmonyEncoding) -> None:
        call = {"id": "a", "function": {"name": "f", "arguments": "{}"}}
        body = {"messages": [QUESTION, {"role": "assistant", "tool_calls": [call]}]}
        turn = chat_completions.read(body, config=RenderConversationConfig())
        assert "assistant to=functions.f<|channel|>commentary" in text(turn, encoding)
        assert turn.config == RenderConversationConfig(thoughts="drop_before_first_final")
        assert "commentary to=functions.f" in text(chat_completions.read(body), encoding)

    def test_what_resolve_is(self) -> None:
        body = {"input": [{"type": "item_reference", "id": "msg_1"}]}
        with pytest.raises(WrongTypeError, match="^resolve: expected a function, got dict$"):
            responses.read(body, resolve={})  # type: ignore[arg-type]
        with pytest.raises(InvalidRequestError, match="expected a JSON value, got object"):
            responses.read(body, resolve=lambda _: object())

    def test_resolve(self, encoding: HarmonyEncoding) -> None:
        body = {"input": [{"type": "item_reference", "id": "msg_1"}]}
        turn = responses.read(body, resolve={"msg_1": QUESTION}.get)
        assert "What is 2 + 2?" in text(turn, encoding)
        with pytest.raises(InvalidRequestError, match="no item with the id"):
            responses.read(body, resolve=lambda _: None)

        def fails(_: str) -> None:
            raise LookupError("the store is down")

        with pytest.raises(LookupError, match="the store is down"):
            responses.read(body, resolve=fails)

    def test_all_dialects_take_the_same(self) -> None:
        own = {responses: {"resolve", "previous", "stores"}}
        common = set(inspect.signature(chat_completions.read).parameters)
        for dialect in DIALECTS:
            parameters = set(inspect.signature(dialect.read).parameters)
            assert parameters == common | own.get(dialect, set())


class TestTurn:
    TURN = chat_completions.read(
        {
            "messages": [QUESTION],
            "tools": [weather_tool(), weather_tool("get-time")],
            "tool_choice": {"type": "function", "function": {"name": "get weather"}},
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "n", "schema": {"b": 1, "a": 2}},
            },
            "max_tokens": 7,
            "logit_bias": {"3": 1},
            "user": "u",
            "stream": True,
        },
    )

    def test_tools(self) -> None:
        tools = self.TURN.tools
        assert [tool.recipient for tool in tools] == ["functions.get_weather", "functions.get-time"]
        assert (len(tools), tools[1].name, tools[-1:]) == (2, "get-time", [tools[1]])
        for recipient in ("functions.get_weather", "get weather", "functions.get weather"):
            assert tools.by_recipient(recipient) == tools[0]
        assert tools.by_recipient("python") is None
        assert tools.by_name("get weather") == tools[0] == tools.by_name("get_weather")
        assert tools.by_name("get weather", namespace="n") is None

    def test_the_rest(self) -> None:
        turn = self.TURN
        assert turn.dialect == "chat_completions"
        assert turn.response_format is not None
        assert json.dumps(turn.response_format.schema) == '{"b": 1, "a": 2}'
        assert turn.sampling == {
            "temperature": 1.0,
            "top_p": 1.0,
            "top_k": 0,
            "min_p": 0.0,
            "n": 1,
            "max_tokens": 7,
            "logit_bias": {3: 1.0},
        }
        assert (turn.stop_token_ids, turn.stop_token_names) == (
            [200002, 200012],
            ["<|return|>", "<|call|>"],
        )
        assert turn.stream
        assert [(unused.path, unused.reason) for unused in turn.unused] == [("user", "not used")]

    def test_the_conversation_renders_to_the_prompt(self, encoding: HarmonyEncoding) -> None:
        turn = chat_completions.read({"messages": [QUESTION], "tools": [weather_tool()]})
        rendered = encoding.render_conversation_for_completion(
            turn.conversation, "assistant", turn.config
        )
        assert rendered == turn.prompt(encoding)

    def test_nothing_changes_a_turn(self, encoding: HarmonyEncoding) -> None:
        turn = chat_completions.read({"messages": [QUESTION], "tools": [weather_tool()]})
        prompt = turn.prompt(encoding)
        turn.conversation.messages.clear()
        turn.config.validate = not turn.config.validate  # type: ignore[method-assign,assignment]
        assert len(turn.conversation.messages) == 3
        assert turn.config == chat_completions.read({"messages": [QUESTION]}).config
        assert turn.prompt(encoding) == prompt

    def test_copies_and_pickles(self) -> None:
        turn = chat_completions.read({"messages": [QUESTION], "tools": [weather_tool()]})
        for same in (turn, turn.tools):
            assert copy.copy(same) is same
            assert copy.deepcopy({"turn": same})["turn"] is same
            with pytest.raises(TypeError) as raised:
                pickle.dumps(same)
            name = type(same).__name__
            said = f"{name} cannot be pickled; pickle the request's body, and read it again"
            assert str(raised.value) == said


class TestEncodeConversations:
    """The function and the mistakes of chat templates in the Unsloth notes."""

    CALL: ClassVar[Any] = {
        "name": "get_current_temperature",
        "arguments": '{"location": "San Francisco, \\"CA\\""}',
    }
    MESSAGES: ClassVar[Any] = table("interop_read", "messages")

    def test_signature(self) -> None:
        signature = inspect.signature(encode_conversations_with_harmony)
        assert {name: p.default for name, p in signature.parameters.items()} == {
            "messages": inspect.Parameter.empty,
            "reasoning_effort": "medium",
            "add_generation_prompt": True,
            "tool_calls": None,
            "developer_instructions": None,
            "model_identity": "You are ChatGPT, a large language model trained by OpenAI.",
        }

    def test_the_whole(self, encoding: HarmonyEncoding) -> None:
        rendered, tokens = encode_conversations_with_harmony(
            self.MESSAGES,
            "high",
            tool_calls=[weather_tool("get_current_temperature")],
            developer_instructions="Be brief.",
            model_identity="You are Ann.",
        )
        assert encoding.decode(tokens) == rendered
        today = datetime.date.today().isoformat()
        assert rendered.replace(today, "TODAY") == (
            "<|start|>system<|message|>You are Ann.\nKnowledge cutoff: 2024-06\nCurrent date: TODAY\n\n"
            "Reasoning: high\n\n# Valid channels: analysis, commentary, final. Channel must be included "
            "for every message.\nCalls to these tools must go to the commentary channel: 'functions'."
            "<|end|><|start|>developer<|message|># Instructions\n\nBe brief.\n\n# Tools\n\n## functions\n\n"
            "namespace functions {\n\n// The weather.\ntype get_current_temperature = (_: {\n"
            "city?: string,\n}) => any;\n\n} // namespace functions<|end|>"
            "<|start|>user<|message|>What is 1+1?<|end|>"
            "<|start|>assistant<|channel|>final<|message|>2<|end|>"
            "<|start|>user<|message|>What's the temperature in San Francisco now?<|end|>"
            "<|start|>assistant<|channel|>analysis<|message|>User asks: use the tool.<|end|>"
            "<|start|>assistant<|channel|>commentary to=functions.get_current_temperature "
            '<|constrain|>json<|message|>{"location": "San Francisco, \\"CA\\""}<|call|>'
            "<|start|>functions.get_current_temperature to=assistant<|channel|>commentary<|message|>"
            '{"temperature": 19.9}<|end|><|start|>assistant'
        )

    def test_without_a_generation_prompt(self) -> None:
        rendered, _ = encode_conversations_with_harmony([QUESTION], add_generation_prompt=False)
        assert rendered.endswith("<|start|>user<|message|>What is 2 + 2?<|end|>")

    @pytest.mark.parametrize("add_generation_prompt", [True, False])
    def test_what_is_to_be_continued_is_never_lost(self, add_generation_prompt: bool) -> None:
        begun = {"role": "assistant", "content": "It is", "prefix": True}
        rendered, _ = encode_conversations_with_harmony(
            [QUESTION, begun], add_generation_prompt=add_generation_prompt
        )
        assert rendered.endswith("<|channel|>final<|message|>It is")

    def test_a_wrong_message_is_named(self) -> None:
        with pytest.raises(InvalidRequestError, match=r'messages\[1\]\.role: unknown role "bot"'):
            encode_conversations_with_harmony([QUESTION, {"role": "bot", "content": "Hi"}])

    def test_a_wrong_effort(self) -> None:
        with pytest.raises(
            ValueError, match="reasoning_effort: expected 'low', 'medium' or 'high', got 'huge'"
        ):
            encode_conversations_with_harmony([QUESTION], "huge")


class TestSdkObjects:
    """What the published clients have in hand: their own models, in the body."""

    def test_openai_chat(self, encoding: HarmonyEncoding) -> None:
        chat = pytest.importorskip("openai.types.chat")
        call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        message = chat.ChatCompletionMessage.model_validate(
            {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "T"}
        )
        result = {"role": "tool", "tool_call_id": "a", "content": "x"}
        turn = chat_completions.read({"messages": [QUESTION, message, result]})
        assert text(turn, encoding).endswith(
            "analysis<|message|>T<|end|><|start|>assistant<|channel|>commentary to=functions.f "
            "<|constrain|>json<|message|>{}<|call|><|start|>functions.f to=assistant"
            "<|channel|>commentary<|message|>x<|end|><|start|>assistant"
        )
        assert turn.unused == []

    def test_openai_responses(self, encoding: HarmonyEncoding) -> None:
        types = pytest.importorskip("openai.types.responses")
        reasoning = types.ResponseReasoningItem.model_validate(
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [],
                "content": [{"type": "reasoning_text", "text": "T"}],
            }
        )
        call = types.ResponseFunctionToolCall(
            type="function_call",
            id="fc_1",
            call_id="a",
            name="f",
            arguments="{}",
            status="completed",
        )
        output = {"type": "function_call_output", "call_id": "a", "output": "x"}
        turn = responses.read({"input": [QUESTION, reasoning, call, output]})
        assert "analysis<|message|>T<|end|>" in text(turn, encoding)
        assert "to=functions.f <|constrain|>json<|message|>{}<|call|>" in text(turn, encoding)
        assert turn.unused == []

    def test_anthropic(self, encoding: HarmonyEncoding) -> None:
        types = pytest.importorskip("anthropic.types")
        content = [
            types.ThinkingBlock(type="thinking", thinking="T", signature="s"),
            types.ToolUseBlock.model_validate(
                {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}
            ),
        ]
        result = {"type": "tool_result", "tool_use_id": "a", "content": "y"}
        messages = [
            QUESTION,
            {"role": "assistant", "content": content},
            {"role": "user", "content": [result]},
        ]
        turn = anthropic.read({"messages": messages, "max_tokens": 10})
        assert "analysis<|message|>T<|end|>" in text(turn, encoding)
        assert '<|message|>{"x":1}<|call|>' in text(turn, encoding)
        assert turn.unused == []

    def test_ollama(self, encoding: HarmonyEncoding) -> None:
        sdk = pytest.importorskip("ollama")
        call = sdk.Message.ToolCall(function={"name": "f", "arguments": {"x": 1}})
        messages = [
            sdk.Message(role="user", content="A"),
            sdk.Message(role="assistant", thinking="T", tool_calls=[call]),
            sdk.Message(role="tool", tool_name="f", content="y"),
        ]
        tool = sdk.Tool(
            function={"name": "f", "parameters": {"properties": {"x": {"type": "integer"}}}}
        )
        turn = ollama.read({"messages": messages, "tools": [tool]})
        assert "type f = (_: {\n// integer\nx?: number,\n}) => any;" in text(turn, encoding)
        assert '<|message|>{"x":1}<|call|><|start|>functions.f to=assistant' in text(turn, encoding)
        assert turn.unused == []


@pytest.mark.parametrize("read", [dialect.read for dialect in DIALECTS])
def test_threads_may_read_at_once(read: Callable[..., Turn], encoding: HarmonyEncoding) -> None:
    from concurrent.futures import ThreadPoolExecutor

    body = {"messages": [QUESTION] * 200, "input": [QUESTION] * 200}
    with ThreadPoolExecutor(4) as pool:
        prompts = list(
            pool.map(lambda _: read(body, date="2025-06-28").prompt(encoding), range(16))
        )
    assert all(prompt == prompts[0] for prompt in prompts)


def test_without_a_maximum_a_prompt_is_whole(encoding: HarmonyEncoding) -> None:
    turn = chat_completions.read({"messages": [QUESTION]})
    assert turn.prompt(encoding, max_tokens=None) == turn.prompt(encoding, max_tokens=10**6)
