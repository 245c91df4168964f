"""The subcommands, in the order of the help."""

COMMANDS = {
    "dataset": "turn files of conversations into files of tokens and loss masks",
    "vocabulary": "write the vocabulary into a folder and verify it",
}
"""What each does, in a line. The module beside this one that bears its name carries it out."""
