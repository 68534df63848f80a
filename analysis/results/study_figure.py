"""One figure of a study: what is drawn, what is said below it, whom it is about, and the table behind it."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis import stats
from analysis.charts.captions import with_caption, with_watermark
from analysis.charts.figures import distributions
from analysis.charts.shapes import Drawing
from analysis.charts.svg import svg, svg_file
from analysis.exports.formats import csv_text
from studies.models import Study
from studies.version_groups import VersionChoice
from teaching.teachers import teacher_title

from .numbers import Numbers
from .sample import FILE_MARKS, WATERMARKS, missing_words, sample_words

Cell = str | int | float | None


@dataclass(frozen=True)
class StudyFigure:
    key: str
    caption: str
    drawing: Drawing
    header: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    sample: str
    """Whom it is about. It is part of the caption on the page and in the files, and a column of the table."""
    purpose: str
    """What the sessions of these people were for: pictures, tables and names of files tell bots from people."""

    @property
    def title(self) -> str:
        return self.picture.title

    @property
    def picture(self) -> Drawing:
        """The drawing, with words across it if it is not about people who count."""
        words = WATERMARKS.get(self.purpose)
        return with_watermark(self.drawing, words) if words else self.drawing

    @property
    def has_people(self) -> bool:
        """Whether its table has a row for each participant."""
        return "participant" in self.header

    def file_name(self, study: Study, versions: VersionChoice, form: str) -> str:
        mark = FILE_MARKS.get(self.purpose, "")
        return f"{study.slug}-{self.key}{mark}{versions.mark}.{form}"

    def svg(self) -> str:
        return svg(self.picture)

    def file(self, form: str) -> bytes:
        if form == "csv":
            # Columns, because many programs do not read comments in a CSV.
            rows = ([*row, self.purpose, self.sample] for row in self.rows)
            return csv_text((*self.header, "purpose", "sample"), rows).encode()
        drawing = with_caption(self.picture, f"{self.title}. {self.caption} {self.sample}")
        if form == "svg":
            return svg_file(drawing).encode()
        # ReportLab and the font are loaded when somebody wants a PDF, and not before.
        from analysis.charts.pdf import pdf

        return pdf(drawing)


FORMS = {
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "csv": "text/csv; charset=utf-8",
}


def sample_of(numbers: Numbers, *measures: str) -> str:
    """Whom a figure of these measures is about."""
    return " ".join(filter(None, [sample_words(numbers), missing_words(numbers, *measures)]))


def arm_values(numbers: Numbers, measure: str) -> list[distributions.ArmValues]:
    return [
        distributions.ArmValues(teacher_title(arm), values, stats.summarise(values))
        for arm in numbers.arms
        for values in [numbers.values(arm, measure)]
    ]


def person_table(numbers: Numbers, *measures: str) -> tuple[tuple[str, ...], list[list[Cell]]]:
    """The header and the rows of what every participant has of some measures."""
    rows = [
        [person.code, person.arm, person.version, *(getattr(person, name) for name in measures)]
        for person in numbers.people
    ]
    return ("participant", "arm", "study_version", *measures), rows
