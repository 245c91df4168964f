"""The command ``harmony``, also ``python -m openai_harmony``; see ``--help``.

Each subcommand is a module of this folder that has its name. To add one: a line in
:mod:`~openai_harmony.cli.commands` and the module, with two functions::

    def add(parser: argparse.ArgumentParser) -> None: ...   # its arguments
    def run(options: argparse.Namespace) -> int: ...        # the exit code

Only the module of the command that is run gets imported, so what one command needs slows down no
other. Errors are raised: :mod:`~openai_harmony.cli.run` makes them one line and an exit code.
"""

from collections.abc import Sequence

from openai_harmony import _foreign

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; the exit code is that of :func:`openai_harmony.cli.run.main`.

    Where another package's files are in the folder, only ``doctor`` runs.
    """
    if not _foreign.is_foreign():
        from openai_harmony.cli.run import main as run

        return run(arguments)
    import argparse
    import sys

    from openai_harmony import _claims

    if (sys.argv[1:] if arguments is None else list(arguments))[:1] == ["doctor"]:
        from openai_harmony.cli import doctor

        return doctor.run(argparse.Namespace())
    print(f"harmony: error: {_claims.explain()} (harmony doctor)", file=sys.stderr)
    return 1
