"""One table as one file: its name and its bytes, made while they are sent."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from studies.models import Study
from studies.version_groups import VersionChoice, choose_versions

from .formats import FORMATS, csv_lines
from .people_columns import gain_columns
from .snapshot import snapshot
from .tables import TABLES, StudySnapshot, participant_rows

# Characters that are sent at once: a piece for every row would cost more than the row.
PIECE = 64 * 1024


@dataclass(frozen=True)
class Selection:
    """What a researcher wants from a study."""

    study: Study
    identifiable: bool = False
    everyone: bool = False
    """Also pilots, previews, rehearsals and excluded people."""
    version: str = ""
    """The versions of the settings, as an address or a command names them; empty for the newest that may be analysed
    together."""

    @cached_property
    def versions(self) -> VersionChoice:
        """Chosen once, so that the name of a file and its rows agree."""
        people = self.study.participants.all()
        return choose_versions(self.study, people if self.everyone else people.live(), self.version)

    def mark(self, has_identifiable: bool) -> str:
        """What the name of a file says about the people in it."""
        everyone = "-everyone" if self.everyone else ""
        identifiable = "-identifiable" if self.identifiable and has_identifiable else ""
        return everyone + identifiable + self.versions.mark


def table_name(wanted: Selection, table: str, extension: str) -> str:
    return f"{wanted.study.slug}-{inner_name(wanted, table, extension)}"


def inner_name(wanted: Selection, table: str, extension: str) -> str:
    """The name in a zip, which names the study itself."""
    names_people = any(column.identifiable for column in TABLES[table].columns_of(wanted.study))
    return f"{table}{wanted.mark(names_people)}.{extension}"


def archive_name(wanted: Selection) -> str:
    return f"{wanted.study.slug}-export{wanted.mark(True)}.zip"


def table_chunks(wanted: Selection, table: str, extension: str) -> Iterator[bytes]:
    """One table, in one format, of one moment."""
    with snapshot() as using:
        source = source_of(wanted, using)
        columns = TABLES[table].columns(source.study, identifiable=wanted.identifiable)
        yield from pieces(FORMATS[extension].lines(columns, TABLES[table].rows_of(source)))


def source_of(wanted: Selection, using: str) -> StudySnapshot:
    """The study as the snapshot has it."""
    studies = Study.objects.using(using).select_related("dataset").defer("dataset__insight")
    study = studies.prefetch_related("versions").get(pk=wanted.study.pk)
    return StudySnapshot(study, using, wanted.versions.numbers, wanted.everyone)


def pieces(lines: Iterable[str]) -> Iterator[bytes]:
    """Lines, gathered into pieces that are worth sending."""
    waiting: list[str] = []
    size = 0
    for line in lines:
        waiting.append(line)
        size += len(line)
        if size >= PIECE:
            yield "".join(waiting).encode()
            waiting, size = [], 0
    if waiting:
        yield "".join(waiting).encode()


def gain_name(wanted: Selection) -> str:
    return f"{wanted.study.slug}-teaching-gain{wanted.mark(False)}.csv"


def gain_csv(wanted: Selection) -> Iterator[str]:
    """The teaching gain of a study, one line per participant in the order of joining."""
    with snapshot() as using:
        source = source_of(wanted, using)
        yield from csv_lines(gain_columns(source.study), participant_rows(source))
