"""The background worker: takes long work from the database, and takes up what a killed worker left."""

import logging
import os
import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import DatabaseError, close_old_connections, connection

from jobs.signals import recovery_due

logger = logging.getLogger(__name__)

LOOK_AROUND_SECONDS = 10


class Command(BaseCommand):
    help = "Runs imports and other long work in the background, until it is stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--once", action="store_true", help="end when there is nothing left to do"
        )
        parser.add_argument(
            "--while-parent-lives",
            action="store_true",
            help="end when the process that started this one does",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        recovery_due.send(sender=Command)
        if not options["once"]:
            parent = os.getppid() if options["while_parent_lives"] else None
            threading.Thread(target=look_around, args=[parent], daemon=True).start()
        call_command(
            "db_worker", batch=options["once"], interval=1, startup_delay=False, verbosity=0
        )


def look_around(parent: int | None) -> None:
    """Beside the work: takes up what other workers left, and ends this one when its parent has gone."""
    ended = threading.Event()
    while not ended.wait(LOOK_AROUND_SECONDS):
        try:
            close_old_connections()
            recovery_due.send(sender=Command)
        except DatabaseError:
            logger.warning("the database did not answer; the next look may be luckier")
        finally:
            connection.close()
        if parent is not None and os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)
