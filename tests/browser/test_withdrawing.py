"""Leaving in the middle: a quiet link, a question that tells what happens, and a last page."""

from tests.site import Site

from . import records
from .conftest import PHONE, AtQuestion, Join, MakeStudy, Visit
from .test_accessibility import (
    assert_axe_finds_nothing,
    assert_focus_is_in_the_screen,
    assert_it_fits_a_small_phone,
)


def test_a_worker_withdraws_and_everything_is_deleted(site: Site, at_question: AtQuestion) -> None:
    visitor = at_question("teaching")
    token = visitor.token
    visitor.page.click("#withdraw")
    assert "deleted at once" in visitor.text("#withdraw-dialog")
    assert_axe_finds_nothing(visitor)
    # The keys of the task behind the question answer nothing.
    visitor.page.keyboard.press("ArrowLeft")
    visitor.page.keyboard.press("Escape")
    visitor.page.wait_for_selector("#withdraw-dialog", state="detached")
    assert visitor.page.evaluate("document.activeElement.id") == "withdraw"
    assert records.given_labels(site, token) == {}
    visitor.page.click("#withdraw")
    visitor.page.click("#withdraw-confirm")
    visitor.see("withdrawn")
    assert "all your answers have been deleted" in visitor.text("[data-screen]")
    assert_focus_is_in_the_screen(visitor)
    assert_axe_finds_nothing(visitor)
    assert not visitor.page.is_visible("#withdraw")
    assert records.participant(site, token, "stage", "beta") == ("withdrawn", None)
    assert records.memory_rounds(site, token) == []
    assert records.teaching_steps(site, token) == []


def test_a_study_may_keep_the_answers_and_says_so_first(
    site: Site, visit: Visit, join: Join, study: MakeStudy
) -> None:
    worker = join("evaluation", study(on_withdrawal="keep"))
    steps = records.teaching_steps(site, worker.token)
    visitor = visit(f"/w/{worker.token}/", **PHONE)
    visitor.page.tap("#withdraw")
    assert "answers you have given so far are kept" in visitor.text("#withdraw-dialog")
    visitor.page.tap("#withdraw-confirm")
    visitor.see("withdrawn")
    assert_it_fits_a_small_phone(visitor)
    assert "are kept" in visitor.text("[data-screen]")
    assert records.teaching_steps(site, worker.token) == steps
