"""In what this project is meant to differ from 0.0.8: docs/compatibility.md, precisely.

A difference in parsing is something that happens in a stream. Where one does, 0.0.8 is fed other
tokens that it reads as meant (a *stand-in*), and what the stand-in changed is put back into its
answer. So even a repaired message is 0.0.8's reading, except for the one thing that the difference is
about; a stream in which no difference happens goes to 0.0.8 as it is.

`headers` finds the differences inside headers, `expectation` those between tokens.
"""

from __future__ import annotations

from tables import table

#: Every difference in strict parsing: what this project does, and what 0.0.8 did instead.
IN_PARSING = {name: told for name, *told in table("oracle_differences_from_0_0_8", "in parsing")}

#: Of these, those at which only 0.0.8 raises; at none does this project alone.
ONLY_THERE = {*table("oracle_differences_from_0_0_8", "only there")}

#: The other differences that the oracle can be asked about.
ELSEWHERE = {name: told for name, *told in table("oracle_differences_from_0_0_8", "elsewhere")}

#: Of these errors the beginning stays, and what it quotes.
DISALLOWED = "Encountered text corresponding to disallowed special token '"
UNDECODABLE = "Invalid utf-8"
#: Begin what is said besides: where a role was forgotten, and where the tokens end inside a header.
HINTS = (" (<|channel|>, so ", " (the tokens end inside a header; ")
#: Ends what is known of an error's text.
ELLIPSIS = "…"


def fixed_part(error: str, wanted: str = "") -> str:
    """The part of an error's text that stays the same ("error-wording").

    Where the wanted text ends with an ellipsis, nothing is known of what follows it.
    """
    if wanted.endswith(ELLIPSIS) and error.startswith(wanted[:-1]):
        return wanted
    if DISALLOWED in error:
        return DISALLOWED + error.partition(DISALLOWED)[2].partition("'")[0]
    if UNDECODABLE in error:
        return UNDECODABLE
    for hint in HINTS:
        error = error.partition(hint)[0]
    return error
