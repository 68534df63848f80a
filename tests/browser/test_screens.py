"""What single screens promise: leaving the study, the last page, a window that is too small, a time to look."""

import pytest

from tests.site import Site

from . import records
from .conftest import AtQuestion, Join, MakeStudy, Visit


def test_a_worker_may_decline_and_nothing_is_kept(
    site: Site, visit: Visit, study: MakeStudy
) -> None:
    visitor = visit(f"/s/{study()}/")
    visitor.page.click("#entry-begin")
    visitor.page.click("#consent-decline")
    visitor.page.click("#consent-stay")
    visitor.see("consent")
    visitor.page.click("#consent-decline")
    visitor.page.click("#consent-decline-confirm")
    visitor.see("declined")
    assert "no answers are kept" in visitor.text("[data-screen]")
    assert records.participant(site, visitor.token, "stage") == ("declined",)
    assert records.memory_rounds(site, visitor.token) == []
    visitor.page.reload()
    visitor.see("declined")
    assert visitor.page.locator("#completion-code, #return-link").count() == 0


def test_the_consent_text_is_the_researchers_own_and_stays_plain_text(
    visit: Visit, study: MakeStudy
) -> None:
    slug = study(consent="We ask <b>you</b>.\n\nWrite to a&b@example.org.")
    visitor = visit(f"/s/{slug}/")
    visitor.enter()
    paragraphs = visitor.page.locator("#consent-text p").all_text_contents()
    assert paragraphs == ["We ask <b>you</b>.", "Write to a&b@example.org."]


@pytest.mark.chromium
def test_the_last_page_gives_the_code_and_the_way_back(
    visit: Visit, join: Join, study: MakeStudy
) -> None:
    slug = study(
        completion_code="C0FFEE42",
        score_told="at_once",
        prolific_return_url="https://recruiter.example/done?who={PROLIFIC_PID}&in={SESSION_ID}&cc={code}",
    )
    worker = join("done", slug, PROLIFIC_PID="a b&c", STUDY_ID="s", SESSION_ID="77")
    visitor = visit(f"/w/{worker.token}/", permissions=["clipboard-read", "clipboard-write"])
    visitor.see("done")
    assert visitor.text("#completion-code") == "C0FFEE42"
    visitor.page.click("#copy-code")
    visitor.announced("Copied")
    assert visitor.page.evaluate("navigator.clipboard.readText()") == "C0FFEE42"
    link = visitor.page.locator("#return-link")
    assert link.get_attribute("href") == (
        "https://recruiter.example/done?who=a%20b%26c&in=77&cc=C0FFEE42"
    )
    assert "recruiter.example" in visitor.text("[data-screen]")
    assert visitor.text("#score").startswith("50 %")


def test_a_code_can_be_copied_where_the_clipboard_is_refused(
    visit: Visit, join: Join, study: MakeStudy
) -> None:
    worker = join("done", study(completion_code="C0FFEE42"))
    visitor = visit()
    visitor.context.add_init_script("navigator.clipboard.writeText = () => Promise.reject();")
    visitor.open(f"/w/{worker.token}/")
    visitor.page.click("#copy-code")
    visitor.announced("Copied")


def test_a_study_may_keep_the_score_to_itself(visit: Visit, join: Join, study: MakeStudy) -> None:
    visitor = visit(f"/w/{join('done', study(shows_score=False)).token}/")
    visitor.see("done")
    assert visitor.page.locator("#score, #score-follows").count() == 0
    assert "You may close this page" in visitor.text("#next-step")


def test_a_window_that_is_too_small_is_told_and_recovers(visit: Visit, join: Join) -> None:
    visitor = visit(f"/w/{join('memory').token}/", viewport={"width": 170, "height": 200})
    visitor.page.wait_for_selector('#check-window[data-state="bad"]')
    visitor.page.wait_for_selector('#check-pictures[data-state="good"]')
    assert "It is 170 by 200, too small to show 2 pictures" in visitor.text("#check-window")
    assert visitor.page.is_disabled("#check-continue")
    visitor.page.set_viewport_size({"width": 800, "height": 600})
    visitor.page.click("#check-continue:enabled")
    visitor.see("intro-memory")


def test_a_device_that_is_too_small_is_told_in_the_middle_of_a_session_too(
    visit: Visit, join: Join
) -> None:
    visitor = visit(f"/w/{join('evaluation').token}/", viewport={"width": 230, "height": 190})
    visitor.see("check")
    visitor.page.set_viewport_size({"width": 800, "height": 600})
    visitor.page.click("#check-continue:enabled")
    visitor.pass_last_feedback()
    visitor.see("intro-evaluation")


def test_an_answer_before_the_picture_can_be_seen_is_not_taken(
    site: Site, visit: Visit, join: Join
) -> None:
    worker = join("evaluation")
    position = worker.task()["position"]
    visitor = visit(f"/w/{worker.token}/")
    visitor.pass_last_feedback()
    visitor.see("intro-evaluation")
    visitor.wait_until_settled()
    # In the page itself, so that no machine is too slow for it: the click falls into the frame of the paint.
    visitor.page.evaluate(
        """() => new Promise((resolve) => {
          const watch = new MutationObserver(() => {
            const choice = document.querySelector("#choice-1:enabled");
            if (!choice) return;
            watch.disconnect();
            requestAnimationFrame(() => requestAnimationFrame(() => resolve(choice.click())));
          });
          watch.observe(document, { childList: true, subtree: true, attributes: true });
          document.getElementById("intro-begin").click();
        })"""
    )
    visitor.look_at_the_picture()
    assert not any(item.answer for item in records.evaluation_items(site, worker.token))
    visitor.page.click("#choice-1")
    visitor.see_position("evaluation", position + 1)


def test_an_expired_session_says_that_it_is_over(site: Site, at_question: AtQuestion) -> None:
    visitor = at_question("teaching")
    records.expire_session(site, visitor.token)
    with visitor.expecting("410"):
        visitor.page.click("#choice-1")
        visitor.see("over")
    assert "too long" in visitor.text("[data-screen]")
    assert records.given_labels(site, visitor.token) == {}


def test_an_unknown_link_is_told_kindly(visit: Visit) -> None:
    visitor = visit()
    with visitor.expecting("404"):
        visitor.open("/w/nobody/")
        visitor.see("over")
        assert "check that the link is complete" in visitor.text("[data-screen]")
