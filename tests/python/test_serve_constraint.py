"""What requests promise reaches the engines as grammars."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("httpx")

from gateways import BODIES, ENCODING, USER, Engine, ask, says, tokens
from openai_harmony import HarmonyError, serve
from openai_harmony.interop import anthropic, chat_completions, ollama, responses
from openai_harmony.serve.constraint import Constraint, constraint_of
from openai_harmony.serve.engines import SampleRequest
from openai_harmony.serve.engines.completions import Completions
from openai_harmony.serve.engines.engine import Sampled
from openai_harmony.serve.engines.llama_cpp import LlamaCpp
from openai_harmony.serve.engines.sglang import Sglang
from openai_harmony.serve.engines.vllm import GENERATE, Vllm

SCHEMA = {"type": "object", "properties": {"in": {"type": "string"}}, "required": ["in"]}
FUNCTION = {"name": "get rain", "parameters": SCHEMA}
CHAT = {"messages": USER, "tools": [{"type": "function", "function": FUNCTION}]}
CALL = '<|channel|>commentary to=functions.get_rain<|message|>{"in":"Oslo"}<|call|>'
ANSWER = "<|channel|>final<|message|>Hello.<|return|>"
STOPS = [200002, 200012]


def constraint(read: Callable[..., Any], body: dict[str, Any]) -> Constraint | None:
    return constraint_of(read(body))


def strict(function: Any = FUNCTION) -> dict[str, Any]:
    return {**function, "strict": True}


FORMAT = {"name": "sum", "schema": {"type": "object"}}
CONSTRAINED: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (chat_completions.read, {**CHAT, "tool_choice": "required"}),
    (chat_completions.read, {**CHAT, "tool_choice": {"type": "function", "function": {"name": "get rain"}}}),
    (chat_completions.read, {"messages": USER, "tools": [{"type": "function", "function": strict()}]}),
    (chat_completions.read, {"messages": USER, "response_format": {"type": "json_schema", "json_schema": FORMAT}}),
    (chat_completions.read, {"messages": USER, "response_format": {"type": "json_object"}}),
    (responses.read, {"input": "?", "tools": [{"type": "function", **FUNCTION}], "tool_choice": "required"}),
    (responses.read, {"input": "?", "tools": [{"type": "function", **strict()}]}),
    (responses.read, {"input": "?", "tools": [{"type": "namespace", "name": "city", "description": "?", "tools": [{"type": "function", **strict()}]}]}),
    (responses.read, {"input": "?", "text": {"format": {"type": "json_schema", **FORMAT}}}),
    (responses.read, {"input": "?", "tools": [{"type": "custom", "name": "dice", "format": {"type": "grammar", "syntax": "regex", "definition": "[1-6]"}}]}),
    (anthropic.read, {"messages": USER, "max_tokens": 9, "tools": [{"name": "get rain", "input_schema": SCHEMA}], "tool_choice": {"type": "any"}}),
    (anthropic.read, {"messages": USER, "max_tokens": 9, "tools": [{"name": "get rain", "input_schema": SCHEMA, "strict": True}]}),
    (ollama.read, {"messages": USER, "format": {"type": "object"}}),
]  # fmt: skip


@pytest.mark.parametrize(("read", "body"), CONSTRAINED)
def test_requests_that_promise_something(read: Any, body: Any) -> None:
    found = constraint(read, body)
    assert found is not None
    grammar = found.grammar
    choice = body.get("tool_choice", "auto")
    assert found.needs_call == (choice != "auto")
    if not found.turn.prefill:
        assert grammar.accepts(tokens(ANSWER)).ok == (
            choice == "auto" and found.turn.response_format is None
        )


@pytest.mark.parametrize(
    ("read", "body"),
    [
        (chat_completions.read, CHAT),
        (chat_completions.read, {"messages": USER}),
        (responses.read, {"input": "?", "tools": [{"type": "custom", "name": "dice"}]}),
        (chat_completions.read, {"messages": USER, "tools": [{"type": "function", "function": strict()}], "tool_choice": "none"}),
        (responses.read, {"input": "?", "tools": [{"type": "function", **FUNCTION, "strict": False}]}),
        (ollama.read, {"messages": USER, "tools": [{"type": "function", "function": FUNCTION}]}),
    ],
)  # fmt: skip
def test_requests_that_do_not(read: Any, body: Any) -> None:
    assert constraint(read, body) is None


def request_of(body: dict[str, Any]) -> SampleRequest:
    return SampleRequest([200006], 9, STOPS, {}, constraint(chat_completions.read, body))


def test_each_engine_is_asked_in_its_form() -> None:
    body = {**CHAT, "tool_choice": "required"}
    request, grammar = request_of(body), chat_completions.read(body).grammar()
    vllm = Vllm("http://127.0.0.1:1")
    tag = grammar.to_xgrammar(STOPS)
    assert vllm.asked(request)[1]["structured_outputs"] == {"structural_tag": tag}
    vllm.generates = True
    path, asked = vllm.asked(request)
    assert path == GENERATE
    assert asked["sampling_params"]["structured_outputs"] == {"structural_tag": tag}
    _, asked = Sglang("http://127.0.0.1:1").asked(request)
    assert asked["sampling_params"]["structural_tag"] == tag
    assert LlamaCpp("http://127.0.0.1:1").asked(request)[1]["grammar"] == grammar.to_gbnf()
    for engine in (Vllm, Sglang, LlamaCpp):
        made = engine("http://127.0.0.1:1")
        assert made.constrains
        plain = json.dumps(made.asked(request_of(CHAT)))
        assert "structural_tag" not in plain
        assert "grammar" not in plain
    assert not Completions("http://127.0.0.1:1").constrains


def test_what_an_engine_cannot_hold_is_loosened_unless_it_is_strict() -> None:
    short = {"type": "object", "properties": {"in": {"type": "string", "not": {"const": "O"}}}}
    functions = [FUNCTION, {"name": "other", "parameters": short}]
    body = {
        "messages": USER,
        "tools": [{"type": "function", "function": function} for function in functions],
        "tool_choice": "required",
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": short}},
    }
    found = constraint(chat_completions.read, body)
    assert found is not None
    assert found.loosened == []
    assert '"in"' in found.written("gbnf").replace('\\"', '"')
    assert [one.recipient for one in found.loosened] == ["functions.other"]
    body["tools"] = [{"type": "function", "function": strict(one)} for one in functions]
    body["tools"].append({"type": "function", "function": strict({**functions[1], "name": "b"})})
    found = constraint(chat_completions.read, body)
    assert found is not None
    with pytest.raises(HarmonyError) as raised:
        found.written("gbnf")
    for at in (1, 2):
        assert f"tools[{at}].parameters.properties.in.not" in str(raised.value)
    answer = {"name": "a", "schema": short, "strict": True}
    body = {"messages": USER, "response_format": {"type": "json_schema", "json_schema": answer}}
    found = constraint(chat_completions.read, body)
    assert found is not None
    with pytest.raises(HarmonyError, match=r"response_schema.properties.in.not"):
        found.written("gbnf")


def test_an_engine_in_this_process_that_refuses_schemas_gets_any_json() -> None:
    function = {**FUNCTION, "parameters": {"type": "object", "properties": {"in": {}}}}
    body = {**CHAT, "tools": [{"type": "function", "function": function}]}
    tried: list[str] = []

    def compiled(text: str) -> str:
        tried.append(text)
        if len(tried) == 1:
            raise HarmonyError("too large", "invalid_grammar")
        return text

    found = constraint(chat_completions.read, {**body, "tool_choice": "required"})
    assert found is not None
    assert found.compiled("lark", compiled) == tried[1]
    assert '"in"' in tried[0]
    assert '"in"' not in tried[1]
    tried.clear()
    body["tools"] = [{"type": "function", "function": strict(function)}]
    answer = {"type": "json_schema", "json_schema": {"name": "a", "schema": {}, "strict": True}}
    found = constraint(chat_completions.read, {**body, "response_format": answer})
    assert found is not None
    with pytest.raises(HarmonyError, match="too large"):
        found.compiled("lark", compiled)


def test_loosened_keywords_are_counted_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    function = {**FUNCTION, "parameters": {"type": "object", "not": {}}}
    tools = [{"type": "function", "function": function}]
    body = {**CHAT, "tools": tools, "tool_choice": "required"}

    async def sample(request: SampleRequest) -> Any:
        assert request.grammar is not None
        request.grammar.written("gbnf")
        yield Sampled(tokens(CALL), "stop")

    async def run() -> str:
        app = serve.app(Engine(sample, constrains=True))
        for _ in range(2):
            assert (await ask(app, "/v1/chat/completions", {**body, "n": 2})).status == 200
        return (await ask(app, "/metrics", None)).body.decode()

    with caplog.at_level("WARNING"):
        figures = asyncio.run(run())
    assert 'harmony_loosened_keywords_total{keyword="not"} 2.0' in figures
    [line] = [one for one in caplog.records if "is not enforced" in one.message]
    assert line.fields["path"] == "tools[0].parameters.not"


def test_a_schema_that_no_engine_holds_is_the_clients_error() -> None:
    function = strict({"name": "a", "parameters": {"type": "object", "not": {}}})
    body = {"messages": USER, "tools": [{"type": "function", "function": function}]}

    async def sample(request: SampleRequest) -> Any:
        assert request.grammar is not None
        request.grammar.written("gbnf")
        yield Sampled([], "stop")

    engine = Engine(sample, constrains=True)
    answer = asyncio.run(ask(serve.app(engine), "/v1/chat/completions", body))
    assert answer.status == 400
    assert "tools[0].parameters.not: no grammar" in answer.json()["error"]["message"]


OF_ENGINES = ("name", "address", "model", "context", "check", "sample", "aclose")


def test_an_engine_that_takes_no_grammars_is_warned_of_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    body = {**CHAT, "tool_choice": "required"}
    engine = says(CALL)
    # An engine need not say that it takes none.
    own = SimpleNamespace(**{name: getattr(engine, name) for name in OF_ENGINES})
    app = serve.app(own)  # type: ignore[arg-type]
    for path, asked in [("/v1/chat/completions", BODIES["/v1/chat/completions"])] + [
        ("/v1/chat/completions", body)
    ] * 2:
        answer = asyncio.run(ask(app, path, asked))
        assert answer.status == 200
    warned = [record.message for record in caplog.records if "takes no grammars" in record.message]
    assert warned == [
        "the engine test takes no grammars: required calls, strict tools and schemas of answers "
        "are asked of the model, and not enforced"
    ]
    assert [request.grammar is None for request in engine.asked] == [True, False, False]


@pytest.mark.parametrize("choice", ["required", "auto"])
def test_behind_a_thinking_budget_the_grammar_goes_on(choice: str) -> None:
    """A call that is required can still come: the thought is ended, and no answer begun."""
    thought = "<|channel|>analysis<|message|>Hm, hm, hm, hm."
    forced = tokens("<|end|><|start|>assistant")
    final = tokens("<|channel|>final<|message|>")

    async def sample(request: SampleRequest) -> Any:
        assert request.grammar is not None
        grammar = request.grammar.grammar
        if len(request.prompt) < first:
            for token in tokens(thought):
                yield Sampled([token])
        rest = CALL if choice == "required" else '{"in": "Oslo"}<|return|>'
        assert request.prompt[-3:] == (forced if choice == "required" else final)
        assert grammar.accepts(tokens(rest)).ok
        assert not grammar.accepts(tokens(thought + "<|end|><|start|>assistant" + rest)).ok
        yield Sampled(tokens(rest), "stop")

    schema = {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}
    body = {
        **CHAT,
        "tool_choice": choice,
        "response_format": schema,
        "reasoning": {"max_tokens": 3},
    }
    first = len(chat_completions.read(body).prompt(ENCODING)) + 1
    engine = Engine(sample, constrains=True)
    answer = asyncio.run(ask(serve.app(engine), "/v1/chat/completions", body))
    assert answer.status == 200, answer.body
    message = answer.json()["choices"][0]["message"]
    assert len(engine.asked) == 2
    if choice == "required":
        assert message["tool_calls"][0]["function"]["arguments"] == '{"in":"Oslo"}'
    else:
        assert json.loads(message["content"]) == {"in": "Oslo"}


def test_behind_a_thinking_budget_no_thought_of_the_request_is_continued() -> None:
    thought = {"role": "assistant", "reasoning": "Hm", "prefix": True}
    body = {**CHAT, "messages": [*USER, thought], "tool_choice": "required"}
    made = constraint(chat_completions.read, body)
    assert made is not None
    assert made.grammar.accepts(tokens(", hm.<|end|><|start|>assistant" + CALL)).ok
    assert made.behind_thought().grammar.accepts(tokens(CALL)).ok
