"""The examples of the format guide. Its Japanese version shows the same listings."""

from __future__ import annotations

from typing import Any

from openai_harmony import ToolNamespaceConfig

from .case import Case, call, completion, developer, functions, message, single, system

#: The guide's listings show each message on a line of its own; the format has no such breaks.
BREAKS = "line breaks between messages"
#: The guide shows a call as the model writes it, 0.0.8 renders the recipient after the role.
RECIPIENT = "recipient behind the channel"

QUESTION = message("user", "What is 2 + 2?")
THOUGHT = message(
    "assistant",
    'User asks: "What is 2 + 2?" Simple arithmetic. Provide answer.',
    channel="analysis",
)
ANSWER = message("assistant", "2 + 2 = 4.", channel="final")


def listing(en: str, ja: str, *differs: str) -> dict[str, Any]:
    """Where the guide's versions show `guide.txt`, and in what it differs from the tokens."""
    return {"sections": {"en": en, "ja": ja}, "differs": list(differs)}


def get_location(description: str) -> dict[str, Any]:
    return {"name": "get_location", "description": description}


def get_current_weather(description: str, location: str) -> dict[str, Any]:
    return {
        "name": "get_current_weather",
        "description": description,
        "parameters": {
            "type": "object",
            "properties": {
                "location": {"type": "string", "description": location},
                "format": FORMAT,
            },
            "required": ["location"],
        },
    }


def get_multiple_weathers(description: str, locations: str) -> dict[str, Any]:
    return {
        "name": "get_multiple_weathers",
        "description": description,
        "parameters": {
            "type": "object",
            "properties": {
                "locations": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": locations,
                },
                "format": FORMAT,
            },
            "required": ["locations"],
        },
    }


FORMAT = {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"}

WEATHER = get_current_weather(
    "Gets the current weather in the provided location.",
    "The city and state, e.g. San Francisco, CA",
)
WITH_TOOLS = [
    system(),
    developer(
        instructions="Use a friendly tone.",
        tools=functions(
            get_location("Gets the location of the user."),
            WEATHER,
            get_multiple_weathers(
                "Gets the current weather in the provided list of locations.",
                'List of city and state, e.g. ["San Francisco, CA", "New York, NY"]',
            ),
        ),
    ),
    message("user", "What is the weather like in SF?"),
]
CALL = [
    message("assistant", "Need to use function get_current_weather.", channel="analysis"),
    call("get_current_weather", '{"location":"San Francisco"}'),
]
RESULT = message(
    "tool",
    '{"sunny": true, "temperature": 20}',
    name="functions.get_current_weather",
    channel="commentary",
    recipient="assistant",
)


def cases() -> list[Case]:
    return [*_chat(), *_prompts(), *_calls(), *_structured_output(), *_library()]


def _chat() -> list[Case]:
    return [
        Case(
            "guide-chat-input",
            "The most basic prompt: one question.",
            [QUESTION],
            render=completion(),
            guide=listing("Chat conversation format: Example input", "入力例", BREAKS),
        ),
        Case(
            "guide-chat-output",
            "What the model answers: its thoughts, then the answer. Shown again in 'Reasoning'.",
            [THOUGHT, ANSWER],
            parse={"role": "assistant"},
            text="<|channel|>analysis<|message|>"
            'User asks: "What is 2 + 2?" Simple arithmetic. Provide answer.<|end|>'
            "<|start|>assistant<|channel|>final<|message|>2 + 2 = 4.<|return|>",
            guide=listing("Chat conversation format: Example output", "出力例", BREAKS),
        ),
        Case(
            "guide-reasoning-next-turn",
            "The next prompt drops the thoughts before the answer.",
            [QUESTION, THOUGHT, ANSWER, message("user", "What about 9 / 2?")],
            render=completion(),
            guide=listing(
                "Handling reasoning output in subsequent sampling",
                "後続のサンプリングでの推論出力の処理",
                BREAKS,
            ),
        ),
    ]


def _prompts() -> list[Case]:
    browser = ToolNamespaceConfig.browser().model_dump(exclude_none=True)
    python = ToolNamespaceConfig.python().model_dump(exclude_none=True)
    return [
        Case(
            "guide-system",
            "The basic system message.",
            [system()],
            render=single(),
            guide=listing("Example system message", "システムメッセージの例"),
        ),
        Case(
            "guide-system-functions",
            "The system message of a conversation with function tools.",
            [system()],
            render=single(conversation_has_function_tools=True),
            guide=listing("Example system message", "システムメッセージの例"),
        ),
        Case(
            "guide-developer",
            "Instructions and nothing else.",
            [developer(instructions="{instructions}")],
            render=single(),
            guide=listing("Developer message format", "開発者メッセージ形式"),
        ),
        Case(
            "guide-browser",
            "The browser in the system message.",
            [system(tools={"browser": browser})],
            render=single(),
            guide=listing("Browser tool", "ブラウザツール"),
        ),
        Case(
            "guide-python",
            "The notebook in the system message.",
            [system(tools={"python": python})],
            render=single(),
            guide=listing("Python tool", "Pythonツール"),
        ),
    ]


def _calls() -> list[Case]:
    preamble = (
        "**Action plan**:\n1. Generate an HTML file\n2. Generate a JavaScript for the Node.js "
        "server\n3. Start the server\n---\nWill start executing the plan step by step"
    )
    return [
        Case(
            "guide-functions",
            "Three function tools.",
            WITH_TOOLS,
            render=completion(),
            guide=listing("Defining available tools", "利用可能なツールの定義"),
        ),
        Case(
            "guide-tool-call",
            "A call as the model writes it, with the recipient behind the channel.",
            CALL,
            parse={"role": "assistant"},
            guide=listing("Receiving tool calls", "ツール呼び出しの受信"),
        ),
        Case(
            "guide-tool-result-template",
            "The form of a tool's message, its blanks left blank.",
            [
                message(
                    "tool",
                    "{output}",
                    name="{toolname}",
                    channel="commentary",
                    recipient="assistant",
                )
            ],
            render=single(),
            parse={"role": None},
            guide=listing("Handling tool calls", "ツール呼び出しの処理"),
        ),
        Case(
            "guide-tool-result",
            "A tool's result.",
            [RESULT],
            render=single(),
            parse={"role": None},
            guide=listing("Handling tool calls", "ツール呼び出しの処理"),
        ),
        Case(
            "guide-tool-history",
            "The prompt that gives the result back keeps the thoughts that led to the call.",
            [*WITH_TOOLS, *CALL, RESULT],
            render=completion(),
            guide=listing("Handling tool calls", "ツール呼び出しの処理", RECIPIENT),
        ),
        Case(
            "guide-tool-history-as-listed",
            "The same, with the recipient where the guide has it.",
            [*WITH_TOOLS, *CALL, RESULT],
            render={**completion(), "header_style": "recipient_in_channel"},
            guide=listing("Handling tool calls", "ツール呼び出しの処理"),
        ),
        Case(
            "guide-preamble",
            "A preamble for the user, then a call whose content type follows without a blank.",
            [
                message("assistant", "{long chain of thought}", channel="analysis"),
                message("assistant", preamble, channel="commentary"),
                call("generate_file", '{"template": "basic_html", "path": "index.html"}'),
            ],
            parse={"role": "assistant"},
            guide=listing("Preambles", "前文"),
        ),
    ]


def _structured_output() -> list[Case]:
    schema = {
        "properties": {
            "items": {
                "type": "array",
                "description": "entries on the shopping list",
                "items": {"type": "string"},
            }
        },
        "type": "object",
    }
    shopping = message("user", "I need to buy coffee, soda and eggs")
    return [
        Case(
            "guide-structured-output",
            "A response format. 0.0.8 has none: it renders the guide's text as plain content.",
            [
                developer(
                    instructions="You are a helpful shopping assistant",
                    response_formats=[{"name": "shopping_list", "schema": schema}],
                ),
                shopping,
            ],
            asked=[
                message(
                    "developer",
                    "# Instructions\n\nYou are a helpful shopping assistant\n\n"
                    "# Response Formats\n\n## shopping_list\n\n"
                    '{"properties":{"items":{"type":"array","description":"entries on the shopping '
                    'list","items":{"type":"string"}}},"type":"object"}',
                ),
                shopping,
            ],
            render=completion(),
            guide=listing("Structured output", "構造化出力"),
        ),
        Case(
            "guide-structured-output-template",
            "The form of a response format with a description, its blanks filled.",
            [
                developer(
                    response_formats=[
                        {
                            "name": "{format name}",
                            "description": "{description or context}",
                            "schema": {"type": "object"},
                        }
                    ]
                )
            ],
            asked=[
                message(
                    "developer",
                    "# Response Formats\n\n## {format name}\n\n"
                    '// {description or context}\n{"type":"object"}',
                )
            ],
            render=single(),
        ),
    ]


def _library() -> list[Case]:
    ids = """
        200005 35644 200008 1844 31064 25 392 4827 382 220 17 659 220 17 16842 12295 81645 13
        51441 6052 13 200007 200006 173781 200005 17196 200008 17 659 220 17 314 220 19 13 200002
    """
    call = message(
        "assistant",
        '{"location": "Tokyo"}',
        channel="commentary",
        recipient="functions.get_current_weather",
        content_type="<|constrain|> json",
    )
    result = message(
        "tool",
        '{ "temperature": 20, "sunny": true }',
        name="functions.get_current_weather",
        channel="commentary",
    )
    thought = message(
        "assistant",
        'User asks: "What is the weather in Tokyo?" We need to use get_current_weather tool.',
        channel="analysis",
    )
    return [
        Case(
            "guide-library-example",
            "The conversation that the guide builds with the library.",
            [
                system(),
                developer(instructions="Always respond in riddles", tools=functions(WEATHER)),
                message("user", "What is the weather in Tokyo?"),
                thought,
                call,
                result,
            ],
            render=completion(),
        ),
        Case(
            "guide-library-example-parsed",
            "Its call, with a blank in the content type, and its result without a recipient.",
            [thought, call, result],
            render={"renderer": "conversation", "auto_drop_analysis": True},
            parse={"role": None},
            difference="constrain-with-space",
        ),
        Case(
            "guide-streamed-tokens",
            "The token ids that the guide streams.",
            [
                message(
                    "assistant",
                    'User asks: "What is 2 + 2?" Simple arithmetic. Provide answer.',
                    channel="analysis",
                ),
                ANSWER,
            ],
            parse={"role": "assistant"},
            tokens=[int(number) for number in ids.split()],
        ),
        Case(
            "api-reference-example",
            "The API reference's example: a prompt is parsed although a role was given.",
            [message("user", "What is 2 + 2?")],
            render=completion(),
            parse={"role": "assistant"},
            difference="start-with-given-role",
        ),
    ]
