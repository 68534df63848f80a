"""The background worker: takes long work from the database, and takes over what a dead worker left."""

import os
import signal
import socket
import threading
from argparse import ArgumentParser
from contextlib import nullcontext
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import close_old_connections, connection

from jobs.heartbeat import beat
from jobs.presence import RowsMoving, be_a_worker
from jobs.recovery import look_for_lost_work
from jobs.supervision import PARENT_VARIABLE

RECOVERY_SECONDS = 10.0
PARENT_SECONDS = 1.0


class Command(BaseCommand):
    help = "Runs imports, rehearsals and webhook deliveries in the background, until it is stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--once", action="store_true", help="stop when there is nothing left to do"
        )
        parser.add_argument(
            "--while-parent-lives",
            action="store_true",
            help="stop when the process that started this one does",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        is_sqlite = connection.vendor == "sqlite"
        try:
            with be_a_worker(settings.JEDI_DATA_DIR) if is_sqlite else nullcontext():
                self.work(options)
        except RowsMoving as refusal:
            raise CommandError(str(refusal)) from refusal

    def work(self, options: dict[str, Any]) -> None:
        if options["while_parent_lives"]:
            parent = int(os.environ.get(PARENT_VARIABLE, os.getppid()))
            threading.Thread(target=end_with, args=[parent], daemon=True).start()
        beat()
        look_for_lost_work()
        if not options["once"]:
            threading.Thread(target=keep_looking_for_lost_work, daemon=True).start()
        call_command(
            "db_worker",
            batch=options["once"],
            interval=1,
            startup_delay=False,
            worker_id=name_of_worker(),
            verbosity=0,
        )


def name_of_worker() -> str:
    """What an order says of who has taken it: with workers on many machines, one wants to find the process."""
    return f"{socket.gethostname()}-{os.getpid()}"


def keep_looking_for_lost_work() -> None:
    """Beside the work, which may take hours."""
    never = threading.Event()
    while not never.wait(RECOVERY_SECONDS):
        beat()
        close_old_connections()
        look_for_lost_work()
        connection.close()


def end_with(parent: int) -> None:
    """Ends this process once its parent has gone."""
    never = threading.Event()
    while os.getppid() == parent:
        never.wait(PARENT_SECONDS)
    # The first signal ends an idle worker, the second interrupts the work, and the third ends whatever is left.
    for seconds in (0.0, 1.0, 5.0):
        never.wait(seconds)
        os.kill(os.getpid(), signal.SIGTERM)
