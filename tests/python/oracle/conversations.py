"""Random conversations in their JSON form: every role, content, header field and tool."""

from __future__ import annotations

from random import Random
from typing import Any

from tables import table

from . import schemas, texts

Json = dict[str, Any]

ROLES = ["user", "assistant", "system", "developer", "tool"]
CHANNELS = ["analysis", "commentary", "final", None, None, "", "Scratch", "odd one", "<|end|>"]
RECIPIENTS = [None, None, None, "functions.f", "all", "assistant", "python", "", "to=x", "a b", "ü"]
CONTENT_TYPES = table("oracle_conversations", "content types")
NAMES = [None, None, "bob", "functions.f", "", "a:b", "two words", "<|start|>"]


def conversation(random: Random) -> Json:
    """A history as servers send it, or any messages in any order."""
    if random.random() < 0.6:
        return {"messages": history(random)}
    return {"messages": [message(random) for _ in range(random.randint(0, 6))]}


def history(random: Random) -> list[Json]:
    """System and developer messages, then turns with thoughts, calls, results and answers."""
    messages = [system(random) for _ in range(random.choice([0, 1, 1, 2]))]
    messages += [developer(random) for _ in range(random.choice([0, 1, 1, 2]))]
    for _ in range(random.randint(1, 6)):
        messages.append(_text("user", random))
        for _ in range(random.randint(0, 5)):
            messages += _step(random)
        if random.random() < 0.7:
            messages.append(_text("assistant", random, channel="final"))
    return messages


def _step(random: Random) -> list[Json]:
    kind = random.randrange(5)
    if kind < 2:
        return [_text("assistant", random, channel="analysis")]
    if kind == 2:
        return [_text("assistant", random, channel="commentary")]
    tool = random.choice(["functions.f", "functions.get_weather", "python", "browser.search"])
    channel = "commentary" if tool.startswith("functions") else "analysis"
    content_type = random.choice(["<|constrain|>json", "code", "json"])
    call = _text("assistant", random, channel=channel, recipient=tool, content_type=content_type)
    result = _text("tool", random, name=tool, channel=channel, recipient="assistant")
    return [call, result]


def _text(role: str, random: Random, **fields: str) -> Json:
    return {"role": role, "content": texts.text(random, 3), **fields}


def message(random: Random) -> Json:
    """Any message, sensible or not: among them those that cannot be rendered."""
    role = random.choice(ROLES)
    made = {"role": role, "content": content(random, role)}
    fields = {
        "name": random.choice(NAMES[2:] if role == "tool" and random.random() < 0.9 else NAMES),
        "channel": random.choice(CHANNELS),
        "recipient": random.choice(RECIPIENTS),
        "content_type": random.choice(CONTENT_TYPES),
    }
    made.update({key: value for key, value in fields.items() if value is not None})
    return made


def content(random: Random, role: str) -> Any:
    """A plain text, or any number of parts."""
    if random.random() < 0.5 and role not in ("system", "developer"):
        return texts.text(random)
    return [part(random, role) for _ in range(random.choice([0, 1, 1, 1, 2, 3]))]


def part(random: Random, role: str) -> Json:
    misplaced = random.random() < 0.03
    if (role == "system") != misplaced and random.random() < 0.8:
        return system_content(random)
    if (role == "developer") != misplaced and random.random() < 0.8:
        return developer_content(random)
    return {"type": "text", "text": texts.text(random, 3)}


def system(random: Random) -> Json:
    return {"role": "system", "content": [system_content(random)]}


def developer(random: Random) -> Json:
    return {"role": "developer", "content": [developer_content(random)]}


def system_content(random: Random) -> Json:
    """Every line there, absent or empty; a field left out has its default."""
    made: Json = {"type": "system_content"}
    choices: dict[str, list[Any]] = {
        "model_identity": [None, "", "You are X.", "Two\nlines"],
        "reasoning_effort": [None, "Low", "Medium", "High"],
        "conversation_start_date": [None, "2025-06-28", ""],
        "knowledge_cutoff": [None, "2024-06", ""],
        "channel_config": [None, *[_channel_config(random)] * 3],
        "tools": [None, _namespaces(random)],
    }
    for key, values in choices.items():
        if random.random() < 0.7:
            made[key] = random.choice(values)
    return made


def _channel_config(random: Random) -> Json:
    names = random.choice([["analysis", "commentary", "final"], ["final"], [], ["b c", "", "ü"]])
    return {"valid_channels": names, "channel_required": random.random() < 0.7}


def developer_content(random: Random) -> Json:
    made: Json = {"type": "developer_content"}
    if random.random() < 0.7:
        made["instructions"] = random.choice([None, "", "Be kind.", texts.text(random)])
    if random.random() < 0.7:
        made["tools"] = random.choice(
            [None, _namespaces(random), {"functions": namespace(random, "functions")}]
        )
    return made


def _namespaces(random: Random) -> Json:
    """Tools by key; mostly the key is the namespace's name."""
    names = random.sample(
        ["functions", "browser", "python", "zoo", "Ant", "é"], random.randint(0, 3)
    )
    return {
        name if random.random() < 0.9 else name + "2": namespace(random, name) for name in names
    }


def namespace(random: Random, name: str) -> Json:
    made: Json = {
        "name": name,
        "tools": [tool(random) for _ in range(random.choice([0, 1, 1, 2, 4]))],
    }
    about = random.choice([None, None, "", "Tools.\nOf a kind."])
    if about is not None:
        made["description"] = about
    return made


def tool(random: Random) -> Json:
    made: Json = {
        "name": random.choice(["f", "get_weather", "odd name", "", "x-y"]),
        "description": schemas.description(random),
    }
    parameters: Any | None = schemas.tool_parameters(random)
    if parameters is not None:
        made["parameters"] = parameters
    return made
