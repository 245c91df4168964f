"""What an engine is: prompt tokens in, sampled tokens out."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

from openai_harmony import WrongTypeError
from openai_harmony.interop.reply import FinishReason, TokenLogprob
from openai_harmony.serve.constraint import Constraint

CONTEXT = 131_072
"""How many tokens gpt-oss takes, prompt and output together: for engines that do not say."""

REQUEST_FIELDS = ("cache_salt", "priority", "kv_transfer_params", "ec_transfer_params")
"""What a body may say of how an engine treats its request, as vLLM names it."""

WHOLE_FIELDS = ("prompt_logprobs", "routed_experts_prompt_start")
"""By which a chat completion asks vLLM for more than tokens."""


Logprobs: TypeAlias = "Sequence[TokenLogprob | tuple[float, dict[int, float]] | None]"
"""One for each token; ``None`` for a token of which the engine gives none."""


class Sampled(NamedTuple):
    """Some tokens, and with the last ones why the output ends."""

    tokens: list[int]
    reason: FinishReason | None = None
    logprobs: Logprobs | None = None
    """Of the tokens, if the request asks for them and the engine gives any."""

    def first(self, count: int, reason: FinishReason | None) -> Sampled:
        """The first ``count`` tokens, which end for this reason."""
        logprobs = None if self.logprobs is None else self.logprobs[:count]
        return Sampled(self.tokens[:count], reason, logprobs)


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """What to sample from, and how."""

    prompt: list[int]
    max_tokens: int
    """How many tokens at most; at least one."""
    stop_token_ids: list[int]
    sampling: dict[str, Any] = field(default_factory=dict)
    """``temperature``, ``top_p``, ``top_k`` (0: all), ``min_p``, ``seed``, the penalties,
    ``logit_bias``; engines have defaults for those that are missing."""
    grammar: Constraint | None = None
    """What the output has to be, if the request promises it: an engine that ``constrains`` has it
    written as it takes grammars."""
    index: int = 0
    """Which of ``n`` answers to one prompt this is."""
    logprobs: int | None = None
    """How many of the most likely tokens to give with the log-probability of each; ``None``: no
    log-probabilities are needed."""
    passed_on: dict[str, Any] = field(default_factory=dict)
    """What the body has for the engine only, as vLLM names it: ``min_tokens``, ``priority``, …"""
    headers: dict[str, str] = field(default_factory=dict)
    """What an engine reached by HTTP gets besides the body: to which trace its spans belong."""
    besides: dict[str, str] = field(default_factory=dict)
    """The engine fills it: what it says besides tokens, as :meth:`EngineReader.besides` has it."""

    @property
    def is_whole(self) -> bool:
        """Whether it asks for what vLLM gives only in answers that are not streams."""
        return not self.passed_on.keys().isdisjoint(WHOLE_FIELDS)

    def named(self, **names: str) -> dict[str, Any]:
        """The sampling with some options renamed."""
        return {names.get(name, name): value for name, value in self.sampling.items()}


class Engine(Protocol):
    """Samples tokens. One engine serves all requests of a process, many at a time.

    :func:`openai_harmony.serve.app` refuses an object that lacks any of this, but for
    ``constrains``. One with an attribute ``holds`` that is true keeps to the limit and the stop
    tokens itself; for others the gateway sees to it.
    """

    @property
    def name(self) -> str:
        """Its kind, as ``--engine`` names it: ``vllm``."""

    @property
    def address(self) -> str:
        """Where it is, for people: a URL, a path."""

    @property
    def model(self) -> str | None:
        """The name of its model, once it is known."""

    @property
    def context(self) -> int:
        """How many tokens prompt and output may have together."""

    @property
    def constrains(self) -> bool:
        """Whether it keeps to ``request.grammar``. Without this attribute it does not.

        ``request.grammar.written("lark")`` is the grammar's text.
        """

    async def check(self) -> None:
        """Asks whether it can sample, and learns ``model`` and ``context``.

        ``EngineError`` if it cannot.
        """

    def sample(self, request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        """Samples. Closing the generator cancels the sampling.

        ``EngineError`` if the engine cannot be reached, refuses, or breaks off.
        """

    async def aclose(self) -> None:
        """Lets go of connections and memory."""


_VALUES: dict[str, tuple[type, ...]] = {
    "name": (str,),
    "address": (str,),
    "model": (str, type(None)),
    "context": (int,),
}
"""What an engine has besides its functions, and the types."""


def checked(engine: Any) -> Engine:
    """An engine of the caller's own, if it has all of :class:`Engine`.

    ``WrongTypeError`` names what is missing, of another type, or a function of another kind.
    """
    if isinstance(engine, type):
        raise WrongTypeError(f"engine: expected an object, got the class {engine.__name__}")
    kind = type(engine).__name__
    missing = [one for one in (*_VALUES, "check", "sample", "aclose") if not hasattr(engine, one)]
    if missing:
        raise WrongTypeError(
            f"engine: {kind} lacks {', '.join(missing)}; "
            "openai_harmony.serve.engines.Engine describes an engine"
        )
    for name, types in _VALUES.items():
        value = getattr(engine, name)
        if not isinstance(value, types) or isinstance(value, bool):
            expected = " or ".join("None" if one is type(None) else one.__name__ for one in types)
            raise WrongTypeError(f"engine: {kind}.{name}: expected {expected}, got {value!r:.200}")
    if engine.context < 2:
        raise ValueError(
            f"engine: {kind}.context: expected at least 2 tokens, got {engine.context}"
        )
    for name in ("check", "aclose"):
        if not inspect.iscoroutinefunction(getattr(engine, name)):
            raise WrongTypeError(f"engine: {kind}.{name}: expected a function with `async def`")
    if inspect.iscoroutinefunction(engine.sample) or inspect.isgeneratorfunction(engine.sample):
        raise WrongTypeError(
            f"engine: {kind}.sample: expected an asynchronous generator, "
            "`async def` with `yield Sampled(tokens)`"
        )
    return cast("Engine", engine)


class EngineError(Exception):
    """The engine cannot answer; the text says why, in a line.

    Args:
        message: Why.
        status: The HTTP status that a client gets: 400 for a request that the engine refused, 429
            if it is busy, 502 if it broke, 503 if it cannot be reached, 504 if it is too slow.
        retry_after: After how many seconds to ask again, where the engine says so.
    """

    def __init__(self, message: str, status: int = 502, retry_after: int | None = None) -> None:
        # Engines quote what they got; half a character could not be sent on.
        super().__init__(message.encode(errors="replace").decode())
        self.status = status
        self.retry_after = retry_after
