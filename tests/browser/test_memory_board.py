"""The pictures of the memory test on windows of every shape, and the ways to put them in order."""

from typing import Any

import pytest

from tests.site import Site

from . import records
from .conftest import LONG_DISPLAY, PHONE, Join, MakeStudy, Visit
from .visitor import Visitor

SIZES = [
    (740, 360), (640, 360), (667, 375), (844, 390), (360, 640), (320, 568), (390, 844), (683, 331), (640, 400),
    (1024, 768), (1280, 800), (600, 600), (412, 690), (932, 430), (1920, 1080), (500, 1100), (683, 384), (568, 320),
    (320, 480), (280, 653),
]  # fmt: skip
# 1366 × 768 at 200 %, less the browser's own bars.
ZOOMED_LAPTOP = {"width": 683, "height": 331}
SMALLEST = 72
# Slots, pictures, and what is not as it should be: outside of the window, or under something else in its middle.
LOOK = """
async ([width, height]) => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  // A window that has just changed is laid out with its next frame.
  while (innerWidth !== width || innerHeight !== height) await frame();
  await frame();
  await frame();
  const seen = (selector) => [...document.querySelectorAll(selector)]
    .filter((node) => node.checkVisibility({ visibilityProperty: true }));
  const box = (node) => {
    const { left, top, right, bottom } = node.getBoundingClientRect();
    return [left, top, right, bottom];
  };
  const isOutside = ([left, top, right, bottom]) => left < 0 || top < 0 || right > width || bottom > height;
  const isCovered = (node) => {
    const [left, top, right, bottom] = box(node);
    return !node.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
  };
  const pressed = seen(".tile-handle, .tile-step, .actions .button");
  return {
    slots: seen(".slot").map(box),
    pictures: seen(".tile img").map(box),
    outside: [...seen(".slot"), ...pressed].filter((node) => isOutside(box(node))).map((node) => node.outerHTML),
    covered: pressed.filter(isCovered).map((node) => node.outerHTML),
    scrolls: document.scrollingElement.scrollHeight > height,
  };
}
"""


def seen_at_every_size(visitor: Visitor) -> dict[tuple[int, int], Any]:
    """The slots in each window: whole, free, in sight without scrolling, and no picture smaller than it must be."""
    visitor.wait_until_settled()
    slots = {}
    for width, height in SIZES:
        visitor.page.set_viewport_size({"width": width, "height": height})
        seen = visitor.page.evaluate(LOOK, [width, height])
        slots[width, height] = seen["slots"]
        assert (seen["outside"], seen["covered"], seen["scrolls"]) == ([], [], False), (
            width,
            height,
        )
        sides = [min(x1 - x0, y1 - y0) for x0, y0, x1, y1 in seen["pictures"]]
        assert min(sides) >= SMALLEST, (width, height)
    return slots


@pytest.mark.parametrize("length", [4, 9])
def test_no_window_cuts_or_covers_a_picture_and_none_moves_between_display_and_recall(
    length: int, visit: Visit, join: Join, study: MakeStudy
) -> None:
    slug = study(**LONG_DISPLAY, memory_min_length=length, memory_max_length=length)
    visitor = visit(f"/w/{join('memory', slug, answers=1).token}/")
    visitor.see_the_pictures()
    displayed = seen_at_every_size(visitor)
    visitor.look_away()
    visitor.page.click("#feedback-continue")
    visitor.see_the_pictures()
    visitor.look_away()
    visitor.page.wait_for_selector("#memory-submit:enabled")
    assert seen_at_every_size(visitor) == displayed


def test_a_window_without_room_is_told_before_each_round_until_it_is_turned(
    visit: Visit, join: Join, study: MakeStudy
) -> None:
    slug = study(memory_min_length=9, memory_max_length=9)
    visitor = visit(f"/w/{join('memory', slug).token}/", viewport={"width": 300, "height": 300})
    visitor.see("check")
    assert "too small to show 9 pictures" in visitor.text("#check-window")
    visitor.page.set_viewport_size(ZOOMED_LAPTOP)
    visitor.pass_check()
    visitor.page.set_viewport_size({"width": 300, "height": 300})
    visitor.page.click("#intro-begin")
    visitor.page.wait_for_selector('#check-window[data-state="bad"]')
    assert visitor.page.is_disabled("#check-continue")
    visitor.page.set_viewport_size(ZOOMED_LAPTOP)
    visitor.page.click("#check-continue:enabled")
    visitor.see("memory-ready")


def at_the_recall(visit: Visit, join: Join, study: MakeStudy, **options: Any) -> Visitor:
    slug = study(**LONG_DISPLAY, memory_min_length=5, memory_max_length=5)
    visitor = visit(f"/w/{join('memory', slug, answers=1).token}/", **options)
    visitor.come_to_the_recall()
    visitor.wait_until_settled()
    return visitor


@pytest.mark.parametrize("by", ["finger", "keyboard"])
def test_pictures_are_put_in_order_by_tapping_them_one_after_the_other(
    by: str, site: Site, visit: Visit, join: Join, study: MakeStudy
) -> None:
    visitor = at_the_recall(visit, join, study, **(PHONE if by == "finger" else {}))
    *_, row = records.memory_rounds(site, visitor.token)
    wanted = row.pictures
    for place, name in enumerate(wanted[:-1], start=1):
        handle = visitor.page.locator(f'.tile[data-id="{name}"] .tile-handle')
        if by == "finger":
            handle.tap()
        else:
            handle.evaluate("node => node.focus()")
            visitor.page.keyboard.press("Enter")
        visitor.announced(f"now in place {place} of 5")
        assert visitor.tiles()[:place] == wanted[:place]
    assert visitor.tiles() == wanted
    assert visitor.page.locator(".slot.is-set").count() == 5
    visitor.page.click("#memory-submit")
    visitor.see("memory-feedback")
    *_, row = records.memory_rounds(site, visitor.token)
    assert (row.restored, row.is_correct) == (wanted, True)


def test_every_way_of_ordering_can_be_undone_step_by_step(
    visit: Visit, join: Join, study: MakeStudy
) -> None:
    visitor = at_the_recall(visit, join, study)
    assert visitor.page.is_disabled("#memory-undo")
    orders = [visitor.tiles()]

    def done() -> None:
        assert visitor.tiles() != orders[-1]
        orders.append(visitor.tiles())

    visitor.page.click(f'.tile[data-id="{orders[0][3]}"] .tile-handle')
    assert visitor.tiles()[0] == orders[0][3]
    done()
    visitor.page.click(f'.tile[data-id="{orders[0][1]}"] [data-step="later"]')
    done()
    visitor.page.locator(f'.tile[data-id="{orders[0][2]}"] .tile-handle').evaluate(
        "node => node.focus()"
    )
    for key in ("Space", "End", "Space"):
        visitor.page.keyboard.press(key)
    done()
    while len(orders) > 1:
        orders.pop()
        visitor.page.click("#memory-undo:enabled")
        assert visitor.tiles() == orders[-1]
    assert visitor.page.is_disabled("#memory-undo")
    # A tap on one that was tapped takes it back, and the next tap fills its place.
    first, second = orders[0][4], orders[0][1]
    for name in (first, first, second):
        visitor.page.click(f'.tile[data-id="{name}"] .tile-handle')
    assert visitor.tiles()[0] == second
