"""One turn of the assistant as a grammar, for engines that constrain sampling.

>>> from openai_harmony import load_harmony_encoding
>>> encoding = load_harmony_encoding("HarmonyGptOss")
>>> rain = {"name": "rain", "parameters": {"type": "object"}}
>>> grammar = TurnGrammar([rain], tool_choice="required")
>>> answer = "<|channel|>final<|message|>It rains.<|return|>"
>>> verdict = grammar.accepts(encoding.encode(answer, allowed_special="all"))
>>> verdict.ok, verdict.at
(False, 1)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, cast, get_args

from typing_extensions import TypedDict, Unpack

from openai_harmony import _lowlevel
from openai_harmony._immutable import Immutable
from openai_harmony._options import Option, completed, takes
from openai_harmony.chat import ToolDescription
from openai_harmony.errors import WrongTypeError, brief, quoted
from openai_harmony.options import Prefill

Thinking: TypeAlias = Literal["optional", "required", "off"]
"""Whether the model thinks."""

HeaderForms: TypeAlias = Literal["few", "all"]
"""How headers are spelled."""

JsonSpace: TypeAlias = Literal["compact", "bounded", "any"]
"""How much white space JSON has."""

GrammarForm: TypeAlias = Literal["lark", "xgrammar", "gbnf"]
"""A form of grammars that engines read."""

GrammarSyntax: TypeAlias = Literal["lark", "regex"]
"""The language of a custom tool's grammar."""

_WITH_TEXT = ("python",)
"""Built-in tools with calls that are text, not JSON."""

_FUNCTIONS = "functions."

_FIELDS = {"name", "description", "parameters", "strict", "type"}
"""The fields of a function's dict. A grammar uses only its name and parameters."""

_MOST_NAMED = 10
"""How many recipients a ``repr`` names."""


class ToolChoice(NamedTuple):
    """Which tools may or must be called."""

    mode: Literal["auto", "none", "required", "named"]
    recipients: list[str]
    """The named tool's, or those of the allowed tools; empty: all of them."""


class InputGrammar(NamedTuple):
    """The grammar of a custom tool's input."""

    syntax: GrammarSyntax
    """Its language."""
    definition: str
    """The grammar."""


class Verdict(NamedTuple):
    """Whether tokens are a turn of a grammar."""

    ok: bool
    """Whether they are."""
    at: int | None
    """The index of the first wrong token; the number of tokens if there should be more."""
    expected: str | None
    """What was expected there."""

    def __bool__(self) -> bool:
        """As ``ok``."""
        return self.ok


class Loosened(NamedTuple):
    """A schema keyword that a form of a grammar does not enforce, so it admits more."""

    recipient: str
    """The tool's; ``""`` for the schema of the answer."""
    path: str
    """Where the keyword is: ``tools[0].parameters.properties.in.not``."""
    keyword: str
    """``not``."""
    reason: str
    """Why it is not enforced."""


class Written(NamedTuple):
    """A grammar as an engine reads it."""

    text: str
    """The grammar."""
    loosened: list[Loosened]
    """The keywords of schemas that are not ``strict`` that it does not enforce."""


class GrammarState:
    """Follows sampled tokens through a grammar; :meth:`TurnGrammar.state` makes one.

    >>> state = TurnGrammar().state()
    >>> state.feed(200005), state.is_complete
    (None, False)
    >>> state.feed(200002)
    'analysis<|message|> or commentary<|message|> or final<|message|>'
    """

    def __init__(self, raw: _lowlevel._GrammarState) -> None:
        self._raw = raw

    def feed(self, token: int) -> str | None:
        """Reads a token; returns what was expected if the grammar does not continue with it.

        Everything after such a token is refused, too. It takes about a microsecond.
        """
        return self._raw.feed(token)

    @property
    def is_complete(self) -> bool:
        """Whether the turn is complete, so that nothing follows."""
        return self._raw.is_complete()

    @property
    def expected(self) -> str:
        """What may follow, for people to read."""
        return self._raw.expected()

    def __repr__(self) -> str:
        return f"<GrammarState: {'complete' if self.is_complete else f'expects {self.expected}'}>"

    def copy(self) -> GrammarState:
        """A copy, which can be continued differently."""
        return GrammarState(self._raw.copy())

    def __copy__(self) -> GrammarState:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> GrammarState:
        return self.copy()


class GrammarOptions(TypedDict, total=False):
    """The options of a grammar other than tools, tool choice and the answer's schema."""

    response_regex: Annotated[
        str | None,
        Option(
            None,
            """A regular expression that the whole answer matches, in the syntax of Rust's
            ``regex``: Python's without back references and look-around.""",
        ),
    ]
    response_choices: Annotated[
        Iterable[str] | None,
        Option(
            None,
            """The texts from which the answer is chosen. An answer has a schema, a regular
            expression or choices.""",
        ),
    ]
    thinking: Annotated[
        Thinking,
        Option("optional", "Whether the model thinks: as it likes, first of all, or never."),
    ]
    preambles: Annotated[
        bool, Option(True, "Whether it may write to the user before it calls or answers.")
    ]
    max_messages: Annotated[int | None, Option(None, "The most messages, the last one included.")]
    strict: Annotated[
        Collection[str] | None,
        Option(
            None,
            """The recipients whose schemas must be enforced completely, with ``""`` for the
            answer's; otherwise it is an error. ``None``: all, and in ``Turn.grammar`` those of the
            request. Keywords of other schemas that a form cannot enforce are loosened.""",
        ),
    ]
    any_json: Annotated[
        Collection[str],
        Option(
            (),
            """The recipients whose arguments may be any object, whatever their schema, with ``""``
            for an answer that may be any JSON: for schemas that an engine cannot enforce.""",
        ),
    ]
    header_forms: Annotated[
        HeaderForms,
        Option(
            "few",
            """``"few"``: as in OpenAI's guide and from the renderer; ``"all"``: also as models
            write them, without the blank before ``<|constrain|>``, or with only the type ``json``
            or ``code``. Then ``<|end|>`` may come before the stop token, as in the output of models
            that were trained on rendered histories.""",
        ),
    ]
    json_space: Annotated[
        JsonSpace,
        Option(
            "bounded",
            """The white space of arguments and answers in JSON: ``"compact"``: none;
            ``"bounded"``: at most 32 characters in a row, since models constrained to JSON can
            write white space forever; ``"any"``.""",
        ),
    ]
    prefill: Annotated[
        Prefill | None,
        Option(
            None,
            """The beginning of the message in which the prompt ends. ``Turn.grammar`` uses the
            request's by default. ``Prefill()``, the default of ``TurnGrammar``, means a prompt that
            ends after ``<|start|>assistant``.""",
        ),
    ]


class TurnGrammar(Immutable):
    """What the assistant may write in one turn.

    A turn is reasoning and preambles, then one answer or one call, at which the engine stops.
    Calls are on ``commentary`` or ``analysis``. Markers are special tokens: text that spells one
    is text.
    """

    @takes(GrammarOptions, "TurnGrammar")
    def __init__(
        self,
        tools: Iterable[ToolDescription | Mapping[str, Any] | str] = (),
        tool_choice: ToolChoice
        | Literal["auto", "none", "required"]
        | Mapping[str, str]
        | Iterable[str] = "auto",
        response_schema: Mapping[str, Any] | bool | None = None,
        **options: Unpack[GrammarOptions],
    ) -> None:
        """The grammar of a turn in which these tools may be called.

        Args:
            tools: The tools that may be called: ``ToolDescription``s, dicts of ``name`` and
                ``parameters`` (those of chat completions, too), custom tools of chat completions
                and Responses, or recipients of built-in tools, ``"python"``. A name with a
                namespace stays as it is; any other is a function's.
            tool_choice: ``"auto"``, ``"none"``, ``"required"`` (the turn ends with a call),
                ``{"name": …}`` (with a call of that tool), the names of the tools that may be
                called, or the ``tool_choice`` of a ``Turn``.
            response_schema: The JSON schema of the answer.
            options: Those of GrammarOptions.

        Raises:
            HarmonyError: ``invalid_grammar``: a name that no header can carry, or that two tools
                have; a schema that is not one, or has a ``$ref`` to nowhere; an invalid regular
                expression, or one with anchors inside; a custom tool's grammar that cannot be read;
                an empty list of choices, or two forms of the answer; a required call without tools;
                no room for a message; a prefill that ends inside JSON.
            ValueError: An option is not among those above, or a schema is nested too deeply.
            TypeError: A tool has none of the forms above, or a schema contains a value that is not
                JSON.
        """
        single = (str, bytes, Mapping, ToolDescription)
        if isinstance(tools, single) or not isinstance(tools, Iterable):
            raise WrongTypeError(f"tools: expected a list of tools, got {quoted(tools)}")
        named = [_tool(index, tool) for index, tool in enumerate(tools)]
        self.recipients: list[str] = [recipient for recipient, *_ in named]
        """The recipients of the tools, in the given order."""
        self._raw = _lowlevel._TurnGrammar(
            named,
            tool_choice=_choice(tool_choice),
            response_schema=response_schema,
            **completed(TurnGrammar.__init__, options),
        )

    def __repr__(self) -> str:
        named = ", ".join(map(brief, self.recipients[:_MOST_NAMED]))
        more = len(self.recipients) - _MOST_NAMED
        return f"<TurnGrammar of {named or 'no tools'}{f' and {more} more' if more > 0 else ''}>"

    @classmethod
    def _of(cls, raw: _lowlevel._TurnGrammar, recipients: list[str]) -> TurnGrammar:
        grammar = cls.__new__(cls)
        grammar._raw, grammar.recipients = raw, recipients
        return grammar

    def to_lark(self) -> str:
        """The grammar in llguidance's form of Lark, with special tokens by their ids.

        vLLM, SGLang and TensorRT-LLM take it if llguidance is their backend. The same grammar
        always gives the same text; descriptive keywords of schemas are left out.

        Raises:
            HarmonyError: ``invalid_grammar``: this form cannot enforce some keywords of ``strict``
                schemas; the message names all of them.
        """
        return self.write("lark").text

    def to_xgrammar(self, stop_token_ids: Iterable[int]) -> str:
        """The grammar as xgrammar's structural tag, in JSON; vLLM and SGLang take it.

        Args:
            stop_token_ids: The tokens at which the engine itself ends a grammar: in vLLM the
                request's and the model's, in SGLang the model's. xgrammar accepts them only at the
                end, so the tag leaves them out, and any of them may end the turn there.

        Raises:
            HarmonyError: As :meth:`to_lark`.
        """
        return self.write("xgrammar", stop_token_ids).text

    def to_gbnf(self) -> str:
        """The grammar in GBNF, for llama.cpp, which ends it at its own stop tokens.

        Raises:
            HarmonyError: As :meth:`to_lark`.
        """
        return self.write("gbnf").text

    def write(self, form: GrammarForm, stop_token_ids: Iterable[int] = ()) -> Written:
        """Writes the grammar in a form, and lists the schema keywords that it does not enforce.

        >>> place = {"type": "string", "not": {"const": "Atlantis"}}
        >>> rain = {"name": "rain", "parameters": {"properties": {"in": place}}}
        >>> written = TurnGrammar([rain], strict=[]).write("gbnf")
        >>> [(one.keyword, one.path) for one in written.loosened]
        [('not', 'tools[0].parameters.properties.in.not')]

        Args:
            form: ``"lark"``, ``"xgrammar"`` or ``"gbnf"``, as in the methods of these names.
            stop_token_ids: Those of :meth:`to_xgrammar`; other forms need none.

        Raises:
            HarmonyError: As :meth:`to_lark`.
            ValueError: The form is not among these.
        """
        if form not in get_args(GrammarForm):
            known = "'lark', 'xgrammar' or 'gbnf'"
            raise ValueError(f"form: expected {known}, got {quoted(form)}")
        text, loosened = self._raw.write(form, list(stop_token_ids))
        return Written(text, [Loosened(*one) for one in loosened])

    def accepts(self, tokens: Iterable[int]) -> Verdict:
        """Whether the tokens are a complete turn, which begins after ``<|start|>assistant``.

        Structure is checked exactly. Arguments, and an answer with a schema, only have to be
        well-formed JSON, an object for a call; the engine enforces the schema itself.
        """
        return Verdict(*self._raw.accepts(tokens))

    def state(self) -> GrammarState:
        """A state at the beginning of a turn, which follows tokens as they are sampled."""
        return GrammarState(self._raw.state())


def _tool(index: int, tool: Any) -> tuple[str, Any, tuple[str, str] | None]:
    """A tool's recipient, its arguments' schema, ``None`` for text, and a custom tool's grammar."""
    schema: Any
    match tool:
        case str() if tool in _WITH_TEXT:
            return tool, None, None
        case str() if "." in tool and not tool.startswith(_FUNCTIONS):
            return tool, {}, None
        case str():
            name = brief(tool.removeprefix(_FUNCTIONS))
            raise ValueError(
                f"tools[{index}]: {quoted(tool)} is not a built-in tool's recipient, such as "
                f"'python' or 'browser.search'; a function is {{'name': {name!r}, "
                "'parameters': {...}} or a ToolDescription"
            )
        case {"type": "custom", "custom": {"name": str(name), **fields}} | {
            "type": "custom",
            "name": str(name),
            **fields,
        }:
            return recipient_of(name), None, _format(index, fields.get("format"))
        case ToolDescription(name=name):
            schema = tool.parameters
        case {"function": {"name": str(name), **fields}} | {"name": str(name), **fields}:
            for field in fields:
                if field not in _FIELDS:
                    raise ValueError(
                        f"tools[{index}]: unknown field {quoted(field)} (known: name, description, "
                        "parameters, strict); tools of other APIs are read with their request: "
                        "use turn.grammar()"
                    )
            schema = fields.get("parameters")
        case _:
            raise WrongTypeError(
                f"tools[{index}]: expected a ToolDescription, a dict with a name, or the recipient "
                f"of a built-in tool, got {quoted(tool)}"
            )
    return recipient_of(name), {} if schema is None else schema, None


def _format(index: int, given: Any) -> tuple[str, str]:
    """The syntax and the definition of a custom tool's grammar; ``text`` allows any input."""
    match given:
        case None | {"type": "text"}:
            return "text", ""
        case {"type": "grammar", "grammar": {"definition": str(definition), **fields}} | {
            "type": "grammar",
            "definition": str(definition),
            **fields,
        }:
            syntax = fields.get("syntax", "lark")
            if syntax in get_args(GrammarSyntax):
                return str(syntax), definition
            raise ValueError(
                f"tools[{index}].format.syntax: expected 'lark' or 'regex', got {quoted(syntax)}"
            )
    raise WrongTypeError(
        f"tools[{index}].format: expected one of type 'text', or 'grammar' with a definition, "
        f"got {quoted(given)}"
    )


def recipient_of(name: str) -> str:
    """The recipient of a function with this name, which may include a namespace."""
    return name if "." in name else f"{_FUNCTIONS}{name}"


def _choice(choice: Any) -> ToolChoice:
    """Which tools may or must be called."""
    match choice:
        case ToolChoice():
            return choice
        case str() if choice in ("auto", "none", "required"):
            return ToolChoice(cast(Any, choice), [])
        case str():
            known = "'auto', 'none', 'required', {'name': ...} or a list of names"
            raise ValueError(f"tool_choice: expected {known}, got {quoted(choice)}")
        case {"name": str(name)}:
            return ToolChoice("named", [_allowed(name)])
        case Mapping():
            raise ValueError(f"tool_choice: expected a name in it, got {quoted(dict(choice))}")
        case Iterable():
            names = [*choice]
            if all(isinstance(name, str) for name in names):
                return ToolChoice("auto" if names else "none", [_allowed(name) for name in names])
    raise WrongTypeError(f"tool_choice: expected a word or names, got {quoted(choice)}")


def _allowed(name: str) -> str:
    return name if name in _WITH_TEXT else recipient_of(name)


__all__ = [
    "GrammarForm",
    "GrammarOptions",
    "GrammarState",
    "GrammarSyntax",
    "HeaderForms",
    "InputGrammar",
    "JsonSpace",
    "Loosened",
    "Thinking",
    "ToolChoice",
    "TurnGrammar",
    "Verdict",
    "Written",
    "recipient_of",
]
