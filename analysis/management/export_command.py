"""The base of the commands that write files: their options, where a file goes, and how it is written."""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.exports.files import Selection
from studies import audit
from studies.management import study_named
from studies.models import AuditEntry, Study
from studies.version_groups import POOLED, UnknownVersion

# A file name with one of these parts must keep it when it is given with --output.
REQUIRED_MARKS = {
    "-identifiable": "The file would identify the participants",
    "-everyone": "The file would include people who do not count",
    "-pooled-versions": "The file would pool versions of the settings that should not be analysed together",
}


class ExportCommand(BaseCommand):
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the study's link name")
        parser.add_argument(
            "--output",
            type=Path,
            help="a file, or a folder in which the file gets its usual name (default: standard output)",
        )
        # Django's commands have a --version of their own.
        parser.add_argument(
            "--versions",
            default="",
            help="the versions of the settings: one, several separated by commas, or "
            f"“{POOLED}”, which pools them (default: the newest that may be analysed together)",
        )

    def selection(self, study: Study, options: dict[str, Any]) -> Selection:
        return Selection(study, version=options["versions"])

    def file(self, wanted: Selection, options: dict[str, Any]) -> tuple[str, Iterator[bytes]]:
        """The name and the content of the file."""
        raise NotImplementedError

    def handle(self, *args: Any, **options: Any) -> None:
        study = study_named(options["study"])
        try:
            name, chunks = self.file(self.selection(study, options), options)
        except UnknownVersion as problem:
            raise CommandError(str(problem)) from problem
        path = options["output"] and path_of(options["output"], name)
        audit.record(AuditEntry.Action.EXPORT, f"Wrote {name}.", study=study)
        if path:
            write_whole(path, chunks)
            return
        # A line may be split between two chunks, but a character never is.
        for chunk in chunks:
            self.stdout.write(chunk.decode(), ending="")


def path_of(output: Path, name: str) -> Path:
    """Where the file goes. A name chosen by the user must keep the marks of special participants."""
    path = output / name if output.is_dir() else output
    for mark, reason in REQUIRED_MARKS.items():
        if mark in name and mark not in path.name:
            raise CommandError(f"{reason}, and its name must say so: --output {name}")
    if not path.parent.is_dir():
        raise CommandError(f"There is no folder {path.parent}. Make it first.")
    return path


def write_whole(path: Path, chunks: Iterator[bytes]) -> None:
    """Writes to a temporary file and renames it, so that a truncated file never looks complete."""
    draft = path.with_name(f"{path.name}.part")
    try:
        with draft.open("wb") as file:
            file.writelines(chunks)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
