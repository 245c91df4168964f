"""The examples that people copy: the agent, the chat in the terminal, the notebook."""

from __future__ import annotations

import importlib.util
import json
import re
import runpy
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import Self

from openai_harmony import Conversation, load_harmony_encoding, show
from openai_harmony.interop import Reply, Turn
from running_gateways import command

EXAMPLES = Path(__file__).parents[2] / "examples"
ENCODING = load_harmony_encoding("HarmonyGptOss")
THOUGHT = "<|channel|>analysis<|message|>{}<|end|><|start|>assistant"
CALL = "<|channel|>commentary to=functions.{} <|constrain|>json<|message|>{}<|call|>"
EPISODE = [
    THOUGHT.format("First the distance.")
    + CALL.format("distance", '{"start":"Oslo","end":"Bergen"}'),
    CALL.format("convert", '{"kilometres": 305}'),
    "<|channel|>final<|message|>It is 189.5 miles.<|return|>",
]


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class TestAgent:
    agent = load("agent")

    def sample(self, turns: list[str]) -> Any:
        prompts: list[list[int]] = []
        left = iter(turns)

        def sample(prompt: list[int]) -> list[int]:
            prompts.append(prompt)
            return list(ENCODING.encode(next(left), allowed_special="all"))

        sample.prompts = prompts  # type: ignore[attr-defined]
        return sample

    def test_two_tools(self, capsys: pytest.CaptureFixture[str]) -> None:
        sample = self.sample(EPISODE)
        self.agent.run("How far?", sample)
        assert capsys.readouterr().out.splitlines() == [
            "  thinks  First the distance.",
            '  calls   distance({"start":"Oslo","end":"Bergen"}) -> {"kilometres": 305}',
            '  calls   convert({"kilometres": 305}) -> {"miles": 189.5}',
            "It is 189.5 miles.",
        ]
        # Each prompt goes on from the tokens that were sampled.
        for before, turn, after in zip(sample.prompts, EPISODE, sample.prompts[1:]):
            sampled = ENCODING.encode(turn, allowed_special="all")
            assert after[: len(before) + len(sampled)] == before + sampled

    @pytest.mark.parametrize(
        ("call", "said"),
        [
            (CALL.format("convert", '{"miles": 1}'), "unexpected keyword argument"),
            (CALL.format("convert", "not JSON"), "the arguments are not_json"),
            (CALL.format("other", "{}"), "no tool is called functions.other"),
            (CALL.format("distance", '{"start":"a","end":"b"}'), "no distance between a and b"),
        ],
    )
    def test_what_goes_wrong_is_a_result(
        self, call: str, said: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        sample = self.sample([call, EPISODE[-1]])
        self.agent.run("How far?", sample)
        assert said in capsys.readouterr().out
        assert said in ENCODING.decode(sample.prompts[1])

    def test_a_loop_ends(self) -> None:
        with pytest.raises(RuntimeError, match="no answer within 10 turns"):
            self.agent.run("How far?", self.sample([EPISODE[1]] * 11))

    def test_without_an_engine(self) -> None:
        """As a stranger runs it first."""
        done = subprocess.run(
            [sys.executable, str(EXAMPLES / "agent.py")], capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1] == "It is 189.5 miles."
        assert done.stdout.count("  calls   ") == 2

    def test_from_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "sampled.txt"
        file.write_text("\n".join(EPISODE), encoding="utf-8")
        done = subprocess.run(
            [
                sys.executable,
                str(EXAMPLES / "agent.py"),
                "How far?",
                "--replay",
                str(file),
                "--show",
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        assert "It is 189.5 miles." in done.stdout
        assert " trained" in done.stdout


class TestTerminalChat:
    def test_two_questions(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        pytest.importorskip("openai")
        chat = load("terminal_chat")
        asked: list[Any] = []
        monkeypatch.setattr(chat.openai, "OpenAI", lambda **_: Client(asked))
        monkeypatch.setattr(sys, "argv", ["terminal_chat.py", "--system", "Be brief."])
        questions = iter(["Hi", "again", ""])
        monkeypatch.setattr("builtins.input", lambda _: next(questions))
        assert chat.main() == 0
        assert capsys.readouterr().out == "Hm.\nHello 1.\nHm.\nHello 2.\n"
        first, second = asked
        assert [message["role"] for message in first] == ["system", "user"]
        assert second[2] == {"role": "assistant", "reasoning_content": "Hm.", "content": "Hello 1."}

    def test_against_the_gateway(self, tmp_path: Path) -> None:
        """`harmony serve` with the recording of the guide, and the example as its users run it."""
        pytest.importorskip("openai")
        pytest.importorskip("uvicorn")
        record = tmp_path / "recorded.jsonl"
        guide = (EXAMPLES.parent / "docs/serve.md").read_text(encoding="utf-8")
        [said] = re.findall(r"^echo '(.*)' > recorded.jsonl$", guide, re.MULTILINE)
        record.write_text(said)
        with command("--engine", f"replay={record}") as (url, _):
            done = subprocess.run(
                [sys.executable, str(EXAMPLES / "terminal_chat.py"), "--url", f"{url}/v1"],
                input="Hi\nagain\n\n",
                capture_output=True,
                text=True,
                timeout=60,
            )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count("Hello.\n") == 2


class Client:
    """Streams what a server of this project sends."""

    def __init__(self, asked: list[Any]) -> None:
        self.chat = types.SimpleNamespace(completions=self)
        self.asked = asked

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def create(self, *, model: str, messages: list[Any], stream: bool) -> Any:
        from openai.types.chat import ChatCompletionChunk

        from openai_harmony.interop import chat_completions

        assert stream
        self.asked.append(json.loads(json.dumps(messages)))
        reply = chat_completions.read({"messages": messages}).reply(ENCODING, model=model)
        said = (
            f"{THOUGHT.format('Hm.')}<|channel|>final<|message|>Hello {len(self.asked)}.<|return|>"
        )
        chunks = reply.feed(ENCODING.encode(said, allowed_special="all")) + reply.finish("stop")
        return Stream(ChatCompletionChunk.model_validate(chunk) for chunk in chunks)


class Stream:
    def __init__(self, chunks: Any) -> None:
        self.chunks = chunks

    def __enter__(self) -> Any:
        return self.chunks

    def __exit__(self, *_: object) -> None:
        pass


def test_the_notebook() -> None:
    """Its cells run as a notebook runs them, and what their last lines are shows itself."""
    file = EXAMPLES / "harmony.ipynb"
    stored = json.loads(file.read_text(encoding="utf-8"))
    assert stored["nbformat"] == 4
    assert all(cell.get("outputs", []) == [] for cell in stored["cells"])
    notebook = runpy.run_path(str(EXAMPLES.parent / "docs" / "notebook.py"))
    shown = [cell.shown for cell in notebook["executed"](file) if cell.kind == "code"]
    conversation, turn, reply, message, trained, difference = shown
    assert isinstance(conversation, Conversation)
    assert isinstance(turn, Turn)
    assert isinstance(reply, Reply)
    assert message["content"] == "It is 4."
    assert isinstance(difference, show.Difference)
    assert "missing_message" in reply._repr_html_()
    assert ' trained"' in trained._repr_html_()
    for one in (conversation, turn, reply, trained, difference):
        assert "harmony-show" in one._repr_html_()
    page = notebook["page"](file)
    assert page.count('<div class="harmony-show"') >= 5
    assert "\n## Damaged output\n" in page


@pytest.mark.parametrize(("text", "said"), [(None, "No such file"), ("", "has no further turn")])
def test_the_agent_names_what_fails(text: str | None, said: str, tmp_path: Path) -> None:
    file = tmp_path / "sampled.txt"
    if text is not None:
        file.write_text(text)
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "agent.py"), "?", "--replay", str(file)],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, len(done.stderr.splitlines()), said in done.stderr) == (1, 1, True)
