"""What this project is expected to answer, token by token: 0.0.8's answer, repaired."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import headers
from .client import Oracle
from .deltas import Deltas
from .differences import UNDECODABLE
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
        #: Whether the header was begun by <|start|>, and that by none inside another header.
        self.begun = self.begun_inside = False
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

    def say_each(self, tokens: list[int]) -> None:
        """0.0.8 is fed the stream's own tokens."""
        for token in tokens:
            self.say(self.feed(token))

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
        self.begun_inside = False
        self.say(self.feed(self.tokens[place]))
        return place + 1

    # In a header.

    def header(self, place: int) -> int:
        """Reads up to <|message|>, to a <|start|>, or to the end."""
        end = place
        while end < len(self.tokens) and self.tokens[end] not in (MESSAGE, START):
            end += 1
        tokens = self.tokens[place:end]
        unknown = [token for token, its in zip(tokens, self.bytes[place:end]) if its is None]
        if end == len(self.tokens) or unknown:
            self._unread_header(tokens)
        if end == len(self.tokens):
            return end
        if self.tokens[end] == START:
            self._broken_off(tokens, unknown)
        elif unknown:
            self.fallback = None  # No later header has this one's author.
            self.say(self.feed(*GIVE_UP), error=_error(f"Invalid token for decoding: {unknown[0]}"))
        else:
            self._closed_header(tokens)
        return end + 1

    def _broken_off(self, tokens: list[int], unknown: list[int]) -> None:
        """<|start|> inside a header."""
        said: list[Json] = []
        if not unknown:
            self._unread_header(tokens)
            self.differs("start-in-header")
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
        self.begun = self.begun_inside = True
        self.say(self.feed(*GIVE_UP, START), error=None, **_delta_of(said))

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

    def _closed_header(self, tokens: list[int]) -> None:
        text = self._text(tokens)
        if text is None and self.begun_inside:
            self._unread_header(tokens)
            self.say(self.feed())
            self._read_leniently(tokens)
            self.fallback = self.given = None
            return
        if text is None:
            self.differs("undecodable-header")
            self.fallback = None
            self._unread_header(tokens)
            self.say(self.feed(*tokens, MESSAGE), error=_error(UNDECODABLE))
            return
        self._read_header(tokens, text)
        if self.expected.snapshots[-1]["error"] is not None and headers.spells_marker(text):
            # Where that is in the way, 0.0.8's reading of a spelled marker is not.
            del self.expected.snapshots[-len(tokens) - 1 :]
            self.differs("marker-spelled-in-header")
            self.start_anew(self.given)
            self.feed(*([START] if self.given is None else []))
            self._read_header(tokens, text, spelled=True)
        if self.expected.snapshots[-1]["error"] is not None and self.begun_inside:
            self._read_leniently(tokens)
        self.fallback = None
        if self.expected.snapshots[-1]["error"] is None:
            self.given = None

    def _read_leniently(self, tokens: list[int]) -> None:
        """A header behind one that a <|start|> ended raises nothing: 0.0.8 read both as one.

        0.0.8 is fed a header with the same fields, and the last snapshot is taken back.
        """
        self.differs("start-in-header")
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

    def _read_header(self, tokens: list[int], text: str, *, spelled: bool = False) -> None:
        header = headers.read_without_spelled(text) if spelled else headers.read(text)
        reads_as, is_other = self.given, self.fallback is not None
        if self.fallback is not None:
            reads_as = self.fallback
            if not headers.begins_with_recipient(header):
                if headers.names_role(header) or headers.names_tool(header):
                    reads_as = None
                else:
                    why = "start-in-header" if self.begun_inside else "start-with-given-role"
                    header = headers.without_author(header, why)
        elif self.given is not None and self.begun and headers.names_role(header):
            self.differs("start-names-role")
            reads_as, is_other = None, True
        self._unread_header(tokens)
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
        unread = []
        for token in tokens:
            unread.append(token)
            (its_bytes,) = self.oracle.ask("bytes_of_each", [token])
            error = None
            if its_bytes is None:
                self.differs("unknown-token-in-header")
                error = _error(f"Invalid token for decoding: {token}")
            self.say(self.feed(), state_data=header_data(list(unread)), error=error)

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
        """Reads up to a stop token or an id that does not exist."""
        deltas, start = Deltas(), place
        for end in range(start, len(self.tokens)):
            its_bytes = self.bytes[end]
            if its_bytes is None or self.tokens[end] in STOPS:
                self._content_ends(self.tokens[end], its_bytes is None, deltas.end())
                return end + 1
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

    def _content_ends(self, token: int, unknown: bool, held: str) -> None:
        snapshot = self.feed(END if unknown else token)
        self._add_held(snapshot, held)
        if unknown:
            self.differs("unknown-token-in-content")
            snapshot["error"] = _error(f"Invalid token for decoding: {token}")
        self.say(snapshot)

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
        if last["state"] == "Header" and self.begun and not self.begun_inside:
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
