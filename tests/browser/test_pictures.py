"""Pictures are decoded before anybody sees them, loaded ahead, and tried again when they fail."""

import pytest
from playwright.sync_api import Route

from .conftest import LONG_DISPLAY, PHONE, AtQuestion, Join, MakeStudy, Visit
from .visitor import Visitor

FAILED = r"Failed to load resource|ERR_"


def try_again(visitor: Visitor, button: str) -> None:
    """Presses the button in vain, then once more with the network back."""
    with visitor.page.expect_request("**/images/*"):
        visitor.page.click(button)
    visitor.page.unroute("**/images/*")
    # The page may have recovered by itself meanwhile, and then the button is gone.
    visitor.page.evaluate("button => document.querySelector(button)?.click()", button)


def test_the_display_waits_until_every_picture_is_decoded(
    visit: Visit, join: Join, study: MakeStudy
) -> None:
    # The second round of a person who comes back: neither the check nor the introduction has its pictures.
    worker = join("memory", study(**LONG_DISPLAY), answers=1)
    visitor = visit()
    held: list[Route] = []
    task = worker.task()
    late = task["images"][1]["url"]
    visitor.page.route(f"**{late}?*", lambda route: held.append(route))
    visitor.open(f"/w/{worker.token}/")
    visitor.see("memory-ready")
    visitor.page.wait_for_function(
        "() => document.getElementById('memory-status').textContent.includes('1 of 2')"
    )
    assert visitor.page.is_disabled("#memory-show")
    held[0].continue_()
    visitor.page.click("#memory-show:enabled")
    visitor.see("memory-display")
    (display,) = visitor.displays(task["position"])
    assert display["areDecoded"]
    assert len(display["pictures"]) == 2


def test_pictures_of_the_memory_test_that_fail_are_tried_again(visit: Visit, join: Join) -> None:
    worker = join("memory", answers=1)
    visitor = visit()
    visitor.page.route("**/images/*", lambda route: route.abort())
    with visitor.expecting(FAILED):
        visitor.open(f"/w/{worker.token}/")
        visitor.page.wait_for_selector("#memory-retry:visible")
        visitor.announced("did not load")
        assert visitor.page.is_disabled("#memory-show")
        try_again(visitor, "#memory-retry")
        visitor.page.wait_for_selector("#memory-show:enabled")
    assert not visitor.page.is_visible("#memory-retry")


@pytest.mark.parametrize(("stage", "answers"), [("teaching", 0), ("evaluation", 1)])
def test_a_picture_to_classify_that_fails_is_tried_again(
    stage: str, answers: int, visit: Visit, join: Join
) -> None:
    visitor = visit()
    visitor.page.route("**/images/*", lambda route: route.abort())
    with visitor.expecting(FAILED):
        visitor.open(f"/w/{join(stage, answers=answers).token}/")
        if not answers:
            visitor.begin()
        visitor.page.wait_for_selector("#image-retry:visible")
        assert visitor.page.is_disabled("#choice-1")
        visitor.page.keyboard.press("1")
        try_again(visitor, "#image-retry")
        visitor.look_at_the_picture()
    visitor.see(stage)
    assert visitor.page.locator(".specimen-image").evaluate("image => image.naturalWidth > 0")


def test_a_picture_that_fails_once_comes_by_itself(visit: Visit, join: Join) -> None:
    visitor = visit()
    visitor.page.route("**/images/*", lambda route: route.abort(), times=1)
    with visitor.expecting(FAILED):
        visitor.open(f"/w/{join('teaching').token}/")
        visitor.begin()
        visitor.look_at_the_picture()


def test_the_check_tells_of_pictures_that_do_not_load_and_recovers(
    visit: Visit, join: Join
) -> None:
    visitor = visit()
    visitor.page.route("**/images/*", lambda route: route.abort())
    with visitor.expecting(FAILED):
        visitor.open(f"/w/{join('memory').token}/")
        visitor.page.wait_for_selector('#check-pictures[data-state="bad"]')
        assert visitor.page.is_disabled("#check-continue")
        try_again(visitor, "#check-retry")
        visitor.page.wait_for_selector("#check-continue:enabled")
    assert visitor.page.get_attribute("#check-pictures", "data-state") == "good"


def test_the_next_image_is_loaded_while_the_feedback_is_read(at_question: AtQuestion) -> None:
    visitor = at_question("teaching")
    with visitor.page.expect_response("**/answers/") as reply:
        visitor.page.click("#choice-1")
    following = reply.value.json()["task"]["image"]["url"]
    visitor.see("teaching-feedback")
    visitor.wait_until_loaded(following)
    visitor.see("teaching-feedback")
    loaded = len(visitor.requests_of(following))
    visitor.page.click("#feedback-continue")
    visitor.look_at_the_picture()
    assert following in visitor.page.get_attribute(".specimen-image", "src")
    assert len(visitor.requests_of(following)) == loaded == 1


def test_the_next_image_of_the_test_is_loaded_before_the_answer(visit: Visit, join: Join) -> None:
    worker = join("evaluation")
    task = worker.task()
    (following,) = task["prefetch"]
    visitor = visit(f"/w/{worker.token}/")
    visitor.begin()
    visitor.look_at_the_picture()
    visitor.wait_until_loaded(following)
    visitor.page.click("#choice-1")
    visitor.see_position("evaluation", task["position"] + 1)
    visitor.look_at_the_picture()
    assert following in visitor.page.get_attribute(".specimen-image", "src")
    assert len(visitor.requests_of(following)) == 1


def test_pictures_are_asked_for_in_the_pixels_that_the_screen_shows(
    at_question: AtQuestion,
) -> None:
    visitor = at_question("evaluation", **PHONE)
    box = visitor.page.locator(".specimen-image").bounding_box()
    assert box is not None
    with visitor.page.expect_request("**/images/*") as request:
        visitor.page.click("#choice-1")
    pixels = visitor.page.evaluate("devicePixelRatio") * max(box["width"], box["height"])
    asked = int(request.value.url.partition("?side=")[2])
    assert pixels <= asked < pixels + 240
