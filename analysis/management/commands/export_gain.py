"""Writes the teaching gain of a study as CSV."""

from collections.abc import Iterator
from typing import Any

from analysis.exports.files import Selection, gain_csv, gain_name
from analysis.management.export_command import ExportCommand


class Command(ExportCommand):
    help = "Writes one CSV row per participant of a study, with the teaching gain."

    def file(self, wanted: Selection, options: dict[str, Any]) -> tuple[str, Iterator[bytes]]:
        return gain_name(wanted), (line.encode() for line in gain_csv(wanted))
