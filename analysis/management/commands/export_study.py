"""Writes a table of a study, or the whole study as one zip."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError

from analysis.exports.files import (
    Selection,
    archive_chunks,
    archive_name,
    table_chunks,
    table_name,
)
from analysis.exports.formats import FORMATS
from analysis.exports.tables import TABLES
from analysis.management.export_command import ExportCommand
from studies.models import Study


class Command(ExportCommand):
    help = "Writes one table of a study as CSV or JSON lines, or everything as one zip with its codebook."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--table", choices=TABLES, help="one table")
        what.add_argument(
            "--zip", action="store_true", help="all tables, the codebook and a datasheet"
        )
        parser.add_argument(
            "--format", choices=FORMATS, default="csv", help="the format of the table"
        )
        parser.add_argument(
            "--identifiable", action="store_true", help="include the recruitment platform's ids"
        )
        parser.add_argument(
            "--everyone",
            action="store_true",
            help="include pilots, previews, rehearsals and excluded people",
        )

    def selection(self, study: Study, options: dict[str, Any]) -> Selection:
        return Selection(study, options["identifiable"], options["everyone"], options["versions"])

    def file(self, wanted: Selection, options: dict[str, Any]) -> tuple[str, Iterator[bytes]]:
        if not options["zip"]:
            table, form = options["table"], options["format"]
            return table_name(wanted, table, form), table_chunks(wanted, table, form)
        name = archive_name(wanted)
        if options["output"] is None:
            raise CommandError(f"A zip cannot be written to the screen. Add --output {name}.")
        return name, archive_chunks(wanted)
