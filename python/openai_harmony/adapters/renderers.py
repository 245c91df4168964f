"""A renderer of gpt-oss for Prime Intellect's ``renderers``: prime-rl and verifiers use it.

It takes the place of ``renderers.gpt_oss.GptOssRenderer``, and has its options. That one writes the
beginning of the reasoning into the prompt, where the model itself decides; reads calls of a few
headers only, none without reasoning before it; gives ``functions.unknown`` a result without a
name; and finds a developer's words by rendering twice. Name this one in a configuration:

    name = "custom"
    import_path = "openai_harmony.adapters.renderers.HarmonyRenderer"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from openai_harmony._extras import needed
from openai_harmony.adapters import chat
from openai_harmony.chat import Conversation, SystemContent
from openai_harmony.errors import HarmonyError
from openai_harmony.interop import chat_completions
from openai_harmony.rollout import Broken, Call, Extended, Following, Step, following

base: Any = needed("renderers.base", "renderers")
configs: Any = needed("renderers.configs", "renderers")

Messages = Sequence[Mapping[str, Any]]
Tools = Sequence[Mapping[str, Any]] | None


class HarmonyRenderer:
    """The ``Renderer`` protocol, with a bridge: sampled tokens stay as they were sampled.

    Args:
        tokenizer: gpt-oss' tokenizer; only its ids of special tokens are asked, to be sure.
        config: ``renderers.GptOssRendererConfig``: effort, date, the system message's texts,
            which reasoning is kept. By default its defaults, but no date.

    Raises:
        ValueError: The tokenizer is another model's.
    """

    config_class = configs.GptOssRendererConfig

    def __init__(self, tokenizer: Any, config: Any = None) -> None:
        call = tokenizer.convert_tokens_to_ids("<|call|>")
        if call != chat.CALL:
            raise ValueError(f"tokenizer: expected gpt-oss', with <|call|> as 200012, got {call}")
        self.tokenizer, self.config = tokenizer, config or self.config_class()
        self._date = self.config.conversation_start_date
        drops = self.config.auto_drop_analysis
        self._config = chat.config_for("drop" if drops else "keep")
        implied = "tool_cycle" if drops else "all"
        self._retention = base.resolve_thinking_retention(self.config, implied)

    @property
    def is_prefix_stable(self) -> bool:
        """False: reasoning is dropped, and an answer ends with another token within a history."""
        return False

    def render(
        self, messages: Messages, *, tools: Tools = None, add_generation_prompt: bool = False
    ) -> Any:
        """The tokens of messages, and for each which message it is of, and whether sampled."""
        if not messages:
            raise ValueError("messages is empty")
        conversation, sources = self._read(messages, tools)
        rendered = chat.attributed(
            conversation,
            sources,
            self._config,
            "completion" if add_generation_prompt else "training",
        )
        return _rendered(rendered, messages)

    def _read(self, messages: Messages, tools: Tools) -> tuple[Conversation, list[int | None]]:
        body = {"messages": list(messages), "tools": list(tools or ())}
        turn = chat_completions.read(
            {**body, "reasoning_effort": self.config.reasoning_effort},
            date=self._date,
            identity=self.config.model_identity,
            config=self._config,
            strict=True,
        )
        said, sources = turn.conversation.messages, chat.indexes(turn, messages)
        system = said[0].content[0]
        if not self.config.use_system_prompt:
            del said[0], sources[0]
        elif self.config.knowledge_cutoff is not None and isinstance(system, SystemContent):
            said[0].content = [system.with_knowledge_cutoff(self.config.knowledge_cutoff)]
        return Conversation.from_messages(said), sources

    def render_ids(
        self, messages: Messages, *, tools: Tools = None, add_generation_prompt: bool = False
    ) -> list[int]:
        """Only the tokens."""
        rendered = self.render(messages, tools=tools, add_generation_prompt=add_generation_prompt)
        return list(rendered.token_ids)

    def get_stop_token_ids(self) -> list[int]:
        """``<|return|>`` and ``<|call|>``."""
        return list(chat.STOPS)

    def parse_response(
        self, token_ids: Sequence[int], *, tools: Tools = None, prompt_ids: Any = None
    ) -> Any:
        """Reads what was sampled, however malformed. Calls have the names that ``tools`` have."""
        step, turn = chat.read(token_ids, tools, prompt_ids or ())
        return base.ParsedResponse(
            content=chat.texts(step.said, "preamble", "answer"),
            reasoning_content=chat.texts(step.thoughts, "thought") if step.thoughts else None,
            tool_calls=[self._call(call, turn) for call in step.calls],
            reasoning_complete=not _thinks(step),
        )

    def _call(self, call: Call, turn: Any) -> Any:
        statuses = base.ToolCallParseStatus
        status = {
            "complete": statuses.OK,
            "not_json": statuses.INVALID_JSON,
            "cut_off": statuses.UNCLOSED_BLOCK,
            "abandoned": statuses.MALFORMED_STRUCTURE,
        }[call.status]
        return base.ParsedToolCall(
            raw=call.arguments,
            name=chat.name_of(call, turn),
            arguments=chat.arguments_of(call),
            token_span=(call.span.start, call.span.end),
            status=status,
        )

    def bridge_to_next_turn(
        self,
        previous_prompt_ids: Sequence[int],
        previous_completion_ids: Sequence[int],
        new_messages: Messages,
        *,
        tools: Tools = None,
    ) -> Any:
        """The next prompt after what was sampled, or ``None`` where it is to be rendered again.

        That is: by the policy of ``thinking_retention``; a message of the assistant, or a result of
        no call; sampling ended inside a header, or with ``<|return|>`` inside reasoning; or the
        tokens are malformed so that they would mean something else.
        """
        prompt, sampled = list(previous_prompt_ids), list(previous_completion_ids)
        rerender = base.should_rerender_for_thinking_retention
        if not new_messages or rerender(self._retention, list(new_messages)):
            return None
        try:
            step, turn = chat.read(sampled, tools, prompt)
            if step.stop_token == chat.RETURN and _thinks(step):
                return None
            new = following(step.waiting, new_messages)
            extended = chat.extended(prompt, sampled, new.messages, turn)
        except HarmonyError:
            return None
        if isinstance(extended, Broken):
            return None
        return _bridged(extended, new, new_messages)


def _thinks(step: Step) -> bool:
    """Whether the last message is reasoning that did not end: ``<|return|>`` ends sampling only."""
    ends_in_thought = bool(step.said) and step.said[-1].kind == "thought"
    return ends_in_thought and (not step.said[-1].is_complete or step.stop_token == chat.RETURN)


def _rendered(rendered: chat.Attributed, messages: Messages) -> Any:
    return base.RenderedTokens(
        token_ids=rendered.tokens,
        message_indices=rendered.message,
        sampled_mask=rendered.sampled,
        is_content=rendered.content,
        message_roles=[message.get("role") or "" for message in messages],
        message_tool_names=base.extract_message_tool_names(list(messages)),
    )


def _bridged(extended: Extended, new: Following, messages: Messages) -> Any:
    """The added tokens rendered again, for what each is; those before are of no new message."""
    conversation = Conversation.from_messages(new.messages)
    # They were checked: a result has the name of its call as it was sampled.
    config = chat.config_for("keep").model_copy(update={"validate": False})
    added = chat.attributed(conversation, new.sources, config, "completion")
    before = len(extended.tokens) - len(added.tokens)
    return _rendered(
        chat.Attributed(
            extended.tokens,
            [-1] * before + added.message,
            [False] * len(extended.tokens),
            [False] * before + added.content,
        ),
        messages,
    )


__all__ = ["HarmonyRenderer"]
