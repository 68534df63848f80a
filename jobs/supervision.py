"""Keeps the background worker of `make run` alive: it is started again when it dies, and ends with the server.

A process of its own between the two, `python -m jobs.supervision PID`. The web server forks, and reaps every child
that it has, so neither our threads nor our waiting belongs there. It loads no Django: there is little that could
make it fail. Should it be killed all the same, its worker ends, and the web server, which an alarm reminds to look
after it, starts another.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

logger = logging.getLogger(__name__)

# Tells the worker who its parent is, which it could not find out if that died first.
PARENT_VARIABLE = "JEDI_SUPERVISOR_PID"
AGAIN = "--again"
WORKER = (sys.executable, "manage.py", "work", "--while-parent-lives")
# A worker that dies at once would keep a core busy with its starts.
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
# A worker that has lived so long did not die of its start.
HEALTHY_SECONDS = 60.0
POLL_SECONDS = 0.25
# How often the server looks after the supervisor.
LOOK_SECONDS = 2.0
# The first request to end lets an idle worker go, the second interrupts one at work.
PATIENCE_SECONDS = (2.0, 4.0)


class SupervisedWorker:
    """A worker for the calling process, which it ends with. To be made in the main thread: only that gets signals."""

    def __init__(self) -> None:
        self.server = os.getpid()
        self.supervisor = self.start()
        signal.signal(signal.SIGALRM, self.look)
        signal.setitimer(signal.ITIMER_REAL, LOOK_SECONDS, LOOK_SECONDS)

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "jobs.supervision", str(self.server), *options]
        return subprocess.Popen(command)  # noqa: S603 - our own command

    def look(self, *signal_and_frame: object) -> None:
        """Starts another supervisor when this one is gone. It interrupts the server anywhere, so the new one does the
        logging. The server's forks inherit the handler, though not the alarm."""
        if os.getpid() == self.server and self.supervisor.poll() is not None:
            self.supervisor = self.start(AGAIN)

    def terminate(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.supervisor.terminate()


class Supervisor:
    """Runs a command again and again, until its own parent exits or it is asked to stop."""

    def __init__(self, command: Sequence[str], parent: int) -> None:
        self.command, self.parent = command, parent
        self.stopping = threading.Event()

    def run(self) -> None:
        pause = FIRST_PAUSE
        while True:
            process, started = subprocess.Popen(self.command), time.monotonic()  # noqa: S603
            while process.poll() is None:
                if self.is_over():
                    end(process)
                    return
                self.stopping.wait(POLL_SECONDS)
            pause = FIRST_PAUSE if time.monotonic() - started > HEALTHY_SECONDS else pause
            if not self.is_to_restart_after(pause, process.returncode):
                return
            pause = min(2 * pause, LONGEST_PAUSE)

    def is_over(self) -> bool:
        return self.stopping.is_set() or os.getppid() != self.parent

    def is_to_restart_after(self, pause: float, code: int) -> bool:
        """Waits, unless this is the end."""
        if not self.is_over():
            logger.warning(
                "The background worker ended (%s); starting it again in %s s.", code, pause
            )
        over_at = time.monotonic() + pause
        while not self.is_over() and time.monotonic() < over_at:
            self.stopping.wait(POLL_SECONDS)
        return not self.is_over()


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a worker soon: what it worked on is given back, or taken over later."""
    for seconds in PATIENCE_SECONDS:
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            continue
        return
    process.kill()
    process.wait()


def main() -> None:
    logging.basicConfig(format="%(message)s")
    if AGAIN in sys.argv:
        logger.warning("The supervisor of the background worker was gone; this is another one.")
    os.environ[PARENT_VARIABLE] = str(os.getpid())
    supervisor = Supervisor(WORKER, parent=int(sys.argv[1]))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, lambda *_: supervisor.stopping.set())
    supervisor.run()


if __name__ == "__main__":
    main()
