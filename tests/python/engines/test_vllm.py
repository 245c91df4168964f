"""The plugin for vLLM with its own classes, which need no GPU: what it reads and what it asks for."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from typing import Any

import pytest

pytest.importorskip(
    "vllm.parser.harmony", reason="make test-engines installs vLLM", exc_type=ImportError
)

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm.parser import ParserManager, harmony
from vllm.sampling_params import SamplingParams
from vllm.tool_parsers.tool_strict_level import ToolStrictLevel
from vllm.v1.structured_output.backend_xgrammar import validate_xgrammar_grammar

from openai_harmony import load_harmony_encoding
from openai_harmony.adapters import vllm as adapter
from openai_harmony.grammar import TurnGrammar

ENCODING = load_harmony_encoding("HarmonyGptOss")
THEIRS = harmony.HarmonyParser
STOPS = [200002, 200012]
SCHEMA = {"type": "object", "properties": {"in": {"type": "string"}}, "required": ["in"]}
RAIN: dict[str, Any] = {"name": "rain", "parameters": SCHEMA}
USER = [{"role": "user", "content": "Rain?"}]
THOUGHT = "<|channel|>analysis<|message|>Hm, hm.<|end|><|start|>assistant"
ARGUMENTS = '{"in":"Oslo"}'
CALL = f"<|channel|>commentary to=functions.rain <|constrain|>json<|message|>{ARGUMENTS}<|call|>"


class Tokenizer:
    """What vLLM's parser asks of one."""

    def decode(self, tokens: list[int]) -> str:
        return ENCODING.decode(tokens)

    def get_vocab(self) -> dict[str, int]:
        return {}


@pytest.fixture
def parser_class(monkeypatch: pytest.MonkeyPatch) -> Any:
    """vLLM's, with the plugin on."""
    monkeypatch.setenv(adapter.SWITCH, "1")
    monkeypatch.setattr(harmony, "HarmonyParser", THEIRS)
    monkeypatch.setattr("vllm.parser.HarmonyParser", THEIRS)
    adapter.register()
    adapter.register()
    return ParserManager.get_parser(
        tool_parser_name="openai",
        reasoning_parser_name="openai_gptoss",
        enable_auto_tools=True,
        is_harmony=True,
    )


def chat(**more: Any) -> Any:
    tools = [{"type": "function", "function": RAIN}]
    return ChatCompletionRequest.model_validate({"messages": USER, "tools": tools, **more})


def read(parser_class: Any, text: str, size: int, **more: Any) -> tuple[Any, Any, list[Any]]:
    """Thoughts, text and calls of a stream in chunks of this size."""
    request = chat(**more)
    parser = parser_class(Tokenizer(), request.tools)
    tokens = ENCODING.encode(text, allowed_special="all")
    said, thought, calls = "", "", []
    chunks = [tokens[at : at + size] for at in range(0, len(tokens), size)]
    for chunk in chunks:
        is_last = chunk is chunks[-1]
        delta = parser.parse_delta("", chunk, request, finished=is_last)
        if delta is None:
            continue
        said, thought = said + (delta.content or ""), thought + (delta.reasoning or "")
        for call in delta.tool_calls or ():
            if call.function.name is not None:
                calls.append([call.function.name, ""])
                assert call.id
            calls[call.index][1] += call.function.arguments or ""
    assert parser.count_reasoning_tokens(tokens) == parser_class(
        Tokenizer()
    ).count_reasoning_tokens(tokens)
    return thought or None, said or None, calls


def test_it_is_off_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in (None, "", "0"):
        if value is None:
            monkeypatch.delenv(adapter.SWITCH, raising=False)
        else:
            monkeypatch.setenv(adapter.SWITCH, value)
        adapter.register()
        assert harmony.HarmonyParser is THEIRS
    monkeypatch.setenv(adapter.SWITCH, "yes")
    with pytest.raises(ValueError, match="OPENAI_HARMONY_VLLM: expected 0 or 1, got 'yes'"):
        adapter.register()


def test_vllm_takes_it(parser_class: Any) -> None:
    assert parser_class is not THEIRS
    assert issubclass(parser_class, THEIRS)
    assert harmony.HarmonyParser is parser_class


WELL_FORMED = [
    THOUGHT + "<|channel|>final<|message|>It rains ⛅.<|return|>",
    THOUGHT + CALL,
    THOUGHT + f"<|channel|>commentary<|message|>I look.<|end|><|start|>assistant{CALL}",
    CALL[:-8] + "<|end|><|start|>assistant" + CALL,
    "<|channel|>final<|message|>cut off",
    THOUGHT + CALL.replace("<|call|>", ""),
]


@pytest.mark.parametrize("text", WELL_FORMED)
def test_what_is_well_formed_is_read_as_vllm_does(parser_class: Any, text: str) -> None:
    tokens = ENCODING.encode(text, allowed_special="all")
    THEIRS.reasoning_parser_cls = parser_class.reasoning_parser_cls
    THEIRS.tool_parser_cls = parser_class.tool_parser_cls
    both = [made(Tokenizer(), chat().tools) for made in (THEIRS, parser_class)]
    theirs, ours = [made.parse("", chat(), True, tokens) for made in both]
    assert theirs == ours
    counts = [made(Tokenizer()).count_reasoning_tokens(tokens) for made in (THEIRS, parser_class)]
    assert counts[0] == counts[1]
    for size in (1, 5, 999):
        streams = [read(made, text, size) for made in (THEIRS, parser_class)]
        assert streams[0] == streams[1], size


MALFORMED = [
    # A header without its <|message|>, a glued channel, a call that vLLM shows as text.
    (f"<|channel|>commentary to=functions.rain <|constrain|>json{ARGUMENTS}<|call|>", (None, None, [["rain", ARGUMENTS]])),
    (f"{THOUGHT}<|channel|>finalIt rains.<|return|>", ("Hm, hm.", "It rains.", [])),
    (f"<|channel|>commentary to=Rain<|message|>{ARGUMENTS}<|call|>", (None, None, [["rain", ARGUMENTS]])),
    ("<|channel|><|message|>It rains.<|return|>", (None, "It rains.", [])),
    (f"{THOUGHT}It rains.<|return|>", ("Hm, hm.", "It rains.", [])),
    # What the model says for others: the user, a tool.
    ("<|channel|>final<|message|>Where?<|end|><|start|>user<|message|>Oslo.<|end|>", (None, "Where?", [])),
    (f"{CALL}<|start|>functions.rain to=assistant<|channel|>commentary<|message|>{ARGUMENTS}<|end|><|start|>assistant{CALL}", (None, None, [["rain", ARGUMENTS]] * 2)),
    (f"<|start|>user to=functions.rain<|channel|>commentary<|message|>Hm.<|end|><|start|>assistant{CALL}", (None, None, [["rain", ARGUMENTS]])),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), MALFORMED)
def test_what_is_malformed_is_repaired(parser_class: Any, text: str, expected: Any) -> None:
    for size in (1, 4, 999):
        assert read(parser_class, text, size) == expected, size
    parser = parser_class(Tokenizer(), chat().tools)
    tokens = ENCODING.encode(text, allowed_special="all")
    thought, said, calls = parser.parse("", chat(), True, tokens)
    assert (thought, said) == expected[:2]
    # vLLM writes arguments anew.
    found = [[call.name, json.loads(call.arguments)] for call in calls or ()]
    assert found == [[name, json.loads(arguments)] for name, arguments in expected[2]]


def adjusted(parser_class: Any, request: Any) -> str | None:
    """The structural tag that vLLM is asked to enforce, which its own check takes."""
    made = parser_class(Tokenizer(), request.tools).adjust_request(request)
    outputs = made.structured_outputs
    if outputs is None:
        return None
    validate_xgrammar_grammar(SamplingParams(structured_outputs=outputs))
    return outputs.structural_tag


def tag(*arguments: Any, **options: Any) -> str:
    return TurnGrammar(*arguments, header_forms="all", **options).to_xgrammar(STOPS)


def left_to_vllm(parser_class: Any, **more: Any) -> str | None:
    """The tag of a request that is vLLM's own, in both APIs where both have it."""
    THEIRS.reasoning_parser_cls = parser_class.reasoning_parser_cls
    THEIRS.tool_parser_cls = parser_class.tool_parser_cls
    make = responses if "input" in more else chat
    tags = [adjusted(made, make(**more)) for made in (THEIRS, parser_class)]
    assert tags[0] == tags[1]
    return tags[1]


def responses(**more: Any) -> Any:
    return ResponsesRequest.model_validate({"tools": [{"type": "function", **RAIN}], **more})


NAMED = {"type": "function", "function": {"name": "rain"}}
ANSWER = {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}
STRICT = [{"type": "function", "function": {**RAIN, "strict": True}}]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, None),
        ({"tool_choice": "none"}, None),
        ({"tool_choice": "required"}, tag([RAIN], "required")),
        ({"tool_choice": NAMED}, tag([RAIN], {"name": "rain"})),
        ({"tools": STRICT}, tag([RAIN])),
        ({"response_format": ANSWER}, tag([RAIN], "auto", SCHEMA)),
        ({"response_format": ANSWER, "tools": None}, tag((), "none", SCHEMA, preambles=False)),
        ({"response_format": {"type": "json_object"}, "tools": None}, tag((), "none", {"type": "object"}, preambles=False)),
        ({"structured_outputs": {"choice": ["yes", "no"]}, "tools": None}, tag((), "none", response_choices=["yes", "no"], preambles=False)),
        ({"structured_outputs": {"regex": "a+"}, "tools": None}, tag((), "none", response_regex="a+", preambles=False)),
        ({"structured_outputs": {"json": json.dumps(SCHEMA)}, "tools": None}, tag((), "none", SCHEMA, preambles=False)),
        ({"structured_outputs": {"json": SCHEMA, "disable_any_whitespace": True}, "tools": None}, tag((), "none", SCHEMA, preambles=False, json_space="compact")),
        ({"response_format": ANSWER, "tool_choice": "none"}, tag((), "none", SCHEMA, preambles=False)),
        ({"response_format": ANSWER, "tool_choice": None}, tag([RAIN], "auto", SCHEMA)),
        ({"tools": STRICT, "tool_choice": None}, tag([RAIN])),
        ({"tools": STRICT, "tool_choice": "none"}, None),
    ],
)  # fmt: skip
def test_chat_completions_are_held_to_what_they_promise(
    parser_class: Any, more: Any, expected: str | None
) -> None:
    request = chat(**more)
    assert adjusted(parser_class, request) == expected
    assert request.response_format is None


def test_responses_are_held_to_what_they_promise(parser_class: Any) -> None:
    request = responses(input="?", tool_choice="required")
    assert adjusted(parser_class, request) == tag([RAIN], "required")
    named = {"type": "function", "name": "rain"}
    request = responses(input="?", tool_choice=named)
    assert adjusted(parser_class, request) == tag([RAIN], {"name": "rain"})
    answer = {"format": {"type": "json_schema", "name": "a", "schema": SCHEMA}}
    request = responses(input="?", text=answer)
    assert adjusted(parser_class, request) == tag([RAIN], "auto", SCHEMA)
    assert request.text is None


def test_a_grammar_of_the_requests_own_is_left_to_vllm(
    parser_class: Any, caplog: pytest.LogCaptureFixture
) -> None:
    own = {"type": "structural_tag", "format": {"type": "const_string", "value": "a"}}
    for outputs in ({"grammar": 'root ::= "a"'}, {"structural_tag": json.dumps(own)}):
        assert left_to_vllm(parser_class, structured_outputs=outputs, tools=None)
    search = [{"type": "function", **RAIN}, {"type": "web_search"}]
    left_to_vllm(parser_class, input="?", tools=search, tool_choice="required")
    allowed = {
        "type": "allowed_tools",
        "mode": "required",
        "tools": [{"type": "function", "name": "rain"}],
    }
    left_to_vllm(parser_class, input="?", tool_choice=allowed)
    assert not caplog.records


SHORT = {"type": "object", "properties": {"in": {"type": "string", "not": {"const": "O"}}}}
UNHELD = [{"type": "function", "function": {"name": "rain", "parameters": SHORT}}]
LOOSE = {"type": "object", "properties": {"in": {"type": "string"}}}


def test_how_strict_the_server_is(
    parser_class: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    loose = tag([{"name": "rain", "parameters": LOOSE}])
    for level in (ToolStrictLevel.AUTO, ToolStrictLevel.FUNCTION, ToolStrictLevel.PARAMETER, None):
        monkeypatch.setattr(parser_class, "tool_strict_level", level)
        monkeypatch.setattr(
            parser_class.tool_parser_cls, "default_tool_strict_level", ToolStrictLevel.FUNCTION
        )
        caplog.clear()
        if level is ToolStrictLevel.AUTO:
            assert adjusted(parser_class, chat(tools=UNHELD)) is None
        elif level is ToolStrictLevel.PARAMETER:
            adjusted(parser_class, chat(tools=UNHELD))
            assert "vLLM's own grammar is taken" in caplog.text
        else:
            assert adjusted(parser_class, chat(tools=UNHELD)) == loose
        # Where nothing reads calls, nothing constrains them.
        monkeypatch.setenv("VLLM_ENFORCE_STRICT_TOOL_CALLING", "0")
        assert adjusted(parser_class, chat(tools=STRICT)) is None
        assert adjusted(parser_class, chat(response_format=ANSWER)) == tag(
            (), "none", SCHEMA, preambles=False
        )
        monkeypatch.delenv("VLLM_ENFORCE_STRICT_TOOL_CALLING")
        with monkeypatch.context() as without:
            without.setattr(parser_class, "tool_parser_cls", None)
            assert adjusted(parser_class, chat(tools=STRICT)) is None


def test_what_is_loosened_is_logged_once(
    parser_class: Any, caplog: pytest.LogCaptureFixture
) -> None:
    parameters = {"type": "object", "properties": {"once": SHORT["properties"]["in"]}}  # type: ignore[index]
    tools = [{"type": "function", "function": {"name": "rain", "parameters": parameters}}]
    for _ in range(2):
        adjusted(parser_class, chat(tools=tools, tool_choice="required"))
    [record] = caplog.records
    assert "properties.once.not: " in record.getMessage()
    assert record.getMessage().endswith("; it is not enforced")


def test_an_answer_with_a_form_has_no_preamble_and_may_have_a_bare_type() -> None:
    grammar = TurnGrammar((), "none", SCHEMA, preambles=False, header_forms="all")
    for text, is_turn in [
        (f"<|channel|>final json<|message|>{ARGUMENTS}<|return|>", True),
        (f"<|channel|>final <|constrain|>json<|message|>{ARGUMENTS}<|return|>", True),
        (f"<|channel|>commentary<|message|>So:<|end|><|start|>assistant<|channel|>final<|message|>{ARGUMENTS}<|return|>", False),
    ]:  # fmt: skip
        assert grammar.accepts(ENCODING.encode(text, allowed_special="all")).ok == is_turn, text


def test_what_no_grammar_holds_is_left_to_vllm(
    parser_class: Any, caplog: pytest.LogCaptureFixture
) -> None:
    answer = {"type": "json_schema", "json_schema": {"name": "a", "schema": SHORT}}
    theirs = left_to_vllm(parser_class, response_format=answer, tools=None)
    assert theirs is not None
    assert '"not"' in theirs
    assert "vLLM's own grammar is taken" in caplog.text
    # Of a tool that is not strict, only that keyword is loosened.
    found = adjusted(parser_class, chat(tools=UNHELD, tool_choice="required"))
    assert found == tag([{"name": "rain", "parameters": LOOSE}], "required")


def test_what_the_model_says_for_others_is_not_the_answer(parser_class: Any) -> None:
    text = "<|channel|>final<|message|>Which?<|end|><|start|>user<|channel|>final<|message|>Oslo.<|return|>"
    for size in (1, 999):
        assert read(parser_class, text, size)[1] == "Which?", size
    segments = (
        parser_class(Tokenizer())
        .process_chunk(ENCODING.encode(text, allowed_special="all"))
        .segments
    )
    assert [one.delta for one in segments if one.channel == "final"] == ["", "Which?", ""]
    said = [one.completed_message for one in segments if one.completed_message is not None]
    assert [(one.author.role, one.channel) for one in said] == [
        ("assistant", "final"),
        ("user", "final"),
    ]


def test_it_is_an_entry_point() -> None:
    found = [
        one for one in entry_points(group="vllm.general_plugins") if one.name == "openai_harmony"
    ]
    if not found:
        pytest.skip("this package is on the path, and not installed")
    assert found[0].load() is adapter.register
