"""Random grammars of custom tools in Lark, and texts; the package lark says which of them fit."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

import lark

from openai_harmony.grammar import TurnGrammar
from tables import table

CHARACTERS = ["a", "b", "<", "|", '"', "\n"]
TERMINALS = ["A", "B", "C"]
RULES = ["start", "one", "two"]
REGEXES = table("input_grammar_worlds", "regexes")
PATCH = r"""
start: begin file+ end
begin: "*** Begin Patch" LF
end: "*** End Patch" LF?
file: add | delete | update
add: "*** Add File: " path LF added+
delete: "*** Delete File: " path LF
update: "*** Update File: " path LF move? change?
path: /(.+)/
added: "+" /(.*)/ LF -> line
move: "*** Move to: " path LF
change: (context | line)+ last?
context: ("@@" | "@@ " /(.+)/) LF
line: ("+" | "-" | " ") /(.*)/ LF
last: "*** End of File" LF
%import common.LF
"""
"""A grammar of patches to files, in the shape of the one that Codex sends."""

_GOOD = """*** Begin Patch
*** Update File: src/a b.rs
*** Move to: src/é.rs
@@ fn less(a: &str) -> bool {
-    a < "b" || a <| c
+\ta.len() < 2 // "\\n"
 }
*** End of File
*** Add File: x
+
*** Delete File: y
*** End Patch
"""

PATCHES = {
    _GOOD: True,
    _GOOD.rstrip("\n"): True,
    "*** Begin Patch\n*** Delete File: a\n*** End Patch": True,
    _GOOD.replace("Begin", "Bgin"): False,
    _GOOD.replace("@@ fn", "@ fn"): False,
    _GOOD.replace("+\n", ""): False,
    _GOOD.replace("*** Delete", "** Delete"): False,
    _GOOD.replace("\n }", "\n}"): False,
    "*** Begin Patch\n*** End Patch": False,
    _GOOD + "\n": False,
    "": False,
}
"""Inputs, and whether they are such patches."""

CALLED = "<|channel|>commentary to=functions.t <|constrain|>json<|message|>"


def grammar(chosen: random.Random) -> str:
    """A grammar that Lark takes; some of its rules lead to themselves."""
    while True:
        lines = [f"{name}: {_choice(chosen, _item, 2)}" for name in RULES]
        # The package finds no longer text of a terminal's second option, so there is one.
        lines += [f"{name}: {_sequence(chosen, _terminal, 1)}" for name in TERMINALS]
        if chosen.random() < 0.2:
            lines.append(f"%ignore {chosen.choice(['/a/', 'B', '/[|]/'])}")
        made = "\n".join(lines)
        try:
            oracle(made)
        except lark.exceptions.LarkError:
            continue  # it takes no two equal options, and no terminal that may be empty
        return made


def _choice(chosen: random.Random, item: Any, depth: int) -> str:
    options = [_sequence(chosen, item, depth) for _ in range(chosen.choice([1, 1, 2]))]
    return chosen.choice([" | ", "\n  | "]).join(options) if depth == 2 else " | ".join(options)


def _sequence(chosen: random.Random, item: Any, depth: int) -> str:
    return " ".join(item(chosen, depth) for _ in range(chosen.choice([1, 1, 2, 3])))


def _item(chosen: random.Random, depth: int) -> str:
    kind = chosen.random()
    if kind < 0.3:
        made = chosen.choice(RULES[1:])
    elif kind < 0.5:
        made = chosen.choice(TERMINALS)
    elif kind < 0.6 and depth:
        made = f"({_choice(chosen, _item, depth - 1)})"
    elif kind < 0.65 and depth:
        return f"[{_choice(chosen, _item, depth - 1)}]"
    else:
        made = _terminal(chosen, 0)
    return made + chosen.choice(["", "", "", "", "?", "*", "+", "~2", "~1..2"])


def _terminal(chosen: random.Random, _: int) -> str:
    kind = chosen.random()
    if kind < 0.35:
        return chosen.choice(REGEXES)
    if kind < 0.45:
        return '"a".."b"'
    text = "".join(chosen.choice(CHARACTERS) for _ in range(chosen.choice([1, 1, 2])))
    return json.dumps(text) + chosen.choice(["", "", "i"])


def texts(chosen: random.Random, count: int = 60) -> list[str]:
    """The shortest texts, and some longer ones."""
    short = [
        "".join(all_) for size in range(3) for all_ in itertools.product(CHARACTERS, repeat=size)
    ]
    long = ["".join(chosen.choices(CHARACTERS, k=chosen.randint(3, 6))) for _ in range(count)]
    return short + long


def oracle(definition: str) -> Any:
    """From a text to whether it fits; ``None`` where the package does not know."""
    parser = lark.Lark(definition, parser="earley", lexer="dynamic_complete")

    def fits(text: str) -> bool | None:
        try:
            parser.parse(text)
        except lark.exceptions.UnexpectedInput:
            return False
        except RuntimeError:
            return None  # "Please report this bug."
        return True

    return fits


def turn(definition: str, syntax: str = "lark") -> TurnGrammar:
    """The call of a tool that has this grammar."""
    form = {"type": "grammar", "syntax": syntax, "definition": definition}
    tool = {"type": "custom", "name": "t", "format": form}
    return TurnGrammar([tool], tool_choice="required", strict=[], json_space="compact")


def spellings(text: str) -> Iterator[str]:
    """A call with this input, its `<` and `|` as they are or with escapes: BNF wants one of them."""
    plain = json.dumps(text, ensure_ascii=False)
    closed = plain.replace("<", "\\u003c")
    yield from dict.fromkeys([plain, closed, plain.replace("<|", "<\\u007c")])
