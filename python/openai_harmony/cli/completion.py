"""``harmony completion``: what a shell needs to complete commands and options."""

from __future__ import annotations

import argparse

from openai_harmony._extras import needed
from openai_harmony.cli.failures import DONE, say


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = "Prints a script that completes the command `harmony` in your shell."
    parser.epilog = """\
examples:
  eval "$(harmony completion bash)"          in ~/.bashrc; zsh likewise in ~/.zshrc
  harmony completion fish > ~/.config/fish/completions/harmony.fish
"""
    parser.add_argument("shell", choices=["bash", "zsh", "fish"])


def run(options: argparse.Namespace) -> int:
    """Prints the script."""
    say(needed("argcomplete", "cli").shellcode(["harmony"], shell=options.shell))
    return DONE
