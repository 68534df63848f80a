"""Tables of plain values, which a template renders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any


@dataclass(frozen=True)
class Column:
    title: str
    css_class: str = ""
    is_strong: bool = False
    names_rows: bool = False
    """Whether its cells are row headings."""
    cell_class: str = ""
    """The class of its cells, if it differs from that of the heading."""
    group: str = ""
    """A heading shared with neighbouring columns."""

    @property
    def class_of_cells(self) -> str:
        return self.cell_class or self.css_class


def number_columns(*titles: str, strong: Sequence[str] = (), group: str = "") -> tuple[Column, ...]:
    return tuple(
        Column(title, "number", is_strong=title in strong, group=group) for title in titles
    )


def row_names(title: str) -> Column:
    return Column(title, names_rows=True)


@dataclass(frozen=True)
class Heading:
    title: str
    css_class: str = ""
    columns: int = 1
    rows: int = 1
    is_group: bool = False


@dataclass(frozen=True)
class Table:
    """`label` is the accessible name."""

    label: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]] = field(default=())
    is_tall: bool = False
    """Whether a long table scrolls by itself."""
    note: str = ""
    """A description of its sample, shown below it."""

    @property
    def head(self) -> list[list[Heading]]:
        """One row of headings, or two if columns share a group."""
        below = [Heading(column.title, column.css_class) for column in self.columns if column.group]
        return [[*self._top_headings(2 if below else 1)], *([below] if below else [])]

    def _top_headings(self, rows: int) -> Iterator[Heading]:
        for group, columns in groupby(self.columns, key=lambda column: column.group):
            if group:
                yield Heading(group, columns=len([*columns]), is_group=True)
            else:
                yield from (Heading(one.title, one.css_class, rows=rows) for one in columns)

    @property
    def body(self) -> list[list[tuple[Column, Any]]]:
        """Cells with their columns."""
        return [[*zip(self.columns, row, strict=True)] for row in self.rows]
