"""A backup into an empty place."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from jedi_web.backup import BadBackup, restore


class Command(BaseCommand):
    help = (
        "Restores the backup FILE into an empty place, SQLite or Postgres, as the environment says."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="what `manage.py backup` wrote")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            manifest = restore(file)
        except (BadBackup, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"Restored {sum(manifest.rows.values()):,} rows and {len(manifest.files):,} files as of "
            f"{manifest.created_at}. The next start migrates a backup of an earlier release."
        )
