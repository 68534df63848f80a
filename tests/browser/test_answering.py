"""Answering: no press is taken by accident, the answer comes in the place of the question, and many classes fit."""

import pytest

from tests.site import Site
from tests.worker import Worker

from . import records
from .conftest import PHONE, AtQuestion, Join, MakeStudy, Visit
from .visitor import Visitor

SIZES = [
    (1280, 800), (390, 844), (844, 390), (360, 640), (640, 400), (1024, 768), (320, 568), (683, 331), (1920, 1080),
    (320, 256),
]  # fmt: skip
# Presses everything that can be pressed, for as long as the page settles; tells for how long it did.
PRESS_AT_ONCE = """
(press) => new Promise((resolve) => {
  const stage = document.getElementById("stage");
  const kinds = ["keydown", "keyup"];
  const hammer = () => {
    stage.querySelectorAll("button").forEach((button) => button.click());
    for (const key of ["Enter", " ", "1", "ArrowRight"]) {
      kinds.forEach((kind) => document.activeElement.dispatchEvent(
        new KeyboardEvent(kind, { key, bubbles: true, cancelable: true })));
    }
  };
  let since = null;
  const watch = new MutationObserver(() => {
    if (stage.hasAttribute("data-settling")) {
      since ??= performance.now();
      hammer();
    } else if (since !== null) {
      watch.disconnect();
      resolve(performance.now() - since);
    }
  });
  watch.observe(stage, { attributes: true, childList: true, subtree: true });
  document.querySelector(press).click();
})
"""
MARKS = """
(nodes) => nodes.map((node) => [node.dataset.mark, node.querySelector(".choice-mark").textContent])
"""
BOXES = """
(nodes) => nodes.map((node) => {
  const { x, y, width, height } = node.getBoundingClientRect();
  return [x, y, width, height];
})
"""


@pytest.mark.parametrize(
    ("stage", "presses", "seen"),
    [
        ("teaching", ["#choice-1"], "teaching-feedback"),
        ("evaluation", ["#choice-2"], "evaluation"),
        ("memory", ["#check-continue", "#intro-begin"], "memory-ready"),
    ],
)
def test_presses_in_the_first_moments_of_a_screen_do_nothing(
    stage: str, presses: list[str], seen: str, site: Site, visit: Visit, join: Join
) -> None:
    visitor = visit(f"/w/{join(stage).token}/")
    if stage == "memory":
        visitor.page.wait_for_selector("#check-continue:enabled")
    else:
        visitor.begin()
        visitor.look_at_the_picture()
    before = len(records.given_labels(site, visitor.token))
    for press in presses:
        visitor.wait_until_settled()
        # Counted from the frame, which on a busy machine began a little before the page could look.
        assert visitor.page.evaluate(PRESS_AT_ONCE, press) > 300
    visitor.see(seen)
    answers = 0 if stage == "memory" else 1
    assert len(records.given_labels(site, visitor.token)) == before + answers


def test_the_answer_is_shown_in_place_and_continue_has_a_spot_of_its_own(
    site: Site, at_question: AtQuestion
) -> None:
    visitor = at_question("teaching")
    for width, height in SIZES[:4]:
        visitor.page.set_viewport_size({"width": width, "height": height})
        visitor.look_at_the_picture()
        boxes = visitor.page.locator(".choice, .specimen")
        asked = boxes.evaluate_all(BOXES)
        *_, step = records.teaching_steps(site, visitor.token)
        wrong = 2 - visitor.classes().index(step.label)
        visitor.page.click(f"#choice-{wrong}")
        visitor.see("teaching-feedback")
        assert boxes.evaluate_all(BOXES) == [pytest.approx(box, abs=0.5) for box in asked]
        marks = visitor.page.locator(".choice").evaluate_all(MARKS)
        assert sorted(marks) == [["right", "Correct answer"], ["wrong", "You said this"]]
        assert marks[wrong - 1][0] == "wrong"
        assert_apart(visitor.page.locator("#feedback-continue").evaluate_all(BOXES)[0], asked)
        visitor.page.click("#feedback-continue")
        visitor.see_position("teaching", step.position + 1)


def assert_apart(spot: list[float], others: list[list[float]]) -> None:
    """A box that lies over none of the others."""
    for other in others:
        assert any(
            spot[side] >= other[side] + other[side + 2]
            or other[side] >= spot[side] + spot[side + 2]
            for side in (0, 1)
        )


@pytest.mark.parametrize("key", ["Enter", "Space", "ArrowRight"])
def test_a_key_goes_on_from_anywhere_on_the_page(key: str, at_question: AtQuestion) -> None:
    visitor = at_question("teaching")
    position = visitor.position
    visitor.answer(1)
    visitor.see("teaching-feedback")
    visitor.page.wait_for_selector("#feedback-continue:enabled")
    visitor.page.click(".specimen-image")
    visitor.page.keyboard.press(key)
    visitor.see_position("teaching", position + 1)


def test_a_study_may_ask_for_a_time_to_look_and_every_look_is_stored(
    site: Site, at_question: AtQuestion, study: MakeStudy
) -> None:
    visitor = at_question("teaching", study(min_look_ms=900), **PHONE)
    for _ in range(2):
        visitor.page.tap("#choice-1")
        visitor.see("teaching-feedback")
        visitor.page.tap("#feedback-continue")
        visitor.see("teaching")
        visitor.look_at_the_picture()
    first, *_, last = records.looks(site, visitor.token)
    assert first is not None
    assert first >= 900
    # Told with the next answer.
    assert last is None


def test_a_study_may_go_on_by_itself_after_right_answers_only(
    site: Site, at_question: AtQuestion, study: MakeStudy
) -> None:
    visitor = at_question("teaching", study(auto_advance_ms=1))
    for is_right in (True, False):
        *_, step = records.teaching_steps(site, visitor.token)
        right = 1 + visitor.classes().index(step.label)
        visitor.page.click(f"#choice-{right if is_right else 3 - right}")
        if is_right:
            visitor.see_position("teaching", step.position + 1)
            visitor.look_at_the_picture()
    visitor.page.wait_for_selector("#feedback-continue:enabled")
    visitor.wait_until_settled()
    visitor.see_position("teaching-feedback", step.position)


def test_bare_digits_and_letters_can_be_switched_off(
    site: Site, at_question: AtQuestion, study: MakeStudy
) -> None:
    visitor = at_question("evaluation")
    position = visitor.position
    visitor.page.click("#answer-keys")
    assert visitor.page.get_attribute("#answer-keys", "aria-checked") == "false"
    for key in ("1", "f", "2", "j"):
        visitor.page.keyboard.press(key)
    visitor.page.keyboard.press("ArrowRight")
    visitor.see_position("evaluation", position + 1)
    assert records.given_labels(site, visitor.token)[position] == visitor.classes()[1]

    visitor = at_question("evaluation", study(answer_keys=False))
    assert not visitor.page.is_visible("#answer-keys")
    position = visitor.position
    visitor.page.keyboard.press("2")
    visitor.page.keyboard.press("ArrowLeft")
    visitor.see_position("evaluation", position + 1)
    assert records.given_labels(site, visitor.token)[position] == visitor.classes()[0]


NINE = [
    "Hollin",
    "Merrow",
    "Great crested grebe",
    "Wren",
    "Dunnock",
    "Blackcap",
    "Chiffchaff",
    "Teal",
    "Knot",
]
LONG = [letter * 60 for letter in "abcdefgh"] + ["שׁ" * 30]


def with_classes(visitor: Visitor, worker: Worker, names: list[str]) -> None:
    """The page of a session that has these classes."""
    state = worker.get().json()
    state["session"]["classes"] = names
    visitor.page.route(f"**/api/sessions/{worker.token}/", lambda route: route.fulfill(json=state))
    visitor.open(f"/w/{worker.token}/")
    visitor.begin()
    visitor.look_at_the_picture()


@pytest.mark.parametrize("names", [["wild", "domestic"], NINE, LONG], ids=["two", "nine", "long"])
def test_the_image_gets_what_the_window_has_and_no_button_is_cut(
    names: list[str], visit: Visit, join: Join
) -> None:
    visitor = visit()
    with_classes(visitor, join("teaching"), names)
    for width, height in SIZES:
        visitor.page.set_viewport_size({"width": width, "height": height})
        visitor.page.wait_for_function("size => innerWidth === size[0]", arg=[width, height])
        visitor.finish_animations()
        seen = visitor.page.evaluate(FIT)
        assert seen["sideways"] <= 0, (width, height)
        assert seen["below"] <= 0, (width, height)
        assert seen["smallest"] >= 44, (width, height)
        assert seen["cut"] == 0, (width, height)
        least = 0.93 * min(width, height - 75) - 24 if len(names) == 2 and height > 300 else 99
        assert seen["image"] >= least, (width, height)


FIT = """
async () => {
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const page = document.scrollingElement;
  const buttons = [...document.querySelectorAll(".choice")].map((node) => node.getBoundingClientRect());
  const { width, height } = document.querySelector(".specimen").getBoundingClientRect();
  return {
    sideways: page.scrollWidth - innerWidth,
    below: page.scrollHeight - innerHeight,
    smallest: Math.min(...buttons.flatMap(({ width, height }) => [width, height])),
    cut: buttons.filter(({ left, right }) => left < 0 || right > innerWidth).length
      + [...document.querySelectorAll(".choice")].filter((node) =>
        node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1).length,
    image: Math.min(width, height),
  };
}
"""


def test_nine_classes_are_shown_asked_and_answered_in_one_order(
    site: Site, visit: Visit, join: Join, study: MakeStudy
) -> None:
    slug = study(
        dataset={"classes": [*NINE[:7], *LONG[-2:]], "teaching": 36, "evaluation": 9},
        evaluation_size=9,
        cold_start=9,
        short_steps=9,
        medium_steps=9,
        long_steps=9,
        other_steps=9,
        shows_references=True,
    )
    worker = join("teaching", slug)
    classes = worker.get().json()["session"]["classes"]
    visitor = visit(f"/w/{worker.token}/", **PHONE)
    visitor.begin()
    visitor.see("references")
    assert visitor.page.locator(".reference bdi").all_text_contents() == classes
    visitor.page.click("#references-continue")
    visitor.look_at_the_picture()
    assert visitor.page.locator(".choice bdi").all_text_contents() == classes
    position = visitor.position
    visitor.page.keyboard.press("9")
    visitor.see("teaching-feedback")
    (shown, *_) = records.teaching_steps(site, visitor.token)
    assert visitor.text("#feedback-label") == shown.label
    visitor.wait_until_settled()
    visitor.page.keyboard.press("ArrowLeft")
    visitor.see_position("teaching", position + 1)
    visitor.look_at_the_picture()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "Enter"):
        visitor.page.keyboard.press(key)
    visitor.see("teaching-feedback")
    given = records.given_labels(site, visitor.token)
    assert given == {position: classes[8], position + 1: classes[2]}
