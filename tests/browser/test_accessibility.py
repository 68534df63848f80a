"""Every screen, light and dark: axe finds nothing, a small phone shows the way on, the focus follows."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.site import ROOT, Site

from .conftest import PHONE, Join, MakeStudy, Visit
from .input_methods import Keyboard
from .screens import PAGES, SCREENS, SESSION, Opener
from .visitor import Visitor

AXE = Axe()
VIOLATIONS = {"resultTypes": ["violations"]}
OPTIONS = {"light": VIOLATIONS, "dark": VIOLATIONS | {"runOnly": ["color-contrast"]}}

FITS = """
(width) => {
  const way = document.querySelector(":is(.screen, .cover form, dialog[open]) :is(.actions, .panel-foot) .button");
  const { top, bottom } = way?.getBoundingClientRect() ?? { top: 0, bottom: 0 };
  return document.scrollingElement.scrollWidth <= width && top >= 0 && bottom <= innerHeight;
}
"""
UNBROKEN = "Unbroken" * 7 + "Name"


class LongWords(Opener):
    """With names that no line can break, right-to-left names, and long texts."""

    def entry_start(self, visitor: Visitor) -> None:
        slug = self.study(welcome=f"Welcome to {UNBROKEN}.", reward=2, contact="lab@example.org")
        visitor.open(f"/s/{slug}/")

    def consent(self, visitor: Visitor) -> None:
        slug = self.study(consent=f"{UNBROKEN}\n\n" * 40)
        visitor.open(f"/w/{self.join('consent', slug).token}/")

    def references(self, visitor: Visitor) -> None:
        classes = [UNBROKEN, "שלום", "three", "four"]
        slug = self.study(
            dataset={"classes": classes}, evaluation_size=8, cold_start=4, shows_references=True
        )
        visitor.open(f"/w/{self.join('teaching', slug).token}/")
        visitor.begin()


@pytest.fixture
def at(site: Site, visit: Visit, join: Join, study: MakeStudy) -> Opener:
    return LongWords(site, visit, join, study)


def assert_axe_finds_nothing(visitor: Visitor) -> None:
    """In light and in dark, where only colours differ, once nothing moves: axe would judge half-faded colours.

    It reads structure and colours, which are the same in every engine, and asks for Playwright's own page.
    """
    if not isinstance(visitor.page, Page):
        return
    for scheme, options in OPTIONS.items():
        visitor.page.emulate_media(color_scheme=scheme)
        visitor.finish_animations()
        results = AXE.run(visitor.page, options=options)
        assert results.violations_count == 0, f"{scheme}: {results.generate_report()}"


def assert_it_fits_a_small_phone(visitor: Visitor) -> None:
    """Nothing has to be scrolled sideways, and nobody has to look for the way on, however the phone is held."""
    for width, height in ((568, 320), (320, 568)):
        visitor.page.set_viewport_size({"width": width, "height": height})
        # Scripts that measure the window have their turn in its next frames.
        visitor.page.wait_for_function(FITS, arg=width)


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
    assert_it_fits_a_small_phone(visitor)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_accessible_and_fits_a_small_phone(page: str, at: Opener) -> None:
    visitor = at(page)
    assert_axe_finds_nothing(visitor)
    assert_it_fits_a_small_phone(visitor)


def test_the_words_about_trouble_are_accessible(at: Opener) -> None:
    visitor = at("teaching")
    with visitor.expecting("ERR_"):
        at.lose_the_network(visitor)
        assert_axe_finds_nothing(visitor)
        assert_it_fits_a_small_phone(visitor)
        visitor.page.unroute("**/answers/")


def test_the_question_whether_to_leave_is_accessible(at: Opener) -> None:
    visitor = at("consent_declining")
    assert_axe_finds_nothing(visitor)
    assert_it_fits_a_small_phone(visitor)
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


def test_every_screen_has_its_pictures_in_the_documentation() -> None:
    assert {path.stem for path in (ROOT / "docs" / "screens").glob("*.webp")} == set(SCREENS)
