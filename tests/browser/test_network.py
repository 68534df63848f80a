"""A bad network, a lost reply, a dead server: the page says so kindly, goes on by itself, and loses nothing."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Route

from tests.site import Site

from . import records
from .conftest import AtQuestion, Join, Visit
from .server import KillableServer, killable_server
from .visitor import Visitor

TROUBLE = r"Failed to load resource|ERR_"
COUNTS_DOWN = "() => document.getElementById('trouble-countdown').textContent.includes(' in ')"
# A page that only hopes for its own time limits waits for ever.
WITHOUT_TIME_LIMITS = """
{
  const wait = window.setTimeout;
  window.setTimeout = (callback, ms, ...rest) => (ms < 10_000 ? wait(callback, ms, ...rest) : 0);
}
"""
BUSY = {"error": {"code": "busy", "message": "Send it again.", "fields": {}}}


def lose_the_reply(route: Route) -> None:
    """The server has stored the answer, and the page never hears of it."""
    route.fetch()
    route.abort()


@contextmanager
def answering(site: Site, visitor: Visitor, choice: int, fault: str = TROUBLE) -> Iterator[None]:
    """Whatever happens to the answer on its way, the feedback comes in the end and one answer is stored."""
    position, label = visitor.position, visitor.classes()[choice - 1]
    with visitor.expecting(fault):
        visitor.page.click(f"#choice-{choice}")
        yield
        visitor.see_position("teaching-feedback", position)
        visitor.page.wait_for_selector("#trouble", state="hidden")
    assert records.given_labels(site, visitor.token) == {position: label}


def test_without_a_network_the_page_waits_kindly_and_goes_on_by_itself(
    site: Site, at_question: AtQuestion
) -> None:
    visitor = at_question()
    visitor.context.set_offline(True)
    with answering(site, visitor, 1):
        visitor.page.wait_for_selector("#trouble[open]")
        assert "Your answers are safe" in visitor.text("#trouble")
        assert visitor.page.evaluate("document.activeElement.id") == "trouble-retry"
        visitor.page.keyboard.press("Escape")
        assert visitor.page.is_visible("#trouble")
        for _ in range(8):
            visitor.page.click("#trouble-retry")
            visitor.page.wait_for_function(COUNTS_DOWN)
        # However often it failed, whoever comes back is found within three seconds.
        assert re.search(r"in [123] s", visitor.text("#trouble-countdown"))
        visitor.context.set_offline(False)
    assert visitor.page.evaluate("document.activeElement.id") == "question"


def test_who_waits_for_a_slow_reply_is_told_so(at_question: AtQuestion) -> None:
    visitor = at_question("evaluation")
    with visitor.holding_replies("**/answers/"):
        visitor.page.click("#choice-1")
        visitor.page.wait_for_selector("#sending.is-shown")
        assert visitor.text("#sending") == "Still sending …"
    visitor.page.wait_for_selector("#sending:not(.is-shown)", state="attached")
    assert visitor.text("#sending") == ""


def test_what_gets_no_reply_is_asked_for_again_while_the_server_lives(
    site: Site, visit: Visit, join: Join
) -> None:
    worker = join("teaching")
    visitor = visit()
    visitor.context.add_init_script(WITHOUT_TIME_LIMITS)
    silent: list[Route] = []
    for what in ("**/images/**", "**/answers/"):
        visitor.page.route(what, lambda route: silent.append(route), times=1)
    visitor.open(f"/w/{worker.token}/")
    visitor.begin()
    visitor.look_at_the_picture()
    with answering(site, visitor, 1):
        pass
    assert len(silent) == 2
    first, second = (r.post_data for r in visitor.requests if r.url.endswith("/answers/"))
    assert first == second


def test_a_request_that_fails_once_is_sent_again_without_a_word(
    site: Site, at_question: AtQuestion
) -> None:
    visitor = at_question()
    visitor.page.route("**/answers/", lambda route: route.abort(), times=1)
    with answering(site, visitor, 2):
        pass


def test_an_answer_whose_reply_is_lost_counts_once(site: Site, at_question: AtQuestion) -> None:
    visitor = at_question()
    lost: list[str] = []

    def note_and_lose_the_reply(route: Route) -> None:
        lost.append(route.request.post_data or "")
        lose_the_reply(route)

    visitor.page.route("**/answers/", note_and_lose_the_reply, times=2)
    with answering(site, visitor, 1):
        pass
    assert len(lost) == 2
    sent = [r.post_data for r in visitor.requests if r.url.endswith("/answers/")]
    assert sent == [lost[0]] * 3, "the very same request must be sent again"
    (first, *_) = records.teaching_steps(site, visitor.token)
    assert visitor.text("#feedback-label") == first.label


def test_a_lost_reply_in_the_test_skips_no_picture(at_question: AtQuestion) -> None:
    visitor = at_question("evaluation")
    position = visitor.position
    visitor.page.route("**/answers/", lose_the_reply, times=1)
    with visitor.expecting(TROUBLE):
        visitor.page.click("#choice-1")
        visitor.see_position("evaluation", position + 1)
    assert visitor.text("#counter") == "Picture 2 of 6"


def test_a_lost_reply_to_the_display_still_shows_the_pictures(
    site: Site, visit: Visit, join: Join
) -> None:
    visitor = visit(f"/w/{join('memory').token}/")
    visitor.pass_check()
    visitor.begin()
    visitor.page.route("**/exposures/", lose_the_reply, times=1)
    with visitor.expecting(TROUBLE):
        visitor.page.click("#memory-show:enabled")
        visitor.see("memory-display")
    (row,) = records.memory_rounds(site, visitor.token)
    assert visitor.shown_order(row.position) == row.pictures
    # The researcher can tell that the order was sent twice.
    assert row.exposures == 2


def test_a_busy_server_is_asked_again(site: Site, at_question: AtQuestion) -> None:
    visitor = at_question()
    visitor.page.route("**/answers/", lambda route: route.fulfill(status=503, json=BUSY), times=2)
    with answering(site, visitor, 1, fault="503"):
        pass


def test_a_person_need_not_wait_for_the_next_attempt(site: Site, at_question: AtQuestion) -> None:
    visitor = at_question()

    def ask_for_patience(route: Route) -> None:
        # Longer than a test waits for anything: what comes sooner has come of the press.
        route.fulfill(status=503, headers={"Retry-After": "60"}, json=BUSY)

    visitor.page.route("**/answers/", ask_for_patience, times=1)
    with answering(site, visitor, 1, fault="503"):
        visitor.page.wait_for_selector("#trouble[open]")
        assert re.search(r"in \d\d s", visitor.text("#trouble-countdown"))
        visitor.page.click("#trouble-retry")


def test_a_page_that_opens_without_its_server_goes_on_when_it_is_back(
    visit: Visit, join: Join
) -> None:
    worker = join("teaching")
    visitor = visit()
    visitor.page.route("**/api/sessions/**", lambda route: route.abort(), times=1)
    with visitor.expecting(TROUBLE):
        visitor.open(f"/w/{worker.token}/")
        visitor.see("intro-teaching")


@pytest.fixture
def server(site: Site) -> Iterator[KillableServer]:
    """Outlives the browser, if it is asked for first: the page would complain of its end."""
    with killable_server(site) as server:
        yield server


def test_the_session_goes_on_when_a_killed_server_is_started_again(
    server: KillableServer, site: Site, at_question: AtQuestion
) -> None:
    visitor = at_question(port=server.port)
    position = visitor.position
    server.kill()
    with answering(site, visitor, 2):
        visitor.page.wait_for_selector("#trouble[open]")
        server.start()
    visitor.page.click("#feedback-continue")
    visitor.look_at_the_picture()
    visitor.page.click("#choice-1")
    visitor.see_position("teaching-feedback", position + 1)
