"""The researcher's way: the first password, signing in, participants and the CSV, all under the strict policy."""

import csv
from pathlib import Path

import pytest

from tests.site import Site

from . import records
from .conftest import PHONE, Join, MakeStudy, Visit
from .researcher import NAME, PASSWORD, sign_in

MAKE_A_LINK = """
import django; django.setup()
from jedi_web.management.commands.prepare import first_password_link
print(first_password_link()[1])
"""


def test_the_first_password_link_sets_the_password_once(site: Site, visit: Visit) -> None:
    link = site.python("-c", MAKE_A_LINK).strip()
    path = link[link.index("/admin/") :]
    visitor = visit(path)
    visitor.page.fill("#id_new_password1", "12345678")
    visitor.page.fill("#id_new_password2", "12345678")
    visitor.page.click("button[type=submit]")
    assert "too common" in visitor.text(".errorlist")
    visitor.page.fill("#id_new_password1", PASSWORD)
    visitor.page.fill("#id_new_password2", PASSWORD)
    visitor.page.click("button[type=submit]")
    visitor.page.wait_for_selector("#content")
    assert "Your studies" in visitor.text("#content")

    stranger = visit(path)
    assert "no longer works" in stranger.text("h1")


@pytest.mark.chromium
@pytest.mark.usefixtures("researcher_account")
def test_a_researcher_sees_a_participant_and_downloads_the_gain(
    site: Site, visit: Visit, join: Join, study: MakeStudy, tmp_path: Path
) -> None:
    slug = study(title="A study to look at", owner=NAME)
    worker = join("done", slug)
    (code,) = records.participant(site, worker.token, "code")
    visitor = visit()
    sign_in(visitor)

    visitor.page.click("#content a[href='/admin/studies/study/']:text-is('Studies')")
    row = visitor.page.locator("#result_list tr", has_text="A study to look at")
    row.get_by_text("Downloads").click()
    with visitor.page.expect_download() as download:
        visitor.page.locator("#downloads tr", has_text="Teaching gain").get_by_text("CSV").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert file.name == f"{slug}-teaching-gain.csv"
    (line,) = csv.DictReader(file.read_text().splitlines())
    assert line == records.gain_row(site, slug, worker.token)
    assert line["participant"] == code

    visitor.page.locator(".study-menu").get_by_text("Participants").click()
    person = visitor.page.locator("#result_list tr", has_text=code)
    assert "done" in person.inner_text()
    person.get_by_role("link", name=code).click()
    visitor.page.wait_for_load_state()
    history = visitor.text("#content")
    assert code in history
    images = visitor.page.locator("#content img")
    assert images.count() >= 12
    # Further down they load when they are scrolled to.
    images.last.scroll_into_view_if_needed()
    assert images.last.evaluate("image => image.decode().then(() => image.naturalWidth > 0)")


@pytest.mark.usefixtures("researcher_account")
def test_a_table_that_is_too_wide_says_on_which_side_there_is_more(
    site: Site, visit: Visit, join: Join, study: MakeStudy
) -> None:
    worker = join("teaching", study(arms="jedi", owner=NAME), answers=4)
    (key,) = records.participant(site, worker.token, "id")
    phone, desktop = visit(**PHONE), visit()
    for visitor in (phone, desktop):
        sign_in(visitor)
        visitor.open(f"/admin/studies/participant/{key}/why/5/")
    table = phone.page.locator(".wide").first
    phone.page.wait_for_selector(".wide.is-cut.has-more-right:not(.has-more-left)")
    table.evaluate("box => { box.scrollLeft = box.scrollWidth; }")
    phone.page.wait_for_selector(".wide.is-cut.has-more-left:not(.has-more-right)")
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert desktop.page.locator(".wide").count() > 0
    assert desktop.page.locator(".is-cut").count() == 0


@pytest.mark.usefixtures("researcher_account")
def test_every_page_of_the_admin_keeps_to_the_policy(
    visit: Visit, join: Join, study: MakeStudy
) -> None:
    join("done", study(title="A study with results", owner=NAME))
    visitor = visit()
    sign_in(visitor)
    links = visitor.page.locator("#content a[href^='/admin/']").evaluate_all(
        "links => links.map((link) => link.getAttribute('href'))"
    )
    lists = sorted({link for link in links if link.count("/") == 4})
    assert "/admin/studies/study/" in lists
    visitor.open("/admin/studies/study/")
    visitor.page.get_by_role("link", name="A study with results").click()
    visitor.page.wait_for_selector("#study_form")
    menu = visitor.page.locator(".study-menu a").evaluate_all(
        "links => links.map((link) => link.getAttribute('href'))"
    )
    assert len(menu) > 10
    for page in [*lists, "/admin/studies/study/add/", *menu]:
        visitor.open(page)
        assert visitor.page.locator("#content h1").count() == 1


@pytest.mark.usefixtures("researcher_account")
def test_a_study_that_cannot_be_filled_is_refused_with_the_reason(
    visit: Visit, study: MakeStudy
) -> None:
    slug = study(title="Too few images", owner=NAME)
    visitor = visit()
    sign_in(visitor)
    visitor.open("/admin/studies/study/")
    visitor.page.get_by_role("link", name="Too few images").click()
    visitor.page.fill("#id_evaluation_size", "100")
    visitor.page.click("[name=_continue]")
    visitor.page.wait_for_selector(".errornote")
    assert "20" in visitor.text(".field-evaluation_size .errorlist")
    visitor.page.fill("#id_evaluation_size", "10")
    visitor.page.click("[name=_continue]")
    visitor.page.wait_for_selector(".messagelist .success")
    assert slug in visitor.text(".field-link")
