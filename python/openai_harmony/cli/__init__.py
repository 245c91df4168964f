"""The command ``harmony``, also ``python -m openai_harmony``; see ``--help``.

Each subcommand is a module of this folder that has its name. To add one: a line in
:mod:`~openai_harmony.cli.commands` and the module, with two functions::

    def add(parser: argparse.ArgumentParser) -> None: ...   # its arguments
    def run(options: argparse.Namespace) -> int: ...        # the exit code

Only the module of the command that is run gets imported, so what one command needs slows down no
other. Errors are raised: :mod:`~openai_harmony.cli.run` makes them one line and an exit code.
"""

from openai_harmony.cli.run import main

__all__ = ["main"]
