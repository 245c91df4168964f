"""A tokenizer of gpt-oss with Hugging Face's face, for trainers, pipelines and engines.

``HarmonyTokenizer()`` needs no download. Its chat template is this package: conversations become
the tokens of ``interop.chat_completions``, and ``return_assistant_tokens_mask`` is the loss mask.
Text in messages stays text, whatever marker it spells; text that is given to the tokenizer itself
has markers, as with any tokenizer of transformers (``split_special_tokens=True`` reads none).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, Literal, TypeAlias

from openai_harmony._extras import needed
from openai_harmony.adapters import chat
from openai_harmony.adapters.transformers import chat_template, response_template
from openai_harmony.interop import chat_completions
from openai_harmony.vocabulary import vocabulary_text

transformers: Any = needed("transformers", "hf")

_FIRST_SPECIAL, _SIZE = 199_998, 201_088
_VARIABLES = ("reasoning_effort", "model_identity", "conversation_start_date")
_Rendered: TypeAlias = tuple[list[int], list[int]]
"""The tokens of a conversation, and the loss mask."""


@functools.cache
def _letters() -> dict[int, str]:
    """For each byte its letter in a token's name, as in all byte-level BPEs."""
    others = map(chr, count(256))
    letters = map(chr, range(256))
    return {ord(c): c if c.isprintable() and c != " " else next(others) for c in letters}


@functools.cache
def _bytes() -> dict[str, int]:
    return {letter: byte for byte, letter in _letters().items()}


def _name(token: bytes) -> str:
    return "".join(map(_letters().__getitem__, token))


@functools.cache
def _vocabulary() -> dict[str, int]:
    """The ids of the ordinary tokens by their names."""
    count = vocabulary_text().count(b"\n")
    return {_name(chat.ENCODING.decode_bytes([token])): token for token in range(count)}


@functools.cache
def _names() -> list[str]:
    return list(_vocabulary())


class HarmonyTokenizer(transformers.PreTrainedTokenizer):  # type: ignore[misc]
    """gpt-oss' tokenizer as a class of transformers.

    Args:
        options: Those of ``PreTrainedTokenizer``. Another ``chat_template`` than this package's,
            given here, set later, or given to :meth:`apply_chat_template`, is rendered by
            transformers. It is saved and loaded, too; that of a folder of gpt-oss is ignored.
    """

    # `save_pretrained` writes this file, too: `AutoTokenizer` loads it with `trust_remote_code`.
    _auto_class = "AutoTokenizer"
    chat_template: Any
    add_prefix_space = False
    """Words of ``is_split_into_words`` are taken as they are, without a space in front of them."""

    def __init__(self, **options: Any) -> None:
        # What `from_pretrained` finds in a folder may be gpt-oss' own.
        if not options.pop("keeps_chat_template", "name_or_path" not in options):
            options.pop("chat_template", None)
        options.setdefault("bos_token", "<|startoftext|>")
        options.setdefault("eos_token", "<|return|>")
        options.setdefault("pad_token", "<|endoftext|>")
        options.setdefault("response_template", response_template())
        self._added_tokens_decoder = _special_tokens()
        super().__init__(**options)
        self.chat_template = self.chat_template or chat_template()

    @property
    def vocab_size(self) -> int:
        """How many ids the model has, special ones included."""
        return _SIZE

    @property
    def all_special_tokens(self) -> list[str]:
        """All that ``skip_special_tokens`` skips, not only those that have an attribute."""
        return [str(token) for token in self._added_tokens_decoder.values() if token.special]

    def __repr__(self) -> str:
        return f"HarmonyTokenizer(name_or_path={self.name_or_path!r}, {len(self)} tokens)"

    def get_vocab(self) -> dict[str, int]:
        """The id of each token by its name, bytes as letters."""
        return {**_vocabulary(), **self._added_tokens_encoder}

    def save_pretrained(self, *arguments: Any, **options: Any) -> Any:
        """Saves it as transformers does, and whether its chat template is another one."""
        self.init_kwargs["keeps_chat_template"] = self.chat_template != _own_template()
        return super().save_pretrained(*arguments, **options)

    def save_vocabulary(
        self, save_directory: str, filename_prefix: str | None = None
    ) -> tuple[str, ...]:
        """Writes nothing: the vocabulary is part of this package."""
        return ()

    def tokenize(self, text: str, **options: Any) -> list[str]:
        """The names of a text's tokens."""
        if (
            options
            or self.split_special_tokens
            or len(self._added_tokens_decoder) > _SIZE - _FIRST_SPECIAL
        ):
            names: list[str] = super().tokenize(text, **options)
            return names
        return self._convert_ids(chat.ENCODING.encode(text, allowed_special="all"))

    def _tokenize(self, text: str, **_: Any) -> list[str]:
        return self._convert_ids(chat.ENCODING.encode(text, disallowed_special=()))

    def _convert_ids(self, ids: Sequence[int]) -> list[str]:
        return [self._convert_id_to_token(token) for token in ids]

    def _convert_token_to_id(self, token: str) -> int | None:
        return _vocabulary().get(token)

    def _convert_id_to_token(self, index: int) -> str:
        # -100 marks a label that the loss ignores, and Python would count from the end.
        if index < 0:
            raise ValueError(f"{index} is not a token id")
        if index < _FIRST_SPECIAL:
            return _names()[index]
        return str(self._added_tokens_decoder[index].content)

    def convert_tokens_to_string(self, tokens: Sequence[str]) -> str:
        """The text of tokens by their names; U+FFFD for what is no UTF-8."""
        special, letters = self._added_tokens_encoder, _bytes()
        parts = [
            token.encode() if token in special else bytes(letters[letter] for letter in token)
            for token in tokens
        ]
        return b"".join(parts).decode(errors="replace")

    def _decode(
        self, token_ids: int | Sequence[int], skip_special_tokens: bool = False, **_: Any
    ) -> str:
        ids = [token_ids] if isinstance(token_ids, int) else list(map(int, token_ids))
        if skip_special_tokens:
            added = self._added_tokens_decoder
            ids = [token for token in ids if token not in added or not added[token].special]
        if all(token < _SIZE for token in ids):
            return chat.ENCODING.decode(ids)
        return self.convert_tokens_to_string(self._convert_ids(ids))

    def apply_chat_template(
        self,
        conversation: Any,
        tools: Sequence[Any] | None = None,
        documents: Any = None,
        chat_template: str | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        tokenize: bool = True,
        sanitize_control_tokens: bool = True,
        padding: Any = False,
        truncation: bool = False,
        max_length: int | None = None,
        return_tensors: Any = None,
        return_dict: bool = True,
        return_assistant_tokens_mask: bool = False,
        tokenizer_kwargs: Mapping[str, Any] | None = None,
        **variables: Any,
    ) -> Any:
        """The tokens of a conversation, or of several, as transformers documents it.

        Rendered are the tokens of ``interop.chat_completions``; ``assistant_masks`` is the default
        loss mask. Without ``add_generation_prompt`` an answer at the end ends as it is trained,
        with ``<|return|>``. Of variables there are ``reasoning_effort``, ``model_identity`` and
        ``conversation_start_date``.

        Raises:
            InvalidRequestError: A message that chat completions do not have, with its path.
            ValueError: Another variable, ``documents``, or options that exclude one another.
        """
        sizes = {"padding": padding, "truncation": truncation, "max_length": max_length}
        # Engines give the tokenizer its own.
        if (self.chat_template if chat_template is None else chat_template) != _own_template():
            if return_assistant_tokens_mask:
                raise ValueError("return_assistant_tokens_mask: not with a chat template of yours")
            return super().apply_chat_template(
                conversation,
                tools=tools,
                documents=documents,
                chat_template=chat_template,
                add_generation_prompt=add_generation_prompt,
                continue_final_message=continue_final_message,
                tokenize=tokenize,
                return_tensors=return_tensors,
                return_dict=return_dict,
                tokenizer_kwargs=tokenizer_kwargs,
                **sizes,
                **variables,
            )
        _check_asked(
            bool(documents),
            bool(continue_final_message),
            add_generation_prompt,
            return_assistant_tokens_mask,
            is_whole=tokenize and return_dict,
        )
        chats, is_batched = _chats(conversation)
        rows = [
            _render(each, tools, add_generation_prompt, continue_final_message, variables)
            for each in chats
        ]
        if not tokenize:
            texts = [chat.ENCODING.decode(tokens) for tokens, _ in rows]
            return texts if is_batched else texts[0]
        options = {**sizes, **(tokenizer_kwargs or {})}
        in_batch = is_batched or return_tensors is not None
        out = self._sized(rows, in_batch, options, return_assistant_tokens_mask)
        out.convert_to_tensors(tensor_type=return_tensors)
        return out if return_dict else out["input_ids"]

    def _sized(
        self, rows: list[_Rendered], in_batch: bool, options: dict[str, Any], has_masks: bool
    ) -> Any:
        """The tokens of rows and their masks, cut and padded."""
        if has_masks:
            options["return_attention_mask"] = True
        tokens = [tokens for tokens, _ in rows]
        out = self(tokens if in_batch else tokens[0], **options)
        if has_masks:
            kept = out["attention_mask"] if in_batch else [out["attention_mask"]]
            aligned = [self._aligned(mask, each) for (_, mask), each in zip(rows, kept)]
            out["assistant_masks"] = aligned if in_batch else aligned[0]
        return out

    def _aligned(self, mask: list[int], attention: Sequence[int]) -> list[int]:
        """A mask as its tokens were cut and padded."""
        count = sum(attention)
        left = mask[len(mask) - count :] if self.truncation_side == "left" else mask[:count]
        values = iter(left)
        return [next(values) if attended else 0 for attended in attention]

    def parse_response(
        self,
        response: Any,
        schema: Any = None,
        *,
        prefix: Any = None,
        tools: Sequence[Any] | None = None,
    ) -> Any:
        """A message, or several, from what was sampled, however malformed.

        Keys are ``role``, ``content``, ``reasoning_content`` and ``tool_calls``: the calls that
        may run, and those whose ``arguments`` are no JSON object, as text. ``prefix`` is the
        prompt.
        """
        if schema is not None:
            return super().parse_response(response, schema, prefix=prefix, tools=tools)
        response, prefix = _ids(response), _ids(prefix)
        is_batched = bool(response) and not isinstance(response[0], int)
        responses = response if is_batched else [response]
        prefixes = (
            prefix if prefix and not isinstance(prefix[0], int) else [prefix] * len(responses)
        )
        schemas = _schemas(tools)
        parsed = [_parsed(ids, before, schemas) for ids, before in zip(responses, prefixes)]
        return parsed if is_batched else parsed[0]


_own_template = functools.cache(chat_template)


def _special_tokens() -> dict[int, Any]:
    return {
        token: transformers.AddedToken(chat.ENCODING.decode([token]), special=True)
        for token in range(_FIRST_SPECIAL, _SIZE)
    }


def _schemas(tools: Sequence[Any] | None) -> list[Any]:
    """Tools as JSON schemas, functions too."""
    schema_of: Callable[[Any], Any] = needed("transformers.utils", "hf").get_json_schema
    return [schema_of(tool) if callable(tool) else tool for tool in tools or ()]


def _check_asked(
    has_documents: bool, continues: bool, asks: bool, has_masks: bool, *, is_whole: bool
) -> None:
    """``ValueError`` for options that exclude one another."""
    if has_documents:
        raise ValueError("documents: the format has none; write them into a message")
    if continues and (asks or has_masks):
        raise ValueError(
            "continue_final_message: not with add_generation_prompt, nor with "
            "return_assistant_tokens_mask"
        )
    if has_masks and not is_whole:
        raise ValueError("return_assistant_tokens_mask: needs tokenize and return_dict")


def _chats(conversation: Any) -> tuple[list[Any], bool]:
    """The messages of one conversation, or of each of several, and whether there are several.

    A conversation may be an object that has messages, as transformers' ``Chat`` does.
    """
    messages = getattr(conversation, "messages", conversation)
    is_batched = len(messages) > 0 and not isinstance(messages[0], Mapping)
    chats = messages if is_batched else [messages]
    return [getattr(each, "messages", each) for each in chats], is_batched


def _render(
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Any] | None,
    asks: bool,
    continues: bool | str,
    variables: Mapping[str, Any],
) -> _Rendered:
    """The tokens of a conversation, and the loss mask, of which a continued one has none."""
    unknown = [name for name in variables if name not in _VARIABLES]
    if unknown:
        raise ValueError(f"{unknown[0]}: unknown variable; known are {', '.join(_VARIABLES)}")
    if not messages:
        raise ValueError("conversation: has no messages")
    given = {name: value for name, value in variables.items() if value is not None}
    body: dict[str, Any] = {
        # Rows of a data set have every key, most of them without a value.
        "messages": [{k: v for k, v in each.items() if v is not None} for each in messages],
        "tools": _schemas(tools),
    }
    if "reasoning_effort" in given:
        body["reasoning_effort"] = given["reasoning_effort"]
    if continues:
        if isinstance(continues, str) and not messages[-1].get(continues):
            raise ValueError(f"continue_final_message: the last message has no {continues!r}")
        body["continue_final_message"] = True
    options: dict[str, Any] = {"identity": given.get("model_identity"), "strict": True}
    if "conversation_start_date" in given:
        options["date"] = given["conversation_start_date"]
    turn = chat_completions.read(body, **options)
    if continues:
        return turn.prompt(chat.ENCODING), []
    ending: Literal["completion", "training"] = "completion" if asks else "training"
    rendered = chat.ENCODING.render_with_spans(turn.conversation, turn.config, ending=ending)
    return rendered.tokens, list(rendered.loss_mask())


def _ids(given: Any) -> Any:
    """Token ids, of a text, an array or a list of these."""
    given = given.tolist() if hasattr(given, "tolist") else given
    if isinstance(given, str):
        return chat.ENCODING.encode(given, allowed_special="all")
    return given if isinstance(given, int) else [_ids(item) for item in given or ()]


def _parsed(ids: list[int], prompt: list[int], schemas: list[Any]) -> dict[str, Any]:
    step, turn = chat.read(ids, schemas, prompt)
    message: dict[str, Any] = {
        "role": "assistant",
        "content": chat.texts(step.said, "preamble", "answer"),
    }
    if step.thoughts:
        message["reasoning_content"] = chat.texts(step.thoughts, "thought")
    calls = []
    for call in step.waiting:
        if call.status != "cut_off":
            function = {"name": chat.name_of(call, turn), "arguments": chat.arguments_of(call)}
            calls.append({"type": "function", "function": function})
    return {**message, "tool_calls": calls} if calls else message


__all__ = ["HarmonyTokenizer"]
