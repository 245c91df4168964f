"""The cases of tests/interop/cases, in Python; tests/interop/cases.rs drives the same files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openai_harmony import HarmonyEncoding, HarmonyError, RenderConversationConfig
from openai_harmony.interop import (
    TokenLogprob,
    Turn,
    anthropic,
    chat_completions,
    error_body,
    ollama,
    responses,
)

FOLDER = Path(__file__).parents[1] / "interop" / "cases"
DIALECTS = {
    d.__name__.rpartition(".")[2]: d for d in (anthropic, chat_completions, ollama, responses)
}
OF_ANSWERS: dict[str, Any] = {
    "model": "gpt-oss-20b",
    "id": "id-1",
    "created": 1_751_112_000,
    "prompt_tokens": 100,
    "cached_tokens": 60,
}
USUAL = (
    "Reasoning: medium\n\n# Valid channels: analysis, commentary, final.",
    " Channel must be included for every message.",
)


class Case:
    """What is given, by its words, and the lines of what is expected, by their signs."""

    def __init__(self, text: str) -> None:
        title, *lines = text.split("\n")
        lines = [line for line in lines if line and not line.startswith("# ")]
        count = next((n for n, line in enumerate(lines) if not line[0].isalpha()), len(lines))
        self.title = title
        self.word, _, self.body = lines[0].partition(" ")
        self.given = dict(line.split(" ", 1) for line in lines[1:count])
        self.lines = [tuple(line.split(" ", 1)) for line in lines[count:]]

    def expected(self, sign: str) -> list[str]:
        return [text for found, text in self.lines if found == sign]

    def options(self, word: str) -> dict[str, Any]:
        options: dict[str, Any] = json.loads(self.given.get(word, "{}"))
        if "config" in options:
            options["config"] = RenderConversationConfig(**options["config"])
        return options

    def read(self) -> Turn:
        tools = ["browser", "python"] if "sampled" in self.given else []
        options = {"date": "2025-06-28", "builtin_tools": tools, **self.options("options")}
        if "stored" in self.given:
            options["resolve"] = self.options("stored").get
        return DIALECTS[self.word].read(self.body, **options)


def cases() -> Iterator[Any]:
    for file in sorted(FOLDER.glob("*.txt")):
        for text in file.read_text("utf-8").split("\n## ")[1:]:
            case = Case(text)
            yield pytest.param(case, id=f"{file.stem}: {case.title}")


def one_line(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def less(value: Any, base: Any) -> Any:
    """The members that are not as in another value."""
    if not isinstance(value, dict):
        return value
    base = base if isinstance(base, dict) else {}
    return {k: less(v, base.get(k)) for k, v in value.items() if k not in base or base[k] != v}


def facts(turn: Turn) -> dict[str, Any]:
    """What a turn has besides its prompt, as far as it is not that of a plain body."""
    key = "input" if turn.dialect == "responses" else "messages"
    plain = DIALECTS[turn.dialect].read({key: [{"role": "user", "content": "Hi"}]})
    names = "stop_token_ids stop_token_names stop_strings sampling model store may_truncate"
    names += " previous_response_id strict_format thinking_budget stream"
    found = {name: getattr(turn, name) for name in names.split()}
    found = less(found, {name: getattr(plain, name) for name in names.split()})
    if (choice := turn.tool_choice).mode != "auto" or choice.recipients:
        found["tool_choice"] = [choice.mode, list(choice.recipients)]
    if (form := turn.response_format) is not None:
        found["response_format"] = [form.name, form.description, form.schema]
    if turn.unmet:
        found["unmet"] = [unmet.path for unmet in turn.unmet]
    if turn.tools:
        found["tools"] = [
            [tool.name, tool.recipient, tool.kind, tool.offered, tool.declared, tool.client_runs]
            for tool in turn.tools
        ]
    return found


def expected_facts(written: dict[str, Any]) -> dict[str, Any]:
    """The same, of the line that Rust writes."""
    answer = written.pop("answer", {})
    if "stream" in answer:
        written["stream"] = answer["stream"]
    match written.get("tool_choice"):
        case {"type": "allowed", "recipients": recipients, "required": required}:
            written["tool_choice"] = ["required" if required else "auto", recipients]
        case {"type": "named", "recipient": recipient}:
            written["tool_choice"] = ["named", [recipient]]
        case {"type": mode}:
            written["tool_choice"] = [mode, []]
    if bias := written.get("sampling", {}).get("logit_bias"):
        written["sampling"]["logit_bias"] = dict(bias)
    if form := written.get("response_format"):
        written["response_format"] = [form["name"], form.get("description"), form["schema"]]
    if "tools" in written:
        flags = ("offered", "declared", "client_runs")
        written["tools"] = [
            [
                tool["name"],
                tool.get("recipient", f"functions.{tool['name']}"),
                tool.get("kind", "function"),
                *(tool.get(flag, True) for flag in flags),
            ]
            for tool in written["tools"]
        ]
    return written


def check_read(case: Case, encoding: HarmonyEncoding) -> None:
    turn = case.read()
    within = int(case.given.get("within", 1 << 60))
    system, _, said = encoding.decode(turn.prompt(encoding, max_tokens=within)).partition("<|end|>")
    said = (
        said.removesuffix("<|start|>assistant")
        if said.endswith("<|start|>assistant")
        else f"{said}…"
    )
    assert one_line(said) == case.expected("=")[0]
    _, _, rest = system.rpartition("Current date: 2025-06-28\n\n")
    for text in USUAL:
        rest = rest.replace(text, "", 1)
    assert [one_line(rest.strip())] == (case.expected("~") or [""])
    written = [expected_facts(json.loads(text)) for text in case.expected(".")]
    assert facts(turn) == (written[0] if written else {})
    assert [f"{unused.path}: {unused.reason}" for unused in turn.unused] == case.expected("+")


def timeless(sent: dict[str, Any]) -> dict[str, Any]:
    """What is sent, with zero for each of Ollama's durations."""
    return {key: 0 if key.endswith("_duration") else value for key, value in sent.items()}


def check_answer(case: Case, encoding: HarmonyEncoding) -> None:
    sampled = case.given["sampled"].replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")
    turn = case.read()
    reply = turn.reply(encoding, **{**OF_ANSWERS, **case.options("reply")})
    chunks: list[Any] = []
    for token in encoding.encode(sampled, allowed_special="all"):
        given = [logprob(token)] if "logprobs" in turn.sampling else None
        chunks += reply.feed([token], given)
    chunks += reply.finish(case.given.get("ends", "stop"))
    chunks, answer = [timeless(chunk) for chunk in chunks], timeless(reply.response())
    question: dict[str, Any] = {"input": "Hi"}
    if case.word != "responses":
        message = {"role": "user", "content": "Hi"}
        question = {"model": "m", "max_tokens": 100, "messages": [message]}
    plain = DIALECTS[case.word].read(question)
    base = {**timeless(plain.reply(encoding, **OF_ANSWERS).response()), "sequence_number": 0}
    for whole in case.expected("=="):
        assert answer == json.loads(whole)
    for response in case.expected("="):
        assert less(answer, base) == json.loads(response)
    if expected := case.expected("-"):
        shown = [{**c, "sequence_number": 0} if "sequence_number" in c else c for c in chunks]
        shown = [
            {**c, "response": less(c["response"], base)} if "response" in c else c for c in shown
        ]
        assert [less(chunk, base) for chunk in shown] == [json.loads(text) for text in expected]
    assert [f"{r.kind}: {one_line(r.text)}" for r in reply.repairs] == case.expected("*")
    calls = [
        f"{call.recipient}: {one_line(call.text)}{'' if call.is_complete else '…'}"
        for call in reply.builtin_calls
    ]
    assert calls == case.expected("&")


def logprob(token: int) -> Any:
    """What the driver in Rust gives for a token."""
    if token % 11 == 0:
        return None
    logprob = -float(token % 7)
    return TokenLogprob(logprob, {5: logprob - 1.0, 200_002: float("-inf"), 6: logprob})


@pytest.mark.parametrize("case", list(cases()))
def test_case(case: Case, encoding: HarmonyEncoding) -> None:
    check = check_answer if "sampled" in case.given else check_read
    if not (errors := case.expected("!")):
        return check(case, encoding)
    with pytest.raises(HarmonyError) as raised:
        check(case, encoding)
    assert one_line(str(raised.value)) == errors[0]
    for answered in case.expected("^"):
        answer = error_body(case.word, raised.value)  # type: ignore[arg-type]
        status, _, body = answered.partition(" ")
        assert (answer.status, answer.body) == (int(status), json.loads(body))
    return None
