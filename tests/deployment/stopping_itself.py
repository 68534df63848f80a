"""gunicorn's worker that has its server stopped while it starts a thread of its pool, which signals seldom meet."""

import os
import signal
import threading

from jedi_web.polling import PollingWorker
from tests.processes import until


class Worker(PollingWorker):
    def run(self) -> None:
        real = threading.Thread.start

        def start(thread: threading.Thread) -> None:
            os.kill(os.getppid(), signal.SIGQUIT)
            until(lambda: not self.alive)
            real(thread)

        threading.Thread.start = start  # type: ignore[method-assign]
        super().run()
