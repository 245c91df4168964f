"""A chat in the terminal with any server of chat completions, such as `harmony serve` or vLLM.

    python examples/terminal_chat.py --url http://localhost:8000/v1

Thoughts are dim, answers are not; thoughts are sent back with the next request, as gpt-oss expects.
An empty line or Ctrl-D ends the chat. It needs the package `openai`.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import openai

DIM, PLAIN = "\033[2m", "\033[0m"


def styled(text: str, style: str) -> str:
    """The text in a style, on a terminal."""
    return f"{style}{text}{PLAIN}" if sys.stdout.isatty() and text else text


def answer(client: openai.OpenAI, model: str, messages: list[Any]) -> dict[str, Any]:
    """Prints an answer while it is sampled, and returns it as a message."""
    said = {"reasoning_content": "", "content": ""}
    with client.chat.completions.create(model=model, messages=messages, stream=True) as stream:
        for chunk in stream:
            for choice in chunk.choices:
                for field, text in choice.delta.model_dump().items():
                    if field not in said or not text:
                        continue
                    if field == "content" and said["reasoning_content"] and not said["content"]:
                        print()
                    said[field] += text
                    style = DIM if field == "reasoning_content" else PLAIN
                    print(styled(text, style), end="", flush=True)
    print()
    return {"role": "assistant", **said}


def main() -> int:
    """Reads questions until an empty line."""
    parser = argparse.ArgumentParser(description="A chat in the terminal.")
    parser.add_argument("--url", default="http://localhost:8000/v1", help="a server's address")
    parser.add_argument("--model", default="gpt-oss-20b")
    parser.add_argument("--system", help="instructions")
    options = parser.parse_args()
    messages: list[Any] = []
    if options.system:
        messages.append({"role": "system", "content": options.system})
    with openai.OpenAI(base_url=options.url, api_key="-") as client:
        while True:
            try:
                question = input("> ").strip()
            except EOFError:
                return 0
            if not question:
                return 0
            messages.append({"role": "user", "content": question})
            try:
                messages.append(answer(client, options.model, messages))
            except openai.OpenAIError as error:
                # The question can be asked again.
                messages.pop()
                print(f"terminal_chat: {error}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
