"""The subcommands, in the order of the help."""

COMMANDS = {
    "show": "draw a conversation, a request or tokens",
    "render": "turn a conversation or a request into token ids",
    "parse": "turn tokens or text into messages",
    "count": "count tokens, of each message and in all",
    "diff": "compare two prompts or outputs",
    "serve": "answer four APIs in front of an engine",
    "playground": "open a local page that does all of these",
    "dataset": "turn files of conversations into files of tokens and loss masks",
    "vocabulary": "write the vocabulary into a folder and verify it",
    "doctor": "find files of another package that has this module's name",
    "completion": "print what completes these commands in a shell",
}
"""What each does, in a line. The module of its name in this folder carries it out."""
