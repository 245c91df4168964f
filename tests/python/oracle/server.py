"""Answers requests from the oracle's environment: a JSON line in, a JSON line out.

A request is [operation, arguments…], see `operations`.
"""

from __future__ import annotations

import json
import sys

from .operations import Session


def main() -> None:
    session = Session()
    for line in sys.stdin:
        print(json.dumps(session.ask(*json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
