"""Five folders of pictures on their way to a study, through the pages of the admin."""

from pathlib import Path

import pytest
from playwright.sync_api import Route

from tests.image_datasets.drawn_files import written_zip
from tests.image_datasets.made_imports import FIVE, five_files
from tests.site import Site

from .conftest import Visit
from .researcher import sign_in


@pytest.mark.usefixtures("researcher_account")
def test_five_folders_become_a_study(visit: Visit, site: Site, tmp_path: Path) -> None:
    archive = written_zip(tmp_path / "insects.zip", five_files(24))
    visitor = visit()
    page = visitor.page
    sign_in(visitor)
    visitor.open("/admin/datasets/import/add/")
    page.fill("#id_name", "Insects")
    page.set_input_files("input[type=file]", archive)
    page.click("[name=_save]")
    page.wait_for_selector("[data-state-url]")

    # The page follows the worker, and asks when everything is measured.
    site.python("manage.py", "work", "--once")
    page.wait_for_selector("#extractor-brought")
    assert "cicada_x" in visitor.text(".measure-fields")
    page.click("text=Make the data set")
    page.wait_for_selector("[data-state='waiting'], [data-state='running'], [data-state='done']")
    site.python("manage.py", "work", "--once")
    page.wait_for_selector("text=View the data set")

    page.click("text=View the data set")
    page.wait_for_selector(".confusion")
    assert page.locator(".confusion tbody tr").count() == len(FIVE)
    assert page.locator(".legend svg").count() == len(FIVE)
    page.click("text=Create a study with it")
    page.fill("#id_title", "Five insects")
    page.fill("#id_slug", "five-insects")
    page.fill("#id_consent", "You will learn to tell five insects apart.")
    page.fill("#id_evaluation_size", "20")
    page.click("[name=_continue]")
    page.wait_for_selector(".messagelist .success")
    assert "Insects (version 1)" in visitor.text("#id_dataset option:checked, .field-dataset")


@pytest.mark.chromium
@pytest.mark.usefixtures("researcher_account")
def test_a_sign_in_that_has_ended_is_noticed_before_the_upload(
    visit: Visit, tmp_path: Path
) -> None:
    archive = written_zip(tmp_path / "insects.zip", five_files(24))
    visitor = visit()
    page = visitor.page
    sign_in(visitor)
    visitor.open("/admin/datasets/import/add/")
    page.fill("#id_name", "Kept insects")
    page.set_input_files("input[type=file]", archive)
    visitor.context.clear_cookies()
    page.click("[name=_save]")
    page.wait_for_selector("[data-sign-in]:visible")
    assert not [r for r in visitor.requests if r.method == "POST" and r.url == page.url]

    # The form is still filled in, and signing in elsewhere is enough.
    visitor.page = visitor.context.new_page()
    sign_in(visitor)
    visitor.page = page
    page.click("[name=_save]")
    page.wait_for_selector("[data-state-url]")
    assert "Kept insects" in visitor.text("#content h1")


@pytest.mark.chromium
@pytest.mark.usefixtures("researcher_account")
def test_whoever_is_signed_out_during_an_upload_keeps_the_form(
    visit: Visit, tmp_path: Path
) -> None:
    archive = written_zip(tmp_path / "insects.zip", five_files(24))
    visitor = visit()
    page = visitor.page
    sign_in(visitor)
    visitor.open("/admin/datasets/import/add/")
    page.fill("#id_name", "Kept insects")
    page.set_input_files("input[type=file]", archive)

    def sign_out(route: Route) -> None:
        if route.request.method == "POST":
            visitor.context.clear_cookies(name="sessionid")
        route.continue_()

    page.route("**/import/add/", sign_out)
    page.click("[name=_save]")
    page.wait_for_selector("[data-sign-in]:visible")
    assert page.input_value("#id_name") == "Kept insects"
