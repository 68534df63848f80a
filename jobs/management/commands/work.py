"""The background worker: takes long work from the database, and takes over what a dead worker left."""

import os
import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import close_old_connections, connection

from jobs.heartbeat import beat
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
        if options["while_parent_lives"]:
            parent = int(os.environ.get(PARENT_VARIABLE, os.getppid()))
            threading.Thread(target=end_with, args=[parent], daemon=True).start()
        beat()
        look_for_lost_work()
        if not options["once"]:
            threading.Thread(target=keep_looking_for_lost_work, daemon=True).start()
        call_command(
            "db_worker", batch=options["once"], interval=1, startup_delay=False, verbosity=0
        )


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
