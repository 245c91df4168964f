"""Packages that only some users need, imported where they are used and not before."""

from __future__ import annotations

from importlib import import_module
from typing import Any

DISTRIBUTION = "openai-harmony"
"""What pip calls this package. `.ci/release.py` writes the published name: under this one an index
has another package, which would be installed over this one."""


def needed(module: str, extra: str) -> Any:
    """Imports a package that an extra installs.

    ``ModuleNotFoundError`` that says what to install, if it is missing.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != package:
            raise  # The package is there; what it needs is not.
        raise ModuleNotFoundError(
            f"{package} is missing: pip install '{DISTRIBUTION}[{extra}]'", name=package
        ) from error
