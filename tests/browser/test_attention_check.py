"""An attention check says which class to choose, is read out first, and is answered by keyboard alone."""

from studies.models import digest_of
from tests.site import Site

from .conftest import Join, MakeStudy, Visit
from .input_methods import Keyboard

ONE_CHECK = {"evaluation_size": 2, "attention_checks": 1}


def test_an_attention_check_asks_for_a_class_and_ordinary_pictures_do_not(
    site: Site, visit: Visit, join: Join, study: MakeStudy
) -> None:
    worker = join("evaluation", study(**ONE_CHECK), answers=1)
    visitor = visit(f"/w/{worker.token}/")
    keyboard, state = Keyboard(visitor), worker.get().json()
    asked = []
    while state["task"]["kind"] == "evaluation":
        position, told = state["task"]["position"], state["task"]["instruction"]
        screen = visitor.now()
        assert screen == f"evaluation {position}"
        question = visitor.page.locator("h1#question")
        asks = f"Attention check: choose “{told}” for this picture" if told else "Which one is it?"
        assert question.inner_text() == asks
        # What has the focus is what a screen reader says.
        assert question.evaluate("node => node === document.activeElement")
        assert visitor.text("#counter") == f"Picture {state['task']['item']} of 3"
        visitor.look_at_the_picture()
        keyboard.choose(
            1 + state["session"]["classes"].index(told or state["session"]["classes"][0])
        )
        visitor.next_screen(screen)
        asked.append(told)
        state = worker.get().json()
    assert len(asked) == 2
    assert sum(told is not None for told in asked) == 1
    ((answer, instructed, is_correct),) = site.rows(
        "SELECT i.answer, i.instructed_label, i.is_correct FROM evaluation_evaluationitem i "
        "JOIN studies_participant p ON p.id = i.participant_id "
        "WHERE p.token_digest = %s AND i.instructed_label IS NOT NULL",
        digest_of(worker.token),
    )
    assert answer == instructed
    assert is_correct is None
