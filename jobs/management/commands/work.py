"""The background worker: runs queued tasks, and recovers the jobs of dead workers."""

import os
import socket
import threading
from argparse import ArgumentParser
from contextlib import nullcontext
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import close_old_connections, connection
from django_tasks_db.management.commands.db_worker import Worker

from jobs.processes import STOP_WITH_STDIN, stop_when_stdin_closes
from jobs.recovery import look_for_lost_work
from jobs.worker import WorkersLockedOut, beat, running_worker

RECOVERY_SECONDS = 10.0
# A worker that is told to stop finishes a short task, and hands back a long one after this time.
FINISH_SECONDS = 10.0


class StoppingWorker(Worker):
    """Interrupts the current task by itself some time after the first signal; a second signal does so at once."""

    def shutdown(self, signum: int, frame: FrameType | None) -> None:
        if self.running:
            timer = threading.Timer(FINISH_SECONDS, os.kill, [os.getpid(), signum])
            timer.daemon = True
            timer.start()
        super().shutdown(signum, frame)


class Command(BaseCommand):
    help = "Runs imports, rehearsals and webhook deliveries in the background, until it is stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="stop when no task is queued")

    def handle(self, *args: Any, **options: Any) -> None:
        is_sqlite = connection.vendor == "sqlite"
        try:
            with running_worker(settings.JEDI_DATA_DIR) if is_sqlite else nullcontext():
                self.work(is_batch=options["once"])
        except WorkersLockedOut as error:
            raise CommandError(str(error)) from error

    def work(self, *, is_batch: bool) -> None:
        if os.environ.get(STOP_WITH_STDIN):
            stop_when_stdin_closes(os.getpid())
        beat()
        look_for_lost_work()
        if not is_batch:
            threading.Thread(target=keep_recovering, daemon=True).start()
        worker = StoppingWorker(
            queue_names=["default"],
            interval=1,
            batch=is_batch,
            backend_name="default",
            startup_delay=False,
            max_tasks=None,
            # Shown in the queue, to find the process among those of several machines.
            worker_id=f"{socket.gethostname()}-{os.getpid()}"[:64],
            excluded_queue_names=[],
        )
        worker.configure_signals()
        worker.run()


def keep_recovering() -> None:
    """In a thread, because a task may take hours."""
    never = threading.Event()
    while not never.wait(RECOVERY_SECONDS):
        beat()
        close_old_connections()
        look_for_lost_work()
        connection.close()
