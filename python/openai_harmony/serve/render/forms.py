"""What clients send and get, in the forms of vLLM 0.33: only the fields that are read here.

Everything is bounded before it is decoded: ids and lengths by these classes, sums by
:class:`StreamState`, and the lengths that depend on the context by the endpoints.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, model_validator
from typing_extensions import Self

TokenId = Annotated[int, Field(ge=0, lt=2**32)]

MOST_CHOICES = 16_384
MOST_CANDIDATES = 20


class Candidate(BaseModel):
    """A token that was likely at a place."""

    token_id: TokenId
    logprob: float


class SampledToken(Candidate):
    """The sampled token of a place, and the most likely ones there."""

    top_logprobs: list[Candidate] = Field(default=[], max_length=MOST_CANDIDATES)


class Logprobs(BaseModel):
    """Log-probabilities of a choice, one for each token."""

    content: list[SampledToken] | None = None


class Choice(BaseModel):
    """What was sampled for one answer, or some of it."""

    index: int = Field(ge=0, lt=2**32)
    token_ids: list[TokenId] | None = None
    finish_reason: str | None = None
    stop_reason: int | str | None = None
    logprobs: Logprobs | None = None

    @property
    def tokens(self) -> list[int]:
        """The ids; a choice may have none."""
        return self.token_ids or []


class WholeChoice(Choice):
    """An answer that is complete."""

    finish_reason: str | None = "stop"


class Counts(BaseModel):
    """How many tokens an engine counted."""

    prompt_tokens: int | None = Field(None, ge=0)
    completion_tokens: int | None = Field(None, ge=0)


class Generated(BaseModel):
    """The answer of ``/inference/v1/generate``."""

    request_id: str
    choices: list[WholeChoice] = Field(max_length=MOST_CHOICES)
    prompt_token_ids: list[TokenId] | None = None
    prompt_logprobs: list[Any] | None = None
    kv_transfer_params: dict[str, Any] | None = None


class GeneratedChunk(BaseModel):
    """A chunk of its stream: tokens of at most one choice, or the usage."""

    request_id: str
    choices: list[Choice] = Field(max_length=1)
    usage: Counts | None = None
    prompt_token_ids: list[TokenId] | None = None


class StreamState(BaseModel):
    """What a client carries from one chunk of a stream to the next."""

    # Of completions: the last tokens by their names, and up to where their text was sent.
    prev_tokens: list[str] = Field(default=[], max_length=1024)
    prefix_offset: Annotated[int, Field(ge=0)] = 0
    read_offset: Annotated[int, Field(ge=0)] = 0
    role_sent: bool = False
    logprob_context_token_ids: list[TokenId] = Field(default=[], max_length=4)
    logprob_text_offset: Annotated[int, Field(ge=0)] = 0
    # Of chat: all tokens so far, in the pieces in which they came.
    output_token_ids: list[TokenId] = []
    output_chunk_lens: list[Annotated[int, Field(gt=0)]] = []
    tools_streamed: bool = False
    last_tool_call_ids: list[str] = []

    @model_validator(mode="after")
    def _sums(self) -> Self:
        pieces, tokens = sum(self.output_chunk_lens), len(self.output_token_ids)
        if pieces != tokens:
            raise ValueError(f"output_chunk_lens add up to {pieces}, output_token_ids has {tokens}")
        if not self.prefix_offset <= self.read_offset <= len(self.prev_tokens):
            raise ValueError("the offsets are not in prev_tokens")
        return self


class DerenderChat(BaseModel):
    """A chat completion to be made of sampled tokens."""

    stream: Literal[False] = False
    model: str | None = None
    generate_response: Generated
    prompt_tokens: int | None = Field(None, ge=0)
    prompt_token_ids: list[TokenId] | None = None
    chat_request: dict[str, Any] | None = None


class DerenderChunk(BaseModel):
    """A chunk to be made of some sampled tokens."""

    stream: Literal[True]
    model: str | None = None
    generate_chunk: GeneratedChunk
    stream_state: StreamState | None = None
    prompt_tokens: int | None = Field(None, ge=0)
    prompt_token_ids: list[TokenId] | None = None


class DerenderChatChunk(DerenderChunk):
    """A chunk of a chat completion."""

    chat_request: dict[str, Any] | None = None


class DerenderTexts(BaseModel):
    """A completion to be made of the tokens of one or more prompts."""

    stream: Literal[False] = False
    model: str | None = None
    generate_responses: list[Generated] = Field(min_length=1, max_length=MOST_CHOICES)
    prompt_tokens: list[Annotated[int, Field(ge=0)]] | None = None
    prompt_token_ids: list[list[TokenId] | None] | None = None
    completion_request: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _one_each(self) -> Self:
        for name in ("prompt_tokens", "prompt_token_ids"):
            given = getattr(self, name)
            if given is not None and len(given) != len(self.generate_responses):
                expected = len(self.generate_responses)
                raise ValueError(f"{name} has {len(given)} items for {expected} responses")
        return self


class DerenderTextChunk(DerenderChunk):
    """A chunk of a completion."""

    completion_request: dict[str, Any] | None = None
