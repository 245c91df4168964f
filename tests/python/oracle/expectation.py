"""What this project is expected to answer, token by token: 0.0.8's answer, repaired."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from . import headers
from .client import Oracle
from .deltas import Deltas
from .differences import ELLIPSIS, UNDECODABLE
from .operations import Session
from .streams import (
    END,
    MESSAGE,
    ROLE_WORDS,
    START,
    STOPS,
    Stream,
)

Json = Any
#: After an id that does not exist, <|message|> makes 0.0.8 give its header up.
GIVE_UP = [2**32 - 1, MESSAGE]
FIELDS = ("recipient", "channel", "content_type")
#: Reads leniently what a <|start|> ends: strict parsing reads it so, too.
LENIENT = Session()


@dataclass
class Expected:
    """One snapshot for the new parser, one for each token, one for the end of the stream."""

    snapshots: list[Json] = field(default_factory=list)
    messages: list[Json] = field(default_factory=list)
    differences: set[str] = field(default_factory=set)


@dataclass
class _BrokenOff:
    """A header that a <|start|> broke off, of several in a row all together."""

    tokens: list[int]
    #: What was known about its author.
    given: str | None
    begun: bool
    fallback: str | None
    is_readable: bool = False


def expect(oracle: Oracle, stream: Stream) -> Expected:
    """Walks through the stream, one step per header, content or token between messages."""
    return _Walk(oracle, stream).run()


class _Walk:
    def __init__(self, oracle: Oracle, stream: Stream) -> None:
        self.oracle = oracle
        self.tokens = stream.tokens
        #: The role that the parser was given, as long as no header was read.
        self.given = stream.role
        self.bytes = oracle.ask("bytes_of_each", self.tokens)
        self.expected = Expected()
        #: What earlier parsers of 0.0.8 made, see `start_anew`.
        self.kept: list[Json] = []
        #: Headers that 0.0.8 read by a stand-in, by the index of their message.
        self.repaired: dict[int, headers.Repaired] = {}
        #: Whether the header was begun by <|start|>.
        self.begun = False
        #: What a <|start|> inside the header broke off.
        self.broken_off: _BrokenOff | None = None
        #: The role of a header that names no author, although <|start|> says that it does.
        self.fallback: str | None = None
        #: U+FFFD if the stream ends within a character.
        self.held = ""

    def run(self) -> Expected:
        snapshots = self.expected.snapshots
        snapshots.append(self.oracle.ask("start_parser", self.given, True))
        place = 0
        if self.given is not None and self.tokens[:1] == [START]:
            self.differs("start-with-given-role")
            self.fallback = self.given
            place = self.between(0)
            snapshots[-1].update(state="Header", state_data=header_data([]))
        while place < len(self.tokens):
            step = {"ExpectStart": self.between, "Header": self.header, "Content": self.content}
            place = step[snapshots[-1]["state"]](place)
        self.end()
        self.expected.messages = self.messages()
        return self.expected

    # What 0.0.8 is fed, and what is said.

    def feed(self, *tokens: int) -> Json:
        """0.0.8's snapshot after these tokens, which may be others than the stream's."""
        return self.oracle.ask("feed_together", tokens)

    def say(self, snapshot: Json, **changes: Json) -> None:
        """Adds the expected snapshot: 0.0.8's with changes, and the repaired header's fields."""
        snapshot["message_count"] += len(self.kept)
        repaired = self.repaired.get(snapshot["message_count"])
        if repaired is not None and snapshot["state"] == "Content":
            header = snapshot["state_data"]["header"]
            for name in FIELDS:
                header[name] = snapshot[f"current_{name}"] = repaired.field(name, header[name])
            author = repaired.field("name", header["author"].get("name"))
            if author is not None:
                header["author"]["name"] = author
        self.expected.snapshots.append({**snapshot, **changes})

    def differs(self, difference: str) -> None:
        self.expected.differences.add(difference)

    def start_anew(self, given: str | None) -> None:
        """Another parser of 0.0.8 continues where the one before stopped."""
        self.kept += self.oracle.ask("messages")
        self.oracle.ask("start_parser", given, True)

    def messages(self) -> list[Json]:
        messages: list[Json] = self.kept + self.oracle.ask("messages")
        for message, repaired in (
            (messages[index], self.repaired[index]) for index in self.repaired
        ):
            message["name"] = repaired.field("name", message["name"])
            for name in FIELDS:
                value = repaired.field(name, message.pop(name, None))
                if value is not None:
                    message[name] = value
        return messages

    # Between messages.

    def between(self, place: int) -> int:
        self.begun = self.tokens[place] == START
        self.say(self.feed(self.tokens[place]))
        return place + 1

    # In a header.

    def header(self, place: int) -> int:
        """Reads up to <|message|>, to a <|start|>, or to the end."""
        end = place
        while end < len(self.tokens) and self.tokens[end] not in (MESSAGE, START):
            end += 1
        tokens = self.tokens[place:end]
        self._unread_header(tokens)
        if end == len(self.tokens):
            return end
        if self.tokens[end] == START:
            self._broken_off(tokens)
        elif self.broken_off is None:
            self._closed_header(tokens)
        else:
            self._header_behind(tokens, self.broken_off)
        return end + 1

    def _broken_off(self, tokens: list[int]) -> None:
        """<|start|> inside a header."""
        self.differs("start-in-header")
        text = self._text(tokens)
        is_empty = text is not None and not text.strip(headers.ASCII_BLANKS)
        part = _BrokenOff(tokens, self.given, self.begun, self.fallback)
        part.is_readable = is_empty or self._error_of(part) is None
        first = self.broken_off
        if first is not None:
            first.tokens = [*first.tokens, START, *tokens]
            first.is_readable = first.is_readable and part.is_readable
        self.broken_off = first or part
        said = self._leniently(tokens, START)
        role = self._role(tokens)
        if said:
            self.given = None
            self.start_anew(None)
            self.kept += said
        if self.given is not None:
            self.fallback = None
        elif role is not None:
            self.fallback = role
        self.begun = True
        self.say(self.feed(*GIVE_UP, START), error=None, **_delta_of(said))

    def _header_behind(self, tokens: list[int], first: _BrokenOff) -> None:
        """The last header raises what 0.0.8 does, to which it is the end of the first."""
        as_one = replace(first, tokens=[*first.tokens, START, *tokens])
        error = self._error_of(as_one)
        if error is not None and error["error"].endswith(ELLIPSIS):
            # 0.0.8 quotes more than the stand-in.
            error = self.feed(*as_one.tokens, MESSAGE)["error"] or error
        self.broken_off = None
        self.oracle.ask("start_parser", self.given, True)
        self.feed(*([START] if self.given is None else []))
        self._closed_header(tokens, is_behind=True)
        if self.expected.snapshots[-1]["error"] is not None:
            self._read_leniently(tokens)
        elif first.is_readable:
            error = None
        self.expected.snapshots[-1]["error"] = error
        self.fallback = self.given = None

    def _error_of(self, header: _BrokenOff) -> Json:
        """What is raised for a header by itself; leaves 0.0.8 at the beginning of one."""
        self.start_anew(header.given)
        self._begin(header)
        before = {**vars(self), "kept": [*self.kept], "repaired": {**self.repaired}}
        self.expected = Expected()
        self.given, self.begun, self.fallback = header.given, header.begun, header.fallback
        self._closed_header(header.tokens)
        error = self.expected.snapshots[-1]["error"]
        vars(self).update(before)
        self.oracle.ask("start_parser", header.given, True)
        self._begin(header)
        return error

    def _begin(self, header: _BrokenOff) -> None:
        """A header that begins with <|start|> follows another, though none may have been read."""
        if header.begun:
            self.feed(*([] if header.given is None else GIVE_UP), START)

    def _leniently(self, tokens: list[int], *ending: int) -> list[Json]:
        """The messages that lenient parsing reads in a header's tokens."""
        begin, role = ([START], None) if self.begun else ([], self.given)
        LENIENT.ask("start_parser", role, False)
        LENIENT.ask("feed_together", [*begin, *tokens, *ending])
        messages: list[Json] = LENIENT.ask("messages")
        return messages

    def _role(self, tokens: list[int]) -> str | None:
        """The role that a header names before it is complete."""
        text = self._text(tokens)
        if text is None:
            return None
        header = headers.read_without_spelled(text)
        first = next((word for word in header.words if not word.misplaced), None)
        return first.text.partition(":")[0] if first and headers.names_role(header) else None

    def _closed_header(self, tokens: list[int], *, is_behind: bool = False) -> None:
        its_bytes = self.oracle.ask("bytes_of_each", tokens)
        unknown = [token for token, known in zip(tokens, its_bytes) if known is None]
        text = self._text(tokens)
        if unknown:
            self.differs("unknown-token-in-header")
            self.say(self.feed(*GIVE_UP), error=_error(f"Invalid token for decoding: {unknown[0]}"))
        elif text is None:
            self.differs("undecodable-header")
            self.say(self.feed(*tokens, MESSAGE), error=_error(UNDECODABLE))
        else:
            self._read_header(tokens, text, is_behind)
            if self.expected.snapshots[-1]["error"] is not None and headers.spells_marker(text):
                # Where that is in the way, 0.0.8's reading of a spelled marker is not.
                self.expected.snapshots.pop()
                self.differs("marker-spelled-in-header")
                self.start_anew(self.given)
                self.feed(*([START] if self.given is None else []))
                self._read_header(tokens, text, is_behind, spelled=True)
        self.fallback = None
        if self.expected.snapshots[-1]["error"] is None:
            self.given = None

    def _read_leniently(self, tokens: list[int]) -> None:
        """A header behind one that a <|start|> ended, which cannot be read.

        0.0.8 is fed a header with the same fields, and the last snapshot is taken back.
        """
        self.expected.snapshots.pop()
        *said, message = self._leniently(tokens, MESSAGE, END)
        self.start_anew(None)
        self.kept += said
        words = ("f" if message["role"] == "tool" else message["role"]) + " to=f"
        words += "<|channel|>c" if message.get("channel") else ""
        words += " <|constrain|>json" if message.get("content_type") else ""
        header = self.oracle.ask("encode", words, ["<|channel|>", "<|constrain|>"], [])
        snapshot = self.feed(START, *header, MESSAGE)
        fields = {name: message.get(name) for name in ("name", *FIELDS)}
        self.repaired[len(self.kept) + snapshot["message_count"]] = headers.Repaired(
            set(), [], fields
        )
        self.say(snapshot, **_delta_of(said))

    def _read_header(
        self, tokens: list[int], text: str, is_behind: bool, *, spelled: bool = False
    ) -> None:
        header = headers.read_without_spelled(text) if spelled else headers.read(text)
        reads_as, is_other = self.given, self.fallback is not None
        if self.fallback is not None:
            reads_as = self.fallback
            if not headers.begins_with_recipient(header):
                if headers.names_role(header) or headers.names_tool(header):
                    reads_as = None
                else:
                    why = "start-in-header" if is_behind else "start-with-given-role"
                    header = headers.without_author(header, why)
        elif self.given is not None and self.begun and headers.names_role(header):
            self.differs("start-names-role")
            reads_as, is_other = None, True
        if is_other:
            self.start_anew(reads_as)
            self.feed(*([START] if reads_as is None else []))
        self._stand_in(tokens, header, headers.repair(header, reads_as))
        if is_other and self.expected.snapshots[-1]["error"] is not None:
            # The given role continues waiting.
            self.start_anew(self.given)
            self.feed(*GIVE_UP)
            self.expected.snapshots[-1]["current_role"] = self.given

    def _unread_header(self, tokens: list[int]) -> None:
        """0.0.8 waits at the header's beginning, for its stand-in."""
        for count in range(1, len(tokens) + 1):
            self.say(self.feed(), state_data=header_data(tokens[:count]), error=None)

    def _stand_in(
        self, tokens: list[int], header: headers.Header, repaired: headers.Repaired | None
    ) -> None:
        if repaired is None:
            self.say(self.feed(*tokens, MESSAGE))
            return
        text = headers.stand_in_text(header, repaired)
        self.expected.differences |= repaired.differences
        stand_in = self.oracle.ask("encode", text, ["<|channel|>", "<|constrain|>"], [])
        snapshot = self.feed(*stand_in, MESSAGE)
        if snapshot["error"] is None:
            self.repaired[len(self.kept) + snapshot["message_count"]] = repaired
        else:
            snapshot["error"]["error"] = repaired.error(snapshot["error"]["error"])
        self.say(snapshot)

    def _text(self, tokens: list[int]) -> str | None:
        """The header's text with signs for its markers, or None if it is not UTF-8."""
        text = b""
        for token, its_bytes in zip(tokens, self.oracle.ask("bytes_of_each", tokens)):
            sign = headers.OTHER_SIGN if its_bytes is None else headers.SIGN_OF.get(token)
            text += bytes(its_bytes) if sign is None else sign.encode()
        try:
            return text.decode()
        except UnicodeDecodeError:
            return None

    # In a content.

    def content(self, place: int) -> int:
        """Reads up to a stop token."""
        deltas, start = Deltas(), place
        for end in range(start, len(self.tokens)):
            if self.tokens[end] in STOPS:
                snapshot = self.feed(self.tokens[end])
                self._add_held(snapshot, deltas.end())
                self.say(snapshot)
                return end + 1
            its_bytes = self.bytes[end]
            if its_bytes is None:
                self.differs("unknown-token-in-content")
                delta = deltas.end() + deltas.feed(list("\ufffd".encode()))
                snapshot = self.feed(*self.oracle.ask("encode", "\ufffd", [], []))
            else:
                delta = deltas.feed(its_bytes)
                snapshot = self.feed(self.tokens[end])
            self._correct_delta(snapshot, delta, deltas.text)
            if snapshot["state_data"]["content_tokens"] != self.tokens[start : end + 1]:
                self.differs("content-tokens-as-fed")
                snapshot["state_data"]["content_tokens"] = self.tokens[start : end + 1]
            self.say(snapshot)
        self.held = deltas.end()
        return len(self.tokens)

    def _correct_delta(self, snapshot: Json, delta: str, text: str) -> None:
        """Only after broken UTF-8; elsewhere 0.0.8's delta stands."""
        changes = {"last_content_delta": delta or None, "current_content": text}
        if "\ufffd" in text and any(snapshot[key] != value for key, value in changes.items()):
            self.differs("delta-behind")
            snapshot.update(changes)

    def _add_held(self, snapshot: Json, held: str) -> None:
        """A last delta, and whose it is."""
        if held:
            self.differs("delta-behind")
            snapshot["last_content_delta"] = held
            for field in ("role", "channel", "recipient", "content_type"):
                key = f"current_{field}"
                snapshot[key] = self.expected.snapshots[-1][key]

    # At the end.

    def end(self) -> None:
        last = self.expected.snapshots[-1]
        snapshot = self.oracle.ask("end_of_stream")
        if last["state"] == "Content":
            self._add_held(snapshot, self.held)
        if last["state"] == "Header":
            snapshot["state_data"] = last["state_data"]
        if last["state"] == "Header" and self.begun and self.broken_off is None:
            text = self.oracle.ask("decode", last["state_data"]["header_tokens"])
            if text in ROLE_WORDS:
                self.differs("trailing-start")
                snapshot["error"] = None
        self.say(snapshot)


def _delta_of(said: list[Json]) -> dict[str, Json]:
    """What is seen of the messages that a token completed: the text of the last."""
    text = "".join(part["text"] for part in said[-1]["content"]) if said else ""
    if not text:
        return {}
    fields = {f"current_{name}": said[-1].get(name) for name in ("role", *FIELDS)}
    return {"last_content_delta": text, **fields}


def header_data(tokens: list[int]) -> Json:
    """`state_data` in a header."""
    return {"state": "Header", "header_tokens": tokens}


def _error(text: str) -> Json:
    return {"error": text, "family": "RuntimeError"}
