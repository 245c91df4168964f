"""The differences inside a header: what 0.0.8 is fed in its stead, and what is put back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

from .streams import CHANNEL, CONSTRAIN, ROLE_WORDS

ASCII_BLANKS = " \t\n\r\x0c"
OTHER_BLANKS = (
    "\x0b\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

#: What `read` is given in the place of a marker, for ordinary text.
TEXT = -1
#: Letters that 0.0.8 reads like any other, in place of those that it stumbles over.
STAND_INS = {letter: chr(0x2460 + number) for number, letter in enumerate("<" + OTHER_BLANKS)}
#: A word that turns a reading of 0.0.8's into the one that is meant; never seen in the end.
FILLER = "filler"


@dataclass
class Word:
    """A word of a header: ordinary text, or `<|constrain|>` with what stands behind it."""

    text: str
    constrained: bool = False
    #: White space between the marker and its word.
    blanks: str = ""

    def spelled(self) -> str:
        return ("<|constrain|>" if self.constrained else "") + self.blanks + self.text


@dataclass
class Header:
    """A header read over its tokens: its words, and the value behind the channel marker."""

    words: list[Word] = field(default_factory=list)
    channel: Optional[str] = None


@dataclass
class Mended:
    """The stand-in for a header, and the fields to put back into what 0.0.8 makes of it."""

    differences: set[str]
    words: list[Word]
    put_back: dict[str, Any] = field(default_factory=dict)

    def field(self, name: str, published: Optional[str]) -> Optional[str]:
        """A field as it is meant, given 0.0.8's."""
        if name in self.put_back:
            value: Optional[str] = self.put_back[name]
            return value
        return None if published is None else _own_letters(published)

    def error(self, text: str) -> str:
        """An error of 0.0.8's with the header's own letters, escaped where it quotes."""
        if not text.startswith("unexpected tokens"):
            return _own_letters(text)
        for letter, stand_in in STAND_INS.items():
            escaped = letter if letter == "<" else f"\\u{{{ord(letter):x}}}"
            text = text.replace(stand_in, escaped)
        return text


def _own_letters(text: str) -> str:
    for letter, stand_in in STAND_INS.items():
        text = text.replace(stand_in, letter)
    return text


# Reading.


def read(pieces: list[tuple[int, str]]) -> Header:
    """Reads a header from its markers and the ordinary text between them, as (token, text)."""
    header = Header()
    marker = 0
    for token, text in pieces:
        if token in (CHANNEL, CONSTRAIN):
            _close(marker, "", header)
            marker = token
        else:
            _close(marker, text, header)
            marker = 0
    _close(marker, "", header)
    _part_unless_last(header.words)
    return header


def _close(marker: int, text: str, header: Header) -> None:
    """Reads a marker's word and the ordinary words behind it."""
    if marker == 0:
        header.words += _words(text)
        return
    end = next((place for place, letter in enumerate(text) if letter in ASCII_BLANKS), len(text))
    if marker == CHANNEL:
        header.channel = text[:end]
        header.words += _words(text[end:])
        return
    words = _words(text[end:])
    if end == 0 and words:
        blanks = text[: len(text) - len(text.lstrip(ASCII_BLANKS))]
        header.words.append(Word(words.pop(0).text, True, blanks))
    else:
        header.words.append(Word(text[:end], True))
    header.words += words


def _words(text: str) -> list[Word]:
    for blank in ASCII_BLANKS:
        text = text.replace(blank, " ")
    return [Word(word) for word in text.split(" ") if word]


def _part_unless_last(words: list[Word]) -> None:
    """White space behind <|constrain|> joins only the last word, and no recipient, to it."""
    for place, word in enumerate(words):
        if word.blanks and (place + 1 < len(words) or word.text.startswith("to=")):
            words[place : place + 1] = [Word("", True), Word(word.text)]


# Mending.


def names_other_author(header: Header, given: str) -> bool:
    """Whether the first word is an author that differs from the given role.

    The word `tool` is a tool of that name; a role that was given has no name.
    """
    return _names_author(header) and (header.words[0].text != given or given == "tool")


def _names_author(header: Header) -> bool:
    """Whether the first word is a role, or a role and a name; a named tool has no such word."""
    if not header.words or header.words[0].constrained:
        return False
    role, colon, _ = header.words[0].text.partition(":")
    return role in ROLE_WORDS and not (colon and role == "tool")


def mend(header: Header, given: Optional[str]) -> Optional[Mended]:
    """The stand-in for a header in which some difference happens, else None.

    `given` is the role that the parser was given, where it counts for this header.
    """
    if header.channel == "":
        return None  # An error for both, whatever the words.
    mended = Mended(set(), list(header.words))
    if given is None and header.words:
        _author(header, mended)
    _constrained_words(mended, given)
    _outer_blanks(mended)
    _spelled_markers(mended)
    return mended if mended.differences or _stand_in(header.channel) != header.channel else None


def stand_in_text(header: Header, mended: Mended) -> str:
    """What 0.0.8 is fed for the header."""
    text = " ".join(
        ("<|constrain|>" if word.constrained else "") + word.text for word in mended.words
    )
    channel = _stand_in(header.channel)
    if channel != header.channel:
        mended.differences.add("channel-value")
    return text if channel is None else f"{text}<|channel|>{channel}"


def _author(header: Header, mended: Mended) -> None:
    first = header.words[0]
    if first.constrained:
        if len(header.words) > 1 or first.blanks:
            mended.differences.add("constrain-as-role")
            mended.words = [Word("" if first.blanks else first.text, True)]
        return
    role, colon, name = first.text.partition(":")
    if colon and _names_author(header):
        mended.differences.add("named-author")
        mended.words[0] = Word(role)
        mended.put_back["name"] = name
    elif first.text not in ROLE_WORDS and len(header.words) == 1:
        stands_alone = "." in first.text or first.text in ("python", "browser")
        if (stands_alone or header.channel is not None) and not first.text.startswith("to="):
            mended.differences.add("tool-without-recipient")
            mended.words.append(Word("to=" + FILLER))
            mended.put_back["recipient"] = None


def _constrained_words(mended: Mended, given: Optional[str]) -> None:
    """Content types that 0.0.8 takes apart, or takes for recipients."""
    words = mended.words
    rest = _behind_role(words, given)
    if not rest:
        return
    if rest[-1].constrained:
        if rest[-1].blanks:
            mended.differences.add("constrain-with-space")
            mended.put_back["content_type"] = rest[-1].spelled()
            words[-1] = Word(rest[-1].text, True)
        if len(rest) == 1:
            mended.differences.add("constrain-without-recipient")
            mended.put_back["recipient"] = None
            words.insert(len(words) - 1, Word("to=" + FILLER))
    elif len(rest) > 1 and rest[-2].constrained and not rest[-1].text.startswith("to="):
        mended.differences.add("constrain-before-word")
        words.append(Word(FILLER))


def _behind_role(words: list[Word], given: Optional[str]) -> list[Word]:
    """The words that are neither the role nor, for 0.0.8, the role said twice."""
    role, rest = given, words
    if role is None:
        if not words or words[0].constrained:
            return []
        role = words[0].text if words[0].text in ROLE_WORDS else "tool"
        rest = words if role == words[0].text else words[1:]
    twice = bool(rest) and not rest[0].constrained and rest[0].text == role
    return rest[1:] if twice else rest


def _outer_blanks(mended: Mended) -> None:
    """Other white space than ASCII's at either end of the words."""
    for place in {0, len(mended.words) - 1} if mended.words else ():
        word = mended.words[place]
        text = word.text
        if place == 0 and not word.constrained:
            kept = text.lstrip(OTHER_BLANKS)
            text = (_stand_in(text[: len(text) - len(kept)]) or "") + kept
        if place == len(mended.words) - 1:
            kept = text.rstrip(OTHER_BLANKS)
            text = kept + (_stand_in(text[len(kept) :]) or "")
        if text != word.text:
            mended.differences.add("outer-white-space")
            mended.words[place] = Word(text, word.constrained)


def _spelled_markers(mended: Mended) -> None:
    for place, word in enumerate(mended.words):
        if "<|channel|>" in word.text or "<|constrain|>" in word.text:
            mended.differences.add("marker-spelled-in-header")
            mended.words[place] = Word(word.text.replace("<", STAND_INS["<"]), word.constrained)


def _stand_in(text: Optional[str]) -> Optional[str]:
    return None if text is None else "".join(STAND_INS.get(letter, letter) for letter in text)
