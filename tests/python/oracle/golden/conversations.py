"""A case for each rule of whole conversations, and of system and developer messages."""

from __future__ import annotations

from typing import Any

from .case import (
    BACK,
    BARE,
    Case,
    completion,
    conversation,
    developer,
    functions,
    message,
    rule_case,
    single,
    system,
    training,
)

TOOL = {"name": "f", "description": "Does it."}


def cases() -> list[Case]:
    return [*_endings(), *_dropped_analysis(), *_system(), *_developer()]


def _endings() -> list[Case]:
    answer = message("assistant", "4", channel="final")
    called = message("assistant", "4", channel="final", recipient="user")
    question = message("user", "2 + 2?")
    return [
        rule_case("no-messages", "Nothing is nothing.", render=conversation()),
        rule_case("no-messages-completion", "Only the next role.", render=completion(), parse=None),
        rule_case(
            "completion-next-role",
            "The next turn may be anyone's.",
            question,
            render={**completion(), "next_role": "user"},
            parse=BACK,
            difference="trailing-start",
        ),
        rule_case(
            "completion-next-tool",
            "The word of the role, for want of a name.",
            question,
            render={**completion(), "next_role": "tool"},
            parse=None,
        ),
        rule_case(
            "training-return",
            "The last answer ends in <|return|>.",
            question,
            answer,
            render=training(),
        ),
        rule_case(
            "training-return-only-last",
            "Earlier answers end in <|end|>.",
            answer,
            question,
            answer,
            render=training(),
        ),
        rule_case(
            "training-not-an-answer",
            "A question, or a thought, ends as ever.",
            answer,
            message("assistant", "hm", channel="analysis"),
            render=training(),
        ),
        rule_case(
            "training-final-of-a-user",
            "Only the assistant's message is an answer.",
            message("user", "x", channel="final"),
            render=training(),
        ),
        rule_case(
            "training-answer-with-recipient",
            "Even <|call|> gives way to <|return|>.",
            called,
            render=training(),
        ),
        rule_case(
            "completion-after-training-answer",
            "For completion the answer ends in <|end|>.",
            question,
            answer,
            render=completion(),
            difference="trailing-start",
        ),
    ]


def _dropped_analysis() -> list[Case]:
    def thought(text: str) -> dict[str, Any]:
        return message("assistant", text, channel="analysis")

    def answer(text: str) -> dict[str, Any]:
        return message("assistant", text, channel="final")

    question = message("user", "?")
    call = message("assistant", "{}", channel="commentary", recipient="functions.f")
    result = message("tool", "1", name="functions.f", channel="commentary", recipient="assistant")
    built_in = message(
        "assistant", "1+1", channel="analysis", recipient="python", content_type="code"
    )
    output = message("tool", "2", name="python", channel="analysis", recipient="assistant")
    turn = [question, thought("first"), call, result, thought("then"), answer("1")]

    def dropped(name: str, about: str, *messages: dict[str, Any], **options: Any) -> Case:
        return rule_case(f"analysis-{name}", about, *messages, **{"parse": None, **options})

    return [
        dropped(
            "dropped",
            "Thoughts before the first answer go, calls stay.",
            *turn,
            question,
            render=completion(),
        ),
        dropped(
            "kept-on-demand",
            "Nothing goes with auto_drop_analysis off.",
            *turn,
            render=conversation(False),
        ),
        dropped(
            "kept-on-demand-completion",
            "Nothing goes with auto_drop_analysis off.",
            *turn,
            question,
            render=completion(False),
        ),
        dropped("kept-on-demand-training", "Nothing goes.", *turn, render=training(False)),
        dropped("dropped-training", "Training drops like the others.", *turn, render=training()),
        dropped(
            "kept-in-later-turns",
            "Only the first answer counts: later turns keep their thoughts.",
            *turn,
            *turn,
        ),
        dropped(
            "kept-while-a-turn-runs",
            "All stay when the assistant's last message is no answer.",
            *turn,
            question,
            thought("second"),
            call,
        ),
        dropped(
            "kept-without-an-answer",
            "All stay when there is no answer.",
            question,
            thought("first"),
            call,
            result,
        ),
        dropped(
            "dropped-built-in-calls",
            "Calls and results on the analysis channel go too.",
            question,
            built_in,
            output,
            answer("2"),
        ),
        dropped(
            "of-other-roles",
            "The rule looks at the channel, not at the role.",
            message("user", "u", channel="analysis"),
            message("user", "v", channel="final"),
            thought("kept"),
            answer("2"),
        ),
    ]


def _system() -> list[Case]:
    def rule(name: str, about: str, *messages: dict[str, Any], **options: Any) -> Case:
        return rule_case(f"system-{name}", about, *messages, **{"parse": None, **options})

    def channels(names: list[str], required: bool) -> dict[str, Any]:
        return {"valid_channels": names, "channel_required": required}

    def namespace(name: str, **fields: Any) -> dict[str, Any]:
        return {"name": name, "tools": [], **fields}

    return [
        rule("nothing", "No line at all.", system(**BARE)),
        rule("identity-only", "One line.", system(**{**BARE, "model_identity": "I am X."})),
        rule(
            "dates-only",
            "Cutoff and date share a block.",
            system(**{**BARE, "knowledge_cutoff": "2024", "conversation_start_date": "2025"}),
        ),
        rule(
            "empty-values",
            "Empty is not absent.",
            system(**{**BARE, "model_identity": "", "knowledge_cutoff": "", "tools": {}}),
        ),
        rule(
            "empty-identity",
            "An empty identity is a block, though an empty one.",
            system(**{**BARE, "model_identity": "", "reasoning_effort": "Low"}),
        ),
        rule("reasoning-low", "Low effort.", system(reasoning_effort="Low")),
        rule("reasoning-medium", "Medium effort.", system(reasoning_effort="Medium")),
        rule(
            "channels-not-required",
            "Without the second sentence.",
            system(channel_config=channels(["a", "b c"], False)),
        ),
        rule("channels-empty", "No channel, no block.", system(channel_config=channels([], True))),
        rule(
            "functions-without-channels",
            "The line about functions belongs to the channels.",
            system(channel_config=None),
            render=single(conversation_has_function_tools=True),
        ),
        rule(
            "namespaces",
            "Sorted by their keys, whatever their names; a namespace may be empty.",
            system(
                tools={
                    "a": namespace("zoo"),
                    "z": namespace("ant", description="Small.\nBlack."),
                    "m": namespace("bee", tools=[TOOL]),
                }
            ),
        ),
        rule(
            "functions-namespace",
            "Functions in the system message do not count as function tools.",
            system(tools=functions(TOOL)),
        ),
        rule(
            "functions-in-a-later-message",
            "Any developer message's tools count, for every system message.",
            system(),
            developer(instructions="i"),
            developer(tools=functions(TOOL)),
            system(reasoning_effort=None),
        ),
        rule(
            "functions-empty",
            "No tools in the namespace: no function tools.",
            system(),
            developer(tools=functions()),
        ),
    ]


def _developer() -> list[Case]:
    def rule(name: str, about: str, *messages: dict[str, Any]) -> Case:
        return rule_case(f"developer-{name}", about, *messages, parse=None)

    tools = [
        {"name": "no_comment", "description": ""},
        {"name": "lines", "description": "One.\nTwo.\n\nFour.\n"},
        {"name": "any", "description": "No schema.", "parameters": {}},
        {
            "name": "nothing",
            "description": "An object without properties.",
            "parameters": {"type": "object", "properties": {}},
        },
    ]
    other = {"name": "other", "description": "More.\nTools.", "tools": [TOOL]}
    return [
        rule("nothing", "No content.", developer()),
        rule("empty-instructions", "Empty is not absent.", developer(instructions="")),
        rule("no-namespaces", "No namespace, no block.", developer(instructions="i", tools={})),
        rule("tools-only", "Tools need no instructions.", developer(tools=functions(TOOL))),
        rule("tool-comments", "What becomes of descriptions.", developer(tools=functions(*tools))),
        rule(
            "namespaces",
            "Several namespaces, with and without a description.",
            developer(
                tools={**functions(TOOL), "x": other, "empty": {"name": "empty", "tools": []}}
            ),
        ),
        rule(
            "several",
            "Several developer messages, each on its own.",
            system(),
            developer(instructions="one", tools=functions(TOOL)),
            message("user", "u"),
            developer(instructions="two", tools=functions({**TOOL, "name": "g"})),
        ),
    ]
