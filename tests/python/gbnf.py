"""A reader of GBNF, the grammars of llama.cpp, as its documentation defines them; it takes text and special tokens.

Engines have readers of their own, which `make test-engines` asks. This one needs none of them, so what the writers of BNF
make is tested wherever the tests run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

_WORD = re.compile(
    r"""\s*(?:(?P<name>[\w-]+)(?P<is>\s*::=)?|"(?P<text>(?:[^"\\]|\\.)*)"|\[(?P<class>\^?(?:[^\]\\]|\\.)*)\]"""
    r"""|<\[(?P<token>\d+)\]>|\{(?P<least>\d+)(?P<comma>,)?(?P<most>\d+)?\}|(?P<mark>[()|*+?]))""",
    re.DOTALL,
)
_CHARACTER = re.compile(r"\\x(..)|\\u(....)|\\U(.{8})|\\(.)|(.)", re.DOTALL)
_NAMED = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True)
class Class:
    """A character of these, or one of no others; or a special token by its id."""

    ranges: tuple[tuple[str, str], ...] = ()
    is_negated: bool = False
    token: int | None = None

    def takes(self, symbol: str | int) -> bool:
        if isinstance(symbol, int) or self.token is not None:
            return symbol == self.token
        return any(low <= symbol <= high for low, high in self.ranges) != self.is_negated


Sequence: TypeAlias = "tuple[Class | str, ...]"
Stack: TypeAlias = "tuple[Any, ...]"


@dataclass
class Grammar:
    """Rules by their names: each has alternatives, which are sequences of classes and names."""

    rules: dict[str, list[Sequence]] = field(default_factory=dict)
    _expanded: dict[Stack, frozenset[Stack]] = field(default_factory=dict)

    def takes(self, symbols: Iterable[str | int]) -> bool:
        """Whether the whole is a text of the grammar."""
        return () in self._after(self._heads(("root",)), symbols)

    def texts(self, pieces: Iterable[str], size: int) -> Iterator[str]:
        """The texts of at most this many pieces: a path that the grammar refuses is not followed."""
        found, pieces = [("", self._heads(("root",)))], [*pieces]
        for left in range(size, -1, -1):
            yield from (text for text, stacks in found if () in stacks)
            nexts = (
                (text + piece, self._after(stacks, piece))
                for text, stacks in found
                for piece in (pieces if left else ())
            )
            found = [(text, stacks) for text, stacks in nexts if stacks]

    def _after(self, stacks: frozenset[Stack], symbols: Iterable[str | int]) -> frozenset[Stack]:
        for symbol in symbols:
            stacks = frozenset(
                head
                for stack in stacks
                if stack and stack[0].takes(symbol)
                for head in self._heads(stack[1:])
            )
        return stacks

    def _heads(self, stack: Stack) -> frozenset[Stack]:
        """What may follow: stacks that begin with a class; an empty one where the text may end."""
        if stack not in self._expanded:
            heads, seen, todo = set(), {stack}, [stack]
            while todo:
                top = todo.pop()
                if not top or isinstance(top[0], Class):
                    heads.add(top)
                    continue
                new = {(*alternative, *top[1:]) for alternative in self.rules[top[0]]} - seen
                seen |= new
                todo += new
            self._expanded[stack] = frozenset(heads)
        return self._expanded[stack]

    def add(self, *alternatives: Sequence) -> str:
        name = f" {len(self.rules)}"
        self.rules[name] = list(alternatives)
        return name


def read(text: str) -> Grammar:
    """Reads a grammar; ``ValueError`` where it is none."""
    grammar = Grammar()
    words, at = [], 0
    while text[at:].strip():
        word = _WORD.match(text, at)
        if word is None:
            raise ValueError(f"no GBNF: {text[at : at + 40]!r}")
        words.append(word)
        at = word.end()
    reader = _Reader(grammar, words)
    while reader.at < len(words):
        name = words[reader.at]
        if not name["is"] or name["name"] in grammar.rules:
            raise ValueError(f"expected a new rule: {name[0]!r}")
        reader.at += 1
        grammar.rules[name["name"]] = reader.choice()
    named = {one for rule in grammar.rules.values() for each in rule for one in each}
    if unknown := {one for one in named if isinstance(one, str)} - grammar.rules.keys():
        raise ValueError(f"unknown rules: {unknown}")
    return grammar


@dataclass
class _Reader:
    grammar: Grammar
    words: list[re.Match[str]]
    at: int = 0

    def choice(self) -> list[Sequence]:
        alternatives = [self.sequence()]
        while self._is("|"):
            alternatives.append(self.sequence())
        return alternatives

    def _is(self, mark: str) -> bool:
        found = self.at < len(self.words) and self.words[self.at]["mark"] == mark
        self.at += found
        return found

    def sequence(self) -> Sequence:
        made: list[Class | str] = []
        while self.at < len(self.words):
            word = self.words[self.at]
            if word["is"] or word["mark"] in ("|", ")"):
                break
            self.at += 1
            made += self._repeated(self._atom(word))
        return tuple(made)

    def _atom(self, word: re.Match[str]) -> Sequence:
        if word["name"]:
            return (word["name"],)
        if word["token"]:
            return (Class(token=int(word["token"])),)
        if word["text"] is not None:
            return tuple(Class(((char, char),)) for char, _ in characters(word["text"]))
        if word["class"] is not None:
            return (_class(word["class"]),)
        if word["mark"] != "(":
            raise ValueError(f"misplaced: {word[0]!r}")
        inner = self.choice()
        if not self._is(")"):
            raise ValueError("a group without an end")
        return (self.grammar.add(*inner),)

    def _repeated(self, atom: Sequence) -> Sequence:
        least, most = 1, 1
        while self.at < len(self.words):
            word = self.words[self.at]
            if word["mark"] in ("*", "+", "?"):
                least, most = {"*": (0, -1), "+": (1, -1), "?": (0, 1)}[word["mark"]]
            elif word["least"]:
                least = int(word["least"])
                most = int(word["most"] or (-1 if word["comma"] else least))
            else:
                break
            self.at += 1
            atom = self._times(atom, least, most)
        return atom

    def _times(self, atom: Sequence, least: int, most: int) -> Sequence:
        rest: Sequence = ()
        if most < 0:
            name = self.grammar.add()
            self.grammar.rules[name] = [(*atom, name), ()]
            rest = (name,)
        for _ in range(least, most):
            rest = (self.grammar.add((*atom, *rest), ()),)
        return (*atom * least, *rest)


def characters(text: str) -> Iterator[tuple[str, bool]]:
    """The characters of a literal, and whether each is escaped."""
    for one in _CHARACTER.finditer(text):
        code = one[1] or one[2] or one[3]
        if code:
            yield chr(int(code, 16)), True
        else:
            yield (_NAMED.get(one[4], one[4]), True) if one[4] else (one[5], False)


def _class(text: str) -> Class:
    is_negated = text.startswith("^")
    found = [*characters(text[is_negated:])]
    ranges, at = [], 0
    while at < len(found):
        low = high = found[at][0]
        if at + 2 < len(found) and found[at + 1] == ("-", False):
            high = found[at + 2][0]
            at += 2
        if low > high:
            raise ValueError(f"a range of no character: {text!r}")
        ranges.append((low, high))
        at += 1
    return Class(tuple(ranges), is_negated)
