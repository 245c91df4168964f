"""The differences inside a header: what 0.0.8 is fed in its stead, and what is put back."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from .differences import ELLIPSIS
from .streams import CHANNEL, CONSTRAIN, OTHER_SPECIALS, ROLE_WORDS, START, STOPS

ASCII_BLANKS = " \t\n\r\x0c"
OTHER_BLANKS = (
    "\x0b\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

#: Stand for markers where a header's text is searched: <|channel|>, <|constrain|>, any other,
#: and the place from which the first channel was taken. No text has these code points.
CHANNEL_SIGN, CONSTRAIN_SIGN, OTHER_SIGN, GAP = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
SIGNS = CHANNEL_SIGN + CONSTRAIN_SIGN + OTHER_SIGN
SIGN_OF = {
    **dict.fromkeys([START, *STOPS, *OTHER_SPECIALS], OTHER_SIGN),
    CHANNEL: CHANNEL_SIGN,
    CONSTRAIN: CONSTRAIN_SIGN,
}
#: Letters that 0.0.8 reads like any other, instead of those that it stumbles over.
STAND_INS = {"<": chr(0x2460)}
#: A word that turns a reading of 0.0.8's into the one that is meant; never seen in the end.
FILLER = "filler"
#: Words that are content types where they stand alone beside a channel.
CONTENT_TYPES = ["json", "code", "text"]
CHANNELS = ["analysis", "commentary", "final"]


@dataclass
class Word:
    """A word of a header: ordinary text, or `<|constrain|>` with what stands after it."""

    text: str
    constrained: bool = False
    #: White space between the marker and its word.
    blanks: str = ""
    #: Whether it begins with a marker that has no place there: no field.
    misplaced: bool = False
    #: Whether a marker that has no place there, and what follows it, was cut off.
    cut: bool = False

    def spelled(self) -> str:
        return ("<|constrain|>" if self.constrained else "") + self.blanks + self.text


@dataclass
class Header:
    """A header read over its tokens: its words, and the value after the channel marker."""

    words: list[Word] = field(default_factory=list)
    channel: str | None = None
    #: How many channel markers it has.
    channels: int = 0
    #: Whether 0.0.8 ends its channel at white space that is not ASCII, or at a `<`.
    ended_by_other: bool = False
    #: Whether markers that its words spelled were cut off.
    spelled: bool = False
    #: The difference that took its author's word away.
    without_author: str | None = None


@dataclass
class Repaired:
    """The stand-in for a header, and the fields to put back into what 0.0.8 makes of it."""

    differences: set[str]
    words: list[Word]
    put_back: dict[str, Any] = field(default_factory=dict)

    def field(self, name: str, published: str | None) -> str | None:
        """A field as it is meant, given 0.0.8's."""
        if name in self.put_back:
            value: str | None = self.put_back[name]
            return value
        return None if published is None else _own_letters(published)

    def error(self, text: str) -> str:
        """An error of 0.0.8's up to what it quotes of the header, which is not the stand-in's."""
        return text.partition(": ")[0] + ELLIPSIS


def _own_letters(text: str) -> str:
    for letter, stand_in in STAND_INS.items():
        text = text.replace(stand_in, letter)
    return text


# Reading.


def read(text: str, *, is_first_spelled: bool = False) -> Header:
    """Reads a header from its text, in which signs stand for markers.

    `is_first_spelled` says that ordinary text spelled what 0.0.8 took for the first channel marker.
    """
    header = Header(channels=text.count(CHANNEL_SIGN))
    values = [_channel_value(part) for part in text.split(CHANNEL_SIGN)[1:]]
    known = [value for value in values if value in CHANNELS]
    if values:
        header.channel = (known[-1:] or [value for value in values if value] or [""])[0]
        if is_first_spelled:
            header.channel = header.channel or None  # To 0.0.8 it is not a channel.
        else:
            text = _without_first_channel(text, values[0], header)
    text = text.replace(CONSTRAIN_SIGN, " " + CONSTRAIN_SIGN)
    text = text.strip(ASCII_BLANKS + OTHER_BLANKS + GAP)
    for word, behind in re.findall(f"([^{ASCII_BLANKS}]+)([{ASCII_BLANKS}]*)", text):
        if word[0] == GAP and header.words:
            header.words[-1].blanks = ""  # The channel stood between the two.
        if word != GAP:
            header.words.append(_word(word, behind))
    _trim(header.words, 0, str.lstrip)
    _trim(header.words, -1, str.rstrip)
    return header


def _trim(words: list[Word], end: int, strip: Callable[[str, str], str]) -> None:
    """The word at an end of the header loses white space there, and what is cut off is not seen."""
    while True:
        fields = [word for word in words if not word.misplaced]
        if not fields:
            return
        word = fields[end]
        if not word.constrained or end == -1:
            word.text = strip(word.text, OTHER_BLANKS)
        if word.text or word.constrained:
            return
        if word.cut:
            word.misplaced = True
            return
        words[:] = [other for other in words if other is not word]


def _channel_value(text: str) -> str:
    value = re.split(f"[{ASCII_BLANKS}{OTHER_BLANKS}{SIGNS}]", text, maxsplit=1)[0]
    known = value.partition("<")[0]
    return known if known in CHANNELS else value


def _without_first_channel(text: str, value: str, header: Header) -> str:
    """Takes the first channel out. What follows it touches what stands before it, as in 0.0.8."""
    before, _, behind = text.partition(CHANNEL_SIGN)
    rest = behind[len(value) :]
    header.ended_by_other = (rest != "" and rest[0] in OTHER_BLANKS + "<") or "<" in value
    is_glued = before.strip(ASCII_BLANKS + OTHER_BLANKS) != "" and before[-1] not in ASCII_BLANKS
    word = re.split(f"[{ASCII_BLANKS}{SIGNS}]", rest, maxsplit=1)[0]
    if is_glued and word:
        rest = OTHER_SIGN + rest
    elif word.strip(OTHER_BLANKS) and word[0] in OTHER_BLANKS:
        rest = rest.lstrip(OTHER_BLANKS)
    elif "<" in value + word:
        rest = OTHER_SIGN + rest
    else:
        rest = rest[len(word) :]
    return before + GAP + rest


def _word(text: str, behind: str) -> Word:
    constrained = text.startswith(CONSTRAIN_SIGN)
    value = text[1:] if constrained else text
    is_bare = constrained and value == ""
    value = value.lstrip(GAP) if not constrained else value
    kept = re.split(f"[{SIGNS}]", value, maxsplit=1)[0]
    blanks = behind if is_bare else ""
    cut = len(kept) < len(value)
    kept = kept.replace(GAP, "")
    return Word(kept, constrained, blanks, misplaced=not constrained and kept == "", cut=cut)


# Repairing.


def spells_marker(text: str) -> bool:
    """Whether ordinary text spells a marker that 0.0.8 searches for."""
    return "<|channel|>" in text or "<|constrain|>" in text


def read_without_spelled(text: str) -> Header:
    """Reads a header with its words cut at the marker that they spell."""
    header = read(without_spelled(text), is_first_spelled=spells_first_channel(text))
    header.spelled = True
    return header


def spells_first_channel(text: str) -> bool:
    """Whether 0.0.8 takes a spelled <|channel|> for the first, and finds a value behind it."""
    _, spelled, behind = text.partition(CHANNEL_SIGN)[0].partition("<|channel|>")
    return spelled != "" and behind[:1] not in ["", "<", *ASCII_BLANKS, *OTHER_BLANKS, *SIGNS]


def without_spelled(text: str) -> str:
    """The text with words cut at the marker that they spell."""
    word = f"(^|[{ASCII_BLANKS}])([^{ASCII_BLANKS}{SIGNS}]*)"
    return re.sub(word, lambda found: found[1] + _cut(found[2]), text)


def _cut(word: str) -> str:
    marker = re.compile(r"<\|(channel|constrain)\|>.*", re.DOTALL)
    kept = marker.sub("", word)
    if kept.strip(OTHER_BLANKS) != "":
        return kept
    before, _, behind = word.partition("<|channel|>")
    behind = re.sub(f"^[^<{OTHER_BLANKS}]*", "", behind)
    if behind[:1] not in ["", "<"] and (kept := marker.sub("", behind.lstrip(OTHER_BLANKS))):
        return kept
    split = (before + behind).replace("<|constrain|>", " <|constrain|>").strip(OTHER_BLANKS)
    return OTHER_SIGN if len(split.split()) > 1 else ""


def names_role(header: Header) -> bool:
    """Whether the header says a role, or a role and a name; a named tool has no such word."""
    first = next((word for word in header.words if not word.misplaced), None)
    if first is None or first.constrained:
        return False
    role, colon, _ = first.text.partition(":")
    return role in ROLE_WORDS and not (colon and role == "tool")


def names_tool(header: Header) -> bool:
    """Whether the first word, which is not a role, is read as a tool's name."""
    if len(header.words) != 1 or header.spelled:
        return len(header.words) > 0 and (len(header.words) > 1 or header.spelled)
    first = header.words[0]
    if first.constrained or first.misplaced:
        return False
    stands_alone = "." in first.text or first.text in ("python", "browser")
    is_name = header.channel is not None and not _is_run_of_names(first.text)
    return stands_alone or is_name or first.text.startswith("to=")


def _is_run_of_names(text: str) -> bool:
    return (
        re.fullmatch("|".join([*ROLE_WORDS, *CHANNELS]).join(["(", ")+"]), text, re.I) is not None
    )


def begins_with_recipient(header: Header) -> bool:
    """Whether the first word that is more than a marker has `to=`."""
    first = next((word for word in header.words if not word.misplaced), None)
    return first is not None and not first.constrained and first.text.startswith("to=")


def without_author(header: Header, difference: str) -> Header:
    """The header without the word that names an unknown role, for which the difference is why."""
    first = next((word for word in header.words if not word.misplaced), None)
    if first is None or first.constrained:
        return header
    words = [word for word in header.words if word is not first]
    return replace(header, words=words, without_author=difference)


def repair(header: Header, given: str | None) -> Repaired | None:
    """The stand-in for a header in which some difference happens, else None.

    `given` is the role that the parser was given, where it counts for this header.
    """
    if header.channel == "":
        return None  # An error for both, whatever the words.
    repaired = Repaired(set(), [replace(word) for word in header.words])
    if any(spells_marker(word.text) for word in header.words):
        repaired.differences.add("marker-spelled-in-header")
    author = []
    if given is None and header.words:
        if not names_role(header) and not names_tool(header):
            if header.channels < 2:
                return None  # An unknown role for both.
            return Repaired({"doubled-channel"}, [Word(FILLER)])
        author = [_author(header, repaired)]
    if any(word.misplaced or word.cut for word in repaired.words) and not header.ended_by_other:
        repaired.differences.add("misplaced-marker")
    for word, behind in zip(repaired.words, repaired.words[1:]):
        word.blanks = "" if behind.misplaced else word.blanks
    fields = [word for word in repaired.words if not word.misplaced]
    if author:
        _second_role(fields, repaired.words, author[0])
    elif given is not None and fields and fields[0].spelled() == given:
        author = [fields.pop(0)]
    is_behind = len(fields) == 1 and _is_behind_misplaced(fields[0], repaired.words)
    _join_last(fields, repaired)
    _fields(fields, repaired, is_behind, header.channel is not None)
    is_named_tool = bool(author) and author[0].text not in ROLE_WORDS
    if is_named_tool and not fields and not author[0].text.startswith("to="):
        repaired.differences.add("tool-without-recipient")
        fields.append(Word("to=" + FILLER))
        repaired.put_back["recipient"] = None
    repaired.words = author + fields
    _spelled_markers(repaired)
    if header.without_author is not None:
        repaired.differences.add(header.without_author)
    if header.channels > 1:
        repaired.differences.add("doubled-channel")
    if header.ended_by_other:
        repaired.differences.add("channel-value")
    return repaired if repaired.differences else None


def stand_in_text(header: Header, repaired: Repaired) -> str:
    """What 0.0.8 is fed for the header."""
    text = " ".join(
        ("<|constrain|>" if word.constrained else "") + word.text for word in repaired.words
    )
    channel = _stand_in(header.channel)
    return text if channel is None else f"{text}<|channel|>{channel}"


def _author(header: Header, repaired: Repaired) -> Word:
    """Takes the author's word out, and gives the one that 0.0.8 is to read."""
    if not names_role(header):
        first = repaired.words.pop(0)
        if not first.constrained and not first.cut and not first.misplaced:
            return first
        repaired.differences.add("constrain-as-role" if first.constrained else "misplaced-marker")
        repaired.put_back["name"] = first.text or "tool"
        return Word(FILLER)
    place = next(place for place, word in enumerate(repaired.words) if not word.misplaced)
    first = repaired.words.pop(place)
    role, colon, name = first.text.partition(":")
    if first.cut:
        repaired.differences.add("misplaced-marker")
    if colon:
        repaired.differences.add("named-author")
        repaired.put_back["name"] = name
    return Word(role)


def _second_role(fields: list[Word], words: list[Word], author: Word) -> None:
    """0.0.8 leaves out the word of the role directly after a tool's name; not one that was cut."""
    if author.text in ROLE_WORDS or not fields or fields[0].spelled() != "tool":
        return
    is_next = fields[0] is words[0]
    if is_next and not fields[0].cut:
        fields.pop(0)
    elif is_next or len(fields) > 1:
        fields[0] = Word("to=tool")  # In the stand-in it is directly after the name.


def _join_last(fields: list[Word], repaired: Repaired) -> None:
    """White space after <|constrain|> joins only the last word, and no recipient, to it."""
    if len(fields) < 2:
        return
    marker, word = fields[-2:]
    if marker.blanks and not word.constrained and not word.text.startswith("to="):
        repaired.differences.add("constrain-with-space")
        repaired.put_back["content_type"] = marker.spelled() + word.text
        fields[-2:] = [Word(word.text, True)]


def _is_behind_misplaced(field: Word, words: list[Word]) -> bool:
    """Whether a word that begins with a marker without a place stands before a field."""
    place = next((place for place, word in enumerate(words) if word is field), 0)
    return any(word.misplaced for word in words[:place])


def _fields(fields: list[Word], repaired: Repaired, is_behind: bool, has_channel: bool) -> None:
    """Content types that 0.0.8 takes for recipients.

    A single word after one that is not a field is the content type for both, and without a channel a
    single word is the recipient for both.
    """
    if not fields:
        return
    last = fields[-1]
    is_alone = len(fields) == 1 and not last.text.startswith("to=")
    is_type = is_alone and has_channel and last.text in CONTENT_TYPES
    if len(fields) == 1 and last.constrained:
        repaired.differences.add("constrain-without-recipient")
    elif is_type and not is_behind:
        repaired.differences.add("content-type-alone")
    if len(fields) == 1 and (last.constrained or (is_alone and is_behind) or is_type):
        repaired.put_back["recipient"] = None
        fields.insert(0, Word("to=" + FILLER))
    elif len(fields) == 2 and fields[0].constrained and not last.text.startswith("to="):
        repaired.differences.add("constrain-as-recipient")
        repaired.put_back["recipient"] = None
        fields[0] = Word("to=" + FILLER)


def _spelled_markers(repaired: Repaired) -> None:
    for place, word in enumerate(repaired.words):
        if spells_marker(word.text):
            repaired.words[place] = replace(word, text=word.text.replace("<", STAND_INS["<"]))


def _stand_in(text: str | None) -> str | None:
    return None if text is None else text.replace("<", STAND_INS["<"])
