"""Writes the teaching gain of a study as CSV."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from analysis.exports.commands import add_versions, place_of, versions_that_exist, write_whole
from analysis.exports.files import Selection, gain_csv, gain_name
from studies import audit
from studies.commands import study_named
from studies.models import AuditEntry


class Command(BaseCommand):
    help = "Writes one CSV row per participant of a study, with the teaching gain."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the study's link name")
        parser.add_argument(
            "--output",
            type=Path,
            help="a file, or a folder in which the file gets its usual name (default: standard output)",
        )
        add_versions(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = Selection(study_named(options["study"]), version=options["versions"])
        with versions_that_exist():
            name = gain_name(wanted)
        place = options["output"] and place_of(options["output"], name)
        audit.record(AuditEntry.Action.EXPORT, f"Wrote {name}.", study=wanted.study)
        if place:
            write_whole(place, (line.encode() for line in gain_csv(wanted)))
        else:
            for line in gain_csv(wanted):
                self.stdout.write(line, ending="")
