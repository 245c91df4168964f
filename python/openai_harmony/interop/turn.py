"""A turn: the whole content of a request, ready to be rendered and sampled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import starmap
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    NoReturn,
    overload,
)

from typing_extensions import TypedDict, Unpack

from openai_harmony import _lowlevel
from openai_harmony._counted import counted
from openai_harmony._elsewhere import WAYS_OF_TURNS, NamesTheWay
from openai_harmony._immutable import Immutable
from openai_harmony._notebook import InNotebooks
from openai_harmony._options import completed, takes
from openai_harmony.chat import Conversation, ResponseFormat
from openai_harmony.grammar import GrammarOptions, InputGrammar, ToolChoice, TurnGrammar
from openai_harmony.interop.options import ReplyOptions
from openai_harmony.interop.reply import Reply
from openai_harmony.options import Prefill, RenderConversationConfig
from openai_harmony.rendered import MessageSpan, Rendered

if TYPE_CHECKING:
    from openai_harmony.encoding import HarmonyEncoding


class Tool(NamedTuple):
    """A tool's name in the API and in harmony."""

    name: str
    """In the API: ``get weather``."""
    namespace: str | None
    """Responses: the namespace that the tool is a member of."""
    recipient: str
    """In harmony: ``functions.get_weather``."""
    kind: Literal[
        "function", "custom", "builtin", "apply_patch", "shell", "local_shell", "tool_search"
    ]
    """``custom`` takes free text, ``builtin`` is one that the model was trained with; the last
    three are those of Responses that the client runs."""
    offered: bool
    """Whether the body declares it; tools that only calls of the past name are not."""
    declared: bool
    """Whether the prompt declares it; none is when ``tool_choice`` is ``none``."""
    client_runs: bool
    """Whether the client runs it; a built-in tool that the server runs is left to the server."""
    strict: bool
    """Whether the body wants its arguments to follow its schema."""
    input: InputGrammar | None
    """What the input of a custom tool has to be, if the body says it."""


def _tool(fields: dict[str, Any]) -> Tool:
    grammar = fields.pop("input")
    return Tool(**fields, input=grammar and InputGrammar(**grammar))


class _Unchanging(Immutable):
    """It cannot be pickled."""

    def __reduce__(self) -> NoReturn:
        name = type(self).__name__
        raise TypeError(f"{name} cannot be pickled; pickle the request's body, and read it again")


class ToolNames(_Unchanging, Sequence[Tool]):
    """The tools of a turn, and their names both ways."""

    def __init__(self, turn: _lowlevel.Turn) -> None:
        self._turn = turn
        self._tools = [_tool(fields) for fields in turn._part("tools")]

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
        fields = self._turn._tool_by_name(name, namespace)
        return None if fields is None else _tool(fields)

    def by_recipient(self, recipient: str) -> Tool | None:
        """The tool that a recipient means, by its spelling in harmony or in the API.

        With and without ``functions.``; but ``python`` and ``functions.python`` are two tools.
        """
        fields = self._turn._tool_by_recipient(recipient)
        return None if fields is None else _tool(fields)


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
    other defaults for the others, which are there if the body has them. ``logprobs`` is how
    many of the most likely tokens the answer has at each place, next to the log-probability of the
    sampled one: the engine has to give them to ``Reply.feed``.
    """

    max_tokens: int
    seed: int
    presence_penalty: float
    frequency_penalty: float
    repetition_penalty: float
    logit_bias: dict[int, float]
    logprobs: int


class Turn(NamesTheWay, InNotebooks, _Unchanging, _lowlevel.Turn):
    """What a request means in harmony. The ``read`` functions make turns.

    A turn does not change: each property returns a new copy. To render other messages,
    change a copy of :attr:`conversation` and give it to
    ``encoding.render_conversation_for_completion``.
    """

    _ways = WAYS_OF_TURNS

    def __repr__(self) -> str:
        return f"<Turn of {self.dialect}, {counted(len(self._messages), 'message')}>"

    @property
    def conversation(self) -> Conversation:
        """The messages, the system message first, without what :attr:`prefill` continues.

        New copies: :meth:`prompt` does not see their changes.
        """
        return Conversation(messages=self._messages)

    @property
    def config(self) -> RenderConversationConfig:
        """How the conversation is rendered. A new copy, as of :attr:`conversation`."""
        fields = self._part("config")
        del fields["conversation_has_function_tools"]
        return RenderConversationConfig(**fields)

    @property
    def tools(self) -> ToolNames:
        """The tools, and their names both ways."""
        return ToolNames(self)

    @property
    def tool_choice(self) -> ToolChoice:
        """Which tools may or must be called, by their recipients."""
        mode, recipients = self._tool_choice
        return ToolChoice(mode, recipients)

    @property
    def response_format(self) -> ResponseFormat | None:
        """The schema that the answer is to follow; it is in the developer message, too."""
        fields = self._part("response_format")
        return None if fields is None else ResponseFormat(**{"description": None, **fields})

    @property
    def prefill(self) -> Prefill | None:
        """The beginning of the assistant's message that the model continues."""
        fields = self._part("prefill")
        return None if fields is None else Prefill(**fields)

    @takes(GrammarOptions)
    def grammar(self, **options: Unpack[GrammarOptions]) -> TurnGrammar:
        """What the model may write in this turn, as the request wants it.

        The tools that the prompt declares with their schemas, ``tool_choice``, the schema of the
        response format and the prefill are the request's.

        Args:
            options: Those of GrammarOptions.

        >>> from openai_harmony.interop import chat_completions
        >>> rain = {"type": "function", "function": {"name": "rain"}}
        >>> said = [{"role": "user", "content": "Rain?"}]
        >>> body = {"messages": said, "tools": [rain], "tool_choice": "required"}
        >>> "answer" in chat_completions.read(body).grammar().to_lark()
        False
        """
        given = completed(Turn.grammar, options)
        raw = _lowlevel._TurnGrammar.of_turn(self, **given)
        return TurnGrammar._of(raw, [tool.recipient for tool in self.tools if tool.declared])

    @property
    def unused(self) -> list[Unused]:
        """What the body has and nothing used."""
        return [Unused(**fields) for fields in self._part("unused")]

    @property
    def unmet(self) -> list[Unused]:
        """Those of :attr:`unused` without which the answer would be taken for another.

        The body's tools if none of them can be used, or the tools of which it demands a call. A
        server refuses such a body.
        """
        return [Unused(**fields) for fields in self._part("unmet")]

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
        tokens, spans, speakers = self._render_with_spans(encoding)
        return Rendered(tokens, starmap(MessageSpan, spans), speakers)

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
        return Reply(self, encoding, model=model, **completed(Turn.reply, options))
