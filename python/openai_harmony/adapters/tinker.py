"""Renderers of gpt-oss for tinker-cookbook, which importing this module registers.

They take the place of ``tinker_cookbook.renderers.gpt_oss``, which finds messages in decoded text,
so that text which spells a marker is one; raises on two stop tokens and gives up where there is
none; writes the older header of a call, and tools' schemas without most of what they say; and
renders the whole conversation again after each step. Here a parsed message has its tokens, and what
follows comes after them: one datum for an episode, where that one gets one for each step.

Names: ``openai_harmony/gpt_oss_medium_reasoning``, likewise with ``low`` and ``high``, and each
with ``_preserve_thinking`` at its end: reasoning stays, and so does a sampled ``<|return|>``.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Literal

from openai_harmony._extras import needed
from openai_harmony.adapters import chat
from openai_harmony.chat import Conversation
from openai_harmony.errors import HarmonyError
from openai_harmony.interop import Turn, chat_completions
from openai_harmony.rollout import Call, Said, following, read_step

tinker: Any = needed("tinker", "tinker")
base: Any = needed("tinker_cookbook.renderers.base", "tinker")
registry: Any = needed("tinker_cookbook.renderers", "tinker")

Message = dict[str, Any]
Effort = Literal["low", "medium", "high"]
TOKENS, TOOLS = "harmony_tokens", "harmony_tools"
"""Keys of a message besides tinker's own: the tokens it was parsed from, and declared tools."""


class HarmonyRenderer(base.Renderer):  # type: ignore[misc]
    """A renderer with prompts that continue from the sampled tokens.

    Args:
        tokenizer: The model's; nothing of it is used.
        effort: How long the model thinks.
        thoughts: ``"drop"``: those of completed turns, as the guide says, which begins another
            datum. ``"keep"``: none, nor the sampled ``<|return|>`` where the guide has ``<|end|>``.
        date: The system message's; by default it has none, as rows of training have none.
    """

    def __init__(
        self,
        tokenizer: Any,
        effort: Effort = "medium",
        thoughts: Literal["drop", "keep"] = "drop",
        date: str | None = None,
    ) -> None:
        super().__init__(tokenizer)
        self._effort, self._date, self._keeps = effort, date, thoughts == "keep"
        self._config = chat.config_for(thoughts)

    def __reduce__(self) -> tuple[Any, ...]:
        _, arguments = super().__reduce__()
        return _unpickled, arguments

    @property
    def has_extension_property(self) -> bool:
        """False: an answer that was not parsed here ends with another token within a history."""
        return False

    def get_stop_sequences(self) -> list[int]:
        """``<|return|>`` and ``<|call|>``."""
        return list(chat.STOPS)

    def create_conversation_prefix_with_tools(
        self, tools: Sequence[Any], system_prompt: str = ""
    ) -> list[Message]:
        """A system message that declares tools, with their whole schemas."""
        return [{"role": "system", "content": system_prompt, TOOLS: list(tools)}]

    def parse_response(self, response: Sequence[int]) -> tuple[Message, Any]:
        """Reads what was sampled, however malformed, up to its stop token.

        Calls that were cut off, whose arguments are no JSON object, or without whose result the
        model continued, are in ``unparsed_tool_calls``.
        """
        tokens = chat.up_to_stop(list(response))
        step = read_step(chat.ENCODING, tokens)
        message: Message = {"role": "assistant", "content": _parts(step.said)}
        calls = [_call(call, tokens) for call in step.calls]
        read = [call for call in calls if isinstance(call, base.ToolCall)]
        unread = [call for call in calls if not isinstance(call, base.ToolCall)]
        if read:
            message["tool_calls"] = read
        if unread:
            message["unparsed_tool_calls"] = unread
        message[TOKENS] = tokens
        ended = base.ParseTermination
        is_ended = bool(tokens) and tokens[-1] in chat.STOPS
        return message, ended.STOP_SEQUENCE if is_ended else ended.MALFORMED

    def build_generation_prompt(
        self, messages: Sequence[Message], role: str = "assistant", prefill: str | None = None
    ) -> Any:
        """The prompt: after the tokens of the messages that were parsed here, if they are.

        ``prefill`` is the beginning of the answer.
        """
        if role != "assistant":
            raise ValueError(f"role: only the assistant samples, got {role!r}")
        prompt = self._continued(messages) or self._turn(messages).prompt(chat.ENCODING)
        if prefill:
            marks = chat.ENCODING.encode("<|channel|>final<|message|>", allowed_special="all")
            prompt = [*prompt, *marks, *chat.ENCODING.encode(prefill)]
        return tinker.ModelInput.from_ints(prompt)

    def _turn(self, messages: Sequence[Message], history: Sequence[Message] = ()) -> Turn:
        tools = [tool for message in messages for tool in message.get(TOOLS, ())]
        body: dict[str, Any] = {"messages": [_chat(each) for each in messages], "tools": tools}
        body["reasoning_effort"] = self._effort
        return chat_completions.read(
            body, history=history, date=self._date, config=self._config, strict=True
        )

    def _continued(self, messages: Sequence[Message]) -> list[int] | None:
        """The prompt from sampled tokens, or ``None`` if there are none to continue."""
        sampled = [index for index, message in enumerate(messages) if message.get(TOKENS)]
        if (
            not sampled
            or sampled[0] == 0  # no prompt comes before it
            or not all(self._is_unchanged(messages[index]) for index in sampled)
        ):
            return None
        turn = self._turn(messages[: sampled[0]])
        tools, prompt = chat.recipients(turn), turn.prompt(chat.ENCODING)
        try:
            for index, end in zip(sampled, [*sampled[1:], len(messages)]):
                tokens = messages[index][TOKENS]
                step = read_step(chat.ENCODING, tokens, tools=tools)
                new = [_chat(message) for message in messages[index + 1 : end]]
                follows = following(step.waiting, new).messages
                keeps = self._keeps
                prompt = chat.ENCODING.extend(
                    prompt, tokens, follows, self._config, keep_return=keeps, tools=tools
                ).tokens
        except HarmonyError:
            return None
        return prompt

    def _is_unchanged(self, message: Message) -> bool:
        read = self.parse_response(message[TOKENS])[0]
        names = ("content", "tool_calls")
        return all(message.get(name) == read.get(name) for name in names)

    def build_supervised_example(
        self, messages: Sequence[Message], train_on_what: Any = "last_assistant_message"
    ) -> tuple[Any, Any]:
        """Tokens, and weights: of the assistant's messages, what it would have sampled."""
        train_on = base.TrainOnWhat(train_on_what)
        turn = self._turn(messages)
        sources = chat.indexes(turn, messages)
        rendered = chat.attributed(turn.conversation, sources, self._config, "training")
        if train_on == base.TrainOnWhat.ALL_TOKENS:
            weights = [1.0] * len(rendered.tokens)
        else:
            trained = _trained(messages, train_on)
            said = zip(rendered.message, rendered.content)
            weights = [float(index in trained and content) for index, content in said]
        torch = needed("torch", "tinker")
        return tinker.ModelInput.from_ints(rendered.tokens), torch.tensor(weights)

    def render_message(self, message: Message, ctx: Any) -> Any:
        """One message by itself, to count its tokens; prompts are not made of these."""
        name = message.get("name") or "unknown"
        asked = {"tool_calls": [{"function": {"name": name, "arguments": "{}"}}]}
        history = [{"role": "assistant", **asked}] if message["role"] == "tool" else []
        turn = self._turn([message], history)
        sources = chat.indexes(turn, [message])
        own = [m for m, i in zip(turn.conversation.messages, sources) if i == 0]
        conversation = Conversation.from_messages(own)
        ending: Literal["training", "none"] = "training" if ctx.is_last else "none"
        keeping = chat.config_for("keep")
        rendered = chat.attributed(conversation, range(len(own)), keeping, ending)
        said = rendered.content.index(True) if True in rendered.content else len(rendered.tokens)
        chunk = tinker.EncodedTextChunk
        return base.RenderedMessage(
            header=chunk(tokens=rendered.tokens[:said]),
            output=[chunk(tokens=rendered.tokens[said:])],
        )

    def to_openai_message(self, message: Message) -> dict[str, Any]:
        """As chat completions have it, the reasoning in ``reasoning_content``."""
        parts = message["content"]
        if isinstance(parts, str):
            return dict(super().to_openai_message(message))
        thought = "".join(part["thinking"] for part in parts if part["type"] == "thinking")
        shown = [part for part in parts if part["type"] != "thinking"]
        made = dict(super().to_openai_message({**message, "content": shown}))
        return {**made, "reasoning_content": thought} if thought else made


def _chat(message: Message) -> Message:
    """A message without what chat completions do not have."""
    names = ("role", "content", "tool_calls", "tool_call_id", "name")
    return {name: message[name] for name in names if message.get(name) is not None}


def _parts(said: Sequence[Said]) -> list[dict[str, str]]:
    keys = {"thought": "thinking", "preamble": "text", "answer": "text"}
    shown = [(keys[one.kind], one.text) for one in said if one.kind in keys]
    return [{"type": key, key: text} for key, text in shown]


_ERRORS = {
    "cut_off": "The call was cut off",
    "not_json": "Invalid JSON: expected an object",
    "abandoned": "The model continued without the result",
}


def _call(call: Call, tokens: list[int]) -> Any:
    if call.status != "complete":
        raw = chat.ENCODING.decode(tokens[call.span.start : call.span.end], errors="replace")
        return base.UnparsedToolCall(raw_text=raw, error=_ERRORS[call.status])
    name = call.name.removeprefix("functions.")
    body = base.ToolCall.FunctionBody(name=name, arguments=call.arguments)
    return base.ToolCall(function=body)


def _trained(messages: Sequence[Message], train_on: Any) -> set[int]:
    """The indexes of the messages to train on."""
    what, roles = base.TrainOnWhat, [message["role"] for message in messages]
    if train_on == what.CUSTOMIZED:
        return {index for index, message in enumerate(messages) if message["trainable"]}
    first = 0
    if train_on == what.LAST_ASSISTANT_MESSAGE:
        first = len(messages) - 1
    elif train_on == what.LAST_ASSISTANT_TURN:
        first = max((after for after, role in enumerate(roles, 1) if role == "user"), default=0)
    trained = {
        what.ALL_MESSAGES: {*roles},
        what.ALL_USER_AND_SYSTEM_MESSAGES: {"user", "system"},
    }.get(train_on, {"assistant"})
    return {index for index, role in enumerate(roles) if index >= first and role in trained}


def _unpickled(name: str, model: str, has_images: bool) -> Any:
    """In another process; importing this module has registered its names."""
    tokenizer = needed("tinker_cookbook.tokenizer_utils", "tinker").get_tokenizer(model)
    return registry.get_renderer(name, tokenizer, model_name=model)


def _make(
    effort: Effort, thoughts: Literal["drop", "keep"], tokenizer: Any, image_processor: Any = None
) -> HarmonyRenderer:
    return HarmonyRenderer(tokenizer, effort, thoughts)


_EFFORTS: tuple[Effort, ...] = ("low", "medium", "high")
for _effort in _EFFORTS:
    _name = f"openai_harmony/gpt_oss_{_effort}_reasoning"
    registry.register_renderer(_name, functools.partial(_make, _effort, "drop"))
    registry.register_renderer(
        f"{_name}_preserve_thinking", functools.partial(_make, _effort, "keep")
    )

__all__ = ["HarmonyRenderer"]
