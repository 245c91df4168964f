"""An agent with two tools, in front of any engine that takes and returns token ids.

    python examples/agent.py --show
    python examples/agent.py "How far is Tokyo from Oslo, in miles?" --url http://localhost:8000
    python examples/agent.py "…" --replay sampled.txt

The loop is `run`: sample, run the calls, continue from exactly the sampled tokens. `--url` is the
completions API of vLLM or SGLang; `--replay` reads samples from a file, one turn per line, as text
with markers; without either, the recorded episode below answers. `--show` draws the whole episode
at the end.
"""

from __future__ import annotations

import argparse
import json
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from openai_harmony import HarmonyError, Message, load_harmony_encoding, show
from openai_harmony.interop import chat_completions
from openai_harmony.rollout import Call, Rollout

encoding = load_harmony_encoding("HarmonyGptOss")

Sample = Callable[[list[int]], list[int]]
"""Takes a prompt, and returns what the engine samples up to a stop token, which it includes."""

MOST_TURNS = 10
QUESTION = "How far is Oslo from Bergen, in miles?"
RECORDED = """\
<|channel|>analysis<|message|>First the distance.<|end|><|start|>assistant\
<|channel|>commentary to=functions.distance <|constrain|>json<|message|>\
{"start": "Oslo", "end": "Bergen"}<|call|>
<|channel|>commentary to=functions.convert <|constrain|>json<|message|>{"kilometres": 305}<|call|>
<|channel|>final<|message|>It is 189.5 miles.<|return|>
"""
"""What a model samples for this question, one turn per line."""


# The tools: Python functions, and their declarations for the model.


def distance(start: str, end: str) -> dict[str, Any]:
    """The distance between two cities by air."""
    known = {("bergen", "oslo"): 305, ("oslo", "tokyo"): 8414}
    first, second = sorted((start.lower(), end.lower()))
    if (first, second) not in known:
        return {"error": f"no distance between {start} and {end} is known"}
    return {"kilometres": known[first, second]}


def convert(kilometres: float) -> dict[str, Any]:
    """Kilometres in miles."""
    return {"miles": round(kilometres * 0.621371, 1)}


CITY = {"type": "string", "description": "A city"}
TOOLS: dict[str, tuple[Callable[..., dict[str, Any]], dict[str, Any]]] = {
    "distance": (distance, {"start": CITY, "end": CITY}),
    "convert": (convert, {"kilometres": {"type": "number"}}),
}


def request(question: str) -> dict[str, Any]:
    """The question and the tools, as a body of chat completions."""
    tools = [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": function.__doc__,
                "parameters": {"type": "object", "properties": fields, "required": [*fields]},
            },
        }
        for name, (function, fields) in TOOLS.items()
    ]
    return {"messages": [{"role": "user", "content": question}], "tools": tools}


# The loop.


def run(question: str, sample: Sample) -> Rollout:
    """Samples until there is an answer. `RuntimeError` if there is none within ten turns."""
    rollout = Rollout(chat_completions.read(request(question)), encoding)
    prompt = rollout.prompt
    for _ in range(MOST_TURNS):
        step = rollout.sampled(sample(prompt.tolist()))
        for thought in step.thoughts:
            print(f"  thinks  {thought.text}")
        if not step.waiting:
            print(step.answer.text if step.answer else "(no answer)")
            return rollout
        prompt = rollout.extend([result_of(call) for call in step.waiting])
    raise RuntimeError(f"no answer within {MOST_TURNS} turns")


def result_of(call: Call) -> Message:
    """Runs a call. Whatever goes wrong is a result, so that the model can do better."""
    name = call.name.removeprefix("functions.")
    try:
        if call.status != "complete":
            raise ValueError(f"the arguments are {call.status}")
        if name not in TOOLS:
            raise ValueError(f"no tool is called {call.name}")
        result = TOOLS[name][0](**json.loads(call.arguments))
    except (TypeError, ValueError) as error:
        result = {"error": str(error)}
    print(f"  calls   {name}({call.arguments}) -> {json.dumps(result)}")
    return call.result(json.dumps(result))


# Engines.


def completions(url: str, model: str) -> Sample:
    """The completions API of vLLM and SGLang, with token ids both ways."""

    def sample(prompt: list[int]) -> list[int]:
        body = {
            "model": model,
            "prompt": prompt,
            "max_tokens": 4096,
            "temperature": 1.0,
            "stop_token_ids": encoding.stop_tokens_for_assistant_actions(),
            "return_token_ids": True,
        }
        asked = urllib.request.Request(
            f"{url}/v1/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(asked) as answered:
            tokens: list[int] = json.load(answered)["choices"][0]["token_ids"]
        return tokens

    return sample


def replay(recorded: str) -> Sample:
    """What was sampled before, a turn a line."""
    turns: Iterator[str] = iter(recorded.splitlines())

    def sample(prompt: list[int]) -> list[int]:
        turn = next(turns, None)
        if turn is None:
            raise RuntimeError("the recording has no further turn")
        return encoding.encode(turn, allowed_special="all")

    return sample


def main() -> int:
    """Asks the question of the command line."""
    parser = argparse.ArgumentParser(description="An agent with two tools.")
    parser.add_argument("question", nargs="?", default=QUESTION)
    engine = parser.add_mutually_exclusive_group()
    engine.add_argument("--url", help="an engine's address")
    engine.add_argument("--replay", type=Path, help="a file of what was sampled")
    parser.add_argument("--model", default="openai/gpt-oss-20b")
    parser.add_argument("--show", action="store_true", help="draw the episode")
    options = parser.parse_args()
    try:
        if options.url:
            sample = completions(options.url, options.model)
        else:
            sample = replay(options.replay.read_text("utf-8") if options.replay else RECORDED)
        rollout = run(options.question, sample)
    except (OSError, HarmonyError, RuntimeError) as error:
        print(f"agent: {error}", file=sys.stderr)
        return 1
    if options.show:
        examples = rollout.examples()
        for index, segment in enumerate(examples):
            start = examples.offsets[index]
            show.print(segment, mask=examples.loss_mask[start : start + len(segment)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
