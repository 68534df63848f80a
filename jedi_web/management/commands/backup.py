"""The whole site into one file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from jedi_web.backup import BadBackup, back_up


class Command(BaseCommand):
    help = "Writes all rows, images and pools of one moment into a file. Participants may go on answering."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "path", type=Path, help="a new file, or a folder for files named by date and time"
        )
        parser.add_argument(
            "--keep",
            type=int,
            metavar="N",
            help="in a folder: delete all backups except the N newest",
        )

    def handle(self, *args: Any, path: Path, keep: int | None, **options: Any) -> None:
        if keep is not None and (keep < 1 or not path.is_dir()):
            raise CommandError("--keep needs a folder and a number of backups, 1 or more.")
        file = path / f"jedi-{timezone.now():%Y%m%dT%H%M%SZ}.zip" if path.is_dir() else path
        if file.exists():
            raise CommandError(f"{file} exists. Name a new file, or remove it first.")
        try:
            manifest = back_up(file)
            if keep:
                for old in sorted(path.glob("jedi-*Z.zip"))[:-keep]:
                    old.unlink()
        except (BadBackup, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{file}: {sum(manifest.rows.values()):,} rows of {len(manifest.rows)} tables and "
            f"{len(manifest.files):,} files. It holds personal data and the secret key: keep it as safe as the server."
        )
