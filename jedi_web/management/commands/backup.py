"""The whole site into one file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from jedi_web.backup.archive import BadBackup
from jedi_web.backup.services import back_up


class Command(BaseCommand):
    help = "Writes all rows, images and pools of one moment into FILE. Workers may go on answering."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the backup; it must not exist yet")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        if file.exists():
            raise CommandError(f"{file} exists. Name a new file, or remove it first.")
        try:
            manifest = back_up(file)
        except (BadBackup, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{file}: {sum(manifest.rows.values()):,} rows of {len(manifest.rows)} tables and "
            f"{len(manifest.hashes) - len(manifest.rows):,} files. It holds personal data and the secret key: "
            "keep it as safe as the server."
        )
