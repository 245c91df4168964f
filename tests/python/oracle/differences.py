"""In what this project is meant to differ from 0.0.8: docs/compatibility.md, precisely.

A difference in parsing is something that happens in a stream. Where one does, 0.0.8 is fed other
tokens that it reads as meant (a *stand-in*), and what the stand-in changed is put back into its
answer. So even a repaired message is 0.0.8's reading, except for the one thing that the difference is
about; a stream in which no difference happens goes to 0.0.8 as it is.

`headers` finds the differences inside headers, `expectation` those between tokens.
"""

from __future__ import annotations

#: Every difference in strict parsing: what this project does, and what 0.0.8 did instead.
IN_PARSING = {
    "start-in-header": (
        "<|start|> inside a header ends it as in lenient parsing, and begins a new one. That is an error "
        "only if words are left over before it.",
        "It became part of a word, and the next message's header too.",
    ),
    "misplaced-marker": (
        "A word ends before a marker that has no place in it: a stop token, a second <|channel|>, a "
        "special token without meaning.",
        "The marker, and what followed it, was a part of the word.",
    ),
    "doubled-channel": (
        "Of several channels the last known one counts.",
        "The first did, and the others were parts of words.",
    ),
    "unknown-token-in-header": (
        "The error at <|message|> names the id that does not exist.",
        "could not decode header",
    ),
    "undecodable-header": (
        "A header that is not UTF-8 is refused with the error that decoding gives.",
        "could not decode header",
    ),
    "unknown-token-in-content": (
        "An id that does not exist is U+FFFD, with a repair.",
        "The rest of the message was lost without a word.",
    ),
    "start-with-given-role": (
        "Tokens that begin with <|start|> name their own role although one was given.",
        "The marker became part of the first word.",
    ),
    "start-names-role": (
        "After an error in the first header, a header begun by <|start|> names its own role.",
        "The given role waited, and the header's was taken for a recipient.",
    ),
    "trailing-start": (
        "A prompt's end, <|start|>assistant, is a well-formed end.",
        "An error.",
    ),
    "marker-spelled-in-header": (
        "A marker spelled in ordinary tokens is text.",
        "It was found in the decoded header.",
    ),
    "channel-value": (
        "A channel ends at white space or a marker; before a `<` only if a known one stands there. "
        "What follows is no part of the word before it.",
        "It was cut at any `<`, and the rest glued to the word before it.",
    ),
    "constrain-as-role": (
        "`<|constrain|>json` in an author's place is a tool named `json`.",
        "The tool's name had the marker.",
    ),
    "constrain-as-recipient": (
        "`<|constrain|>json` before the content type is no recipient.",
        "It was one.",
    ),
    "constrain-without-recipient": (
        "`<|constrain|>json` is the content type without a recipient, too.",
        "It was the recipient then.",
    ),
    "content-type-alone": (
        "`json`, `code` or `text` alone beside a channel is the content type.",
        "It was the recipient.",
    ),
    "constrain-with-space": (
        "`<|constrain|> json` is one content type.",
        "It was two words.",
    ),
    "named-author": (
        "`user:bob` is bob, of the role user.",
        "An unknown role.",
    ),
    "tool-without-recipient": (
        "A name is a tool's if it has a dot, is python or browser, or the header has a channel and "
        "the name is no role, channel or run of these.",
        "Without a recipient it was an unknown role.",
    ),
    "delta-behind": (
        "Text behind broken UTF-8 comes with its token, and what is held back at the end of the "
        "message comes with that.",
        "It came with the next token, or in no delta at all.",
    ),
    "content-tokens-as-fed": (
        "state_data has the content's tokens as they were fed.",
        "The decoded text was encoded anew.",
    ),
}

#: Of these, those at which only 0.0.8 raises; at none does this project alone.
ONLY_THERE = {
    "start-in-header",
    "misplaced-marker",
    "doubled-channel",
    "start-with-given-role",
    "start-names-role",
    "trailing-start",
    "marker-spelled-in-header",
    "channel-value",
    "constrain-with-space",
    "named-author",
    "tool-without-recipient",
}

#: The other differences that the oracle can be asked about.
ELSEWHERE = {
    "description-none": (
        "A tool may go without a description, and has no comment then.",
        "The description had to be a string.",
    ),
    "equal-letters": ("Any text is encoded.", "A panic on 1.3 million equal letters."),
    "error-wording": (
        "`Invalid utf-8`, the disallowed special token and the end inside a header continue in other words.",
        "Other words, or none.",
    ),
    "exports": ("`__all__` names all that is public.", "It left out a part."),
    "lenient-channel": (
        "The assistant's text without any header is on `final`, unless <|end|> ends it.",
        "It had no channel.",
    ),
    "lenient-everywhere": (
        "Any message may lack its <|message|>.",
        "Only the first, and only if its role was given.",
    ),
    "lenient-fields": (
        "In a header without <|message|>, `to=` and <|constrain|> are read.",
        "They were content.",
    ),
    "lenient-white-space": (
        "The words of such a header keep the white space between them.",
        "It became single blanks.",
    ),
    "lone-surrogates": (
        "A lone surrogate in a message is rendered as U+FFFD, as `encode` does.",
        "The message was taken for broken JSON.",
    ),
    "model-dump-json": ("The JSON of pydantic carries the content.", '`"content":[{}]`'),
    "pickle": ("Encodings pickle.", "A TypeError."),
    "render-errors": ("What cannot be rendered is a HarmonyError.", "A RuntimeError."),
    "schema-depth": (
        "A schema may nest 63 objects, wherever it stands.",
        "Some 55, by what was around it.",
    ),
    "stop-token-order": ("The stop tokens have a fixed order.", "A new order each time."),
    "token-out-of-range": (
        "A number that no token id can be is a ValueError that names it.",
        "An OverflowError that does not.",
    ),
}

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
