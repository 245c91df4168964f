"""Pictures of tokens: as text, on terminals, as HTML."""

from __future__ import annotations

import copy
import io
import random
import re
import sys
from contextlib import redirect_stdout
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from openai_harmony import (
    Conversation,
    HarmonyError,
    Message,
    Prefill,
    RenderConversationConfig,
    StreamableParser,
    WrongTypeError,
    load_harmony_encoding,
    show,
)
from openai_harmony.interop import chat_completions
from openai_harmony.show.cells import Cell, cells, visible
from openai_harmony.show.difference import folded
from openai_harmony.show.picture import Mark, Meeting
from openai_harmony.training import LossMask, render
from tables import table

ENCODING = load_harmony_encoding("HarmonyGptOss")
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def sampled(text: str) -> list[int]:
    return ENCODING.encode(text, allowed_special="all")


def chat() -> Conversation:
    return Conversation.from_messages(
        [
            Message.from_role_and_content("user", "2 + 2?"),
            Message.from_role_and_content("assistant", "A sum.").with_channel("analysis"),
            Message.from_role_and_content("assistant", "4.").with_channel("final"),
        ]
    )


class Page(HTMLParser):
    """The elements of a piece, and its texts outside of the style sheet."""

    def __init__(self, piece: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.labels: list[str] = []
        self.tokens = ""
        self.feed(piece)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open.append(tag)
        for name, value in attrs:
            assert name in {"class", "data-t", "open"}, name
            if name == "data-t":
                self.labels.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data
        if self.open[-1:] == ["i"]:
            self.tokens += data


class TestCells:
    @pytest.mark.parametrize(
        ("text", "expected"),
        table("show", "whole glyphs"),
    )
    def test_whole_glyphs(self, text: str, expected: list[str]) -> None:
        assert [cell.text for cell in cells(ENCODING.encode(text))] == expected

    def test_bytes_that_are_no_text(self) -> None:
        first, *rest = ENCODING.encode("\U0001f9d9")
        assert rest
        [broken, hi] = cells([first, 12194])
        assert broken.text.startswith("\\xf0")
        assert (hi.start, hi.text) == (1, "Hi")
        [alone] = cells([first], 7)
        assert (alone.start, alone.end) == (7, 8)

    def test_every_token_is_in_one_cell(self) -> None:
        numbers = random.Random(0)
        for _ in range(200):
            ids = [numbers.randrange(201_100) for _ in range(numbers.randrange(40))]
            made = cells(ids, 3)
            assert [token for cell in made for token in cell.ids] == ids
            assert [cell.start for cell in made] == [3, *(cell.end for cell in made)][: len(made)]

    def test_many_marks_on_a_letter_are_bounded(self) -> None:
        made = cells(ENCODING.encode("e" + "\u0301" * 2000))
        assert max(len(cell.ids) for cell in made) == 32

    def test_what_is_printable_stays(self) -> None:
        assert visible("é 日本\t\n") == "é 日本\t\n"


class TestText:
    def test_tokens(self) -> None:
        said = show.text(sampled("<|channel|>final Hi<|return|>"), ids=True)
        assert said.splitlines() == [
            "tokens · 4 tokens · 1 message · 1 repair",
            "● 0 assistant · final · 4 tokens",
            "  <|channel|>[200005]final[17196] Hi[19260]<|return|>[200002]",
            "  ▲ missing_message: the message ended inside its header; the other words are its "
            "content (tokens 2 to 3)",
        ]

    def test_dropped_messages_are_shown_as_dropped(self) -> None:
        said = show.text(chat())
        assert "3 messages" not in said
        assert "2 messages · 1 dropped" in said.splitlines()[0]
        assert "● 1 assistant · analysis · 9 tokens · dropped, not in the tokens" in said
        assert said.index("0 user") < said.index("1 assistant") < said.index("2 assistant")
        keep = RenderConversationConfig(auto_drop_analysis=False)
        assert "dropped" not in show.text(chat(), config=keep)

    def test_the_mask(self) -> None:
        rendered = ENCODING.render_with_spans(chat(), ending="training")
        trained = sum(rendered.loss_mask())
        assert f"{trained} trained" in show.text(rendered, mask=True)
        assert f"{trained} trained" in show.text(chat(), mask=LossMask(), ending="training")
        assert "1 trained" in show.text([12194, 12194], mask=[0, 1])

    def test_trained_tokens_are_marked_without_colours(self) -> None:
        said = show.text(chat(), mask=True, ending="training")
        assert "<|start|>assistant«<|channel|>final<|message|>4.<|return|>»" in said
        assert "«" not in show.text(chat(), ending="training")
        with_ids = show.text([12194, 12194, 12194], mask=[0, 1, 1], ids=True)
        assert "Hi[12194]«Hi[12194]Hi[12194]»" in with_ids

    def test_an_example_of_a_batch(self) -> None:
        row = [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4."}]
        [example] = render([row], format="chat")
        said = show.text(example)
        assert said.startswith(f"example · {len(example.tokens)} tokens")
        assert "<|start|>assistant«<|channel|>final<|message|>4.<|return|>»" in said
        assert show.text(example, mask=True) == said
        assert "0 trained" in show.text(example, mask=[0] * len(example.tokens))

    def test_a_turn_is_its_prompt(self) -> None:
        body = {
            "messages": [{"role": "user", "content": "Hi"}],
            "tools": [{"type": "function", "function": {"name": "f"}}],
            "tool_choice": {"type": "function", "function": {"name": "f"}},
            "frobnicate": 1,
        }
        turn = chat_completions.read(body)
        shown = show.picture(turn)
        assert list(shown.tokens) == turn.prompt(ENCODING)
        assert "prompt of chat_completions" in show.text(turn)
        assert "frobnicate: not used" in show.text(turn)

    def test_a_reply(self) -> None:
        body = {"messages": [{"role": "user", "content": "Hi"}]}
        reply = chat_completions.read(body).reply(ENCODING, model="m")
        tokens = sampled("<|channel|>commentary to=functions.f<|message|>{}<|call|>")
        reply.feed(tokens)
        reply.finish("stop")
        assert reply.tokens == tokens
        said = show.text(reply)
        assert "to functions.f" in said
        assert "call_as_text: a call that the API cannot deliver" in said

    def test_each_repair_is_at_its_message_and_its_cells(self) -> None:
        """As if each were compared with each."""
        draw = random.Random(7)
        pieces = table("show", "each repair is at its message and its cells, pieces")
        for _ in range(40):
            tokens = sampled("".join(draw.choices(pieces, k=draw.randrange(1, 40))))
            tokens.insert(draw.randrange(len(tokens) + 1), 300_000)
            picture = show.picture(tokens)
            seen: list[Mark] = []
            for block in picture.blocks:
                at_end = block.end == len(tokens)
                marks = [
                    mark
                    for mark in picture.marks
                    if block.start <= mark.start and (at_end or mark.start < block.end)
                ]
                assert picture.marks_of(block) == marks
                seen += marks
                meeting = Meeting(marks)
                for cell in picture.cells_of(block):
                    assert isinstance(cell, Cell)
                    assert meeting.at(cell) == [
                        mark for mark in marks if mark.start < cell.end and cell.start < mark.end
                    ]
            assert sorted(seen) == sorted(picture.marks)

    def test_a_reply_that_continues_a_prefill(self) -> None:
        body = {
            "messages": [{"role": "user", "content": "Hi"}],
            "tools": [{"type": "function", "function": {"name": "f"}}],
            "tool_choice": {"type": "function", "function": {"name": "f"}},
        }
        reply = chat_completions.read(body).reply(ENCODING, model="m")
        reply.feed(sampled("{}<|call|>"))
        said = show.text(reply)
        assert "to functions.f" in said
        assert "▲" not in said

    def test_a_running_parser_is_left_as_it_was(self) -> None:
        parser = StreamableParser(ENCODING, "assistant")
        parser.feed(sampled("<|channel|>final<|message|>Hel"))
        before = copy.copy(parser)
        said = show.text(parser)
        assert said.startswith("parser in Content · 4 tokens")
        assert "assistant · final · 4 tokens · open" in said
        assert (parser.tokens, parser.current_content) == (before.tokens, before.current_content)

    def test_a_strict_parser_that_stopped(self) -> None:
        parser = StreamableParser(ENCODING, "assistant")
        with pytest.raises(HarmonyError):
            parser.feed(sampled("<|channel|>final<|message|> Hi<|end|>stray"))
        said = show.text(parser)
        assert "strict parsing stopped: " in said
        assert " Hi" in said

    def test_prefilled_parsers(self) -> None:
        parser = StreamableParser(ENCODING, "assistant", prefill=Prefill(channel="final"))
        parser.feed(sampled("Hi"))
        assert "assistant · final" in show.text(parser)

    def test_of_long_ones_the_middle_is_left_out(self) -> None:
        long = Message.from_role_and_content("user", "word " * 5000)
        said = show.text([long, *chat().messages], max_tokens=200)
        assert len(said) < 2500
        assert re.search(r"… 4,8\d\d tokens left out …", said)
        assert "2 + 2?" in said
        many = show.text(chat().messages * 1000, max_tokens=200)
        assert len(many) < 2500

    def test_of_many_the_first_and_the_last_stay(self) -> None:
        said = [
            Message.from_role_and_content("user", "Hi"),
            Message.from_role_and_content("assistant", "Yo").with_channel("final"),
        ]
        shown = show.text(said * 1000, max_tokens=200)
        assert re.findall(r"^● (.+) · \d+ tokens$|^… (.+) …$", shown, re.MULTILINE) == [
            ("0 user", ""),
            ("1 assistant · final", ""),
            ("2 user", ""),
            ("", "1,994 messages left out"),
            ("1997 assistant · final", ""),
            ("1998 user", ""),
            ("1999 assistant · final", ""),
        ]

    def test_marks_of_terminals_are_written_out(self) -> None:
        said = show.text(Message.from_role_and_content("user", "\x1b]0;x\x07 \u202e \r"))
        assert not set(said) & set("\x1b\x07\u202e\r")


def test_tokens_of_any_sequence_are_shown() -> None:
    class Tensor:
        def tolist(self) -> list[int]:
            return [12194]

    assert show.text(Tensor()) == show.text((12194,)) == show.text([12194])


def test_tokens_that_do_not_exist_are_shown() -> None:
    said = show.text([200005, 17196, 200008, 4_000_000_000])
    assert "⟦no token 4000000000⟧" in said
    assert "unknown_token" in said
    assert show.text([]) == "tokens · 0 tokens · 0 messages\n"


class TestHtml:
    def test_a_single_long_message_is_open(self) -> None:
        long = Message.from_role_and_content("user", "word " * 3000)
        assert show.html(long).count("<details ") == show.html(long).count(" open>") == 1
        assert " open>" not in show.html([long, long])

    def test_short_messages_after_long_ones_are_open(self) -> None:
        said = [Message.from_role_and_content("user", "a " * n + "b") for n in (1995, 1996, 0)]
        piece = show.html(said)
        assert [f"{n:,} token" in piece for n in (2000, 2001, 5)] == [True] * 3
        opened = re.findall('<details class="message user"( open)?>', piece)
        assert opened == [" open", "", " open"]

    def test_everything_is_escaped(self) -> None:
        evil = """<script>alert(1)</script><img src=x onerror=alert(2)> " ' </style> &amp;"""
        message = Message.from_role_and_content("assistant", evil)
        message.with_channel("<b>").with_recipient("</summary>").with_content_type("'\"<i>")
        page = Page(show.html(message))
        known = {"div", "style", "p", "details", "summary", "b", "span", "i", "em"}
        assert {"details", "i"} <= set(page.tags) <= known
        assert evil in page.tokens
        difference = Page(show.html(show.diff(message, [1], names=("<u>", '"'))))
        assert set(difference.tags) <= {"div", "style", "p", "b", "i", "span"}
        assert "<u>" in difference.text

    def test_nothing_comes_from_elsewhere(self) -> None:
        piece = show.html(chat())
        assert not re.search(r"<script|<link|url\(|@import|https?:|src=|href=", piece)
        assert "<style>.harmony-show {" in piece

    def test_ids_and_bytes_are_on_hover(self) -> None:
        page = Page(show.html(sampled(f"<|channel|>final<|message|>é{FAMILY}")))
        ids = ENCODING.encode(FAMILY)
        assert any(label.startswith(f"4: {' '.join(map(str, ids))}\n") for label in page.labels)
        assert "0: 200005\nspecial token" in page.labels
        assert r"3: 377" + "\n" + r"'\xc3\xa9'" in page.labels

    def test_mask_and_repairs(self) -> None:
        piece = show.html(sampled("<|channel|>final Hi<|return|>"), mask=[1, 1, 0, 0])
        assert len(re.findall('<i class="[^"]*trained', piece)) == 2
        assert '<i class="t repaired"' in piece
        assert "missing_message: the message ended" in piece

    def test_a_long_conversation_is_folded(self) -> None:
        piece = show.html(
            chat().messages * 10, config=RenderConversationConfig(auto_drop_analysis=False)
        )
        assert piece.count("<details class") == 30
        assert piece.count(" open>") == 4
        assert "class=preview" in piece

    def test_notebooks(self) -> None:
        rendered = ENCODING.render_with_spans(chat())
        turn = chat_completions.read({"messages": [{"role": "user", "content": "Hi"}]})
        parser = StreamableParser(ENCODING, "assistant")
        difference = show.diff([1], [2])
        for x in (
            chat(),
            chat().messages[0],
            rendered,
            turn,
            turn.reply(ENCODING, model="m"),
            parser,
            difference,
        ):
            Page(x._repr_html_())
        big = Message.from_role_and_content("user", "word " * 300_000)
        assert len(big._repr_html_()) < 1_000_000


class TestDiff:
    def test_equal(self) -> None:
        same = show.diff(chat(), chat())
        assert (same.equal, same.first) == (True, None)
        assert show.text(same).startswith("equal · ")

    def test_what_an_option_changes(self) -> None:
        keep = RenderConversationConfig(auto_drop_analysis=False)
        found = show.diff(chat(), chat(), config_b=keep, names=("dropped", "kept"))
        assert not found.equal
        assert "dropped: " in show.text(found)
        assert "A sum." in show.text(found)
        [run] = [run for run in found.runs if not run.equal]
        assert len(run.b) == 9
        assert len(run.a) == 0

    def test_the_runs_are_both_sides(self) -> None:
        numbers = random.Random(1)
        for _ in range(200):
            a, b = ([numbers.randrange(4) for _ in range(numbers.randrange(12))] for _ in range(2))
            found = show.diff(a, b)
            assert [a[i] for run in found.runs for i in run.a] == a
            assert [b[i] for run in found.runs for i in run.b] == b
            for run in found.runs:
                assert run.equal == ([a[i] for i in run.a] == [b[i] for i in run.b])
            assert found.equal == (a == b)

    @pytest.mark.parametrize(("more", "runs"), [(0, 3), (1, 1)])
    def test_of_long_ones_the_middle_is_one_run(self, more: int, runs: int) -> None:
        ends = [1, 2], [3, 4]
        a, b = ([start, *range(5, 2003 + plus), end] for (start, end), plus in zip(ends, (0, more)))
        assert len(show.diff(a, b).runs) == runs

    def test_a_token_that_is_often_there_is_compared_too(self) -> None:
        found = show.diff([1, *[5] * 300, 2], [3, *[5] * 300, 4])
        assert [run.equal for run in found.runs] == [False, True, False]
        assert repr(found) == f"<Difference: {found.summary}>"

    def test_very_different_ones(self) -> None:
        found = show.diff([1] * 30_000, [2] * 30_000)
        assert [run.equal for run in found.runs] == [False]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class TestTerminal:
    def test_colours(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("rich")
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.delenv("NO_COLOR", raising=False)
        terminal = Terminal()
        show.print(chat(), file=terminal, mask=True, ending="training")
        assert "\x1b[4;32m" in terminal.getvalue()
        monkeypatch.setenv("NO_COLOR", "1")
        plain = Terminal()
        show.print(chat(), file=plain, mask=True, ending="training")
        assert "\x1b[32m" not in plain.getvalue()

    def test_twenty_columns(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("rich")
        monkeypatch.setenv("COLUMNS", "20")
        monkeypatch.setenv("TERM", "xterm-256color")
        terminal = Terminal()
        show.print(Message.from_role_and_content("user", "x" * 100 + "日本語" * 10), file=terminal)
        lines = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in terminal.getvalue().splitlines()]
        assert max(map(len, lines)) <= 20
        assert "".join(lines).replace(" ", "").count("x" * 10) == 10

    def test_without_rich(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "rich.console", None)
        terminal = Terminal()
        show.print(chat(), file=terminal)
        assert terminal.getvalue() == show.text(chat())


def test_the_picture_in_the_guide() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "show.md").read_text(encoding="utf-8")
    [code, shown] = re.findall(r"^```(?:python|text)\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)[
        :2
    ]
    with redirect_stdout(io.StringIO()) as said:
        exec(code, {})
    assert said.getvalue() == shown


@pytest.mark.parametrize("name", ["conversation", "damaged"])
def test_the_drawings_of_the_documents(name: str) -> None:
    """As `make pictures` draws them: well-formed, and nothing in them is from elsewhere."""
    drawn = (Path(__file__).parents[2] / "docs" / "pictures" / f"{name}.svg").read_text("utf-8")
    root = ElementTree.fromstring(drawn)
    text = "".join(root.itertext()).replace("\xa0", " ")
    assert "assistant · final · " in text
    assert set(re.findall(r"https?://[^\s\"']+", drawn)) == {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("count", [0, 1, 35, 36, 37, 38, 100])
def test_long_stretches_that_are_equal_are_folded(count: int) -> None:
    place = range(7, 7 + count)
    head, left_out, tail = folded(place)
    assert [*place] == [*head, *range(head.stop, head.stop + left_out), *tail]
    assert (len(head), left_out, len(tail)) == (
        (count, 0, 0) if count < 37 else (12, count - 24, 12)
    )


def test_a_batch_is_shown_example_by_example() -> None:
    chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]
    batch = render([chat, chat], format="chat")
    with pytest.raises(WrongTypeError, match=r"^Batch holds 2 examples: show one of them, x\[0\]$"):
        show.text(batch)
    assert show.text(batch[0]).startswith("example · ")
    assert repr(batch[0]).startswith("<Example of row 0: ")
