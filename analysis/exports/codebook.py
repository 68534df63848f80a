"""The codebook: every column of every table, from the registry that makes the files."""

from studies.models import Study

from .column import Column
from .formats import csv_text
from .tables import TABLES, ExportTable

HEADER = ("table", "column", "kind", "meaning", "identifiable")


def codebook_markdown(study: Study, *, identifiable: bool) -> str:
    """The codebook for people: a section for each table."""
    return "\n".join(_section(table, study, identifiable) for table in TABLES.values())


def _section(table: ExportTable, study: Study, identifiable: bool) -> str:
    lines = [f"## {table.title}: `{table.name}`", "", table.description, ""]
    lines += ["| column | kind | meaning |", "| --- | --- | --- |"]
    lines += [_line(column) for column in table.columns(study, identifiable=identifiable)]
    return "\n".join([*lines, ""])


def _line(column: Column[object]) -> str:
    meaning = f"{column.meaning} **Identifiable.**" if column.identifiable else column.meaning
    return f"| `{column.name}` | {column.kind} | {meaning} |"


def codebook_csv(study: Study, *, identifiable: bool) -> str:
    """The codebook for programs: a row for each column."""
    rows = (
        (table.name, column.name, column.kind, column.meaning, column.identifiable)
        for table in TABLES.values()
        for column in table.columns(study, identifiable=identifiable)
    )
    return csv_text(HEADER, rows)
