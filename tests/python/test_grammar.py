"""Turns as grammars: `accepts` and llguidance agree, and what is sampled parses as it was meant."""

from __future__ import annotations

import copy
import json
import random
import time
from itertools import groupby, pairwise
from typing import Any

import pytest

import gbnf
from fences import DOCS, fenced
from labelled_json import ANSWERS
from labelled_turns import RAIN, TOOLS, Labelled, turns
from openai_harmony import (
    Author,
    Conversation,
    HarmonyEncodingName,
    HarmonyError,
    InvalidGrammarError,
    Message,
    Prefill,
    RenderConversationConfig,
    Role,
    load_harmony_encoding,
)
from openai_harmony.grammar import TurnGrammar, Verdict
from openai_harmony.interop import anthropic, chat_completions, ollama, responses
from openai_harmony.serve.engines import guidance
from oracle.seeds import share
from sampled_turns import OPTIONS, check, different_fields, eight_fields, sampled, strictly
from tables import table

ENCODING = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
LABELLED_CALL = "<|channel|>commentary to=functions.now<|message|>{}<|call|>"
TURNS = turns()
STOPS = (200002, 200012)


def ids(text: str) -> list[int]:
    return ENCODING.encode(text, allowed_special="all")


def grammar_of(turn: Labelled) -> TurnGrammar:
    return TurnGrammar(TOOLS, **turn.options)


def test_there_are_labelled_turns_of_both_kinds() -> None:
    assert len(TURNS) > 100
    assert sum(turn.is_turn for turn in TURNS) > 40


@pytest.mark.parametrize("turn", TURNS, ids=lambda turn: turn.text[:70])
def test_labelled_turns(turn: Labelled) -> None:
    tokens = ids(turn.text)
    verdict = grammar_of(turn).accepts(tokens)
    assert bool(verdict) == verdict.ok == (turn.is_turn or turn.only_schema), verdict
    if verdict.ok:
        assert verdict == Verdict(True, None, None)
        assert strictly(tokens)
        return
    assert verdict.at is not None
    assert verdict.expected
    # All in front of that token is the beginning of a turn.
    state = grammar_of(turn).state()
    assert [state.feed(token) for token in tokens[: verdict.at]] == [None] * verdict.at
    if verdict.at < len(tokens):
        assert state.feed(tokens[verdict.at]) == verdict.expected
        assert state.feed(200005) == verdict.expected
    else:
        assert state.expected == verdict.expected
    assert not state.is_complete


def test_markers_that_ordinary_tokens_spell_are_text() -> None:
    grammar = TurnGrammar(TOOLS)
    spelled = ENCODING.encode("<|end|><|start|>assistant", disallowed_special=())
    assert not set(spelled) & {200006, 200007}
    around = ids("<|channel|>final<|message|>"), ids("<|return|>")
    assert grammar.accepts([*around[0], *spelled, *around[1]]).ok
    call = ENCODING.encode("<|channel|>", disallowed_special=())
    assert grammar.accepts([*call, *ids("final<|message|>a<|return|>")]).at == 0
    inside = ids('<|channel|>commentary to=functions.rain<|message|>{"in":"'), ids('"}<|call|>')
    assert grammar.accepts([*inside[0], *spelled, *inside[1]]).ok


def test_the_rest_of_a_header_is_named() -> None:
    final = "<|channel|>final<|message|>"
    thought = "<|channel|>analysis<|message|>x<|end|>"
    plain, one = TurnGrammar(), TurnGrammar([{"type": "function", "function": {"name": "f"}}])
    headers = "<|channel|>analysis<|message|> or <|channel|>commentary<|message|>"
    for grammar, text, expected in [
        (plain, "", f"{headers} or {final}"),
        (plain, "<|channel|>fin", "al<|message|>"),
        (plain, thought, "<|start|>assistant"),
        (plain, f"{thought}<|start|>", "assistant"),
        (TurnGrammar(header_forms="all"), f"{final}x<|end|><|call|>", "<|return|>"),
        (one, "<|channel|>commentary to=", "functions.f <|constrain|>json<|message|> or functions.f<|message|>"),
    ]:  # fmt: skip
        assert grammar.accepts(ids(text)).expected == expected, text
    assert one.accepts([]).expected.endswith("analysis<|message|> or 7 more")
    for arguments, expected in [
        ("{}", "<|call|>, since the JSON is complete"),
        ("{", "more of a JSON text"),
    ]:
        call = ids(f"<|channel|>commentary to=functions.f<|message|>{arguments}")
        assert one.accepts(call).expected == expected
    two = TurnGrammar([{"type": "function", "function": {"name": name}} for name in "fg"])
    begun = two.accepts(ids("<|channel|>commentary to=functions."))
    assert begun.expected == " or ".join(
        f"{name}{kind}<|message|>" for name in "fg" for kind in (" <|constrain|>json", "")
    )


def test_the_least_number_of_messages_is_enough() -> None:
    answer = "<|channel|>final<|message|>x<|return|>"
    thought = "<|channel|>analysis<|message|>x<|end|><|start|>assistant"
    for grammar, text in [
        (TurnGrammar(max_messages=1), answer),
        (TurnGrammar(max_messages=2, thinking="required"), thought + answer),
    ]:
        assert grammar.accepts(ids(text)).ok
        assert not grammar.accepts(ids(thought + text)).ok


def test_only_its_own_token_follows_the_end_of_a_turn() -> None:
    grammar = TurnGrammar(header_forms="all")
    ended = ids("<|channel|>final<|message|>x<|end|>")
    for token in range(200_000, 200_020):
        assert grammar.accepts([*ended, token]).ok == (token == 200_002)


def test_texts_are_whole_characters() -> None:
    grammar = TurnGrammar()
    before, after = ids("<|channel|>final<|message|>"), ids("<|return|>")
    emoji = ENCODING.encode("🫠")
    assert len(emoji) > 1
    assert grammar.accepts([*before, *emoji, *after]).ok
    assert grammar.accepts([*before, *emoji[:-1], *after]).expected == "the rest of a character"
    assert grammar.accepts([*before, emoji[-1], *after]).at == len(before)
    for token in (201_088, 2**31):
        assert grammar.accepts([*before, token]).at == len(before)
    with pytest.raises((TypeError, ValueError, HarmonyError, OverflowError)):
        grammar.accepts([-1])


def test_what_the_renderer_writes_is_a_turn() -> None:
    chosen = random.Random(0)
    grammar = TurnGrammar(TOOLS)
    for _ in range(500):
        said = [Message.from_role_and_content("user", "?")]
        for _ in range(chosen.randint(0, 3)):
            channel = chosen.choice(["analysis", "commentary"])
            text = chosen.choice(["Hm.", "", "⛅\n<|end|>"])
            said.append(Message.from_role_and_content("assistant", text).with_channel(channel))
        last = Message.from_role_and_content("assistant", json.dumps({"in": chosen.choice("aå⛅")}))
        if chosen.random() < 0.5:
            said.append(last.with_channel("final"))
        else:
            last = last.with_channel(chosen.choice(["analysis", "commentary"]))
            last = last.with_recipient("functions.rain")
            if chosen.random() < 0.5:
                last = last.with_content_type("<|constrain|>json")
            said.append(last)
        for style in ("recipient_in_role", "recipient_in_channel"):
            config = RenderConversationConfig(auto_drop_analysis=False, header_style=style)
            rendered = ENCODING.render_with_spans(
                Conversation.from_messages(said), config, ending="training"
            )
            tokens = rendered.tolist()[rendered.spans[1].start + 2 :]
            verdict = grammar.accepts(tokens)
            assert verdict.ok, (ENCODING.decode(tokens), verdict)


@pytest.mark.parametrize(("form", "good", "bad"), ANSWERS, ids=str)
def test_answers_that_fit_a_regex_or_are_a_choice(
    form: Any, good: list[str], bad: list[str]
) -> None:
    grammar = TurnGrammar(TOOLS, **form)
    for text in good + bad:
        tokens = ids(f"<|channel|>final<|message|>{text}<|return|>")
        verdict = grammar.accepts(tokens)
        assert verdict.ok == (text in good), (text, verdict)
        assert verdict.ok or 3 <= verdict.at < len(tokens)
    assert grammar.accepts(ids(LABELLED_CALL)).ok
    # Only the answer has to fit.
    thought = "<|channel|>analysis<|message|>?!<|end|><|start|>assistant"
    assert grammar.accepts(ids(f"{thought}<|channel|>final<|message|>{good[0]}<|return|>")).ok
    begun = TurnGrammar(prefill=Prefill(channel="final", text=""), **form)
    assert begun.accepts(ids(f"{good[0]}<|return|>")).ok
    assert "or more that fits" in begun.accepts(ids(good[0])).expected


def test_a_place_inside_a_regex_can_be_copied() -> None:
    state = TurnGrammar(response_regex="(ab)+").state()
    for token in ids("<|channel|>final<|message|>a"):
        assert state.feed(token) is None
    copy = state.copy()
    [b] = ids("b")
    assert state.feed(b) is None
    assert copy.feed(ids("a")[0]) == "an answer that fits its regex or is one of its choices"
    assert state.feed(200002) is None
    assert state.is_complete


# With llguidance, which is the engines' own.


@pytest.fixture(scope="module")
def vocabulary() -> Any:
    pytest.importorskip("llguidance", reason="llguidance has no wheel for this Python")
    return guidance.vocabulary()


def matcher(vocabulary: Any, grammar: TurnGrammar) -> Any:
    import llguidance

    made = llguidance.LLMatcher(vocabulary, grammar.to_lark())
    assert not made.get_error()
    return made


def test_llguidance_has_the_same_verdicts(vocabulary: Any) -> None:
    for turn in TURNS:
        engine = matcher(vocabulary, grammar_of(turn))
        tokens = ids(turn.text)
        taken = engine.try_consume_tokens(tokens)
        is_turn = taken == len(tokens) and engine.is_accepting()
        # It writes no character as an escape that may stand for itself, and so takes none.
        assert is_turn == (turn.is_turn and "\\u00e5" not in turn.text), turn
        verdict = grammar_of(turn).accepts(tokens)
        if not turn.only_schema and verdict.at is not None:
            assert taken <= verdict.at, turn


def test_the_documents_mask_is_one() -> None:
    pytest.importorskip("llguidance", reason="llguidance has no wheel for this Python")
    exec(fenced("llguidance", DOCS / "grammar.md"), {"__name__": "example"})


@pytest.mark.parametrize(("form", "good", "bad"), ANSWERS, ids=str)
def test_llguidance_takes_such_answers(
    vocabulary: Any, form: Any, good: list[str], bad: list[str]
) -> None:
    for text in good + bad:
        engine = matcher(vocabulary, TurnGrammar(TOOLS, **form))
        tokens = ids(f"<|channel|>final<|message|>{text}<|return|>")
        taken = engine.try_consume_tokens(tokens)
        assert (taken == len(tokens) and engine.is_accepting()) == (text in good), text


class Llguidance:
    """Its masks."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def mask(self) -> bytes:
        return bytes(self._engine.compute_bitmask())

    def take(self, token: int) -> bool:
        return bool(self._engine.consume_token(token))

    def is_ended(self) -> bool:
        return bool(self._engine.is_stopped() or self._engine.is_accepting())


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_what_is_sampled_parses_as_it_was_meant(vocabulary: Any, options: Any) -> None:
    grammar = TurnGrammar(TOOLS, **options)
    engine = matcher(vocabulary, grammar)
    chosen, whole = random.Random(str(options)), 0
    for _ in range(share(120)):
        engine.reset()
        tokens = sampled(Llguidance(engine), chosen)
        if not engine.is_accepting():
            continue
        whole += 1
        check(tokens, grammar, options)
    assert whole > share(60)


def test_it_grows_with_the_number_of_tools_alone(vocabulary: Any) -> None:
    texts = [TurnGrammar(eight_fields(count)).to_lark() for count in (10, 20, 30, 40)]
    assert texts[0] == TurnGrammar(eight_fields(10)).to_lark()
    steps = {len(after) - len(before) for before, after in pairwise(texts)}
    assert max(steps) - min(steps) < 100
    assert "A text" not in texts[0]
    begun = time.monotonic()
    matcher(vocabulary, TurnGrammar(eight_fields(200)))
    print(f"200 tools of eight fields compile in {time.monotonic() - begun:.2f} s")


# BNF, which `make test-engines` tries in xgrammar.


def test_structural_tags_and_gbnf() -> None:
    grammar = TurnGrammar(TOOLS)
    tag = json.loads(grammar.to_xgrammar([200002]))
    assert tag.keys() == {"type", "format"}
    assert tag["format"].keys() == {"type", "grammar"}
    ebnf = tag["format"]["grammar"]
    assert ebnf.startswith("root ::= (thought | preamble)* last\n")
    # The stop tokens that the engine adds itself are left out.
    for stops, ends in (([200002], 3), ([200002, 200012], 0), ([], 4)):
        written = grammar.to_xgrammar(stops)
        assert written.count(" Token(200012)") + written.count(" Token(200002)") == ends
    gbnf = grammar.to_gbnf()
    assert gbnf.splitlines()[1] == 'next ::= <[200007]> <[200006]> "assistant"'
    assert "<[200012]>" not in gbnf
    assert gbnf == grammar.to_gbnf()
    named = {line.partition(" ::= ")[0] for line in gbnf.splitlines() if " ::= " in line}
    for forms in (ebnf, gbnf):
        assert "A city" not in forms
    assert {"root", "last", "call", "text", "arguments0", "arguments2"} <= named


def gbnf_takes(grammar: TurnGrammar, tokens: list[int]) -> bool:
    """Whether these tokens are a turn in llama.cpp's grammar, up to the stop token, at which the engine ends it."""
    symbols: list[str | int] = []
    for is_special, run in groupby(tokens, ENCODING.is_special_token):
        said = list(run)
        symbols.extend(said if is_special else ENCODING.decode(said))
    return gbnf.read(grammar.to_gbnf()).takes(symbols)


@pytest.mark.parametrize("turn", TURNS, ids=lambda turn: turn.text[:70])
def test_gbnf_takes_the_labelled_turns(turn: Labelled) -> None:
    grammar = grammar_of(turn)
    tokens = ids(turn.text)
    if tokens and tokens[-1] in STOPS:
        tokens.pop()
    is_turn = any(grammar.accepts([*tokens, stop]).ok for stop in STOPS)
    assert gbnf_takes(grammar, tokens) == (is_turn and not turn.only_schema)


@pytest.mark.parametrize("prefill", [None, Prefill(channel="analysis", text="")])
@pytest.mark.parametrize("thinking", ["optional", "required", "off"])
def test_gbnf_counts_messages(thinking: Any, prefill: Prefill | None) -> None:
    thought = "<|channel|>analysis<|message|>x<|end|><|start|>assistant"
    begun = "x<|end|><|start|>assistant" if prefill else ""
    for most in (*range(1 + (thinking == "required"), 5), None):
        grammar = TurnGrammar(max_messages=most, thinking=thinking, prefill=prefill)
        for count in range(5):
            tokens = ids(f"{begun}{thought * count}<|channel|>final<|message|>x")
            assert gbnf_takes(grammar, tokens) == grammar.accepts([*tokens, 200002]).ok, (
                most,
                count,
            )


def test_bnf_grows_with_the_number_of_tools_alone() -> None:
    for write in (TurnGrammar.to_gbnf, lambda grammar: grammar.to_xgrammar([])):
        texts = [write(TurnGrammar(different_fields(count))) for count in (10, 20, 30, 40)]
        steps = {len(after) - len(before) for before, after in pairwise(texts)}
        assert max(steps) - min(steps) < 200


@pytest.mark.parametrize(
    ("schema", "said"),
    table("grammar", "what bnf cannot hold is named"),
)
def test_what_bnf_cannot_hold_is_named(schema: Any, said: str) -> None:
    tools = [RAIN, {"name": "a", "parameters": schema}]
    grammar, loose = TurnGrammar(tools, ["a"]), TurnGrammar(tools, ["a"], strict=[])
    for form in ("gbnf", "xgrammar"):
        with pytest.raises(InvalidGrammarError) as raised:
            grammar.write(form)
        assert f"tools[1].parameters.{said}" in str(raised.value)
        assert raised.value.recipient == "functions.a"
        loosened = loose.write(form).loosened
        assert f"{loosened[0].path}: {loosened[0].reason}" in str(raised.value)
        assert loosened[0].path.endswith(f".{loosened[0].keyword}")


def test_counts_of_any_size_and_references_that_meet_again() -> None:
    """A count takes no time that grows with it; a schema that two references lead to is one."""
    text = {"type": "string", "minLength": 10**15, "maxLength": 10**18}
    written = TurnGrammar(response_schema=text, strict=[]).write("xgrammar")
    assert [one.keyword for one in written.loosened] == ["maxLength", "minLength"]
    schema = {"$defs": {"a": {"type": "integer"}}, "allOf": [{"$ref": "#/$defs/a"}] * 2}
    for form in ("xgrammar", "gbnf", "lark"):
        assert TurnGrammar(response_schema=schema).write(form).loosened == []


def test_unheld_keywords_leave_the_rest() -> None:
    """A tool loses one keyword, and not the others; words that say nothing are not reported."""
    largest = 2**53 - 1
    read = {
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "not": {"const": ""}},
            "limit": {"type": "integer", "exclusiveMinimum": 0, "maximum": largest},
            "env": {"type": "object", "propertyNames": {"type": "string"}, "additionalProperties": {"type": "string"}},
        },
        "required": ["file_path"],
        "then": {},
    }  # fmt: skip
    grammar = TurnGrammar([{"name": "read", "parameters": read}], "required", strict=[])
    for form in ("lark", "xgrammar", "gbnf"):
        written = grammar.write(form)
        assert [(one.recipient, one.keyword, one.path) for one in written.loosened] == [
            ("functions.read", "not", "tools[0].parameters.properties.file_path.not")
        ]
        assert "file_path" in written.text
    with pytest.raises(ValueError, match="form: expected 'lark', 'xgrammar' or 'gbnf'"):
        grammar.write("json")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"response_regex": "<.*>"}, "response_regex: an engine may take its <"),
        ({"response_choices": ["a", "<|end|>"]}, "response_choices: an engine may take its <"),
        ({"response_regex": "[<]a?"}, "response_regex: an engine may take its <"),
        ({"response_regex": "[a&&b]"}, "response_regex: has a class of no character"),
    ],
)
def test_no_answer_of_bnf_begins_a_special_token(form: Any, said: str) -> None:
    grammar = TurnGrammar(**form)
    for write in (grammar.to_gbnf, lambda: grammar.to_xgrammar([])):
        with pytest.raises(HarmonyError, match=said):
            write()
    assert (
        "[^<"
        not in TurnGrammar(response_regex="a.*")
        .to_gbnf()
        .split("answer-text ::=")[1]
        .splitlines()[0]
    )


def test_llama_cpp_repeats_two_thousand_times_at_most() -> None:
    kinds = {"minLength": "string", "maxLength": "string", "minItems": "array", "maxItems": "array"}
    for key, kind in kinds.items():
        with pytest.raises(HarmonyError, match=rf"response_schema.{key}: llama.cpp takes no"):
            TurnGrammar(response_schema={"type": kind, key: 5000}).to_gbnf()
    long = {"type": "string", "maxLength": 5000}
    with pytest.raises(HarmonyError, match=r"response_schema.maxLength: costs xgrammar more time"):
        TurnGrammar(response_schema=long).to_xgrammar([])


# Requests.

FUNCTION = {"name": "get weather", "description": "?", "parameters": {"type": "object"}}
ASKED = [{"role": "user", "content": "Rain?"}]


def test_grammars_of_requests() -> None:
    schema = {"type": "object"}
    bodies: list[tuple[Any, dict[str, Any]]] = [
        (chat_completions.read, {"messages": ASKED, "tools": [{"type": "function", "function": FUNCTION}], "tool_choice": "required"}),
        (responses.read, {"input": "Rain?", "tools": [{"type": "function", **FUNCTION}], "tool_choice": "required"}),
        (anthropic.read, {"messages": ASKED, "max_tokens": 9, "tools": [{"name": "get weather", "input_schema": schema}], "tool_choice": {"type": "any"}}),
    ]  # fmt: skip
    call = "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{}<|call|>"
    for read, body in bodies:
        grammar = read(body).grammar()
        assert grammar.accepts(ids(call)).ok
        assert not grammar.accepts(ids("<|channel|>final<|message|>a<|return|>")).ok
        body["tool_choice"] = {"type": "auto"} if read is anthropic.read else "auto"
        assert read(body).grammar().accepts(ids("<|channel|>final<|message|>a<|return|>")).ok
    for takes in (
        {"type": "object"},
        {"type": "object", "properties": {}, "additionalProperties": False},
    ):
        nothing = {"type": "function", "function": {"name": "now", "parameters": takes}}
        grammar = chat_completions.read({"messages": ASKED, "tools": [nothing]}).grammar()
        assert '{"type":"object","additionalProperties":false' in grammar.to_lark()
    body = {"messages": ASKED, "format": {"type": "object"}, "tools": [{"type": "function", "function": FUNCTION}]}  # fmt: skip
    grammar = ollama.read(body).grammar(thinking="off")
    assert grammar.accepts(ids("<|channel|>final<|message|>{}<|return|>")).ok
    assert not grammar.accepts(ids("<|channel|>final<|message|>no<|return|>")).ok
    assert grammar.accepts(ids(call)).ok
    named = {"type": "function", "function": {"name": "get weather"}}
    turn = chat_completions.read({**bodies[0][1], "tool_choice": named}, named="prefill")
    assert turn.prefill is not None
    assert turn.grammar().accepts(ids("{}<|call|>")).ok
    loose = {"messages": ASKED, "format": {"required": ["a"]}, "tools": [{"type": "function", "function": FUNCTION}]}  # fmt: skip
    loose["tools"][0]["function"] = {**FUNCTION, "parameters": {"required": ["a"]}}
    held, free = (
        ollama.read(loose).grammar(any_json=any_json).to_lark()
        for any_json in ((), ("functions.get_weather", ""))
    )
    assert held.count('"required":["a"]') == 2
    assert '"required"' not in free
    broken = {**FUNCTION, "parameters": {"$ref": "#/nowhere"}}
    broken = {"messages": ASKED, "tools": [{"type": "function", "function": broken}]}
    grammar = chat_completions.read(broken).grammar()
    assert [one.keyword for one in grammar.write("lark").loosened] == ["$ref"]
    broken["tools"][0]["function"]["strict"] = True
    with pytest.raises(HarmonyError, match="leads to nothing in the schema"):
        chat_completions.read(broken).grammar().to_lark()
    grammar = chat_completions.read(broken).grammar(any_json=["functions.get_weather"])
    assert grammar.accepts(ids(call)).ok
    assert grammar.write("lark").loosened == []
    some = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [named]}}
    turn = chat_completions.read({**bodies[0][1], "tool_choice": some})
    assert turn.grammar().accepts(ids(call)).ok
    assert not turn.grammar().accepts(ids("<|channel|>final<|message|>a<|return|>")).ok
    some["allowed_tools"] = {"mode": "auto", "tools": [named]}
    other = {"type": "function", "function": {"name": "other"}}
    tools = [*bodies[0][1]["tools"], other]
    turn = chat_completions.read({"messages": ASKED, "tools": tools, "tool_choice": some})
    assert turn.grammar().accepts(ids(call)).ok
    assert turn.grammar().accepts(ids("<|channel|>final<|message|>a<|return|>")).ok
    assert not turn.grammar().accepts(ids(call.replace("get_weather", "other"))).ok


def test_a_thought_that_a_request_continues() -> None:
    thought = {"role": "assistant", "reasoning": "It", "prefix": True}
    turn = chat_completions.read({"messages": [*ASKED, thought]})
    goes_on, anew = ids(" rains.<|end|>"), ids("<|channel|>analysis<|message|>It rains.<|end|>")
    answer = ids("<|start|>assistant<|channel|>final<|message|>Yes.<|return|>")
    for grammar, begun in (
        (turn.grammar(), goes_on),
        (turn.grammar(prefill=Prefill()), anew),
        (turn.grammar(prefill=Prefill(channel="analysis")), ids("It.<|end|>")),
    ):
        assert grammar.accepts(begun + answer).ok
    assert not turn.grammar().accepts(anew + answer).ok


# Bad input.


def test_a_recursive_schema_is_one() -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#"}}}
    tool = {"name": "plant", "parameters": tree}
    call = '<|channel|>commentary to=functions.plant<|message|>{"left":{"left":{}}}<|call|>'
    assert TurnGrammar([tool]).accepts(ids(call)).ok


def test_a_state_can_be_copied() -> None:
    state = TurnGrammar().state()
    for token in ids("<|channel|>final<|message|>a"):
        assert state.feed(token) is None
    for copied in (state.copy(), copy.copy(state), copy.deepcopy(state)):
        assert copied.feed(200002) is None
        assert (copied.is_complete, state.is_complete) == (True, False)
        assert copied.expected == "nothing: the turn is complete"
    grammar = TurnGrammar(TOOLS)
    assert copy.copy(grammar) is copy.deepcopy(grammar) is grammar


def test_many_schemas_of_which_one_fits_are_not_compared() -> None:
    grammar = TurnGrammar(response_schema={"oneOf": [{"const": one} for one in range(301)]})
    for write in (grammar.to_gbnf, grammar.to_lark):
        with pytest.raises(
            HarmonyError, match="response_schema.oneOf: more than 300 schemas are not compared"
        ):
            write()


def test_messages_of_authors_are_not_sampled() -> None:
    """A result of a tool is no part of the assistant's turn."""
    result = Message.from_author_and_content(Author.new(Role.TOOL, "functions.rain"), "yes")
    assert not TurnGrammar(TOOLS).accepts(ENCODING.render(result)).ok


def test_references_are_those_of_their_own_tool() -> None:
    """Two tools have a definition of one name, and the same ``$ref`` leads to each one's own."""

    def tool(name: str, value: str) -> dict[str, Any]:
        parameters = {"properties": {"x": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"const": value}}}
        return {"name": name, "parameters": parameters}

    grammar = TurnGrammar([tool("f", "first"), tool("g", "second")])
    for form in ("gbnf", "xgrammar"):
        text = grammar.write(form, []).text
        assert "first" in text, form
        assert "second" in text, form


@pytest.mark.parametrize(
    ("schema", "has", "loosened"),
    [
        ({"minimum": 3, "exclusiveMinimum": True}, '"exclusiveMinimum":3', []),
        ({"minimum": 3, "exclusiveMinimum": False}, '"minimum":3', []),
        ({"minimum": True}, "", ["minimum"]),
        ({"type": "integer", "multipleOf": 0}, "", ["multipleOf"]),
        ({"type": "string", "format": "date"}, '"format":"date"', []),
    ],
)
def test_keywords_as_drafts_have_them(schema: Any, has: str, loosened: list[str]) -> None:
    written = TurnGrammar(response_schema=schema, strict=[]).write("lark")
    assert has in written.text
    assert [one.keyword for one in written.loosened] == loosened


def test_choices_keep_their_blanks() -> None:
    written = TurnGrammar(response_choices=["a\tb\nc\rd"]).to_gbnf()
    assert '"a\\tb\\nc\\rd"' in written
