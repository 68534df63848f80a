"""Every door of the entry page, with the way on that it offers."""

from html import escape
from urllib.parse import parse_qs, urlencode

import pytest
from playwright.sync_api import Route

from tests.site import Site

from . import records
from .conftest import TURK, Join, MakeStudy, Visit

PROLIFIC = {"PROLIFIC_PID": "p", "STUDY_ID": "s", "SESSION_ID": "x"}


def door_of(visitor) -> str:
    return visitor.page.get_attribute('[data-screen="entry"]', "data-door")


@pytest.mark.parametrize(
    ("state", "words"),
    [("draft", "not opened yet"), ("paused", "short break"), ("closed", "has ended")],
)
def test_a_study_that_is_not_open_says_so_and_offers_no_button(
    state: str, words: str, visit: Visit, study: MakeStudy
) -> None:
    visitor = visit(f"/s/{study(state=state)}/")
    assert door_of(visitor) == state
    assert words in visitor.text("[data-screen]")
    assert visitor.page.locator("button, a.button").count() == 0


def test_a_study_without_a_free_place_says_so(visit: Visit, join: Join, study: MakeStudy) -> None:
    slug = study(max_participants=1, title="Room for one")
    join("memory", slug)
    visitor = visit(f"/s/{slug}/")
    assert door_of(visitor) == "full"
    assert "All places" in visitor.text("[data-screen]")


def test_a_preview_of_mechanical_turk_starts_nothing(
    site: Site, visit: Visit, study: MakeStudy
) -> None:
    slug = study(title="A preview", minutes=7)
    visitor = visit(f"/s/{slug}/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h")
    assert door_of(visitor) == "preview"
    assert "Accept the task" in visitor.text("[data-screen]")
    assert "about 7 minutes" in visitor.text("[data-screen]")
    assert visitor.page.locator("button").count() == 0
    assert site.participants(slug, "id") == []


@pytest.mark.chromium
def test_a_task_of_mechanical_turk_is_handed_in_from_inside_its_frame(
    visit: Visit, join: Join, study: MakeStudy
) -> None:
    ids = {"workerId": "w", "assignmentId": "a", "hitId": "h", "turkSubmitTo": TURK}
    slug = study(title="In a frame")
    join("done", slug, **ids)
    # The tests' own server is on this machine, as Mechanical Turk's studies are not.
    visitor = visit(permissions=["local-network-access"])

    def serve(route: Route) -> None:
        address = f"{visitor.base_url}/s/{slug}/?{urlencode(ids)}"
        body = f'<!doctype html><title>Turk</title><iframe title="Task" src="{escape(address)}"></iframe>'
        route.fulfill(content_type="text/html", body=body)

    visitor.page.route(f"{TURK}/**", serve)
    with visitor.expecting(f"request to another host: {TURK}"):
        visitor.page.goto(f"{TURK}/task")
        frame = visitor.page.frame_locator("iframe")
        frame.locator("#entry-last-page").click()
        # The page before has a reference too.
        submit = frame.locator("#submit-task")
        submit.wait_for()
        code = (frame.locator("#reference").text_content() or "").split(": ")[1]
        with visitor.page.expect_request(f"{TURK}/mturk/externalSubmit") as handed_in:
            submit.click()
    assert handed_in.value.method == "POST"
    assert parse_qs(handed_in.value.post_data) == {"assignmentId": ["a"], "participant": [code]}


def test_the_first_visit_starts_and_the_second_resumes(visit: Visit, study: MakeStudy) -> None:
    link = f"/s/{study()}/?workerId=w&assignmentId=a&hitId=h"
    visitor = visit(link)
    assert door_of(visitor) == "start"
    token = visitor.enter()
    elsewhere = visit(link)
    assert door_of(elsewhere) == "resume"
    elsewhere.page.click("#entry-resume")
    elsewhere.see("consent")
    assert elsewhere.token == token


def test_who_is_done_sees_the_last_page_again(visit: Visit, join: Join, study: MakeStudy) -> None:
    join("done", study(), **PROLIFIC | {"PROLIFIC_PID": "finished"})
    visitor = visit(f"/s/{study()}/?PROLIFIC_PID=finished")
    assert door_of(visitor) == "done"
    visitor.page.click("#entry-last-page")
    visitor.see("done")
    assert "once the study has closed" in visitor.text("#score-follows")


def test_who_declined_is_told_that_nothing_more_is_needed(
    visit: Visit, join: Join, study: MakeStudy
) -> None:
    worker = join("consent", study(), **PROLIFIC | {"PROLIFIC_PID": "unwilling"})
    worker.answer(position=1, agree=False)
    visitor = visit(f"/s/{study()}/?PROLIFIC_PID=unwilling")
    assert door_of(visitor) == "declined"
    visitor.page.click("#entry-last-page")
    visitor.see("declined")


def test_who_was_away_for_too_long_is_told_so(
    site: Site, visit: Visit, join: Join, study: MakeStudy
) -> None:
    worker = join("memory", study(), **PROLIFIC | {"PROLIFIC_PID": "late"})
    records.expire_session(site, worker.token)
    visitor = visit(f"/s/{study()}/?PROLIFIC_PID=late")
    assert door_of(visitor) == "expired"
    assert "too long" in visitor.text("[data-screen]")
    assert visitor.page.locator("button").count() == 0
