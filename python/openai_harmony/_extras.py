"""Packages that only some users need, imported only when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

DISTRIBUTION = "openai-harmony"
"""This package's name in pip. `.ci/release.py` writes the published name: on an index the name here
belongs to another package, which would be installed over this one."""


def needed(module: str, extra: str) -> Any:
    """Imports a package that an extra installs.

    If it is missing, ``ModuleNotFoundError`` says what to install.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != package:
            raise  # The package is there; what it needs is not.
        raise ModuleNotFoundError(
            f"{package} is missing: pip install '{DISTRIBUTION}[{extra}]'", name=package
        ) from None


__all__ = ["DISTRIBUTION", "needed"]
