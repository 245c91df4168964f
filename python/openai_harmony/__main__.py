"""``python -m openai_harmony``: see ``--help``."""

import sys

from openai_harmony.cli import main

if __name__ == "__main__":
    sys.exit(main())
