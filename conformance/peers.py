"""The scoreboard: the corpus read by other parsers of harmony. `make scoreboard` runs this and writes docs/scoreboard.md.

Each peer is installed at its pinned version into a folder of its own, without what needs a GPU, and reads all cases in
a process of its own. All are compared in what each of them gives: the thoughts, the text for the user, and the calls.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import importlib.abc
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
PAGE, DATA = HERE.parent / "docs" / "scoreboard.md", HERE / "scoreboard.json"
FILES = ("headers", "outputs", "malformed")
OURS = "openai-harmony (this)"
Case = dict[str, Any]
Read = Callable[[Case], dict[str, Any]]


class Peer(NamedTuple):
    packages: tuple[str, ...]
    """What pip installs, without dependencies; for Ollama a module of Go, for llama.cpp sources of C++."""
    reader: Callable[[Path], Read]
    takes: str
    """What its job is."""
    messages: bool = False
    """It gives messages of all roles, from any beginning: the others read one sampled answer, as an engine serves it."""
    text: bool = False
    """It reads text: ids that no text spells are not its job."""
    built_in: bool = True
    """It gives calls of built-in tools, too."""


# What a peer gives.


def answer(messages: Iterable[Any], others: bool = True) -> dict[str, Any]:
    """Messages as an answer of chat completions has them; messages of other roles beside it."""
    given: dict[str, Any] = {"thoughts": "", "text": "", "calls": []}
    for message in messages:
        content = message["content"]
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content)
        recipient = message.get("recipient")
        if message["role"] != "assistant":
            if others:
                author = message.get("name") or message["role"]
                given.setdefault("others", []).append([author, content])
        elif recipient and recipient not in ("assistant", "user"):
            given["calls"].append([recipient.removeprefix("functions."), content])
        else:
            given["thoughts" if message.get("channel") == "analysis" else "text"] += content
    return given


def given(thoughts: str | None, text: str | None, calls: Iterable[Any] = ()) -> dict[str, Any]:
    return {"thoughts": thoughts or "", "text": text or "", "calls": [list(call) for call in calls]}


def messages_of(folder: Path) -> Read:
    from openai_harmony import Role, StreamableParser, load_harmony_encoding

    encoding = load_harmony_encoding("HarmonyGptOss")

    def read(case: Case) -> dict[str, Any]:
        role = Role(case["role"]) if case["role"] else None
        parser = StreamableParser(encoding, role, strict=False)
        for token in case["tokens"]:
            parser.process(token)
        parser.process_eos()
        return answer(message.to_dict() for message in parser.messages)

    return read


def vllm(folder: Path) -> Read:
    real = ("vllm.parser.harmony", "vllm.entrypoints.openai.parser.harmony_utils")
    stand_in(folder, ("vllm", "xgrammar", "openai"), real)
    from vllm.parser.harmony import HarmonyParser

    from openai_harmony import load_harmony_encoding

    encoding = load_harmony_encoding("HarmonyGptOss")

    def read(case: Case) -> dict[str, Any]:
        parser = HarmonyParser.__new__(HarmonyParser)
        parser._parser, parser._current_message_tokens = None, []
        parser._num_processed_messages = parser._next_tool_call_index = 0
        parser._num_counted_tokens = parser._num_reasoning_tokens = 0
        parser.reasoning_parser = parser.tool_parser = True
        parser.model_tokenizer = SimpleNamespace(decode=encoding.decode)
        thoughts, text, calls = parser.parse(case["text"], None, True, case["tokens"])
        return given(thoughts, text, ((call.name, call.arguments) for call in calls or ()))

    return read


def sglang(folder: Path) -> Read:
    calling = ("gpt_oss_detector", "base_format_detector", "core_types")
    parsers = ("harmony_parser", "reasoning_parser")
    real = [f"sglang.srt.function_call.{name}" for name in calling]
    real += [f"sglang.srt.parser.{name}" for name in parsers]
    stand_in(folder, ("sglang", "transformers", "orjson", "partial_json_parser"), real)
    from sglang.srt.function_call.gpt_oss_detector import GptOssDetector as Calls
    from sglang.srt.parser.reasoning_parser import GptOssDetector as Thoughts

    def read(case: Case) -> dict[str, Any]:
        tools = [SimpleNamespace(function=SimpleNamespace(name=name)) for name in case["tools"]]
        # Its detokenizer takes the stop token away, except <|call|>.
        whole = Thoughts().detect_and_parse(case["text"].removesuffix("<|return|>"))
        rest, found = whole.normal_text, Calls()
        if not found.has_tool_call(rest):
            return given(whole.reasoning_text, rest)
        made = found.detect_and_parse(rest, tools)
        calls = ((call.name, call.parameters) for call in made.calls)
        return given(whole.reasoning_text, made.normal_text, calls)

    return read


def renderers(folder: Path) -> Read:
    real = [f"renderers.{name}" for name in ("gpt_oss", "base", "parsing", "reasoning", "tagged")]
    stand_in(folder, ("renderers",), real)
    from renderers.gpt_oss import GptOssRenderer

    from openai_harmony import load_harmony_encoding

    encoding = load_harmony_encoding("HarmonyGptOss")
    names = ("start", "end", "return", "call", "channel", "message", "constrain")
    ids = {
        f"_{name}": only(encoding.encode(f"<|{name}|>", allowed_special="all")) for name in names
    }
    prompt = encoding.encode("<|start|>assistant", allowed_special="all")

    def read(case: Case) -> dict[str, Any]:
        renderer = GptOssRenderer.__new__(GptOssRenderer)
        vars(renderer).update(ids)
        renderer._tokenizer = SimpleNamespace(
            decode=lambda tokens, **_: encoding.decode(tokens),
            convert_ids_to_tokens=lambda token: encoding.decode([token]),
        )
        # It asks for the whole message, with the header's beginning that the prompt had.
        found = renderer.parse_response([*prompt, *case["tokens"]], prompt_ids=None)
        calls = ((call.name, call.arguments) for call in found.tool_calls or ())
        return given(found.reasoning_content, found.content, calls)

    return read


def transformers(folder: Path) -> Read:
    parts = ("", ".response_parser", ".response_templates", ".content_parsers")
    real = [f"transformers.utils.chat_parsing{part}" for part in parts]
    stand_in(folder, ("transformers",), real)
    from transformers.utils.chat_parsing import parse_response

    source = ast.parse((folder / "trl" / "chat_template_utils.py").read_text("utf-8"))
    template = only(
        ast.literal_eval(node.value)
        for node in source.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "gptoss_template"
    )

    def read(case: Case) -> dict[str, Any]:
        found = parse_response(case["text"], template, prefix="<|start|>assistant")
        calls = (call["function"] for call in found.get("tool_calls", ()))
        made = ((call["name"], call["arguments"]) for call in calls)
        return given(found.get("thinking"), found.get("content"), made)

    return read


GO = """package main

import (
	"encoding/json"
	"os"

	"github.com/ollama/ollama/harmony"
)

func main() {
	var cases []struct{ Text string }
	if json.NewDecoder(os.Stdin).Decode(&cases) != nil {
		os.Exit(1)
	}
	answers := []map[string]any{}
	for _, asked := range cases {
		handler := harmony.NewHarmonyMessageHandler()
		handler.Init(nil, nil, nil)
		content, thinking, calls, err := handler.Add(asked.Text, true)
		if err != nil {
			answers = append(answers, map[string]any{"error": err.Error()})
			continue
		}
		made := [][2]any{}
		for _, call := range calls {
			made = append(made, [2]any{call.Function.Name, call.Function.Arguments})
		}
		answers = append(answers, map[string]any{"thoughts": thinking, "text": content, "calls": made})
	}
	json.NewEncoder(os.Stdout).Encode(answers)
}
"""


def program(folder: Path) -> Read:
    def read(case: Case) -> dict[str, Any]:
        # Its engine stops at the stop token, which is not part of the text.
        text = re.sub(r"<\|(return|call)\|>$", "", case["text"])
        asked = json.dumps([{"text": text, "tools": case["tools"]}])
        done = subprocess.run(
            [folder / "peer"], input=asked, capture_output=True, text=True, check=True
        )
        return dict(only(json.loads(done.stdout)))

    return read


PEERS = {
    OURS: Peer((), messages_of, "tokens → messages of any role", messages=True),
    "openai-harmony 0.0.8": Peer(
        ("openai-harmony==0.0.8",), messages_of, "the same, with `strict=False`", messages=True
    ),
    "oss-harmony 0.0.11": Peer(
        ("oss-harmony==0.0.11",), messages_of, "the same, with `strict=False`", messages=True
    ),
    "vLLM 0.33.0": Peer(
        ("vllm==0.33.0", "oss-harmony==0.0.11"),
        vllm,
        "sampled tokens → chat completions; `HarmonyParser.parse`",
        built_in=False,
    ),
    "SGLang 0.5.23": Peer(
        ("sglang==0.5.23",),
        sglang,
        "sampled text → chat completions, not streamed; the detectors of reasoning and calls, one after the other",
        text=True,
        built_in=False,
    ),
    "Ollama 0.17.4": Peer(
        ("github.com/ollama/ollama@v0.17.4",),
        program,
        "sampled text up to a stop token → thoughts, text, one call; `HarmonyMessageHandler`",
        text=True,
    ),
    "llama.cpp (llama-cpp-python 0.3.36)": Peer(
        ("llama-cpp-python==0.3.36",),
        program,
        "sampled text up to a stop token → chat completions; `common_chat_parse` of the sources in llama-cpp-python",
        text=True,
        built_in=False,
    ),
    "renderers 0.1.12": Peer(
        ("renderers==0.1.12", "openai-harmony==0.0.8"),
        renderers,
        "sampled tokens → a message of a rollout; `GptOssRenderer.parse_response`",
        built_in=False,
    ),
    "transformers 5.24.0": Peer(
        ("transformers==5.24.0", "trl==1.16.0", "regex==2026.11.19"),
        transformers,
        "sampled text → a message, by TRL 1.16.0's response template of gpt-oss",
        text=True,
        built_in=False,
    ),
}
LEFT_OUT = {
    "TensorRT-LLM": "its package on PyPI only loads its wheel from NVIDIA, for a GPU. Its adapter calls "
    "`parse_messages_from_completion_tokens` of openai-harmony 0.0.8",
}


# Classes without the packages around them.


class StandInType(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandInType(name, (StandIn,), {})

    def __iter__(cls) -> Iterator[Any]:
        return iter(())


class StandIn(metaclass=StandInType):
    """In place of a class that has no part in reading: it takes anything and keeps what has a name."""

    def __init__(self, *_: Any, **named: Any) -> None:
        vars(self).update(named)

    def __call__(self, *given: Any, **_: Any) -> Any:
        return given[0] if given and callable(given[0]) else StandIn()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn()


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads the modules that read from a package's folder, and stand-ins for the others of it."""

    def __init__(self, folder: Path, packages: Iterable[str], real: Iterable[str]) -> None:
        self.folder, self.packages, self.real = folder, set(packages), set(real)

    def find_spec(self, name: str, *_: Any) -> Any:
        if name.split(".")[0] not in self.packages:
            return None
        if name in self.real:
            path = self.folder.joinpath(*name.split("."))
            file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            places = [str(path)] if path.is_dir() else None
            return importlib.util.spec_from_file_location(
                name, file, submodule_search_locations=places
            )
        return importlib.util.spec_from_loader(name, self, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        made = StandInType("module", (StandIn,), {})
        vars(module)["__getattr__"] = lambda name: getattr(made, name)


def stand_in(folder: Path, packages: Iterable[str], real: Iterable[str]) -> None:
    sys.meta_path.insert(0, StandIns(folder, packages, real))


# Running them.


def only(values: Iterable[Any]) -> Any:
    (value,) = values
    return value


def cases() -> Iterator[Case]:
    """The corpus, with tokens, their text, and the names of the tools that are called."""
    from openai_harmony import load_harmony_encoding

    encoding = load_harmony_encoding("HarmonyGptOss")
    for file in FILES:
        for case in json.loads((HERE / f"{file}.json").read_text("utf-8"))["cases"]:
            spelled = "text" in case
            tokens = case.get("tokens") or encoding.encode(case["text"], allowed_special="all")
            wanted = answer(case["messages"])
            yield {
                "name": f"{file}/{case['name']}",
                "kind": case["repairs"][0]["kind"] if case["repairs"] else "well-formed",
                "role": case["role"],
                "tokens": tokens,
                "text": case["text"] if spelled else "",
                "spelled": spelled,
                "wanted": wanted,
                "tools": [name for name, _ in wanted["calls"]],
            }


START = "<|start|>assistant"
STOPS = (200002, 200012)


def job(peer: Peer, case: Case) -> Case | None:
    """The case as the peer takes it, or nothing: it is not its job."""
    if peer.messages:
        return case
    if case["role"] is None:
        if not case["text"].startswith(START):
            return None
        case = {**case, "text": case["text"][len(START) :], "tokens": case["tokens"][2:]}
    elif case["role"] != "assistant":
        return None
    # An engine ends at the first stop token, and samples one role's messages.
    ended = any(token in STOPS for token in case["tokens"][:-1])
    if ended or "others" in case["wanted"] or (peer.text and not case["spelled"]):
        return None
    built_in = ("browser", "python", "container")
    if not peer.built_in and any(name.split(".")[0] in built_in for name in case["tools"]):
        return None
    return case


def called(calls: Iterable[Any]) -> list[Any]:
    """Calls with their arguments as JSON, if they are."""

    def value(arguments: Any) -> Any:
        try:
            return json.loads(arguments) if isinstance(arguments, str) else arguments
        except ValueError:
            return "".join(arguments.split())

    return [[name, value(arguments)] for name, arguments in calls]


def verdict(wanted: dict[str, Any], got: dict[str, Any]) -> str:
    """The worst that is different. How parts are joined, and white space at their ends, do not count."""
    if "error" in got:
        return "error"
    texts = {
        (one, name): "".join(answer[name].split())
        for one, answer in (("wanted", wanted), ("got", got))
        for name in ("thoughts", "text")
    }
    if called(wanted["calls"]) != called(got["calls"]):
        return "call"
    if all(texts["wanted", name] == texts["got", name] for name in ("thoughts", "text")):
        return "same" if wanted.get("others") == got.get("others") else "text"
    shown, thoughts = texts["got", "text"], texts["wanted", "thoughts"]
    marked = "<|" in shown and "<|" not in texts["wanted", "text"]
    secret = thoughts and thoughts not in texts["wanted", "text"] and thoughts in shown
    return "shown" if marked or secret else "text"


def read_all(name: str, folder: Path) -> None:
    """In the peer's process: answers for the cases on standard input."""
    reader = PEERS[name].reader(folder)
    answers = []
    for case in json.load(sys.stdin):
        try:
            answers.append(reader(case))
        except BaseException as error:
            answers.append({"error": f"{type(error).__name__}: {error}"[:200]})
    json.dump(answers, sys.stdout)


def install(peer: Peer, folder: Path) -> None:
    """Where it is not yet: pip without dependencies, or Go."""
    done = folder / ".installed"
    if not peer.packages or (done.is_file() and done.read_text() == repr(peer.packages)):
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if peer.packages[0].startswith("github.com/"):
        (folder / "go.mod").write_text("module peer\n")
        (folder / "main.go").write_text(GO)
        for command in (["get", peer.packages[0]], ["build", "-o", "peer", "."]):
            subprocess.run(["go", *command], cwd=folder, check=True, capture_output=True)
    elif peer.packages[0].startswith("llama-cpp-python"):
        options = ["--quiet", "--no-deps", "--no-binary", ":all:", "--dest", str(folder)]
        subprocess.run(
            [sys.executable, "-m", "pip", "download", *options, *peer.packages], check=True
        )
        shutil.unpack_archive(only(folder.glob("*.tar.gz")), folder)
        compile_llama_cpp(only(folder.glob("*/vendor/llama.cpp")), folder / "peer")
    else:
        options = ["--quiet", "--no-deps", "--no-compile", "--target", str(folder)]
        subprocess.run(
            [sys.executable, "-m", "pip", "install", *options, *peer.packages], check=True
        )
    done.write_text(repr(peer.packages))


# What its reader of chats links to, and reading calls nothing of.
OF_LLAMA_CPP_MODELS = (
    "ggml_abort llama_chat_apply_template llama_model_chat_template llama_model_get_vocab "
    "llama_token_to_piece llama_vocab_bos llama_vocab_eos llama_vocab_get_add_bos "
    "llama_vocab_get_add_eos"
)


def compile_llama_cpp(sources: Path, program: Path) -> None:
    """Its parser of chats without what runs models: some four minutes."""
    names = ("chat*", "common", "json*", "log", "peg-parser", "trie", "unicode")
    names += ("jinja/*", "parsers/*")
    files = [str(file) for name in names for file in sources.glob(f"common/{name}.cpp")]
    folders = [f"-I{sources / name}" for name in ("include", "ggml/include", "common", "vendor")]
    options = ["-std=c++17", "-w", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"]
    absent = [f"-Wl,--defsym={name}=0" for name in OF_LLAMA_CPP_MODELS.split()]
    command = ["g++", *options, *folders, str(HERE / "llama_cpp.cpp"), *files, *absent]
    subprocess.run([*command, "-o", str(program)], check=True, capture_output=True)


def run(folder: Path) -> dict[str, Any]:
    """What each peer gives for each case, and the verdict."""
    corpus, results, missing = list(cases()), {}, dict(LEFT_OUT)
    vocabulary = folder / "vocabulary"
    vocabulary.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [sys.executable, "-m", "openai_harmony", "vocabulary", str(vocabulary)], check=True
    )
    for name, peer in PEERS.items():
        place = folder / re.sub(r"[^a-z0-9.-]+", "-", name.lower())
        try:
            install(peer, place)
        except (OSError, subprocess.CalledProcessError) as error:
            missing[name] = f"it could not be installed: {error}"
            continue
        taken = {case["name"]: job(peer, case) for case in corpus}
        asked = [case for case in taken.values() if case is not None]
        environment = {**os.environ, "TIKTOKEN_ENCODINGS_BASE": str(vocabulary)}
        if peer.packages:
            environment["PYTHONPATH"] = str(place)
        done = subprocess.run(
            [sys.executable, __file__, "--read", name, "--folder", str(place)],
            input=json.dumps(asked),
            env=environment,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            missing[name] = f"it did not start here: {done.stderr.strip().splitlines()[-1]}"
            continue
        got = dict(zip((case["name"] for case in asked), json.loads(done.stdout)))
        results[name] = got
    rows = []
    for case in corpus:
        row = {"case": case["name"], "kind": case["kind"], "wanted": case["wanted"], "peers": {}}
        for name, got in results.items():
            found = got.get(case["name"])
            mark = "not its job" if found is None else verdict(case["wanted"], found)
            row["peers"][name] = mark if mark in ("same", "not its job") else [mark, found]
        rows.append(row)
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    return {"date": date, "left_out": missing, "cases": rows}


# The page.

GUIDE = "https://cookbook.openai.com/articles/openai-harmony"
SAYS = {
    "Message format": "a message is `<|start|>`, a header, `<|message|>`, the content, and a token that ends it",
    "Special tokens": "`<|end|>` ends a message; at `<|return|>` and `<|call|>` sampling stops",
    "Roles": "there are five roles, and a tool's name in place of the fifth",
    "Channels": "an assistant's message is on `analysis`, `commentary` or `final`",
    "Receiving tool calls": "`to=` names the recipient, in the role's or the channel's part of the header; "
    "`<|constrain|>` may name the type of the content",
    "Harmony renderer library": "characters of several tokens are decoded as they arrive",
}
SECTIONS = {
    "well-formed": "Message format",
    "missing_message": "Message format",
    "missing_header": "Message format",
    "missing_start": "Message format",
    "duplicate_start": "Message format",
    "stray_text": "Message format",
    "truncated_header": "Message format",
    "missing_end": "Special tokens",
    "stray_stop": "Special tokens",
    "end_of_text": "Special tokens",
    "missing_role": "Roles",
    "unknown_role": "Roles",
    "empty_channel": "Channels",
    "glued_channel": "Channels",
    "duplicate_channel": "Channels",
    "missing_channel": "Channels",
    "header_noise": "Receiving tool calls",
    "header_order": "Receiving tool calls",
    "duplicate_recipient": "Receiving tool calls",
    "misplaced_recipient": "Receiving tool calls",
    "cut_character": "Harmony renderer library",
    "unknown_token": "Harmony renderer library",
}
MARKS = {
    "same": "the reading of the corpus",
    "call": "a call is lost, changed, or made of what is none",
    "shown": "reasoning or markers are in the text for the user",
    "text": "reasoning or text is lost or elsewhere",
    "error": "an error, and no answer",
    "not its job": "such an output does not reach it",
}


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    lines = [list(head), *([str(cell).replace("|", "\\|") for cell in row] for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def page(data: dict[str, Any]) -> str:
    peers = list(data["cases"][0]["peers"])
    marks: dict[str, dict[str, Counter[str]]] = {}
    for row in data["cases"]:
        for name, mark in row["peers"].items():
            kinds = marks.setdefault(row["kind"], {})
            kinds.setdefault(name, Counter())[mark if isinstance(mark, str) else mark[0]] += 1
    totals = {name: sum((kind[name] for kind in marks.values()), Counter()) for name in peers}

    def share(counted: Counter[str]) -> str:
        asked = counted.total() - counted["not its job"]
        return f"{counted['same']}/{asked}" if asked else "–"

    def case(row: dict[str, Any]) -> list[str]:
        given = (row["peers"][name] for name in peers)
        words = (mark if isinstance(mark, str) else mark[0] for mark in given)
        return [row["case"], *("–" if word == "not its job" else word for word in words)]

    kinds = sorted(marks, key=lambda kind: -marks[kind][OURS].total())
    rows = []
    for kind in kinds:
        counted, section = marks[kind], SECTIONS[kind]
        rows.append([f"`{kind}`", section, *(share(counted[name]) for name in peers)])
    folded = [
        f"<details markdown>\n<summary>{kind}: {marks[kind][OURS].total()}</summary>\n\n{every}\n</details>\n"
        for kind in kinds
        for every in [
            table(("case", *peers), (case(row) for row in data["cases"] if row["kind"] == kind))
        ]
    ]
    totalled = (
        [name, PEERS[name].takes, *(totals[name][mark] for mark in MARKS)] for name in peers
    )
    return (
        (HERE / "scoreboard.md.in")
        .read_text("utf-8")
        .format(
            count=len(data["cases"]),
            date=data["date"],
            guide=GUIDE,
            totals=table(("parser", "its job", *MARKS), totalled),
            marks="".join(f"* **{mark}**: {meaning}.\n" for mark, meaning in MARKS.items()),
            kinds=table(("kind", "section of the guide", *peers), rows),
            cases="\n".join(folded),
            sections=table(("section of the guide", "what it says"), SAYS.items()),
            left_out="".join(f"* **{name}**: {why}.\n" for name, why in data["left_out"].items()),
        )
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=HERE.parent / "target" / "peers")
    parser.add_argument("--read", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.read:
        read_all(asked.read, asked.folder)
    else:
        found = run(asked.folder)
        rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in found["cases"])
        head = json.dumps({**found, "cases": []}, ensure_ascii=False)
        DATA.write_text(head.removesuffix("]}") + f"\n{rows}\n]}}\n", "utf-8")
        PAGE.write_text(page(found), "utf-8")
