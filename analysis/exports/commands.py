"""What the commands that write files share: which versions are wanted, and where a file goes."""

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.management.base import CommandError

from studies.version_groups import POOLED, UnknownVersion

# What a file's name says about the people in it; a name given with --output has to say it too.
MARKS = {
    "-identifiable": "The file would identify the participants",
    "-everyone": "The file would include people who do not count",
    "-pooled-versions": "The file would pool versions of the settings that should not be analysed together",
}


def add_versions(parser: ArgumentParser) -> None:
    # Django's commands have a --version of their own.
    parser.add_argument(
        "--versions",
        default="",
        help="the versions of the settings: one, several separated by commas, or "
        f"“{POOLED}”, which pools them (default: the newest that may be analysed together)",
    )


@contextmanager
def versions_that_exist() -> Iterator[None]:
    try:
        yield
    except UnknownVersion as problem:
        raise CommandError(str(problem)) from problem


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
