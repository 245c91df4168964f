"""Prompts from the tokens in a body: trainers continue from exactly those that were sampled."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from openai_harmony.encoding import HarmonyEncoding
from openai_harmony.errors import HarmonyError
from openai_harmony.interop import Body
from openai_harmony.interop.turn import Turn
from openai_harmony.options import ThoughtPolicy
from openai_harmony.rollout import Broken, following, read_step
from openai_harmony.serve.engine_fields import IDS, engine_fields
from openai_harmony.serve.refusals import RefusedError

_PREFIXES = ("prefix_token_ids", "required_prefix_token_ids")
"""The tokens up to and with the assistant's last message: ours, and NeMo RL's name."""
_OF_MESSAGES = ("prompt_token_ids", "generation_token_ids")
"""What NeMo Gym and verifiers put into a message of the assistant."""
OF_PREFIXES = frozenset([*_PREFIXES, *(f"messages[].{name}" for name in _OF_MESSAGES)])
OF_PROMPTS = frozenset(["tokens"])
"""The fields that are read here."""
_REASONS = {
    "thoughts_dropped": "they have thoughts that the next prompt drops",
    "tools_declared": "the messages after them declare the first tools",
    "cut_in_header": "they end inside a header",
    "cut_in_character": "they end inside a character",
    "return_sampled": "they end with <|return|>",
    "ambiguous": "they are malformed, and would mean something else if messages followed",
}


def whole_prompt(turn: Turn, body: Body, encoding: HarmonyEncoding) -> list[int]:
    """The prompt in the body's ``tokens``.

    ``RefusedError`` if it does not end where this turn's answer begins.
    """
    ids = ids_of(body, "tokens", encoding)
    end = _end(turn, encoding)
    if ids[-len(end) :] != end:
        ends = json.dumps(encoding.decode(end))
        raise RefusedError(f"tokens: a prompt of this request ends with {ends}", path="tokens")
    return ids


def continued_prompt(turn: Turn, body: Body, encoding: HarmonyEncoding) -> list[int] | None:
    """The prompt that continues the tokens which a body brings; ``None`` if it brings none.

    ``RefusedError`` says why they cannot be continued token for token.
    """
    for name in _PREFIXES:
        if body.kind(name) is not None:
            messages = json.loads(body.json("messages") or b"[]")
            said = [at for at, one in enumerate(messages) if one.get("role") == "assistant"]
            if not said:
                text = f"{name}: messages has no message of the assistant that they could end with"
                raise RefusedError(text, path=name)
            prompt, sampled = _divided(ids_of(body, name, encoding), encoding, name)
            return _continued(turn, prompt, sampled, messages[said[-1] + 1 :], encoding, name)
    # The reader lists what it does not know: no body is searched for them.
    unused = (one.path for one in turn.unused)
    marked = [path for path in unused if path.endswith(f"].{_OF_MESSAGES[1]}")]
    if not marked:
        return None
    path = marked[-1].rpartition(".")[0]
    messages, at = json.loads(body.json("messages") or b"[]"), int(path[len("messages[") : -1])
    prompt, sampled = (
        _checked(messages[at].get(name), encoding, f"{path}.{name}") for name in _OF_MESSAGES
    )
    return _continued(turn, prompt, sampled, messages[at + 1 :], encoding, path)


def _continued(
    turn: Turn,
    prompt: list[int],
    sampled: list[int],
    messages: Sequence[dict[str, Any]],
    encoding: HarmonyEncoding,
    path: str,
) -> list[int]:
    tools = [tool.recipient for tool in turn.tools if tool.declared]
    config = turn.config.model_copy(update={"thoughts": ThoughtPolicy("keep")})
    try:
        step = read_step(encoding, sampled, prompt=prompt, tools=tools)
        follows = following(step.waiting, messages).messages
        made = encoding.extend(
            prompt, sampled, follows, config=config, keep_return=True, tools=tools
        )
    except HarmonyError as error:
        raise RefusedError(f"{path}: cannot be continued: {error}", path=path) from None
    if isinstance(made, Broken):
        reason = _REASONS[made.reason]
        raise RefusedError(f"{path}: these tokens cannot be continued: {reason}", path=path)
    begun, end = encoding.encode("<|start|>assistant", allowed_special="all"), _end(turn, encoding)
    if made.tokens[-len(begun) :] != begun:
        text = f"{path}: no message follows these tokens that the model could answer"
        raise RefusedError(text, path=path)
    return made.tokens + end[len(begun) :]


def _divided(ids: list[int], encoding: HarmonyEncoding, path: str) -> tuple[list[int], list[int]]:
    """The prompt, and what was sampled after it: the messages of the assistant at the end."""
    start, assistant = encoding.encode("<|start|>assistant", allowed_special="all")
    starts = [at for at, one in enumerate(ids[:-1]) if one == start]
    first = None
    for at in reversed(starts):
        if ids[at + 1] != assistant:
            break
        first = at
    if first is None:
        raise RefusedError(f"{path}: the last message is not the assistant's", path=path)
    return ids[: first + 2], ids[first + 2 :]


def _end(turn: Turn, encoding: HarmonyEncoding) -> list[int]:
    """The end of the turn's own prompt: the beginning of the message that the model continues."""
    start = encoding.encode("<|start|>", allowed_special="all")[0]
    prompt = turn.prompt(encoding)
    return prompt[len(prompt) - 1 - prompt[::-1].index(start) :]


def ids_of(body: Body, name: str, encoding: HarmonyEncoding) -> list[int]:
    """The token ids in a field, at least one. ``RefusedError`` for anything else."""
    found = engine_fields(body, {name: IDS})
    return _checked(found.get(name), encoding, name)


def _checked(found: Any, encoding: HarmonyEncoding, path: str) -> list[int]:
    expected, fits = IDS
    if not found or not fits(found):
        raise RefusedError(f"{path}: expected {expected}", path=path)
    if (most := max(found)) >= encoding.n_vocab:
        raise RefusedError(f"{path}: {most} is not a token id", path=path)
    return list(found)
