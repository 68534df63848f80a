"""Reloads, the back button, second tabs and other browsers all lead to the same task; no answer is doubled."""

import pytest

from tests.site import Site

from . import records
from .conftest import LONG_DISPLAY, AtQuestion, Join, MakeStudy, Visit
from .visitor import Visitor

LITTLE = {
    "short_steps": 3,
    "medium_steps": 3,
    "long_steps": 3,
    "other_steps": 3,
    "evaluation_size": 2,
}
ONWARD = {
    "entry": "#entry-begin",
    "consent": "#consent-agree",
    "check": "#check-continue",
    "intro-memory": "#intro-begin",
    "memory-ready": "#memory-show",
    "memory-recall": "#memory-submit",
    "memory-feedback": "#feedback-continue",
    "intro-teaching": "#intro-begin",
    "teaching": "#choice-1",
    "teaching-feedback": "#feedback-continue",
    "intro-evaluation": "#intro-begin",
    "evaluation": "#choice-2",
}


def answers_sent(visitor: Visitor) -> list[dict]:
    return [
        request.post_data_json
        for request in visitor.requests
        if request.method == "POST" and request.url.endswith("/answers/")
    ]


@pytest.mark.faults
def test_a_reload_at_every_screen_leads_to_the_same_task(
    site: Site, visit: Visit, study: MakeStudy
) -> None:
    visitor = visit(f"/s/{study(**LITTLE, **LONG_DISPLAY)}/")
    screen, walked = visitor.now(), []
    while not screen.startswith("done"):
        name, _, position = screen.partition(" ")
        walked.append(name)
        if name == "memory-fixation":
            screen = visitor.next_screen(screen)
            continue
        visitor.page.reload()
        again = visitor.now()
        if name == "memory-display":
            # The first time it is played again; then it goes on.
            assert again in {f"memory-feedback {position}", f"memory-recall {position}"}
        elif name == "memory-feedback":
            assert again in {f"memory-ready {int(position) + 1}", "intro-teaching "}
        else:
            assert again == screen
            if name in {"teaching", "evaluation"}:
                visitor.look_at_the_picture()
            visitor.page.click(f"{ONWARD[name]}:enabled")
            again = visitor.next_screen(screen)
        screen = again
    visitor.page.reload()
    visitor.see("done")

    assert set(walked) == {*ONWARD, "memory-fixation", "memory-display"}
    rounds = records.memory_rounds(site, visitor.token)
    assert [row.exposures for row in rounds] == [1, 1, 1, 1]
    assert [len(visitor.displays(row.position)) for row in rounds] == [1, 1, 1, 1]
    assert [row.is_replaced for row in rounds] == [True, False, True, False]
    assert len(records.given_labels(site, visitor.token)) == 5


def test_the_back_button_leads_to_the_entry_and_from_there_to_the_same_task(
    site: Site, visit: Visit, study: MakeStudy
) -> None:
    visitor = visit(f"/s/{study()}/")
    token = visitor.enter()
    visitor.page.click("#consent-agree")
    visitor.pass_check()
    visitor.begin()
    visitor.see("memory-ready")
    here = visitor.now()

    visitor.page.go_back()
    visitor.see("entry")
    visitor.page.go_forward()
    assert visitor.now() == here

    visitor.page.go_back()
    entry = visitor.now()
    visitor.page.click("#entry-begin, #entry-resume")
    assert visitor.next_screen(entry) == here
    assert visitor.token == token


def answer_in_another_tab(visitor: Visitor) -> Visitor:
    """The first of two tabs is a step behind from now on."""
    tab = visitor.new_tab()
    tab.open(f"/w/{visitor.token}/")
    tab.begin()
    tab.answer(1)
    tab.see("teaching-feedback")
    visitor.page.bring_to_front()
    return tab


def test_a_stale_tab_catches_up_and_the_recorded_answer_stands(
    site: Site, at_question: AtQuestion
) -> None:
    stale = at_question("teaching")
    position = stale.position
    answer_in_another_tab(stale)
    chosen = records.given_labels(site, stale.token)

    with stale.expecting("409"):
        stale.answer(2)
        # Read in one go: the note leaves by itself.
        stale.page.wait_for_function(
            "() => document.querySelector('#note.is-shown')?.textContent.includes('caught up')"
        )
        stale.see("teaching-feedback")
    assert stale.position == position
    assert records.given_labels(site, stale.token) == chosen
    stale.page.click("#feedback-continue")
    stale.see_position("teaching", position + 1)


def test_a_stale_tab_with_the_same_answer_gets_the_same_feedback(
    site: Site, at_question: AtQuestion
) -> None:
    stale = at_question("teaching")
    fresh = answer_in_another_tab(stale)
    stale.answer(1)
    stale.see("teaching-feedback")
    assert stale.text("#feedback-label") == fresh.text("#feedback-label")
    assert stale.text("#feedback-verdict") == fresh.text("#feedback-verdict")
    assert len(records.given_labels(site, stale.token)) == 1


def test_a_tab_that_is_many_steps_behind_shows_the_stage_that_was_reached(
    visit: Visit, join: Join
) -> None:
    worker = join("teaching")
    stale = visit(f"/w/{worker.token}/")
    stale.begin()
    stale.look_at_the_picture()
    worker.go_to("evaluation")
    with stale.expecting("409"):
        stale.answer(2)
        stale.pass_last_feedback()
        stale.see("intro-evaluation")


def test_another_browser_goes_on_by_the_link(visit: Visit, at_question: AtQuestion) -> None:
    first = at_question("evaluation")
    position = first.position
    first.answer(1)
    first.see_position("evaluation", position + 1)
    second = visit(f"/w/{first.token}/")
    second.look_at_the_picture()
    assert second.now() == first.now()
    assert second.text("#counter") == first.text("#counter") == "Picture 2 of 6"
    assert second.page.get_attribute(".specimen-image", "src") == first.page.get_attribute(
        ".specimen-image", "src"
    )


def test_the_entry_page_knows_a_browser_by_its_cookie(
    site: Site, visit: Visit, study: MakeStudy
) -> None:
    visitor = visit(f"/s/{study()}/")
    token = visitor.enter()
    visitor.open(f"/s/{study()}/")
    assert visitor.page.get_attribute("[data-screen]", "data-door") == "resume"
    visitor.page.click("#entry-resume")
    visitor.see("consent")
    assert visitor.token == token

    stranger = visit(f"/s/{study()}/")
    assert stranger.page.get_attribute("[data-screen]", "data-door") == "start"


def test_a_double_click_is_one_answer(site: Site, at_question: AtQuestion) -> None:
    visitor = at_question("evaluation")
    position = visitor.position
    with visitor.holding_replies("**/answers/"):
        visitor.page.dblclick("#choice-1")
    assert_one_answer(site, visitor, position, 1)


def test_a_key_that_is_held_down_is_one_answer(site: Site, at_question: AtQuestion) -> None:
    visitor = at_question("evaluation")
    position = visitor.position
    for _ in range(8):
        visitor.page.keyboard.down("ArrowRight")
    visitor.see_position("evaluation", position + 1)
    visitor.look_at_the_picture()
    visitor.page.keyboard.down("ArrowRight")
    visitor.page.keyboard.up("ArrowRight")
    assert_one_answer(site, visitor, position, 2)


def test_of_two_quick_answers_the_first_counts(site: Site, at_question: AtQuestion) -> None:
    visitor = at_question("evaluation")
    position = visitor.position
    with visitor.holding_replies("**/answers/"):
        visitor.page.keyboard.press("2")
        visitor.page.keyboard.press("1")
    assert_one_answer(site, visitor, position, 2)


# In the page itself, so that no machine is too slow for it: the second click falls into the frame after the first
# one, upon whatever stands there then.
CLICK_TWICE_ON_CONTINUE = """
() => new Promise((resolve) => {
  const { x, y, width, height } = document.getElementById("feedback-continue").getBoundingClientRect();
  const click = () => document.elementFromPoint(x + width / 2, y + height / 2).click();
  click();
  requestAnimationFrame(() => resolve(click()));
})
"""


def test_a_double_click_on_continue_skips_nothing(site: Site, at_question: AtQuestion) -> None:
    visitor = at_question("teaching")
    visitor.answer(1)
    visitor.see("teaching-feedback")
    position = visitor.position
    visitor.wait_until_settled()
    visitor.page.evaluate(CLICK_TWICE_ON_CONTINUE)
    visitor.see_position("teaching", position + 1)
    visitor.look_at_the_picture()
    assert list(records.given_labels(site, visitor.token)) == [position]


def assert_one_answer(site: Site, visitor: Visitor, position: int, choice: int) -> None:
    """The next picture waits for its own answer."""
    visitor.see_position("evaluation", position + 1)
    visitor.look_at_the_picture()
    label = visitor.classes()[choice - 1]
    assert records.given_labels(site, visitor.token).get(position) == label
    assert [
        row.position
        for row in records.evaluation_items(site, visitor.token)
        if row.answer is not None
    ] == [position]
    # A page that has waited twelve seconds sends the very same answer again: it is still one.
    first, *others = answers_sent(visitor)
    assert first["position"] == position
    assert all(body == first for body in others)
