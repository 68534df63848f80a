"""A backup compared with this site."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from jedi_web.backup.archive import BadBackup
from jedi_web.backup.services import compare


class Command(BaseCommand):
    help = "Checks every hash of the backup FILE, and compares it with the rows and files of this site."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="what `manage.py backup` wrote")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            found = compare(file)
        except (BadBackup, OSError) as error:
            raise CommandError(str(error)) from error
        if found.is_equal:
            self.stdout.write(f"{file} is whole, and this site holds the same rows and files.")
            return
        for heading, names in (
            ("Damaged in the backup", found.damaged),
            ("Tables that differ from this site", found.differing_tables),
            ("Files that differ from this site", found.differing_files),
        ):
            if names:
                self.stdout.write(f"{heading}: {', '.join(names[:20])}")
        raise CommandError("The backup and this site are not the same.")
