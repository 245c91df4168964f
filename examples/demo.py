"""The main job on one conversation: render a prompt, parse the answer, stream it.

Run it with `make demo`, or `python examples/demo.py` where the package is installed.
"""

from __future__ import annotations

import sys

from openai_harmony import (
    Author,
    ContentDelta,
    Conversation,
    DeveloperContent,
    HarmonyEncoding,
    HarmonyEncodingName,
    Message,
    MessageEnd,
    MessageStart,
    ReasoningEffort,
    Role,
    StreamableParser,
    SystemContent,
    ToolDescription,
    load_harmony_encoding,
)

WEATHER_PARAMETERS = {
    "type": "object",
    "properties": {
        "location": {
            "type": "string",
            "description": "The city and state, e.g. San Francisco, CA",
        },
        "format": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
    },
    "required": ["location"],
}

SAMPLED = (
    "<|channel|>analysis<|message|>The tool says 20 degrees and sunny. Answer briefly.<|end|>"
    "<|start|>assistant<|channel|>final<|message|>It is 20 °C and sunny in Tokyo ☀️.<|return|>"
)
"""What a model might answer: a chain of thought, then the words for the user."""


def weather_conversation() -> Conversation:
    """System, developer with two tools, user, analysis, tool call, tool result."""
    system = (
        SystemContent.new()
        .with_reasoning_effort(ReasoningEffort.HIGH)
        .with_conversation_start_date("2025-06-28")
    )
    developer = (
        DeveloperContent.new()
        .with_instructions("Answer in one sentence.")
        .with_function_tools(
            [
                ToolDescription.new("get_location", "Gets the location of the user."),
                ToolDescription.new(
                    "get_current_weather",
                    "Gets the current weather in the provided location.",
                    parameters=WEATHER_PARAMETERS,
                ),
            ]
        )
    )
    tool = Author.new(Role.TOOL, "functions.get_current_weather")
    return Conversation.from_messages(
        [
            Message.from_role_and_content(Role.SYSTEM, system),
            Message.from_role_and_content(Role.DEVELOPER, developer),
            Message.from_role_and_content(Role.USER, "What is the weather in Tokyo?"),
            Message.from_role_and_content(
                Role.ASSISTANT, "The user asks for the weather; call the tool."
            ).with_channel("analysis"),
            Message.from_role_and_content(Role.ASSISTANT, '{"location": "Tokyo"}')
            .with_channel("commentary")
            .with_recipient("functions.get_current_weather")
            .with_content_type("<|constrain|>json"),
            Message.from_author_and_content(tool, '{"temperature": 20, "sunny": true}')
            .with_recipient("assistant")
            .with_channel("commentary"),
        ]
    )


def show_prompt(encoding: HarmonyEncoding, prompt: list[int]) -> None:
    """The rendered text, its special tokens visible, and the token ids."""
    heading("The prompt, as the model reads it")
    print(in_color(encoding.decode(prompt).replace("<|end|>", "<|end|>\n")))
    heading(f"The same as {len(prompt)} token ids")
    print(" ".join(map(str, prompt)))


def show_messages(encoding: HarmonyEncoding, answer: list[int]) -> None:
    """The model's tokens, parsed into messages."""
    heading(f"The model's {len(answer)} tokens, parsed into messages")
    for message in encoding.parse_messages_from_completion_tokens(answer, Role.ASSISTANT):
        print(message.to_json())


def show_stream(encoding: HarmonyEncoding, answer: list[int]) -> None:
    """The model's tokens, read one at a time as they arrive."""
    heading("The same tokens as a stream, one bar per token of text")
    parser = StreamableParser(encoding, Role.ASSISTANT)
    for token in answer:
        for event in parser.feed([token]):
            if isinstance(event, MessageStart):
                print(f"[{event.channel}] ", end="")
            elif isinstance(event, ContentDelta):
                print(event.text, end="|", flush=True)
            elif isinstance(event, MessageEnd):
                print(f" (stopped by {event.stop_token})")
    parser.finish()


def heading(text: str) -> None:
    """A line that stands out."""
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n== {text}")


def in_color(text: str) -> str:
    """The text with its markers in color, on a terminal."""
    if not sys.stdout.isatty():
        return text
    return text.replace("<|", "\033[36m<|").replace("|>", "|>\033[0m")


def main() -> None:
    """Renders, parses and streams."""
    encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
    prompt = encoding.render_conversation_for_completion(weather_conversation(), Role.ASSISTANT)
    answer = encoding.encode(SAMPLED, allowed_special="all")
    show_prompt(encoding, prompt)
    show_messages(encoding, answer)
    show_stream(encoding, answer)


if __name__ == "__main__":
    main()
