"""Every screen, light and dark: axe finds nothing, a small phone needs no sideways scrolling, the focus follows."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.site import Site

from . import records
from .conftest import LONG_DISPLAY, PHONE, Join, MakeStudy, Visit
from .input_methods import Keyboard
from .visitor import Visitor

AXE = Axe()


UNBROKEN = "Unbroken" * 7 + "Name"


class Opener:
    """Opens a browser at a screen, each by the shortest way."""

    def __init__(self, site: Site, visit: Visit, join: Join, study: MakeStudy) -> None:
        self.site, self.visit, self.join, self.study = site, visit, join, study

    def __call__(self, screen: str, **options: Any) -> Visitor:
        visitor = self.visit(**options)
        getattr(self, screen.replace("-", "_"))(visitor)
        visitor.see(screen.partition("_")[0])
        return visitor

    def home(self, visitor: Visitor) -> None:
        visitor.open("/")

    def entry_start(self, visitor: Visitor) -> None:
        slug = self.study(welcome=f"Welcome to {UNBROKEN}.", reward=2, contact="lab@example.org")
        visitor.open(f"/s/{slug}/")

    def entry_resume(self, visitor: Visitor) -> None:
        self.join("memory", PROLIFIC_PID="looks again")
        visitor.open(f"/s/{self.study()}/?PROLIFIC_PID=looks+again")

    def entry_preview(self, visitor: Visitor) -> None:
        visitor.open(f"/s/{self.study()}/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")

    def entry_draft(self, visitor: Visitor) -> None:
        visitor.open(f"/s/{self.study(state='draft')}/")

    def entry_paused(self, visitor: Visitor) -> None:
        visitor.open(f"/s/{self.study(state='paused')}/")

    def entry_closed(self, visitor: Visitor) -> None:
        visitor.open(f"/s/{self.study(state='closed')}/")

    def entry_full(self, visitor: Visitor) -> None:
        slug = self.study(max_participants=1)
        self.site.client().post(f"/api/studies/{slug}/sessions/", {})
        visitor.open(f"/s/{slug}/")

    def entry_done(self, visitor: Visitor) -> None:
        self.join("done", PROLIFIC_PID="did it")
        visitor.open(f"/s/{self.study()}/?PROLIFIC_PID=did+it")

    def entry_declined(self, visitor: Visitor) -> None:
        self.join("consent", PROLIFIC_PID="said no").answer(position=1, agree=False)
        visitor.open(f"/s/{self.study()}/?PROLIFIC_PID=said+no")

    def entry_expired(self, visitor: Visitor) -> None:
        worker = self.join("consent", PROLIFIC_PID="too late")
        records.expire_session(self.site, worker.token)
        visitor.open(f"/s/{self.study()}/?PROLIFIC_PID=too+late")

    def over(self, visitor: Visitor) -> None:
        worker = self.join("memory")
        records.expire_session(self.site, worker.token)
        with visitor.expecting("410"):
            visitor.open(f"/w/{worker.token}/")
            visitor.see("over")

    def not_found(self, visitor: Visitor) -> None:
        self._api_answers(visitor, 404)

    def problem(self, visitor: Visitor) -> None:
        # The error is told a moment after the screen has changed.
        with visitor.expecting("page error"), visitor.page.expect_event("pageerror"):
            self._api_answers(visitor, 400)

    def _api_answers(self, visitor: Visitor, status: int) -> None:
        error = {"error": {"code": "", "message": "", "fields": {}}}
        visitor.page.route(
            "**/api/sessions/**", lambda route: route.fulfill(status=status, json=error)
        )
        with visitor.expecting(str(status)):
            visitor.open(f"/w/{self.join('consent').token}/")
            visitor.next_screen("")

    def loading(self, visitor: Visitor) -> None:
        # Never answered: the page waits.
        visitor.page.route("**/api/sessions/**", lambda route: None)
        visitor.open(f"/w/{self.join('consent').token}/")

    def consent(self, visitor: Visitor) -> None:
        slug = self.study(consent=f"{UNBROKEN}\n\n" * 40)
        visitor.open(f"/w/{self.join('consent', slug).token}/")

    def check(self, visitor: Visitor) -> None:
        visitor.open(f"/w/{self.join('memory').token}/")
        visitor.page.wait_for_selector("#check-continue:enabled")

    def intro_memory(self, visitor: Visitor) -> None:
        self.check(visitor)
        visitor.pass_check()

    def memory_ready(self, visitor: Visitor) -> None:
        slug = self.study(**LONG_DISPLAY, memory_min_length=9, memory_max_length=9)
        visitor.open(f"/w/{self.join('memory', slug, answers=1).token}/")
        visitor.page.wait_for_selector("#memory-show:enabled")

    def memory_display(self, visitor: Visitor) -> None:
        self.memory_ready(visitor)
        visitor.see_the_pictures()

    def memory_recall(self, visitor: Visitor) -> None:
        self.memory_ready(visitor)
        visitor.come_to_the_recall()
        visitor.wait_until_settled()

    def memory_feedback(self, visitor: Visitor) -> None:
        self.memory_recall(visitor)
        visitor.page.click("#memory-submit")

    def intro_teaching(self, visitor: Visitor) -> None:
        visitor.open(f"/w/{self.join('teaching').token}/")

    def references(self, visitor: Visitor) -> None:
        classes = [UNBROKEN, "שלום", "three", "four"]
        slug = self.study(
            dataset={"classes": classes}, evaluation_size=8, cold_start=4, shows_references=True
        )
        visitor.open(f"/w/{self.join('teaching', slug).token}/")
        visitor.begin()

    def teaching(self, visitor: Visitor) -> None:
        self.intro_teaching(visitor)
        visitor.begin()
        visitor.look_at_the_picture()

    def teaching_feedback(self, visitor: Visitor) -> None:
        self.teaching(visitor)
        visitor.page.click("#choice-1")

    def intro_evaluation(self, visitor: Visitor) -> None:
        visitor.open(f"/w/{self.join('evaluation').token}/")
        visitor.pass_last_feedback()

    def evaluation(self, visitor: Visitor) -> None:
        self.intro_evaluation(visitor)
        visitor.begin()
        visitor.look_at_the_picture()

    def break_(self, visitor: Visitor) -> None:
        worker = self.join("evaluation", self.study(evaluation_size=8), answers=4)
        visitor.open(f"/w/{worker.token}/")

    def done(self, visitor: Visitor) -> None:
        slug = self.study(completion_code="C0FFEE42", return_url="https://recruiter.example/done")
        visitor.open(f"/w/{self.join('done', slug).token}/")

    def declined(self, visitor: Visitor) -> None:
        worker = self.join("consent")
        worker.answer(position=1, agree=False)
        visitor.open(f"/w/{worker.token}/")


DOORS = [
    "start", "resume", "preview", "draft", "paused", "closed", "full", "done", "declined", "expired",
]  # fmt: skip
SESSION = [
    "consent", "check", "intro-memory", "memory-ready", "memory-display", "memory-recall",
    "memory-feedback", "intro-teaching", "references", "teaching", "teaching-feedback",
    "intro-evaluation", "evaluation", "break_", "done", "declined", "over", "not-found", "problem",
]  # fmt: skip


@pytest.fixture
def at(site: Site, visit: Visit, join: Join, study: MakeStudy) -> Opener:
    return Opener(site, visit, join, study)


def assert_axe_finds_nothing(visitor: Visitor) -> None:
    """In light and in dark, once nothing moves: axe would judge half-faded colours.

    It reads structure and colours, which are the same in every engine, and asks for Playwright's own page.
    """
    if not isinstance(visitor.page, Page):
        return
    for scheme in ("light", "dark"):
        visitor.page.emulate_media(color_scheme=scheme)
        visitor.finish_animations()
        results = AXE.run(visitor.page)
        assert results.violations_count == 0, f"{scheme}: {results.generate_report()}"


def assert_no_sideways_scroll(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 320, "height": 568})
    width = visitor.page.evaluate("document.scrollingElement.scrollWidth")
    assert width <= 320, f"{width} pixels wide"


def assert_focus_is_in_the_screen(visitor: Visitor) -> None:
    assert visitor.page.evaluate(
        "document.querySelector('[data-screen]').contains(document.activeElement)"
    ), visitor.page.evaluate("document.activeElement.outerHTML.slice(0, 200)")


@pytest.mark.parametrize("screen", SESSION)
def test_a_screen_is_accessible_fits_a_small_phone_and_takes_the_focus(
    screen: str, at: Opener
) -> None:
    visitor = at(screen)
    assert_focus_is_in_the_screen(visitor)
    assert_axe_finds_nothing(visitor)
    assert_no_sideways_scroll(visitor)


@pytest.mark.parametrize("page", ["home", "loading", *(f"entry_{door}" for door in DOORS)])
def test_a_page_is_accessible_and_fits_a_small_phone(page: str, at: Opener) -> None:
    visitor = at(page)
    assert_axe_finds_nothing(visitor)
    assert_no_sideways_scroll(visitor)


def test_the_words_about_trouble_are_accessible(at: Opener) -> None:
    visitor = at("teaching")
    with visitor.expecting("ERR_"):
        visitor.page.route("**/answers/", lambda route: route.abort())
        visitor.page.click("#choice-1")
        visitor.page.wait_for_selector("#trouble[open]")
        assert_axe_finds_nothing(visitor)
        assert_no_sideways_scroll(visitor)
        visitor.page.unroute("**/answers/")


def test_the_question_whether_to_leave_is_accessible(at: Opener) -> None:
    visitor = at("consent")
    visitor.page.click("#consent-decline")
    assert_axe_finds_nothing(visitor)
    assert_no_sideways_scroll(visitor)
    visitor.page.keyboard.press("Escape")
    assert visitor.page.evaluate("document.activeElement.id") == "consent-decline"


def test_reordering_is_announced_and_can_be_taken_back(at: Opener) -> None:
    visitor = at("memory-recall")
    before = visitor.tiles()
    keyboard = Keyboard(visitor)
    keyboard.tab_to(f'.tile[data-id="{before[2]}"] .tile-handle')
    press = visitor.page.keyboard.press
    press("Space")
    visitor.announced("Picked up")
    press("ArrowLeft")
    visitor.announced("now in place 2 of 9")
    press("ArrowDown")
    press("Escape")
    visitor.announced("put back in place 3")
    assert visitor.tiles() == before
    press("Space")
    press("End")
    visitor.announced("now in place 9 of 9")
    press("Enter")
    visitor.announced("put down in place 9 of 9")
    assert visitor.tiles() == [*before[:2], *before[3:], before[2]]
    focused = "document.activeElement.closest('.tile').dataset.id"
    assert visitor.page.evaluate(focused) == before[2]


def test_arrows_under_each_picture_move_it_without_dragging(at: Opener) -> None:
    visitor = at("memory-recall", **PHONE)
    before = visitor.tiles()
    visitor.page.tap(f'.tile[data-id="{before[0]}"] [data-step="later"]')
    visitor.announced("now in place 2 of 9")
    visitor.page.tap(f'.tile[data-id="{before[2]}"] [data-step="earlier"]')
    assert visitor.tiles() == [before[1], before[2], before[0], *before[3:]]
    boxes = [arrow.bounding_box() for arrow in visitor.page.locator(".tile-step").all()]
    assert min(min(box["width"], box["height"]) for box in boxes) >= 44


def test_a_drag_that_is_cancelled_changes_nothing(at: Opener) -> None:
    visitor = at("memory-recall")
    before = visitor.tiles()
    mouse = visitor.page.mouse
    box = visitor.page.locator(".tile-handle").first.bounding_box()
    mouse.move(box["x"] + 20, box["y"] + 20)
    mouse.down()
    for distance in (90, 160, 230, 300):
        mouse.move(box["x"] + distance, box["y"] + 20)
    visitor.page.keyboard.press("Escape")
    mouse.up()
    assert visitor.tiles() == before


# In one go, so that the movement cannot have ended before it is looked at.
MOVED = """
() => {
  document.querySelector("[data-step=later]").click();
  return document.getAnimations()
    .filter((animation) => animation.effect.getComputedTiming().duration > 10)
    .map((animation) => animation.effect.target.className);
}
"""


@pytest.mark.parametrize(("motion", "glides"), [("reduce", False), ("no-preference", True)])
def test_nothing_glides_for_those_who_want_less_motion(
    motion: str, glides: bool, at: Opener
) -> None:
    visitor = at("memory-recall", reduced_motion=motion)
    assert bool(visitor.page.evaluate(MOVED)) == glides
