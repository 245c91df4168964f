"""Reads the command line, and runs the module of the command that it names."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from openai_harmony import __version__
from openai_harmony._nearest import meant
from openai_harmony.cli.commands import COMMANDS
from openai_harmony.cli.failures import (
    DONE,
    FAILED,
    INTERRUPTED,
    USAGE,
    CommandError,
    UsageError,
    nobody_reads,
)
from openai_harmony.errors import HarmonyError

_EPILOG = """\
exit codes: 0 done, 1 failed, 2 wrong usage, 3 `diff` or `parse --check` found something,
130 interrupted

`COMMAND --help` has examples.
"""

Run = Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Returns the process's exit code: 0, 1 for a failure, 2 for bad usage (argparse exits with it),
    130 if it was interrupted.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    name = os.path.basename(sys.argv[0])
    prog = name if name.startswith("harmony") else "python -m openai_harmony"
    parser, commands = parsers(prog, given)
    _complete(parser)
    if not given:
        parser.print_help()
        return DONE
    options = parser.parse_args(given)
    if sys.stdout is None:
        parser.exit(FAILED, f"{prog}: error: standard output is closed\n")
    run: Run = options.run
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What a terminal's encoding lacks is written as an escape.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = run(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        nobody_reads()
        return DONE
    except UsageError as error:
        commands[options.command].error(str(error))
    except KeyboardInterrupt:
        print(f"{prog}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except (OSError, HarmonyError, CommandError, ModuleNotFoundError) as error:
        said = str(error)
        if isinstance(error, OSError) and error.strerror is not None:
            said = error.strerror
            said = said if error.filename is None else f"{error.filename}: {said}"
        print(f"{prog}: error: {said}", file=sys.stderr)
        return FAILED


def parsers(prog: str, given: Sequence[str]) -> tuple[Parser, dict[str, Parser]]:
    """The parser of the whole line, and that of each command.

    Only the arguments of the command that is run are added: the first word, since no option of
    the whole line takes a value.
    """
    parser = Parser(
        prog=prog,
        description="The harmony response format, which the gpt-oss models speak.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    adder: Any = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    words = os.environ["COMP_LINE"].split()[1:] if _is_completing() else given
    named = next((word for word in words if not word.startswith("-")), None)
    for command, help_line in COMMANDS.items():
        one = adder.add_parser(
            command, help=help_line, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        if command == named:
            module = import_module(f"openai_harmony.cli.{command}")
            module.add(one)
            one.set_defaults(run=module.run)
    return parser, adder.choices


class _Version(argparse.Action):
    """Prints the name and the version that the metadata of the installed package have."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        from importlib.metadata import PackageNotFoundError, version

        from openai_harmony._extras import DISTRIBUTION

        try:
            number = version(DISTRIBUTION)
        except PackageNotFoundError:  # A folder on the path, which nothing installed.
            number = __version__
        print(f"{DISTRIBUTION} {number}")
        parser.exit(DONE)


def _is_completing() -> bool:
    return "_ARGCOMPLETE" in os.environ and "COMP_LINE" in os.environ


def _complete(parser: Parser) -> None:
    """Answers the shell, if it is the shell that asks, and ends the process."""
    if _is_completing():
        import argcomplete

        argcomplete.autocomplete(parser)


class Parser(argparse.ArgumentParser):
    """Suggests the nearest names for a misspelt command, option or choice."""

    def __init__(self, **options: Any) -> None:
        # The beginning of an option could become that of two with any version.
        super().__init__(**{**options, "allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        """Prints the error, in a line, and ends the process."""
        self.exit(USAGE, f"{self.prog}: error: {message} ({self.prog} --help)\n")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As in argparse; an unknown option is an error of the command that was given it."""
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            command = self._commands()[options.command]
            suggestion = self._suggestion(unknown[0])
            parser = self if suggestion else command
            suggestion = suggestion or command._suggestion(unknown[0])
            parser.error(f"unrecognized arguments: {' '.join(unknown)}{suggestion}")
        return options

    def _suggestion(self, argument: str) -> str:
        is_output = argument.partition("=")[0] in ("-o", "--output")
        if is_output and any(one.metavar == "OUT" for one in self._get_positional_actions()):
            return ": OUT is the last argument, without a flag before it"
        if not argument.startswith("--"):
            return ""
        # Without the dashes, which all of them share.
        known = [name[2:] for name in self._option_string_actions if name.startswith("--")]
        return _nearest(argument[2:].partition("=")[0], known, "--")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += _nearest(str(value), [str(choice) for choice in action.choices or ()])
            raise

    def _commands(self) -> dict[str, Parser]:
        actions = self._actions
        [commands] = [one for one in actions if isinstance(one, argparse._SubParsersAction)]
        return commands.choices


def _nearest(word: str, known: list[str], dashes: str = "") -> str:
    near = meant(word, known)
    return f": did you mean {dashes}{near}?" if near else ""
