"""Writes the teaching gain of a study as CSV."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from analysis.exports.files import gain_csv, gain_name
from studies import audit
from studies.commands import study_named
from studies.models import AuditEntry


class Command(BaseCommand):
    help = "Writes one CSV row per participant of a study, with the teaching gain."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the study's link name")
        parser.add_argument(
            "--output", type=Path, help="the file to write (default: standard output)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study = study_named(options["study"])
        audit.record(AuditEntry.Action.EXPORT, f"Wrote {gain_name(study)}.", study=study)
        if options["output"] is None:
            for line in gain_csv(study):
                self.stdout.write(line, ending="")
        else:
            with options["output"].open("w", encoding="utf-8", newline="") as file:
                file.writelines(gain_csv(study))
