"""Finds another package's files in this one's folder; needs nothing of this package.

``openai-harmony`` and ``oss-harmony`` install a module of the same name. pip writes the files of
whichever is installed last over those that are there, and deletes shared files when one is
uninstalled. What is left imports without a word and renders other prompts.
"""

import sys

MARK = "openai_harmony._extension"
"""This package's ``__init__`` imports it before anything else; no other package has it."""


def is_foreign() -> bool:
    """Whether the package that is imported began with another ``__init__`` than this one's."""
    return "openai_harmony" in sys.modules and MARK not in sys.modules


def check() -> None:
    """Raises ``ImportError`` in such a mixture. The compiled module calls it when it is loaded."""
    if is_foreign():
        from openai_harmony._claims import explain

        raise ImportError(explain(), name="openai_harmony")
