"""``harmony doctor``: the package that the files belong to. It runs where the rest cannot."""

from __future__ import annotations

import argparse
import importlib
import sys

from openai_harmony import _foreign

DONE, FAILED = 0, 1


def add(parser: argparse.ArgumentParser) -> None:
    """It has no arguments."""
    parser.description = (
        "Says which package's files the module has, of which version, which distributions claim "
        "them, and what else is installed that needs the name. The exit code is 1 if another "
        "package's files are among them."
    )


def run(options: argparse.Namespace) -> int:
    """Prints the report."""
    from openai_harmony import _claims

    found = _claims.installed()
    print(f"folder: {_claims.FOLDER}")
    print(f"compiled module: {_compiled()}")
    for claim in found.claims:
        whose = "its __init__.py is there" if claim.written else "its __init__.py is not there"
        print(f"installed: {claim} ({whose})")
    if not found.claims:
        print("installed: no distribution claims the module (imported from a folder on the path)")
    for need in found.needs:
        print(f"needs it: {need}")
    if _foreign.is_foreign():
        print(f"wrong: {_claims.explain()}")
        return FAILED
    if len(found.claims) > 1:
        print(f"wrong: {len(found.claims)} packages claim it; run {_claims.mend(found.claims)}")
        return FAILED
    print("all files are this package's")
    return DONE


def _compiled() -> str:
    if _foreign.is_foreign():
        return f"not loaded; imported instead: {_imported()}"
    return str(importlib.import_module("openai_harmony._lowlevel").__version__)


def _imported() -> str:
    file = getattr(sys.modules["openai_harmony"], "__file__", None)
    return str(file) if file else "a folder without __init__.py"
