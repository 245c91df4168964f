"""The processes of a server, and the parent that watches over them."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from uvicorn.supervisors import Multiprocess

from openai_harmony.serve.journal import LOG


class Workers(Multiprocess):
    """uvicorn's parent, which says why a worker died, and passes `SIGHUP` on."""

    def keep_subprocess_alive(self) -> None:
        """Begins a worker for each that died."""
        before = list(self.processes)
        super().keep_subprocess_alive()
        for worker in before:
            if worker not in self.processes:
                LOG.error("worker %s died: %s", worker.pid, _reason(worker.process.exitcode))

    def handle_hup(self) -> None:
        """Has all workers read the API keys again. uvicorn's own way ends them, one by one."""
        for worker in self.processes:
            if worker.pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(worker.pid, signal.SIGHUP)


def _reason(code: int | None) -> str:
    if code is None:
        return "it did not answer"
    return f"by {signal.Signals(-code).name}" if code < 0 else f"it ended with status {code}"
