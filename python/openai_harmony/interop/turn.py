"""A turn: the whole content of a request, ready to be rendered and sampled."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    NoReturn,
    overload,
)

from typing_extensions import Self, TypedDict, Unpack

from openai_harmony import _lowlevel
from openai_harmony._notebook import InNotebooks
from openai_harmony._options import completed, takes
from openai_harmony.chat import Conversation, ResponseFormat
from openai_harmony.interop.options import ReplyOptions
from openai_harmony.interop.reply import Reply
from openai_harmony.options import Prefill, RenderConversationConfig

if TYPE_CHECKING:
    from openai_harmony.encoding import HarmonyEncoding
    from openai_harmony.grammar import TurnGrammar
    from openai_harmony.rendered import Rendered


class Tool(NamedTuple):
    """A tool's name in the API and in harmony."""

    name: str
    """In the API: ``get weather``."""
    namespace: str | None
    """Responses: the namespace that the tool is a member of."""
    recipient: str
    """In harmony: ``functions.get_weather``."""
    kind: Literal["function", "custom", "builtin"]
    """``custom`` takes free text, ``builtin`` is one that the model was trained with."""
    offered: bool
    """Whether the body declares it; tools that only calls of the past name are not."""
    declared: bool
    """Whether the prompt declares it; none is when ``tool_choice`` is ``none``."""
    client_runs: bool
    """Whether the client runs it; a built-in tool that the server runs is left to the server."""


class _Unchanging:
    """Immutable: copying returns it. It cannot be pickled."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        name = type(self).__name__
        raise TypeError(f"{name} cannot be pickled; pickle the request's body, and read it again")


class ToolNames(_Unchanging, Sequence[Tool]):
    """The tools of a turn, and their names both ways."""

    def __init__(self, turn: _lowlevel._Turn) -> None:
        self._turn = turn
        self._tools = [Tool(*fields) for fields in turn.tools]

    @overload
    def __getitem__(self, index: int) -> Tool: ...
    @overload
    def __getitem__(self, index: slice) -> list[Tool]: ...
    def __getitem__(self, index: int | slice) -> Tool | list[Tool]:
        """Return the tool of an index; the offered ones come first."""
        return self._tools[index]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        """Iterate over the tools, the offered ones first."""
        return iter(self._tools)

    def __repr__(self) -> str:
        return f"ToolNames({self._tools!r})"

    def by_name(self, name: str, namespace: str | None = None) -> Tool | None:
        """The tool of a name in the API; its spelling in harmony is accepted, too."""
        fields = self._turn.tool_by_name(name, namespace)
        return None if fields is None else Tool(*fields)

    def by_recipient(self, recipient: str) -> Tool | None:
        """The tool that a recipient means, by its spelling in harmony or in the API.

        With and without ``functions.``; but ``python`` and ``functions.python`` are two tools.
        """
        fields = self._turn.tool_by_recipient(recipient)
        return None if fields is None else Tool(*fields)


class ToolChoice(NamedTuple):
    """Which tools may or must be called."""

    mode: Literal["auto", "none", "required", "named"]
    recipients: list[str]
    """Of the named tool, or of those that are allowed; empty: all of them."""


class Unused(NamedTuple):
    """Something in the body that nothing used."""

    path: str
    reason: str


class _Recommended(TypedDict):
    temperature: float
    top_p: float
    top_k: int
    min_p: float
    n: int


class Sampling(_Recommended, total=False):
    """How to sample: the body's values, else those recommended for gpt-oss.

    ``temperature``, ``top_p``, ``top_k``, ``min_p`` and ``n`` are always there. Engines have
    defaults of their own for the others, which are there if the body has them. ``logprobs`` is how
    many of the most likely tokens the answer has at each place, beside the log-probability of the
    sampled one: the engine has to give them to ``Reply.feed``.
    """

    max_tokens: int
    seed: int
    presence_penalty: float
    frequency_penalty: float
    repetition_penalty: float
    logit_bias: dict[int, float]
    logprobs: int


class Turn(InNotebooks, _Unchanging):
    """What a request means in harmony. The ``read`` functions make turns.

    A turn does not change: each property is a new copy of what it holds. To render other messages,
    change a copy of :attr:`conversation` and give it to
    ``encoding.render_conversation_for_completion``.
    """

    def __init__(self, raw: _lowlevel._Turn) -> None:
        self._raw = raw

    def __repr__(self) -> str:
        return f"<Turn of {self.dialect}, {len(self._raw.messages)} messages>"

    @property
    def dialect(self) -> str:
        """``chat_completions``, ``responses``, ``anthropic`` or ``ollama``."""
        return self._raw.dialect

    @property
    def conversation(self) -> Conversation:
        """The messages, the system message first, without what :attr:`prefill` continues.

        New copies: :meth:`prompt` does not see their changes.
        """
        return Conversation(messages=self._raw.messages)

    @property
    def sources(self) -> list[str | None]:
        """For each message of :attr:`conversation` the place in the body that it comes from.

        ``messages[3]``, ``input[2]``, or ``history[0]`` of the option. ``None`` of the first
        system and developer message, which are made of several fields, and of a text that is the
        whole ``input``. :meth:`render_with_spans` has the place of each rendered token.

        >>> from openai_harmony.interop import chat_completions
        >>> said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]
        >>> chat_completions.read({"messages": said}).sources
        [None, 'messages[0]', 'messages[1]']
        """
        return self._raw.sources

    @property
    def source_indices(self) -> list[int | None]:
        """The indices in :attr:`sources`; ``None`` for what is not in the body, such as a history.

        >>> from openai_harmony.interop import chat_completions
        >>> chat_completions.read({"messages": [{"role": "user", "content": "Hi"}]}).source_indices
        [None, 0]
        """
        return self._raw.source_indices

    @property
    def config(self) -> RenderConversationConfig:
        """How the conversation is rendered. A new copy, as of :attr:`conversation`."""
        return RenderConversationConfig(**self._raw.config)

    @property
    def tools(self) -> ToolNames:
        """The tools, and their names both ways."""
        return ToolNames(self._raw)

    @property
    def tool_choice(self) -> ToolChoice:
        """Which tools may or must be called, by their recipients."""
        mode, recipients = self._raw.tool_choice
        return ToolChoice(mode, recipients)

    @property
    def response_format(self) -> ResponseFormat | None:
        """The schema that the answer is to follow; it is in the developer message, too."""
        fields = self._raw.response_format
        if fields is None:
            return None
        name, description, schema = fields
        return ResponseFormat(name=name, description=description, schema=json.loads(schema))

    @property
    def prefill(self) -> Prefill | None:
        """The beginning of the assistant's message that the model continues."""
        fields = self._raw.prefill
        if fields is None:
            return None
        channel, recipient, content_type, text = fields
        return Prefill(channel=channel, recipient=recipient, content_type=content_type, text=text)

    def grammar(self, *, any_json: Collection[str] = (), **options: Any) -> TurnGrammar:
        """What the model may write in this turn, as the request wants it.

        The tools that were offered with their schemas, ``tool_choice``, the schema of the response
        format and the prefill are the request's; ``options`` are the others of
        :class:`openai_harmony.grammar.TurnGrammar`, ``thoughts`` for one.

        Args:
            any_json: The recipients whose arguments may be any object, and ``""`` for an answer
                that may be any JSON: those whose schema an engine cannot hold.
            options: Of the grammar. A ``prefill`` here goes before the request's.

        >>> from openai_harmony.interop import chat_completions
        >>> rain = {"type": "function", "function": {"name": "rain"}}
        >>> said = [{"role": "user", "content": "Rain?"}]
        >>> body = {"messages": said, "tools": [rain], "tool_choice": "required"}
        >>> "answer" in chat_completions.read(body).grammar().to_lark()
        False
        """
        from openai_harmony.grammar import TurnGrammar

        # The prompt declares a tool without parameters as one that takes nothing.
        nothing = {"type": "object", "additionalProperties": False}
        schemas = {
            f"{namespace.name}.{tool.name}": nothing if tool.parameters is None else tool.parameters
            for message in self._raw.messages
            for content in message.content
            for namespace in (getattr(content, "tools", None) or {}).values()
            for tool in namespace.tools
        }
        offered = [tool.recipient for tool in self.tools if tool.declared]
        tools = [
            {"name": name, "parameters": {} if name in any_json else schemas[name]}
            if name in schemas
            else name
            for name in offered
        ]
        mode, recipients = self._raw.tool_choice
        choice: Any = mode
        if mode == "named":
            choice = {"name": recipients[0]}
        elif recipients and mode == "auto":
            choice = recipients
        elif recipients:
            tools = [tool for tool, name in zip(tools, offered) if name in recipients]
        form = self._raw.response_format
        schema = None if form is None else "" in any_json or json.loads(form[2])
        return TurnGrammar(tools, choice, schema, **{"prefill": self.prefill, **options})

    @property
    def stop_token_ids(self) -> list[int]:
        """The tokens at which the engine stops: ``<|return|>``, ``<|call|>``."""
        return self._raw.stop_token_ids

    @property
    def stop(self) -> list[str]:
        """The names of :attr:`stop_token_ids`, for engines that stop at text."""
        return self._raw.stop

    @property
    def stop_strings(self) -> list[str]:
        """The body's own stop strings, which act on visible text only."""
        return self._raw.stop_strings

    @property
    def sampling(self) -> Sampling:
        """How to sample, by the body or else as recommended."""
        return self._raw.sampling

    @property
    def unused(self) -> list[Unused]:
        """What the body has and nothing used."""
        return [Unused(*fields) for fields in self._raw.unused]

    @property
    def stream(self) -> bool:
        """Whether the body asks for a streamed answer."""
        return self._raw.stream

    @property
    def thinking_budget(self) -> int | None:
        """The most tokens of thoughts, if the body has a limit.

        Anthropic's ``thinking.budget_tokens``, and ``max_tokens`` in the ``reasoning`` of chat and
        Responses. ``Reply.force`` ends them.
        """
        return self._raw.thinking_budget

    @property
    def may_truncate(self) -> bool:
        """Whether the body lets the server leave out old turns: Responses' ``truncation: auto``."""
        return self._raw.may_truncate

    def prompt(self, encoding: HarmonyEncoding, *, max_tokens: int | None = None) -> list[int]:
        """The tokens to sample from: the conversation and the beginning of the assistant's message.

        Args:
            encoding: What renders them.
            max_tokens: The most tokens that the prompt may have. Of a longer conversation the
                oldest turns are left out, as few as must be, each whole: no result remains without
                its call. The system and developer messages in front of the first turn always stay,
                and so does the last turn. The body asks for it where ``may_truncate`` is true.

        ``HarmonyError`` for a schema that cannot be rendered, and an ``InvalidRequestError`` of the
        kind ``prompt_too_long`` where the last turn alone has too many tokens: ``error_body``
        writes it as the API does.

        >>> from openai_harmony import load_harmony_encoding
        >>> from openai_harmony.interop import chat_completions
        >>> encoding = load_harmony_encoding("HarmonyGptOss")
        >>> hi = {"role": "user", "content": "Hi"}
        >>> hello = {"role": "assistant", "content": "Hello!"}
        >>> short = chat_completions.read({"messages": [hi, hello, hi]}).prompt(encoding)
        >>> long = chat_completions.read({"messages": [hi, hello, hi, hello, hi]})
        >>> long.prompt(encoding, max_tokens=len(short)) == short
        True
        """
        return self._raw.prompt(encoding, max_tokens)

    def render_with_spans(self, encoding: HarmonyEncoding) -> Rendered:
        """The tokens of :meth:`prompt`, with the span of each message and its place in the body.

        ``MessageSpan.source`` is the place. Errors as of :meth:`prompt`.

        >>> from openai_harmony import load_harmony_encoding
        >>> from openai_harmony.interop import chat_completions
        >>> encoding = load_harmony_encoding("HarmonyGptOss")
        >>> turn = chat_completions.read({"messages": [{"role": "user", "content": "Hi"}]})
        >>> rendered = turn.render_with_spans(encoding)
        >>> [span] = [span for span in rendered.spans if span.source == "messages[0]"]
        >>> encoding.decode(rendered[span.content : span.stop])
        'Hi'
        """
        made = encoding.render_with_spans(self.conversation, self.config, prefill=self.prefill)
        sources = self.sources
        made.spans = [
            span if span.message is None else span._replace(source=sources[span.message])
            for span in made.spans
        ]
        return made

    @takes(ReplyOptions)
    def reply(
        self, encoding: HarmonyEncoding, *, model: str, **options: Unpack[ReplyOptions]
    ) -> Reply:
        """Begins the answer.

        Args:
            encoding: What parses the tokens.
            model: The model's name in the answer.
            options: Those of ReplyOptions.
        """
        return Reply(self._raw, encoding, model=model, **completed(Turn.reply, options))
