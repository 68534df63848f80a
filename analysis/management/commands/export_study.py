"""Writes a table of a study, or the whole study as one zip."""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.exports.archive import archive_chunks
from analysis.exports.files import Selection, archive_name, table_chunks, table_name
from analysis.exports.formats import FORMATS
from analysis.exports.tables import TABLES
from studies import audit
from studies.commands import study_named
from studies.models import AuditEntry

# What a file's name says about the people in it; a name given with --output has to say it too.
MARKS = {
    "-identifiable": "The file would identify the participants",
    "-everyone": "The file would include people who do not count",
}


class Command(BaseCommand):
    help = "Writes one table of a study as CSV or JSON lines, or everything as one zip with its codebook."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the study's link name")
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--table", choices=TABLES, help="one table")
        what.add_argument(
            "--zip", action="store_true", help="all tables, the codebook and a datasheet"
        )
        parser.add_argument(
            "--format", choices=FORMATS, default="csv", help="the format of the table"
        )
        parser.add_argument(
            "--output",
            type=Path,
            help="a file, or a folder in which the file gets its usual name (default: standard output)",
        )
        parser.add_argument(
            "--identifiable", action="store_true", help="include the recruitment platform's ids"
        )
        parser.add_argument(
            "--everyone",
            action="store_true",
            help="include pilots, previews, rehearsals and excluded people",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study = study_named(options["study"])
        wanted = Selection(study, options["identifiable"], options["everyone"])
        if options["zip"]:
            name, chunks = archive_name(wanted), archive_chunks(wanted)
        else:
            kind = (options["table"], options["format"])
            name, chunks = table_name(wanted, *kind), table_chunks(wanted, *kind)
        if options["zip"] and options["output"] is None:
            raise CommandError(f"A zip cannot be written to the screen. Add --output {name}.")
        place = options["output"] and place_of(options["output"], name)
        audit.record(AuditEntry.Action.EXPORT, f"Wrote {name}.", study=study)
        if place:
            write_whole(place, chunks)
        else:
            self.print(chunks)

    def print(self, chunks: Iterator[bytes]) -> None:
        # A line may be split between two chunks, but a character never is.
        for chunk in chunks:
            self.stdout.write(chunk.decode(), ending="")


def place_of(output: Path, name: str) -> Path:
    """Where the file goes. Its name says what is special about the people in it, even a name of your own choice."""
    place = output / name if output.is_dir() else output
    for mark, reason in MARKS.items():
        if mark in name and mark not in place.name:
            raise CommandError(f"{reason}, and its name must say so: --output {name}")
    if not place.parent.is_dir():
        raise CommandError(f"There is no folder {place.parent}. Make it first.")
    return place


def write_whole(place: Path, chunks: Iterator[bytes]) -> None:
    """Writes beside the place and moves there: a truncated file never looks like a complete one."""
    draft = place.with_name(f"{place.name}.part")
    try:
        with draft.open("wb") as file:
            file.writelines(chunks)
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)
