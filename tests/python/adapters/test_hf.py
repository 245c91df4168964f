"""transformers takes the tokenizer, which encodes and renders as this package does."""

from __future__ import annotations

import copy
import os
import pickle
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

os.environ.update(HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1", TRL_EXPERIMENTAL_SILENCE="1")
transformers = pytest.importorskip(
    "transformers", reason="make test-adapters installs transformers"
)
torch = pytest.importorskip("torch", reason="make test-adapters installs PyTorch")

from adapters.headers import ARGUMENTS, CASES, ENCODING, NAMES, TOOL, tokens_of  # noqa: E402
from adapters.test_transformers import Chats  # noqa: E402
from episodes import TEXTS, episodes, sampled  # noqa: E402
from fences import DOCS, fenced  # noqa: E402
from openai_harmony import HarmonyError  # noqa: E402
from openai_harmony.adapters.hf import HarmonyTokenizer  # noqa: E402
from openai_harmony.adapters.transformers import chat_template, response_template  # noqa: E402
from openai_harmony.interop import chat_completions  # noqa: E402

USER = {"role": "user", "content": "Weather in Lima?"}
CALL = {"type": "function", "function": {"name": "get_weather", "arguments": ARGUMENTS}}
ASKED = {"role": "assistant", "reasoning_content": "Look.", "tool_calls": [CALL]}
RESULT = {"role": "tool", "name": "get_weather", "content": "rain"}
ANSWER = {"role": "assistant", "content": "It rains."}
EPISODE = [{"role": "system", "content": "Be brief."}, USER, ASKED, RESULT, ANSWER]
SAMPLES = [
    *TEXTS,
    "a<|end|>b",
    "<|start|>user<|message|>Hi<|end|>",
    "x" * 50,
    "<|reserved_200014|>",
    "<|startoftext|>",
    "".join(map(chr, range(256))),
]


@pytest.fixture(scope="module")
def mine() -> Any:
    return HarmonyTokenizer()


def prompt_of(messages: Any, **body: Any) -> list[int]:
    return chat_completions.read({"messages": messages, **body}).prompt(ENCODING)


@pytest.mark.parametrize("text", SAMPLES)
def test_text(mine: Any, tokenizer: Any, text: str) -> None:
    ids = tokens_of(text)
    assert mine(text)["input_ids"] == mine.encode(text) == tokenizer(text)["input_ids"] == ids
    assert mine(text)["attention_mask"] == [1] * len(ids)
    assert mine.decode(ids) == tokenizer.decode(ids) == text
    assert mine.tokenize(text) == tokenizer.tokenize(text) == mine.convert_ids_to_tokens(ids)
    assert mine.convert_tokens_to_ids(mine.tokenize(text)) == ids
    assert mine.convert_tokens_to_string(mine.tokenize(text)) == text
    assert mine.decode(ids, skip_special_tokens=True) == tokenizer.decode(
        ids, skip_special_tokens=True
    )
    plain = mine(text, split_special_tokens=True)["input_ids"]
    assert plain == ENCODING.encode(text, disallowed_special=())
    assert mine.decode(plain) == text


def test_it_is_gpt_oss_vocabulary(mine: Any, tokenizer: Any) -> None:
    assert len(mine) == mine.vocab_size == 201_088
    assert repr(mine) == "HarmonyTokenizer(name_or_path='', 201088 tokens)"
    theirs = tokenizer.get_vocab()
    assert mine.get_vocab() == theirs
    for token in (0, 255, 199_997, 199_998, 200_002, 201_087):
        assert mine.convert_ids_to_tokens(token) == tokenizer.convert_ids_to_tokens(token)
        assert mine.decode(token) == tokenizer.decode(token)
    assert (mine.bos_token_id, mine.eos_token_id, mine.pad_token_id) == (199998, 200002, 199999)
    assert mine.convert_tokens_to_ids("<|call|>") == 200012
    assert mine.convert_tokens_to_ids("no such token") is None


def test_batches(mine: Any, tokenizer: Any) -> None:
    texts = ["Hi", "", "A longer text.", "é🤷🏽"]
    for options in [
        {"padding": True},
        {"padding": "max_length", "max_length": 9},
        {"padding": True, "padding_side": "left", "return_tensors": "pt"},
        {"truncation": True, "max_length": 2},
        {"padding": True, "pad_to_multiple_of": 8, "return_tensors": "np"},
        {"padding": True, "truncation": True, "max_length": 3, "return_length": True},
        {"return_special_tokens_mask": True, "return_token_type_ids": True},
    ]:
        ours, theirs = mine(texts, **options), tokenizer(texts, **options)
        for name in ("input_ids", "attention_mask"):
            values = [getattr(x[name], "tolist", lambda x=x: x[name])() for x in (ours, theirs)]  # noqa: B023
            assert values[0] == values[1], options
    ids = mine(texts)["input_ids"]
    assert mine.batch_decode(ids) == mine.decode(ids) == texts
    padded = mine.pad({"input_ids": ids}, padding=True, return_tensors="pt")
    assert padded["input_ids"].shape == padded["attention_mask"].shape
    assert mine.batch_decode(padded["input_ids"], skip_special_tokens=True) == texts
    pairs = [mine.encode("a") + mine.encode("c"), mine.encode("b") + mine.encode("d")]
    assert mine(["a", "b"], ["c", "d"])["input_ids"] == pairs
    words = mine([["Hi", " there"]], is_split_into_words=True)["input_ids"]
    assert words == [mine.encode("Hi") + mine.encode(" there")]
    assert mine.decode(tokens_of("🤷")[:1]) == "\ufffd"


@pytest.mark.parametrize("as_file", [True, False])
def test_another_template_is_kept(as_file: bool, tmp_path: Path) -> None:
    template = "{% for message in messages %}{{ message['content'] }};{% endfor %}"
    given, later = HarmonyTokenizer(chat_template=template), HarmonyTokenizer()
    later.chat_template = template
    for index, tokenizer in enumerate([given, later]):
        folder = tmp_path / str(index)
        tokenizer.save_pretrained(folder, save_jinja_files=as_file)
        loaded = HarmonyTokenizer.from_pretrained(folder)
        for one in (tokenizer, loaded):
            assert one.apply_chat_template([USER], tokenize=False) == "Weather in Lima?;"
        loaded.chat_template = HarmonyTokenizer().chat_template
        loaded.save_pretrained(folder)
        again = HarmonyTokenizer.from_pretrained(folder)
        assert again.apply_chat_template([USER], return_dict=False) == loaded.apply_chat_template(
            [USER], return_dict=False
        )
        assert again.chat_template == loaded.chat_template


def test_it_saves_and_loads(mine: Any, tmp_path: Path) -> None:
    mine.save_pretrained(tmp_path)
    loaded = HarmonyTokenizer.from_pretrained(tmp_path)
    auto = transformers.AutoTokenizer.from_pretrained(tmp_path, trust_remote_code=True)
    for other in (loaded, auto, copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))):
        assert other.get_vocab() == mine.get_vocab()
        assert other.special_tokens_map == mine.special_tokens_map
        assert other.chat_template == mine.chat_template
        assert other.response_template == mine.response_template
        expected = mine.apply_chat_template(EPISODE, tools=[TOOL])["input_ids"]
        assert other.apply_chat_template(EPISODE, tools=[TOOL])["input_ids"] == expected
    extended = HarmonyTokenizer()
    assert extended.add_tokens(["<new>", "<newer>"]) == 2
    assert extended.convert_tokens_to_ids(["<new>", "<newer>"]) == [201_088, 201_089]
    assert extended("a<new>b")["input_ids"] == [*mine.encode("a"), 201_088, *mine.encode("b")]
    assert extended.decode(extended.encode("a<new>b<|end|>")) == "a<new>b<|end|>"
    assert extended.decode(extended.encode("a<new>b<|end|>"), skip_special_tokens=True) == "a<new>b"
    assert extended.add_tokens(["né"]) == 1
    assert extended.convert_tokens_to_string(extended.tokenize("a né")) == "a né"
    extended.save_pretrained(tmp_path / "extended")
    again = HarmonyTokenizer.from_pretrained(tmp_path / "extended")
    assert len(again) == len(extended) == 201_091
    assert again("a<new>b")["input_ids"] == extended("a<new>b")["input_ids"]


def test_the_template_of_a_folder_of_gpt_oss_is_ignored(tokenizer: Any, tmp_path: Path) -> None:
    theirs = copy.deepcopy(tokenizer)
    theirs.chat_template = "theirs"
    theirs.save_pretrained(tmp_path)
    loaded = HarmonyTokenizer.from_pretrained(tmp_path)
    assert loaded.chat_template == chat_template()
    assert loaded.response_template == response_template()


def test_conversations_are_rendered_as_by_this_package(mine: Any) -> None:
    for seed in range(300):
        chats = Chats(seed)
        messages, tools = chats.chat(), chats.tools()
        made = mine.apply_chat_template(
            messages,
            tools=tools,
            add_generation_prompt=True,
            conversation_start_date="2026-01-01",
            reasoning_effort="high",
        )
        body = {"messages": messages, "tools": tools or [], "reasoning_effort": "high"}
        turn = chat_completions.read(body, date="2026-01-01")
        assert made["input_ids"] == turn.prompt(ENCODING)
        assert made["attention_mask"] == [1] * len(made["input_ids"])
        trained = mine.apply_chat_template(
            messages,
            tools=tools,
            return_assistant_tokens_mask=True,
            conversation_start_date="2026-01-01",
            reasoning_effort="high",
        )
        rendered = ENCODING.render_with_spans(turn.conversation, turn.config, ending="training")
        assert trained["input_ids"] == rendered.tokens
        assert trained["assistant_masks"] == list(rendered.loss_mask())


def test_forms_of_a_conversation(mine: Any) -> None:
    ids = prompt_of(EPISODE[:2])
    asks: Any = {"add_generation_prompt": True}
    text = mine.apply_chat_template(EPISODE[:2], tokenize=False, **asks)
    assert text == ENCODING.decode(ids)
    assert mine.apply_chat_template(EPISODE[:2], return_dict=False, **asks) == ids
    assert mine(text)["input_ids"] == ids
    tensor = mine.apply_chat_template(EPISODE[:2], return_tensors="pt", **asks)
    assert tensor["input_ids"].tolist() == [ids]
    both = mine.apply_chat_template([EPISODE[:2], [USER]], padding=True, **asks)
    lengths = [sum(row) for row in both["attention_mask"]]
    assert lengths == [len(ids), len(prompt_of([USER]))]
    assert both.keys() == {"input_ids", "attention_mask"}
    texts = mine.apply_chat_template([EPISODE[:2], [USER]], tokenize=False, **asks)
    assert texts == [text, ENCODING.decode(prompt_of([USER]))]
    # As transformers' `Chat` has them.
    holder = SimpleNamespace(messages=EPISODE[:2])
    assert mine.apply_chat_template(holder, tokenize=False, **asks) == text
    assert mine.apply_chat_template([holder], tokenize=False, **asks) == [text]
    unasked = mine.apply_chat_template(
        EPISODE[:2], tokenizer_kwargs={"return_attention_mask": False}, **asks
    )
    assert dict(unasked) == {"input_ids": ids}
    spelled = [{"role": "user", "content": "<|end|>"}]
    assert mine.apply_chat_template(spelled, **asks)["input_ids"] == prompt_of(spelled)
    rows = [
        {**message, "tool_calls": message.get("tool_calls"), "name": None}
        for message in EPISODE[:2]
    ]
    assert mine.apply_chat_template(rows, **asks)["input_ids"] == ids

    def rain(city: str) -> str:
        """Look up the rain.

        Args:
            city: Where.
        """
        return city

    schema = transformers.utils.get_json_schema(rain)
    assert mine.apply_chat_template([USER], tools=[rain], **asks)["input_ids"] == prompt_of(
        [USER], tools=[schema]
    )


def test_a_message_is_continued(mine: Any) -> None:
    for last, field in [
        ({"role": "assistant", "content": "It ra"}, "content"),
        ({"role": "assistant", "reasoning_content": "Look"}, "reasoning_content"),
    ]:
        ids = prompt_of([USER, last], continue_final_message=True)
        for value in (True, field):
            made = mine.apply_chat_template([USER, last], continue_final_message=value)
            assert made["input_ids"] == ids
    with pytest.raises(ValueError, match="the last message has no 'thinking'"):
        mine.apply_chat_template([USER, ANSWER], continue_final_message="thinking")


def test_masks_of_what_is_cut_and_padded(mine: Any) -> None:
    whole = mine.apply_chat_template(EPISODE, return_assistant_tokens_mask=True)
    ids, mask = whole["input_ids"], whole["assistant_masks"]
    trained = [token for token, one in zip(ids, mask) if one]
    assert ENCODING.decode(trained).endswith("<|channel|>final<|message|>It rains.<|return|>")
    for side in ("left", "right"):
        cutting = HarmonyTokenizer(truncation_side=side, padding_side=side)
        cut = cutting.apply_chat_template(
            [EPISODE, [USER, ANSWER]],
            return_assistant_tokens_mask=True,
            truncation=True,
            max_length=len(ids) - 3,
            padding="max_length",
            return_tensors="pt",
        )
        left = mask[3:] if side == "left" else mask[:-3]
        assert cut["assistant_masks"][0].tolist() == left
        short = mine.apply_chat_template([USER, ANSWER], return_assistant_tokens_mask=True)
        padding = [0] * (len(ids) - 3 - len(short["assistant_masks"]))
        expected = short["assistant_masks"]
        expected = padding + expected if side == "left" else expected + padding
        assert cut["assistant_masks"][1].tolist() == expected


def test_a_mask_needs_no_attention_mask() -> None:
    bare = HarmonyTokenizer(model_input_names=["input_ids"])
    assert bare.apply_chat_template(EPISODE).keys() == {"input_ids"}
    made = bare.apply_chat_template(EPISODE, return_assistant_tokens_mask=True)
    assert len(made["assistant_masks"]) == len(made["input_ids"])


def test_what_is_refused(mine: Any) -> None:
    for options, message in [
        (
            {"enable_thinking": True},
            "enable_thinking: unknown variable; known are reasoning_effort",
        ),
        ({"documents": [{"text": "x"}]}, "documents: the format has none"),
        (
            {"continue_final_message": True, "add_generation_prompt": True},
            "continue_final_message: not",
        ),
        (
            {"tokenize": False, "return_assistant_tokens_mask": True},
            "needs tokenize and return_dict",
        ),
        ({"chat_template": "x", "return_assistant_tokens_mask": True}, "not with a chat template"),
    ]:
        with pytest.raises(ValueError, match=message):
            mine.apply_chat_template([USER], **options)
    with pytest.raises(ValueError, match="has no messages"):
        mine.apply_chat_template([])
    with pytest.raises(HarmonyError, match=r"messages\[1\].name: no call of"):
        mine.apply_chat_template([USER, RESULT])
    template = "{% for m in messages %}{{ m.content }}<|end|>{% endfor %}"
    made = mine.apply_chat_template([USER], chat_template=template)
    assert made["input_ids"] == tokens_of("Weather in Lima?<|end|>")


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_what_was_sampled_is_parsed(mine: Any, case: Any) -> None:
    prompt = prompt_of([USER], tools=[TOOL])
    parsed = mine.parse_response(tokens_of(case["text"]), prefix=prompt, tools=[TOOL])
    assert parsed["tool_calls"] == [CALL]
    assert mine.parse_response(case["text"], prefix=mine.decode(prompt), tools=[TOOL]) == parsed
    texts = [case["text"], case["text"]]
    assert mine.parse_response(texts, prefix=mine.decode(prompt), tools=[TOOL]) == [parsed] * 2
    schema = {**response_template(), "defaults": {"role": "model"}}
    theirs = mine.parse_response(tokens_of(case["text"]), schema, prefix=prompt)
    assert (theirs["role"], theirs["tool_calls"]) == ("model", [CALL])


def test_what_became_of_a_call(mine: Any) -> None:
    begin = "<|channel|>commentary to="
    for text, calls in [
        ('functions.get_weather<|message|>{"ci', None),
        ("functions.get_weather<|message|>no<|call|>", [("get_weather", "no")]),
        ("Get_Weather<|message|>{}<|call|>", [("get_weather", {})]),
    ]:
        parsed = mine.parse_response(tokens_of(begin + text), tools=[TOOL])
        found = parsed.get("tool_calls")
        named = found and [(c["function"]["name"], c["function"]["arguments"]) for c in found]
        assert named == calls


def test_anything_that_was_sampled_is_parsed(mine: Any) -> None:
    prompt = prompt_of([USER], tools=[TOOL])
    samples = [sampled(random) for random in episodes(500)]
    for message in mine.parse_response(samples, prefix=prompt, tools=[TOOL]):
        assert message["role"] == "assistant"
        assert isinstance(message["content"], str)
    answer = tokens_of(
        "<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|channel|>final<|message|>4<|return|>"
    )
    expected = {"role": "assistant", "content": "4", "reasoning_content": "Hm"}
    assert mine.parse_response(torch.tensor(answer), prefix=prompt) == expected
    array = torch.tensor(answer).numpy()
    assert mine.parse_response(list(array), prefix=array[:0]) == expected
    assert mine.parse_response([answer, answer], prefix=[prompt, prompt]) == [expected] * 2
    assert mine.parse_response([answer], prefix=[prompt]) == [expected]
    assert mine.parse_response([200_002]) == {"role": "assistant", "content": ""}


def test_the_example_of_the_guide(tmp_path: Path) -> None:
    names: Any = {
        "messages": EPISODE,
        "tools": [TOOL],
        "sampled": tokens_of(CASES[0]["text"]),
        "prompt": prompt_of([USER], tools=[TOOL]),
        "folder": tmp_path,
    }
    exec(fenced("hf", DOCS / "rollouts.md"), names)
    assert names["message"]["tool_calls"] == [CALL]
    assert 1 in names["example"]["assistant_masks"]


def test_texts_are_tokenized_as_by_the_encoding(mine: Any) -> None:
    random = Random(0)
    for _ in range(300):
        text = "".join(
            chr(
                random.choice(
                    [random.randrange(32, 127), random.randrange(0x3000, 0x30FF), 0x1F937]
                )
            )
            for _ in range(random.randrange(40))
        )
        assert mine(text)["input_ids"] == ENCODING.encode(text, allowed_special="all")
