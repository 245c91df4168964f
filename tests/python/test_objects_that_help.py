"""What strangers pass and ask for, in the idioms of other packages: it works, or the error names what to write."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import openai_harmony
from openai_harmony import (
    Conversation,
    HarmonyEncoding,
    Message,
    UnknownFieldWarning,
)
from openai_harmony.grammar import TurnGrammar
from openai_harmony.interop import anthropic, chat_completions, ollama, responses
from tables import table

HI = {"role": "user", "content": "Hi"}
MESSAGE = Message.from_role_and_content("user", "Hi")
CONVERSATION = Conversation.from_messages([MESSAGE])
TURN = chat_completions.read({"messages": [HI]}, date=None)
CALLING = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
READER = "openai_harmony.interop.chat_completions.read"
RAIN = {"name": "rain", "parameters": {"type": "object"}}


# A field, and the one that is meant; `None`: it has a meaning of its own to engines.
FIELDS = [
    (chat_completions.read, {"messages": [HI]}, "max_token", "max_tokens"),
    (chat_completions.read, {"messages": [HI]}, "maxTokens", "max_tokens"),
    (chat_completions.read, {"messages": [HI]}, "max_new_tokens", "max_completion_tokens"),
    (chat_completions.read, {"messages": [HI]}, "stop_sequences", "stop"),
    (chat_completions.read, {"messages": [HI]}, "temprature", "temperature"),
    (chat_completions.read, {"messages": [HI]}, "tool", "tools"),
    (chat_completions.read, {"messages": [HI]}, "min_tokens", None),
    (chat_completions.read, {"messages": [HI]}, "user", None),
    (responses.read, {"input": "Hi"}, "max_tokens", "max_output_tokens"),
    (responses.read, {"input": "Hi"}, "reasoning_effort", "reasoning"),
    (anthropic.read, {"messages": [HI]}, "stop", "stop_sequences"),
]  # fmt: skip


@pytest.mark.parametrize(("read", "body", "field", "meant"), FIELDS)
def test_a_misspelt_field_of_a_body_says_which_is_meant(
    read: Callable[..., Any], body: dict[str, Any], field: str, meant: str | None
) -> None:
    turn = read({**body, field: 3}, date=None)
    reason = "not used" if meant is None else f"not used; did you mean {meant}?"
    assert [(one.path, one.reason) for one in turn.unused] == [(field, reason)]


@pytest.mark.parametrize(
    "data",
    [
        {"messages": [HI], "model": "gpt-oss-20b"},
        {"messages": [HI], "tools": []},
        {"messages": [{**HI, "tool_call_id": "a"}]},
        {"messages": [{"role": "assistant", "content": "Hi", "tool_calls": []}]},
    ],
)
def test_what_is_read_without_its_fields_warns_of_the_reader(data: dict[str, Any]) -> None:
    with pytest.warns(UnknownFieldWarning, match=re.escape(READER)):
        Conversation.from_dict(data)


def names_of_tiktoken() -> list[str]:
    """The first column of the table in the guide."""
    text = Path(__file__).parents[2].joinpath("docs/guides/migrate.md").read_text("utf-8")
    table = text.split("| tiktoken | here |\n|---|---|\n")[1].split("\n\n")[0]
    cells = [row.replace("\\|", "").split("|")[1] for row in table.splitlines()]
    return [re.match(r"\w+", name)[0] for cell in cells for name in re.findall(r"`(.*?)`", cell)]  # type: ignore[index]


# Public names of `tiktoken.Encoding` 0.14.
TIKTOKEN = """decode decode_batch decode_bytes decode_bytes_batch decode_single_token_bytes decode_tokens_bytes
decode_with_offsets encode encode_batch encode_ordinary encode_ordinary_batch encode_single_token encode_to_numpy
encode_with_unstable eot_token is_special_token max_token_value n_vocab name special_tokens_set
token_byte_values""".split()


@pytest.mark.parametrize("name", [*TIKTOKEN, "get_encoding", "encoding_for_model"])
def test_a_name_of_tiktoken_is_here_or_says_what_is(name: str, encoding: HarmonyEncoding) -> None:
    thing: Any = encoding if name in TIKTOKEN else openai_harmony
    if hasattr(thing, name):
        return
    assert name in names_of_tiktoken()
    with pytest.raises(AttributeError, match=f"'{name}'; here it is "):
        getattr(thing, name)


@pytest.mark.parametrize(
    "name", ["apply_chat_template", "batch_decode", "convert_tokens_to_ids", "eos_token_id"]
)
def test_a_name_of_transformers_says_what_is_here(name: str, encoding: HarmonyEncoding) -> None:
    with pytest.raises(AttributeError, match=f"'{name}'; here it is "):
        getattr(encoding, name)


def test_the_ways_of_the_encoding_run(encoding: HarmonyEncoding) -> None:
    from openai_harmony._elsewhere import WAYS_OF_ENCODING

    names: dict[str, Any] = {
        **{name: getattr(encoding, name) for name in dir(encoding) if name[0] != "_"},
        "encoding": encoding, "token": 12194, "tokens": [12194], "batch": [[12194]],
        "texts": ["Hi"], "text": "Hi", "index": 1, "interop": openai_harmony.interop,
        "messages": [HI], "numpy": pytest.importorskip("numpy"),
    }  # fmt: skip
    for name, way in WAYS_OF_ENCODING.items():
        code, *_ = re.split(r", (?:or|and|again) ", way)
        assert eval(code, dict(names)) is not None, name


def test_missing_attributes_are_missing_as_ever(encoding: HarmonyEncoding) -> None:
    for thing in (encoding, MESSAGE, TURN, openai_harmony):
        assert not hasattr(thing, "frobnicate")
        with pytest.raises(AttributeError, match="no attribute 'frobnicate'$"):
            thing.frobnicate  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(
    "code",
    table("objects_that_help", "the first thing that a process does"),
)
def test_the_first_thing_that_a_process_does(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    expected = "tokens: expected a sequence of ints, got str" if "decode" in code else ""
    assert expected in done.stderr if expected else (done.returncode, done.stderr) == (0, "")


FIRST_CALLS = """
import sys
import openai_harmony
from openai_harmony import HarmonyError, Role, StreamableParser, load_harmony_encoding
encoding = load_harmony_encoding("HarmonyGptOss")
tokens = encoding.encode("<|channel|>final<|message|>Hi<|return|>", allowed_special="all")
assert encoding.decode(tokens) and len(encoding.encode_batch(["Hi", "Ho"])) == 2
for role in (Role.ASSISTANT, "assistant", None):
    parser = StreamableParser(encoding, role)
    events = parser.feed(tokens if role else encoding.encode("<|start|>user", allowed_special="all"))
    state = (parser.state, parser.current_role, parser.last_content_delta)
assert events == [] and state[0].name == "HEADER"
for bad in ([999999], "text"):
    try:
        encoding.decode(bad)
    except (HarmonyError, ValueError):
        pass
print([name for name in ("pydantic", "pydantic_core", "typing_extensions") if name in sys.modules])
assert isinstance(openai_harmony.Message, type) and "pydantic" in sys.modules
assert openai_harmony.chat.Role is Role
assert parser.messages == [] and set(openai_harmony.__all__) <= set(dir(openai_harmony))
"""


def test_the_first_calls_import_no_models() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST_CALLS], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_grammars_say_what_they_are() -> None:
    rain = TurnGrammar([RAIN, "python"])
    assert repr(rain) == "<TurnGrammar of functions.rain, python>"
    assert repr(TurnGrammar()) == "<TurnGrammar of no tools>"
    many = TurnGrammar([{"name": f"f{index}"} for index in range(12)])
    assert repr(many).endswith("functions.f9 and 2 more>")
    state = rain.state()
    assert repr(state).startswith("<GrammarState: expects <|channel|>analysis<|message|>")
    for token in [200005, 17196, 200008, 12194, 200002]:
        state.feed(token)
    assert repr(state) == "<GrammarState: complete>"


def test_today_and_dates_are_read() -> None:
    import datetime

    for date in ("today", None, "2024-02-29", datetime.date(2026, 1, 31)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            chat_completions.read({"messages": [HI]}, date=date)


class Place(BaseModel):
    name: str


@pytest.mark.parametrize(
    ("read", "body", "schema_of"),
    [
        (
            chat_completions.read,
            {"messages": [HI], "response_format": Place},
            lambda turn: turn.response_format.schema,
        ),
        (
            responses.read,
            {"input": "Hi", "text": {"format": Place}},
            lambda turn: turn.response_format.schema,
        ),
        (
            ollama.read,
            {"messages": [HI], "format": Place},
            lambda turn: turn.response_format.schema,
        ),
        (
            anthropic.read,
            {"messages": [HI], "max_tokens": 9, "tools": [{"name": "f", "input_schema": Place}]},
            lambda turn: (
                turn.conversation.messages[-2].content[0].tools["functions"].tools[0].parameters
            ),
        ),
    ],
)
def test_the_class_of_a_model_stands_for_its_schema(
    read: Any, body: dict[str, Any], schema_of: Any
) -> None:
    assert schema_of(read(body)) == Place.model_json_schema()
