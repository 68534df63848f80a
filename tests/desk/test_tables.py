"""The one fragment that draws tables."""

import re

from django.template.loader import render_to_string

from analysis.charts.tables import Column, Table, number_columns, row_names


def drawn(table: Table) -> str:
    """As the browser gets it, without the space between the tags."""
    text = render_to_string("admin/desk/base/_table.html", {"table": table})
    return re.sub(r"\s+(?=[<>])|(?<=>)\s+", "", re.sub(r"\s+", " ", text))


def test_every_cell_is_drawn_as_its_column_says():
    columns = (
        row_names("Teacher"),
        *number_columns("n", "gain", strong=["gain"]),
        Column("When", cell_class="moment"),
        Column("By"),
    )
    page = drawn(Table("Sums & more", columns, [["JEDI", 3, "+1", "now", "<Ada>"]], is_tall=True))
    assert '<div class="wide tall" tabindex="0" role="region" aria-label="Sums &amp; more">' in page
    assert (
        '<tr><th scope="col">Teacher</th><th scope="col" class="number">n</th>'
        '<th scope="col" class="number">gain</th><th scope="col">When</th><th scope="col">By</th></tr>'
    ) in page
    assert (
        '<tr><th scope="row">JEDI</th><td class="number">3</td><td class="number"><b>+1</b></td>'
        '<td class="moment">now</td><td>&lt;Ada&gt;</td></tr>'
    ) in page


def test_groups_are_drawn_over_their_columns():
    page = drawn(Table("Gains", [row_names("Teacher"), *number_columns("a", "b", group="Gain")]))
    assert (
        '<tr><th scope="col" rowspan="2">Teacher</th><th scope="colgroup" colspan="2">Gain</th></tr>'
        '<tr><th scope="col" class="number">a</th><th scope="col" class="number">b</th></tr>'
    ) in page
