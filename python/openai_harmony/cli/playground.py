"""``harmony playground``: a local page."""

from __future__ import annotations

import argparse
import socket
import sys
import webbrowser

from openai_harmony._extras import needed
from openai_harmony.cli.arguments import number
from openai_harmony.cli.failures import DONE, CommandError, say


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = (
        "Opens a local page: a request becomes a prompt, sampled output becomes messages and the "
        "API's chunks, token by token. It listens on this machine only, and keeps nothing."
    )
    parser.epilog = """\
examples:
  harmony playground
  harmony playground --port 8123 --no-browser
"""
    parser.add_argument("--port", type=number, metavar="N", default=0, help="the port (a free one)")
    parser.add_argument("--no-browser", action="store_true", help="print the address only")


def run(options: argparse.Namespace) -> int:
    """Serves until it is interrupted."""
    uvicorn = needed("uvicorn", "serve")
    needed("starlette", "serve")
    from openai_harmony.playground.app import app

    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", options.port))
            # From here on a browser waits until the server answers.
            listening.listen()
        except (OSError, OverflowError) as error:
            raise CommandError(f"port {options.port}: {error}") from error
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        say(address)
        print("Ctrl-C ends it.", file=sys.stderr)
        if not options.no_browser:
            webbrowser.open(address)
        server = uvicorn.Server(uvicorn.Config(app(), log_level="warning"))
        server.run(sockets=[listening])
    return DONE
