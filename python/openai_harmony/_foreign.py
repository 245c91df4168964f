"""Finds another package's files in this one's folder; needs nothing of this package.

``openai-harmony`` and ``oss-harmony`` install a module of the same name. pip lets the last one
installed overwrite the files of the others, and deletes shared files when one is uninstalled. What
is left can be imported without an error, and renders other prompts.
"""

import sys

MARK = "openai_harmony._extension"
"""This package's ``__init__`` imports it before anything else; no other package has it."""


def is_foreign() -> bool:
    """Whether the imported package began with another ``__init__`` than this one's."""
    return "openai_harmony" in sys.modules and MARK not in sys.modules


def check() -> None:
    """Raises ``ImportError`` for such a mixture. The compiled module calls it on loading."""
    if is_foreign():
        from openai_harmony._claims import explain

        raise ImportError(explain(), name="openai_harmony")
