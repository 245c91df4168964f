"""The options of the ``read`` functions and of ``Turn.reply``."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Literal

from typing_extensions import TypedDict

from openai_harmony._options import Option
from openai_harmony.options import RenderConversationConfig

Date = str | datetime.date | None
"""The system message's date: a text such as ``2025-06-28``, a date, or ``None`` for none."""

Prompts = Literal["harmony", "vllm-0.33", "vllm-rs-0.33"]
"""The author of prompts: this library, or an engine by its name and version."""

ReasoningField = Literal["reasoning_content", "reasoning", "both"]


class ReadOptions(TypedDict, total=False):
    """Those of all ``read`` functions."""

    date: Annotated[
        Date | Literal["today"],
        Option("today", "The system message's date; ``None`` writes none."),
    ]
    identity: Annotated[
        str | None,
        Option(None, "The model's identity; a body may have one in ``chat_template_kwargs``."),
    ]
    config: Annotated[
        RenderConversationConfig | None,
        Option(
            None,
            """How to render. Left out: reasoning of completed turns is dropped, recipients are
            in the channel, schemas are written in full, header fields are checked.""",
        ),
    ]
    history: Annotated[
        Iterable[Any],
        Option(
            (),
            """Messages before the body's first one, in the form of the body's; for Responses what
            the server keeps for ``previous_response_id``: items, without ``instructions``.""",
        ),
    ]
    builtin_tools: Annotated[
        Iterable[Literal["browser", "python"]],
        Option(
            (),
            """Those that this server runs; one is declared if the body asks for web search or code
            execution, too.""",
        ),
    ]
    named: Annotated[
        Literal["prefill", "grammar"],
        Option(
            "prefill",
            """How a named tool call is forced: by the prompt's end, or by a grammar that the
            server makes.""",
        ),
    ]
    prompts: Annotated[
        Prompts,
        Option(
            "harmony",
            """Which prompts the turn renders: this library's, or those that an engine makes of the
            same body itself, by its name and version.""",
        ),
    ]
    unsupported: Annotated[
        Literal["error", "placeholder"],
        Option(
            "error",
            """What becomes of images, audio and files in the newest message of the user: an error,
            or a placeholder, which they are in all other messages and in the results of tools.""",
        ),
    ]
    strict: Annotated[
        bool,
        Option(
            False,
            """Whether an error is what else becomes something that the model can read, so that a
            session survives it: images, audio and files in older messages, and results of tools
            that answer no call.""",
        ),
    ]


class ReadResponsesOptions(ReadOptions, total=False):
    """Those of ``responses.read``."""

    resolve: Annotated[
        Callable[[str], Any] | None,
        Option(None, "From the id of an ``item_reference`` to the item, or ``None``."),
    ]
    previous: Annotated[
        Callable[[str], Any] | None,
        Option(
            None,
            """From a ``previous_response_id`` to the items up to and with that response, without
            ``instructions``, or ``None`` if there is no such response.""",
        ),
    ]
    stores: Annotated[
        bool | None,
        Option(
            None,
            """Whether the server keeps responses: then ``Turn.store`` and the answer's ``store``
            are true unless the body forbids it, else false. ``None`` leaves both to the body.""",
        ),
    ]


class ResumeOptions(TypedDict, total=False):
    """Those of ``Reply.from_bytes``, and of ``Turn.reply``: a function cannot be saved."""

    make_id: Annotated[
        Callable[[str], str] | None,
        Option(None, "Makes all ids: a function from a prefix (``call_``) to an id."),
    ]


class ReplyOptions(ResumeOptions, total=False):
    """Those of ``Turn.reply``."""

    id: Annotated[
        str | None,
        Option(
            None,
            "The answer's id; left out, one is made. The ids of calls and items follow from it.",
        ),
    ]
    created: Annotated[
        int | None,
        Option(None, "When the answer was created, in seconds since 1970; left out: now."),
    ]
    prompt_tokens: Annotated[
        int | None,
        Option(None, "How many tokens the prompt has; left out, it is rendered to count them."),
    ]
    prompt_token_ids: Annotated[
        Sequence[int] | None,
        Option(
            None,
            "The prompt's tokens, for bodies with ``return_token_ids``; left out: rendered.",
        ),
    ]
    cached_tokens: Annotated[int, Option(0, "How many of them the engine had cached.")]
    index: Annotated[int, Option(0, "Which of ``n`` answers this is, in chat completions.")]
    reasoning_field: Annotated[
        ReasoningField | None,
        Option(
            "reasoning_content",
            """The field for reasoning in chat completions: ``"reasoning_content"``,
            ``"reasoning"``, ``"both"``, or ``None`` for no reasoning.""",
        ),
    ]
    thinking_budget: Annotated[
        int | None,
        Option(
            None,
            """The limit on reasoning tokens; left out: the body's.
            ``Reply.force`` ends them.""",
        ),
    ]
    spelled_markers: Annotated[
        bool,
        Option(
            False,
            """Whether markers that the model spelled by ordinary tokens are read, as fine-tuned
            models write them. Then ``Reply.is_ended`` says when to stop sampling.""",
        ),
    ]
