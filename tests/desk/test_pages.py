"""The table of pages: whatever is about a page follows from its row, also for one that nobody knows yet."""

import sys
from importlib.util import find_spec, module_from_spec

import pytest

from desk import pages
from desk.page import Page, study_page
from tests.builders import make_study
from tests.people import study_address, text_of

pytestmark = pytest.mark.django_db

MARKED = 'href="{}" aria-current="page">{}</a>'


def weather(request, study):
    return study_page(request, study, "admin/desk/base.html", "Weather", {})


def forget(request, study):
    return weather(request, study)


MADE_UP = (
    Page("weather", "weather/", weather, title="Weather", is_often_opened=True),
    Page("forget_weather", "weather/forget/", forget, edits=True, posts=True),
)


@pytest.fixture
def with_made_up_page(monkeypatch, settings):
    """The site as it would be with one more row in the table."""
    monkeypatch.setattr(pages, "PAGES", (*pages.PAGES, *MADE_UP))
    addresses = find_spec(settings.ROOT_URLCONF)
    fresh = module_from_spec(addresses)
    addresses.loader.exec_module(fresh)
    monkeypatch.setitem(sys.modules, "addresses_with_made_up_page", fresh)
    settings.ROOT_URLCONF = "addresses_with_made_up_page"


@pytest.fixture
def study():
    return make_study(title="Moths")


@pytest.mark.usefixtures("with_made_up_page")
def test_a_page_that_is_one_row_is_opened_through_the_menu(researcher, study):
    address = study_address(study, "weather/")
    setup = text_of(researcher, study_address(study, "change/"))
    assert f'<li><a href="{address}">Weather</a></li>' in setup
    page = text_of(researcher, address)
    assert "<h1>Weather: Moths</h1>" in page
    assert MARKED.format(address, "Weather") in page


@pytest.mark.usefixtures("with_made_up_page")
def test_a_page_that_is_one_row_is_in_the_lists_of_studies(researcher, study):
    address = study_address(study, "weather/")
    assert f'<a href="{address}" aria-label="Weather: Moths">' in home(researcher)
    listed = text_of(researcher, "/admin/studies/study/")
    assert f'<a href="{address}">Weather</a>' in listed


@pytest.mark.usefixtures("with_made_up_page")
def test_a_page_that_writes_refuses_to_be_only_looked_at(researcher, study):
    address = study_address(study, "weather/forget/")
    assert researcher.get(address).status_code == 405
    assert researcher.post(address).status_code == 200


def home(researcher) -> str:
    return text_of(researcher, "/admin/")


def test_the_menu_has_the_pages_in_the_order_of_the_table(researcher, study):
    page = text_of(researcher, study_address(study, "change/"))
    menu = page[page.index('class="study-menu"') : page.index('class="state ')]
    titles = [row.title for row in pages.PAGES if row.title]
    places = [menu.index(f">{title}</a>") for title in titles]
    assert places == sorted(places)
    assert titles[:2] == ["Set-up", "Preview"]
    assert titles.index("Participants") < titles.index("Results")


@pytest.mark.parametrize(
    "row", [row for row in pages.PAGES if row.title], ids=lambda row: row.title
)
def test_every_page_of_the_menu_marks_itself_there(researcher, study, row):
    address = row.address(study)
    assert MARKED.format(address, row.title) in text_of(researcher, address)
