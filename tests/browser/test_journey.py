"""A worker takes a whole study by mouse, by touch and by keyboard alone; what was done is what was stored."""

from dataclasses import dataclass, field

import pytest

from tests.site import Site

from . import records
from .conftest import DESKTOP, PHONE, MakeStudy, Visit
from .input_methods import InputMethod, Keyboard, Mouse, Touch
from .visitor import Visitor

# Restored in turn: two pictures, three pictures; then the second trial ends at once.
RIGHT_ROUNDS = (True, True, False)
PATTERN = (1, 2, 2, 1, 2, 1, 1)


@dataclass
class Given:
    """What a person did, noted while doing it."""

    orders: dict[int, list[str]] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)
    verdicts: dict[int, str] = field(default_factory=dict)


class Journey:
    """Goes from screen to screen as a person does, by what is in sight."""

    def __init__(self, visitor: Visitor, method: InputMethod) -> None:
        self.visitor = visitor
        self.method = method
        self.given = Given()

    def take(self, link: str) -> Given:
        self.visitor.open(link)
        screen = self.visitor.now()
        while not screen.startswith("done"):
            name, _, position = screen.partition(" ")
            getattr(self, name.replace("-", "_"))(int(position or 0))
            screen = self.visitor.next_screen(screen)
        return self.given

    def entry(self, _: int) -> None:
        self.method.press("#entry-begin")

    def consent(self, _: int) -> None:
        self.method.press("#consent-agree")

    def check(self, _: int) -> None:
        self.method.press("#check-continue:enabled")

    def intro_memory(self, _: int) -> None:
        self.method.press("#intro-begin")

    intro_teaching = intro_evaluation = intro_memory

    def memory_ready(self, _: int) -> None:
        self.method.press("#memory-show:enabled")

    def memory_display(self, _: int) -> None:
        """Looks; the pictures go by themselves."""

    # “Ready …” goes by itself too.
    memory_fixation = memory_display

    def memory_recall(self, position: int) -> None:
        shown = self.visitor.shown_order(position)
        # A display that a busy machine disturbed is shown again, which adds a round.
        is_right = RIGHT_ROUNDS[min(len(self.given.orders), len(RIGHT_ROUNDS) - 1)]
        self.given.orders[position] = shown if is_right else shown[::-1]
        self.method.arrange(self.given.orders[position])
        self.method.press("#memory-submit")

    def memory_feedback(self, _: int) -> None:
        self.method.press("#feedback-continue")

    def teaching(self, position: int) -> None:
        choice = PATTERN[len(self.given.labels) % len(PATTERN)]
        self.visitor.look_at_the_picture()
        self.given.labels[position] = self.visitor.classes()[choice - 1]
        self.method.choose(choice)

    evaluation = teaching

    def teaching_feedback(self, position: int) -> None:
        self.given.verdicts[position] = self.visitor.text("#feedback-label")
        self.method.press("#feedback-continue")


@pytest.mark.parametrize(
    ("method", "device"), [(Mouse, DESKTOP), (Touch, PHONE), (Keyboard, DESKTOP)]
)
def test_a_whole_session_is_stored_as_it_was_done(
    method: type[InputMethod], device: dict, site: Site, visit: Visit, study: MakeStudy
) -> None:
    slug = study(memory_max_length=3, completion_code="C0FFEE", score_told="at_once")
    visitor = visit(**device)
    given = Journey(visitor, method(visitor)).take(f"/s/{slug}/")

    token = visitor.token
    assert visitor.text("#completion-code") == "C0FFEE"
    assert_memory_is_stored(site, token, given)
    assert_labels_are_stored(site, token, given)
    accuracy = assert_gain_is_right(site, slug, token)
    assert visitor.text("#score").startswith(f"{round(100 * accuracy)} %")
    assert_progress_was_true(visitor)
    assert_every_module_was_introduced(visitor)


def assert_memory_is_stored(site: Site, token: str, given: Given) -> None:
    # A busy machine may disturb a display; that round does not count, and came again.
    rounds = [row for row in records.memory_rounds(site, token) if not row.is_replaced]
    assert {row.position: row.restored for row in rounds} == given.orders
    assert [bool(row.is_correct) for row in rounds] == list(RIGHT_ROUNDS)
    assert [len(row.pictures) for row in rounds] == [2, 3, 2]
    for row in rounds:
        assert row.exposure_ms == 1000 * len(row.pictures)
        assert row.shown_ms is not None
        assert row.shown_ms >= row.exposure_ms - 50
        assert row.exposures == 1


def assert_labels_are_stored(site: Site, token: str, given: Given) -> None:
    steps, items = records.teaching_steps(site, token), records.evaluation_items(site, token)
    assert len(steps) == len(items) == 6
    assert {row.position: row.answer for row in (*steps, *items)} == given.labels
    assert {row.position: row.label for row in steps} == given.verdicts
    for row in (*steps, *items):
        assert row.is_correct == (row.answer == row.label)
        assert row.response_ms is not None
        # By the page's clock from paint to answer: never longer than the server saw the task open.
        assert 150 <= row.response_ms <= row.server_ms + 50


def assert_gain_is_right(site: Site, slug: str, token: str) -> float:
    """The gain of the CSV is the one that a second calculation from the stored answers gives."""
    steps, items = records.teaching_steps(site, token), records.evaluation_items(site, token)
    first_answers = {row.image: row.is_correct for row in reversed(steps)}
    first_seen = sum(map(bool, first_answers.values())) / len(first_answers)
    accuracy = sum(bool(row.is_correct) for row in items) / len(items)
    row = records.gain_row(site, slug, token)
    assert row["status"] == "done"
    assert (row["memory_length_1"], row["memory_length_2"]) == ("3", "1")
    assert float(row["memory_span"]) == 3
    assert int(row["unique_examples"]) == len(first_answers)
    assert float(row["first_seen_accuracy"]) == pytest.approx(first_seen)
    assert float(row["evaluation_accuracy"]) == pytest.approx(accuracy)
    assert float(row["teaching_gain"]) == pytest.approx(accuracy - first_seen)
    return accuracy


def assert_progress_was_true(visitor: Visitor) -> None:
    """One step for every trial and every answer, never back, and the totals are the study's."""
    done = [tuple(int(part[1]) for part in bar) for bar in visitor.progress]
    memory = [(trial, 0, 0) for trial in range(3)]
    teaching = [(2, step, 0) for step in range(1, 7)]
    evaluation = [(2, 6, item) for item in range(1, 7)]
    assert done[done.index((0, 0, 0)) :] == memory + teaching + evaluation
    # How many images the teacher shows is not known before the memory test has ended.
    assert [part[2] for part in visitor.progress[0]] == ["2", "", "6"]
    assert [part[2] for part in visitor.progress[-1]] == ["2", "6", "6"]


def assert_every_module_was_introduced(visitor: Visitor) -> None:
    names = [seen["screen"] for seen in visitor.screens]
    for module in ("memory", "teaching", "evaluation"):
        first = next(n for n, name in enumerate(names) if name.startswith(module))
        assert names[first - 1] == f"intro-{module}"
        assert names.count(f"intro-{module}") == 1
    test = names[names.index("evaluation") :]
    assert set(test) == {"evaluation", "done"}, "the test gives no feedback"
