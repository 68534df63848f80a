"""Tables of plain values."""

import pytest

from analysis.charts.tables import Heading, Table, number_columns, row_names


def test_columns_without_groups_have_one_row_of_headings():
    table = Table("Sums", [row_names("Teacher"), *number_columns("n")], [["JEDI", 3]])
    assert table.head == [[Heading("Teacher"), Heading("n", "number")]]


def test_columns_of_a_group_stand_under_its_heading_and_the_others_beside_both_rows():
    sample = number_columns("mean", "SD", group="Gain")
    table = Table("Gains", [row_names("Teacher"), *sample, *number_columns("n")])
    above, below = table.head
    assert [(one.title, one.columns, one.rows) for one in above] == [
        ("Teacher", 1, 2), ("Gain", 2, 1), ("n", 1, 2),
    ]  # fmt: skip
    assert [(one.title, one.is_group) for one in below] == [("mean", False), ("SD", False)]
    assert [one.is_group for one in above] == [False, True, False]


def test_a_row_with_a_cell_too_few_is_a_mistake():
    with pytest.raises(ValueError, match="shorter"):
        _ = Table("Sums", number_columns("a", "b"), [[1]]).body
