"""verl: the tool parser ``harmony``, a builder of continuous tokens, and the agent loop with both.

They take the place of verl's ``gpt-oss`` parser, a regular expression that reads one header of a
call, and of ``GptOssContinuousTokenBuilder``, which leaves a message that was cut off open and
writes each result as a JSON string. Prompts are rendered here, not by the model's chat template.

verl has no registry for builders, so the agent loop puts its own in place. Name it in the file of
``actor_rollout_ref.rollout.agent.agent_loop_config_path``, and as ``default_agent_loop``:

    - name: harmony_agent
      _target_: openai_harmony.adapters.verl.HarmonyAgentLoop
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from openai_harmony._extras import needed
from openai_harmony.adapters import chat
from openai_harmony.errors import HarmonyError
from openai_harmony.interop import chat_completions
from openai_harmony.rollout import Broken, Extended, following

parsers: Any = needed("verl.experimental.agent_loop.tool_parser", "verl")
loops: Any = needed("verl.experimental.agent_loop.tool_agent_loop", "verl")
agent_loop: Any = needed("verl.experimental.agent_loop.agent_loop", "verl")
builders: Any = needed("verl.utils.tokenizer.continuous_token", "verl")

Messages = Sequence[Mapping[str, Any]]
_OPEN = chat.ENCODING.encode("<|start|>assistant", allowed_special="all")


@parsers.ToolParser.register("harmony")
class HarmonyToolParser(parsers.ToolParser):  # type: ignore[misc]
    """Reads calls from tokens, malformed headers included: ``multi_turn.format=harmony``."""

    @property
    def stop_token_ids(self) -> list[int]:
        """``<|return|>`` and ``<|call|>``."""
        return list(chat.STOPS)

    async def extract_tool_calls(
        self, responses_ids: Sequence[int], tools: Sequence[Any] | None = None
    ) -> tuple[str, list[Any]]:
        """The visible text, and the calls.

        Arguments that are no JSON are passed on, since verl tells the model of them. A call that
        was cut off is not a call, nor is a call that no result can follow: there the episode ends.
        """
        step, turn = chat.read(responses_ids, tools)
        calls = []
        for call in step.waiting:
            if call.status != "cut_off":
                name = chat.name_of(call, turn)
                calls.append(parsers.FunctionCall(name=name, arguments=call.arguments))
        if calls and not isinstance(chat.extended(_OPEN, responses_ids, [], turn), Extended):
            calls = []
        return chat.texts(step.said, "preamble", "answer"), calls


class HarmonyTokenBuilder(builders.ContinuousTokenBuilder):  # type: ignore[misc]
    """Prompts that continue from the sampled tokens.

    Of ``chat_template_kwargs`` it takes those of gpt-oss' chat template: ``reasoning_effort`` and
    ``model_identity``. One builder serves one episode, as in verl.

    Raises:
        ValueError: Another of ``chat_template_kwargs``.
    """

    def __init__(self, tokenizer: Any, **options: Any) -> None:
        super().__init__(tokenizer, **options)
        self._merged: tuple[list[int], int] | None = None
        known = ("reasoning_effort", "model_identity")
        for name in self.chat_template_kwargs:
            if name not in known:
                raise ValueError(f"chat_template_kwargs.{name}: expected one of {', '.join(known)}")

    def build_initial_tokens(
        self, messages: Messages, *, tools: Sequence[Any] | None = None, **media: Any
    ) -> list[int]:
        """The first prompt.

        Raises:
            HarmonyError: A message that chat completions do not have, with its path.
        """
        options = dict(self.chat_template_kwargs)
        identity = options.pop("model_identity", None)
        body = {"messages": list(messages), "tools": list(tools or ()), **options}
        turn = chat_completions.read(body, date=None, identity=identity, strict=True)
        return turn.prompt(chat.ENCODING)

    def merge_assistant_tokens(
        self, runtime_token_ids: Sequence[int], assistant_token_ids: Sequence[int]
    ) -> Any:
        """The tokens so far, then what was sampled; where that begins is remembered."""
        merged = super().merge_assistant_tokens(runtime_token_ids, assistant_token_ids)
        self._merged = merged.token_ids, len(runtime_token_ids)
        return merged

    def merge_context_tokens(
        self,
        previous_messages: Messages,
        updated_messages: Messages,
        runtime_token_ids: Sequence[int],
        *,
        tools: Sequence[Any] | None = None,
    ) -> Any:
        """The tokens so far, then the new messages and the open header.

        All reasoning stays, and a sampled ``<|return|>``.

        Raises:
            ValueError: They cannot be continued: sampling ended inside a header, or with nothing;
                or a result answers no call.
        """
        self._assert_append_only(previous_messages, updated_messages)
        tokens, new = list(runtime_token_ids), updated_messages[len(previous_messages) :]
        merged, at = self._merged or (None, None)
        at = at if tokens == merged else _last_open(tokens)
        prompt, sampled = tokens[:at], tokens[at:]
        try:
            step, turn = chat.read(sampled, tools)
            follows = following(step.waiting, new).messages
            extended = chat.extended(prompt, sampled, follows, turn)
        except HarmonyError as error:
            raise ValueError(f"the prompt cannot be continued: {error}") from error
        if isinstance(extended, Broken):
            raise ValueError(f"the prompt cannot be continued: {extended.reason}")
        closing = 0 if extended.added[0] == chat.START else 1
        return builders.MergeResult(
            token_ids=extended.tokens,
            appended_token_count=len(extended.added) - closing,
            inserted_token_ids=extended.added[:closing],
        )


def _last_open(tokens: list[int]) -> int:
    """After the last ``<|start|>assistant``: where the model's last message continues."""
    pairs = enumerate(pairwise(tokens), 2)
    ends = [end for end, pair in pairs if [*pair] == _OPEN]
    if not ends:
        raise ValueError("runtime_token_ids: the assistant has no message")
    return ends[-1]


@agent_loop.register("harmony_agent")
class HarmonyAgentLoop(loops.ToolAgentLoop):  # type: ignore[misc]
    """verl's ``tool_agent`` with this parser and this builder, whatever ``multi_turn.format``."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.continuous_token_builder = HarmonyTokenBuilder(
            self.tokenizer, chat_template_kwargs=self.apply_chat_template_kwargs
        )
        self.tool_parser = HarmonyToolParser(self.tokenizer)


__all__ = ["HarmonyAgentLoop", "HarmonyTokenBuilder", "HarmonyToolParser"]
