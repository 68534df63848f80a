"""The background worker: takes long work from the database, and takes up what a killed worker left."""

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand

from datasets.services import resume_orphans


class Command(BaseCommand):
    help = "Runs imports and other long work in the background, until it is stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--once", action="store_true", help="end when there is nothing left to do"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        while True:
            resume_orphans()
            call_command("db_worker", batch=True, interval=1, startup_delay=False, verbosity=0)
            if options["once"]:
                return
            time.sleep(1)
