"""Reports of experiments on a phone: every table shows numbers, and scrolls within its own box."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from research.report import Data, Report, ReportTable, Section, write

from .conftest import PHONE

pytestmark = pytest.mark.chromium

NUMBERS = ["0.702 [0.682, 0.725]"] * 4
ROWS = [["attention: compares by the features that have mattered", *NUMBERS]] * 3


@pytest.fixture
def report(tmp_path: Path) -> Path:
    table = ReportTable(
        "Wide", ["", "a", "b", "c", "d"], ROWS, "Wider.", Data("wide", ["a"], [[1]])
    )
    return write(Report("Wide", [Section("Tables", [], [table])], {"a": 1}), tmp_path)


def test_a_wide_table_shows_numbers_on_a_phone_and_scrolls_alone(
    browser: Browser, report: Path
) -> None:
    page = browser.new_page(**PHONE)
    page.goto(report.as_uri())
    width = page.evaluate("innerWidth")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    number = page.locator("tbody td").first.bounding_box()
    assert number and number["x"] + number["width"] <= width
    box = page.locator(".scroll")
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    # The names of rows stay where they are.
    before = page.locator("tbody th").first.bounding_box()
    box.evaluate("box => { box.scrollLeft = 150 }")
    assert page.locator("tbody th").first.bounding_box() == before
    page.close()
