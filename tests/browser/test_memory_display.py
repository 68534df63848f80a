"""The timed display: as long as it says by the frames themselves, and played again once when something came between."""

import pytest

from tests.site import Site

from . import records
from .conftest import LONG_DISPLAY, PHONE, Join, MakeStudy, Visit
from .input_methods import Mouse
from .visitor import Visitor

PAPER = {
    "short": False,
    "memory_extra_seconds": 1,
    "memory_max_length": 9,
    "dataset": {"teaching": 60, "evaluation": 100},
}
# Independent of the page's own code: what is in the page when a frame begins is what the frame before has painted.
FRAMES = """
(() => {
  window.displays = [];
  let since = null;
  const look = (now) => {
    const isShown = document.querySelector('[data-screen="memory-display"] .tile img') !== null;
    if (isShown) since ??= now;
    else if (since !== null) {
      window.displays.push(now - since);
      since = null;
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})();
"""
POINTER = "['fine', 'coarse', 'none'].find((kind) => matchMedia(`(pointer: ${kind})`).matches)"
KEEP_BUSY = """
(ms) => new Promise((resolve) => requestAnimationFrame(() => {
  const until = performance.now() + ms;
  while (performance.now() < until);
  resolve();
}))
"""


def at_the_first_round(visit: Visit, join: Join, slug: str, script: str = "", **options) -> Visitor:
    visitor = visit(**options)
    visitor.context.add_init_script(script)
    visitor.open(f"/w/{join('memory', slug).token}/")
    visitor.pass_check()
    visitor.begin()
    visitor.see("memory-ready")
    return visitor


def test_what_is_stored_is_how_long_the_painted_frames_had_the_pictures(
    site: Site, visit: Visit, join: Join, study: MakeStudy
) -> None:
    visitor = at_the_first_round(visit, join, study(**PAPER), FRAMES)
    assert visitor.text(".eyebrow") == "Practice"
    assert "for 3 seconds" in visitor.text("[data-screen]")
    position = visitor.position
    visitor.page.click("#memory-show:enabled")
    visitor.see("memory-fixation")
    assert visitor.text("h1") == "Ready …"
    visitor.page.wait_for_selector("#memory-submit:enabled, #feedback-continue")
    row = records.memory_rounds(site, visitor.token)[0]
    (real,) = visitor.page.evaluate("displays")
    assert row.exposure_ms == 3000
    assert row.shown_ms == pytest.approx(real, abs=1)
    # A busy machine may miss the time; then it is marked, and comes again.
    assert row.is_replaced == (abs(real - 3000) > 100)
    # A browser without a screen may have no pointer either.
    assert row.pointer == visitor.page.evaluate(POINTER)
    assert row.picture_px == pytest.approx(176)
    if not row.is_replaced:
        Mouse(visitor).arrange(visitor.shown_order(position))
        visitor.page.click("#memory-submit")
        visitor.see("memory-feedback")
        assert "3 rounds that count" in visitor.text("#feedback-follows")


@pytest.mark.parametrize("disturbance", ["hidden", "interrupted", "mistimed"])
def test_a_disturbed_display_is_marked_and_comes_again_once_with_other_pictures(
    disturbance: str, site: Site, visit: Visit, join: Join, study: MakeStudy
) -> None:
    slug = study() if disturbance == "mistimed" else study(**LONG_DISPLAY)
    visitor = at_the_first_round(visit, join, slug, **PHONE)
    for _ in range(2):
        visitor.see_the_pictures()
        if disturbance == "hidden":
            visitor.look_away()
        elif disturbance == "interrupted":
            visitor.page.reload()
        else:
            visitor.page.evaluate(KEEP_BUSY, 2400)
        visitor.page.wait_for_selector("#memory-submit:enabled, #feedback-continue")
        if visitor.now().startswith("memory-feedback"):
            assert "does not count" in visitor.text("#feedback-follows")
            visitor.page.click("#feedback-continue")
    visitor.see("memory-recall")
    assert ("only once" in visitor.text("#reorder-help")) == (disturbance == "interrupted")
    first, again = records.memory_rounds(site, visitor.token)
    assert [row.disturbance for row in (first, again)] == [disturbance, disturbance]
    assert [row.is_replaced for row in (first, again)] == [True, False]
    assert not set(first.pictures) & set(again.pictures)
    assert visitor.shown_order(again.position) == again.pictures
    Mouse(visitor).arrange(again.pictures)
    visitor.page.click("#memory-submit")
    visitor.see("memory-feedback")
    assert records.memory_rounds(site, visitor.token)[1].is_correct


def test_a_reload_after_the_display_leads_back_to_the_recall(
    site: Site, visit: Visit, join: Join, study: MakeStudy
) -> None:
    visitor = at_the_first_round(visit, join, study(**LONG_DISPLAY))
    visitor.come_to_the_recall()
    before = visitor.tiles()
    visitor.page.reload()
    visitor.see("memory-recall")
    visitor.page.wait_for_selector("#memory-submit:enabled")
    assert visitor.tiles() == before
    assert len(records.memory_rounds(site, visitor.token)) == 2
