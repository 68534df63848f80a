"""A backup compared with this site."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from jedi_web.backup import BadBackup, differences


class Command(BaseCommand):
    help = "Checks every hash of the backup FILE, and compares it with the rows and files of this site."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="what `manage.py backup` wrote")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            found = {heading: names for heading, names in differences(file).items() if names}
        except (BadBackup, OSError) as error:
            raise CommandError(str(error)) from error
        for heading, names in found.items():
            self.stdout.write(f"{heading}: {', '.join(names[:20])}")
        if found:
            raise CommandError("The backup and this site are not the same.")
        self.stdout.write(f"{file} is whole, and this site holds the same rows and files.")
