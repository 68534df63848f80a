"""The tags and the one fragment by which pages of the desk name style sheets and draw tables."""

import re

from django.template import Context, Template
from django.template.loader import render_to_string

from analysis.charts.tables import Column, Table, number_columns, row_names


def drawn(table: Table) -> str:
    return without_space(render_to_string("admin/desk/_table.html", {"table": table}))


def without_space(text: str) -> str:
    """As the browser sees it: space between tags is left out."""
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


def test_a_template_may_write_the_rows_itself():
    source = """
        {% load desk %}
        {% table "Who" "Name" "Since|number" "|bar-cell" %}<tr><td>{{ name }}</td></tr>{% endtable %}
    """
    page = without_space(Template(source).render(Context({"name": "<Ada>"})))
    assert '<div class="wide" tabindex="0" role="region" aria-label="Who">' in page
    assert (
        '<tr><th scope="col">Name</th><th scope="col" class="number">Since</th>'
        '<th scope="col" class="bar-cell" aria-hidden="true"></th></tr>'
    ) in page
    assert "<tbody><tr><td>&lt;Ada&gt;</td></tr></tbody>" in page


def test_style_sheets_are_linked_by_their_names_in_order():
    source = "{% load desk %}{% stylesheets %} tokens\n desk/why {% endstylesheets %}"
    links = re.findall(
        r'<link rel="stylesheet" href="([^"]+)">', Template(source).render(Context())
    )
    assert [link.split("css/")[1].split(".")[0] for link in links] == ["tokens", "desk/why"]
