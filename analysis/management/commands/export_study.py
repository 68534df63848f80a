"""Writes a table of a study, or the whole study as one zip."""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.exports.archive import archive_chunks
from analysis.exports.commands import add_versions, place_of, versions_that_exist, write_whole
from analysis.exports.files import Selection, archive_name, table_chunks, table_name
from analysis.exports.formats import FORMATS
from analysis.exports.tables import TABLES
from studies import audit
from studies.commands import study_named
from studies.models import AuditEntry


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
        add_versions(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        study = study_named(options["study"])
        about = (options["identifiable"], options["everyone"], options["versions"])
        with versions_that_exist():
            name, chunks = self.file(Selection(study, *about), options)
        if options["zip"] and options["output"] is None:
            raise CommandError(f"A zip cannot be written to the screen. Add --output {name}.")
        place = options["output"] and place_of(options["output"], name)
        audit.record(AuditEntry.Action.EXPORT, f"Wrote {name}.", study=study)
        if place:
            write_whole(place, chunks)
        else:
            self.print(chunks)

    def file(self, wanted: Selection, options: dict[str, Any]) -> tuple[str, Iterator[bytes]]:
        """Its name and its content."""
        if options["zip"]:
            return archive_name(wanted), archive_chunks(wanted)
        kind = (options["table"], options["format"])
        return table_name(wanted, *kind), table_chunks(wanted, *kind)

    def print(self, chunks: Iterator[bytes]) -> None:
        # A line may be split between two chunks, but a character never is.
        for chunk in chunks:
            self.stdout.write(chunk.decode(), ending="")
