"""The monitor under a researcher's eyes, and what workers' pages tell it."""

import time

import pytest

from studies.models import digest_of
from tests.site import Site

from .conftest import Join, MakeStudy, Visit
from .researcher import NAME, sign_in

# The clock of a page is turned on by what WebDriver has not.
pytestmark = pytest.mark.chromium

HIDE = """(isHidden) => {
  Object.defineProperty(document, "hidden", { get: () => isHidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def events_of(site: Site, token: str, count: int) -> list[tuple[str, int, str]]:
    """Waits until a session has so many events."""
    sql = (
        "SELECT e.kind, e.position, e.detail FROM studies_sessionevent e "
        "JOIN studies_participant p ON p.id = e.participant_id WHERE p.token_digest = %s ORDER BY e.id"
    )
    for _ in range(200):
        if len(rows := site.rows(sql, digest_of(token))) >= count:
            return rows
        time.sleep(0.05)
    raise AssertionError(f"There are {rows}.")


@pytest.mark.usefixtures("researcher_account")
def test_the_monitor_refreshes_by_itself_and_keeps_the_readers_place(
    visit: Visit, study: MakeStudy, join: Join
) -> None:
    slug = study(title="To be watched", arms="rt", owner=NAME, max_participants=90)
    first = join("memory", slug)
    visitor = visit()
    page = visitor.page
    sign_in(visitor)
    visitor.open("/admin/studies/study/")
    page.get_by_role("link", name="To be watched").click()
    page.clock.install()
    page.get_by_role("link", name="Monitor").click()
    # Its script has set the clock by which it refreshes.
    page.wait_for_load_state()
    row = page.locator("#people tbody tr")
    assert row.count() == 1
    page.fill("#more-places", "77")
    row.get_by_role("link").focus()

    join("teaching", slug)
    page.clock.fast_forward(10_000)
    page.wait_for_selector("#people tbody tr:nth-child(2)")
    assert row.nth(0).locator("td").first.inner_text() == "Teaching"
    # The row of the first one has moved down, with the focus on it; what was typed is still there.
    assert row.nth(1).locator("a:focus").count() == 1
    assert page.input_value("#more-places") == "77"
    assert "2 of 90" in visitor.text("dl.facts")

    # Nobody looks: nothing is asked, and the next look begins with news.
    page.evaluate(HIDE, True)
    page.clock.fast_forward(10_000)
    asked = len(visitor.requests)
    first.go_to("done")
    page.clock.fast_forward(60_000)
    assert len(visitor.requests) == asked
    page.evaluate(HIDE, False)
    page.wait_for_selector("#people tbody tr:nth-child(2)", state="detached")
    assert "Finished1of 2 who joined" in visitor.text("dl.facts")
    assert "refreshes automatically" in visitor.text("[data-freshness]")


def test_a_workers_page_tells_what_happens_around_the_tasks(
    site: Site, visit: Visit, join: Join
) -> None:
    worker = join("teaching")
    visitor = visit()
    page = visitor.page
    page.clock.install()
    visitor.open(f"/w/{worker.token}/")
    page.wait_for_selector("#intro-begin")
    position = worker.task()["position"]
    page.evaluate(HIDE, True)
    # At once, because a page that is left may never come back.
    assert events_of(site, worker.token, 2) == [("opened", position, ""), ("hidden", position, "")]
    page.evaluate(HIDE, False)
    with visitor.expecting("page error"), page.expect_event("pageerror"):
        page.evaluate("() => { Promise.reject(new TypeError('no picture')); }")
    page.clock.fast_forward(4000)
    *_, shown, error = events_of(site, worker.token, 4)
    assert (shown[0], error[0]) == ("shown", "error")
    assert error[2].startswith("TypeError: no picture")
    assert worker.token not in error[2]
