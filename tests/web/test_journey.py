"""The whole journey over HTTP with the paper's numbers, for every teacher, checked by a second calculation."""

import io
import math
from datetime import timedelta

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from evaluation.models import EvaluationItem
from memorytest.models import MemoryRound
from studies.models import Participant, digest_of
from teaching.engine import TEACHERS, LearningRate, Pool, Shown
from teaching.models import TeachingStep
from teaching.services import replay
from tests.builders import database_snapshot, make_dataset, make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db

ARMS = ["jedi", "imt", "eer", "rt"]
# How many images a worker restores in each of the three trials, and what follows from it.
SPANS = {
    "short": ([2, 4, 3], 3.5, 20),
    "medium": ([5, 6, 4], 5.5, 30),
    "long": ([9, 7, 8], 8.5, 40),
    "one": ([1, 1, 1], 1.0, 20),
}


def paper_study(**fields):
    """All numbers are the paper's, on a data set just large enough for them."""
    dataset = make_dataset(teaching=60, evaluation=100, separation=0.8)
    return make_study(dataset=dataset, short=False, **fields)


class Learner:
    """Restores so many pictures in each trial, and labels as an imperfect person would."""

    def __init__(self, worker: Worker, lengths: list[int]) -> None:
        self.worker = worker
        self.lengths = lengths
        self.rng = np.random.default_rng(3)
        self.given: dict[int, str] = {}

    def __call__(self, task):
        if task["kind"] == "consent":
            return {"agree": True}
        if task["kind"] == "memory":
            return {"order": self.worker.restored(task, self.lengths), "shown_ms": 3000.5}
        label = str(self.rng.choice(["wild", "domestic"]))
        self.given[task["position"]] = label
        return {"label": label, "response_ms": 812.25}


def take_part(study, lengths) -> tuple[Participant, Learner]:
    worker = Worker(study)
    learner = Learner(worker, lengths)
    worker.go_to("done", learner)
    return worker.participant, learner


@pytest.mark.parametrize("arm", ARMS)
def test_a_whole_session_is_stored_as_a_second_calculation_gives_it(arm):
    study = paper_study(arms=arm)
    lengths, span, jedi_steps = SPANS["short"]
    participant, learner = take_part(study, lengths)

    assert participant.stage == "done"
    assert participant.memory_lengths == lengths
    assert participant.memory_span == span
    assert participant.beta == pytest.approx(1 - 1 / span)
    assert (participant.arm, participant.ticket) == (arm, 0)
    assert participant.teaching_steps == (jedi_steps if arm == "jedi" else 30)
    assert_rows_follow_each_other(participant)
    assert_memory_rounds_are_right(participant)
    assert_teaching_is_right(participant, learner)
    assert_evaluation_is_right(participant, learner)
    assert_gain_is_right(participant)


def assert_rows_follow_each_other(participant: Participant) -> None:
    """Positions are 1 for consent, then one row each without a gap, each written before it was answered."""
    rows = [
        *MemoryRound.objects.filter(participant=participant),
        *TeachingStep.objects.filter(participant=participant),
        *EvaluationItem.objects.filter(participant=participant),
    ]
    assert [row.position for row in rows] == list(range(2, participant.position))
    assert all(row.created_at <= row.answered_at for row in rows)
    answered = [row.answered_at for row in rows]
    assert answered == sorted(answered)


def assert_memory_rounds_are_right(participant: Participant) -> None:
    rounds = list(MemoryRound.objects.filter(participant=participant).order_by("position"))
    practice, *counted = rounds
    assert (practice.trial, practice.length) == (0, 2)
    expected = [
        (trial, n)
        for trial, length in enumerate(participant.memory_lengths, start=1)
        for n in range(2, min(length + 1, 9) + 1)
    ]
    assert [(row.trial, row.length) for row in counted] == expected
    for row in rounds:
        assert len(row.pictures) == row.length
        assert row.exposure_ms == 1000 * (row.length + 1)
        assert sorted(row.shuffled) == sorted(row.pictures)
        assert row.is_correct == (row.restored == row.pictures)
        assert row.shown_ms == 3000.5
    for trial in (1, 2, 3):
        shown = [name for row in counted if row.trial == trial for name in row.pictures]
        assert len(set(shown)) == len(shown), "a picture came twice in a trial"


def assert_teaching_is_right(participant: Participant, learner: Learner) -> None:
    study = participant.study
    steps = list(TeachingStep.objects.of(participant))
    pool = Pool.load(study.dataset.folder / "pool")
    shown = [step.example.pool_index for step in steps]
    assert [step.step for step in steps] == list(range(1, participant.teaching_steps + 1))
    # Five random images, no more and no fewer, none twice, both classes.
    assert [step.is_random for step in steps] == [True] * 5 + [False] * (len(steps) - 5)
    assert len(set(shown[:5])) == 5
    assert {step.example.label for step in steps[:5]} == {0, 1}
    if participant.arm == "eer":
        assert len(set(shown)) == len(shown), "EER repeated an image"

    teacher = TEACHERS[participant.arm](
        beta=1 - 1 / participant.memory_span,
        learning_rate=LearningRate(study.dataset.learning_rate, 20.0),
        cold_start=5,
    )
    history: list[Shown] = []
    for step in steps:
        t = len(history) + 1
        choice = teacher.choose(pool, history, participant.generator("teaching", t))
        truth = step.example.dataset.class_names[step.example.label]
        assert (choice.example, choice.p) == (step.example.pool_index, pytest.approx(step.p))
        # The estimate of an error is kept a millionth away from certainty.
        error = 1 - step.p if step.example.label else step.p
        assert step.f == pytest.approx(error, abs=1.1e-6)
        assert step.learning_rate == pytest.approx(study.dataset.learning_rate * 20 / (20 + t))
        assert step.is_first_showing == (choice.example not in [past.example for past in history])
        assert step.answer == {"wild": 0, "domestic": 1}[learner.given[step.position]]
        assert step.is_correct == (learner.given[step.position] == truth)
        assert step.response_ms == 812.25
        assert step.example.label == pool.labels[step.example.pool_index]
        history.append(Shown(step.example.pool_index, step.answer, step.p))


def assert_evaluation_is_right(participant: Participant, learner: Learner) -> None:
    items = list(EvaluationItem.objects.of(participant))
    assert [item.item for item in items] == list(range(1, 101))
    assert len({item.example_id for item in items}) == 100
    assert [item.example.label for item in items].count(1) == 50
    assert all(item.example.split == "evaluation" for item in items)
    for item in items:
        assert item.answer == {"wild": 0, "domestic": 1}[learner.given[item.position]]
        assert item.is_correct == (item.answer == item.example.label)


def assert_gain_is_right(participant: Participant) -> None:
    steps = list(TeachingStep.objects.of(participant))
    first: dict[int, bool] = {}
    for step in steps:
        first.setdefault(step.example_id, step.is_correct)
    items = EvaluationItem.objects.of(participant)
    evaluation = sum(item.answer == item.example.label for item in items) / 100
    first_seen = sum(first.values()) / len(first)
    assert participant.unique_examples == len(first)
    assert participant.first_seen_accuracy == pytest.approx(first_seen)
    assert participant.evaluation_accuracy == pytest.approx(evaluation)
    assert participant.teaching_gain == pytest.approx(evaluation - first_seen)


SMALL = {"evaluation_size": 4, "memory_practice": False}


@pytest.mark.parametrize("kind", ["one", "medium", "long"])
def test_jedi_teaches_as_many_images_as_the_memory_asks_for(kind):
    lengths, span, steps = SPANS[kind]
    participant, _ = take_part(paper_study(arms="jedi", **SMALL), lengths)
    assert (participant.memory_lengths, participant.memory_span) == (lengths, span)
    assert participant.beta == pytest.approx(math.exp(-1) if span == 1 else 1 - 1 / span)
    assert participant.teaching_steps == steps
    assert TeachingStep.objects.filter(participant=participant).count() == steps


def test_restoring_nine_images_ends_the_trial_and_is_no_error():
    worker = Worker(paper_study(**SMALL))
    worker.go_to("teaching")
    participant = worker.participant
    assert participant.memory_lengths == [9, 9, 9]
    assert MemoryRound.objects.filter(participant=participant).count() == 3 * 8


def test_workers_get_the_four_teachers_in_turn():
    study = make_study(
        dataset=make_dataset(teaching=12, evaluation=6), short_steps=3, other_steps=3
    )
    arms = []
    for _ in range(9):
        worker = Worker(study)
        worker.go_to("teaching")
        arms.append((worker.participant.ticket, worker.participant.arm))
    assert arms == [(k, ARMS[k % 4]) for k in range(9)]


def test_gaps_that_drop_outs_left_are_filled():
    study = make_study(assignment="fill_gaps", memory_max_length=2)

    def next_arm() -> Participant:
        worker = Worker(study)
        worker.go_to("teaching")
        return worker.participant

    first = [next_arm() for _ in range(6)]
    assert [participant.arm for participant in first] == [*ARMS, "jedi", "imt"]
    # The one EER worker and one of JEDI's go away and are not seen again.
    for lost in (first[2], first[0]):
        Participant.objects.filter(pk=lost.pk).update(
            last_seen_at=lost.last_seen_at - timedelta(hours=25)
        )
    assert [next_arm().arm for _ in range(4)] == ["eer", "jedi", "eer", "rt"]


def replayed(participant: Participant) -> str:
    output = io.StringIO()
    call_command("replay_session", participant.code, stdout=output)
    return output.getvalue()


@pytest.mark.parametrize("arm", ARMS)
def test_a_replay_gives_every_choice_again_and_sees_a_changed_answer(arm):
    participant, _ = take_part(paper_study(arms=arm, **SMALL), [3, 3, 3])
    assert f"all {participant.teaching_steps} choices match" in replayed(participant)

    changed = TeachingStep.objects.of(participant)[5]
    TeachingStep.objects.filter(pk=changed.pk).update(answer=1 - changed.answer)
    with pytest.raises(CommandError, match="choices differ"):
        replayed(participant)

    TeachingStep.objects.filter(pk=changed.pk).update(answer=changed.answer)
    assert "choices match" in replayed(participant)


def test_the_same_seeds_and_answers_give_the_same_session():
    study = make_study()
    workers = [Worker(study), Worker(study)]
    Participant.objects.update(seed=99)
    Participant.objects.with_token(workers[1].token).update(ticket=None)
    for worker in workers:
        type(study).objects.update(next_ticket=0)
        Participant.objects.exclude(token_digest=digest_of(worker.token)).update(ticket=None)
        worker.go_to("done")

    def shown(worker: Worker, table) -> list[int]:
        rows = table.objects.filter(participant__token_digest=digest_of(worker.token)).order_by(
            "position"
        )
        return list(rows.values_list("example_id", flat=True))

    for table in (TeachingStep, EvaluationItem):
        assert shown(workers[0], table) == shown(workers[1], table)


def test_two_workers_see_different_sequences():
    study = make_study(arms="rt")
    sequences = {
        tuple(step.stored.example_id for step in replay(take_part(study, [1, 1])[0]))
        for _ in range(3)
    }
    assert len(sequences) == 3


def test_a_repeat_after_the_end_still_gets_the_same_reply():
    worker = Worker(make_study(completion_code="C0FFEE"))
    state = worker.get().json()
    while state["task"]["kind"] != "done":
        last = {"position": state["task"]["position"], **worker.obvious(state)}
        reply = worker.answer_task(state)
        state = reply.json()
    assert worker.answer(**last).json() == reply.json()
    assert state["task"]["completion_code"] == "C0FFEE"
    assert worker.task() == state["task"]


def test_a_refresh_shows_the_same_image_and_writes_nothing():
    worker = Worker(make_study())
    for stage in ("consent", "memory", "teaching", "evaluation", "done"):
        worker.go_to(stage)
        before = database_snapshot()
        replies = [worker.get().json() for _ in range(3)]
        assert replies[0] == replies[1] == replies[2]
        assert database_snapshot() == before


def test_feedback_that_a_reload_interrupted_can_be_shown_again():
    worker = Worker(make_study())
    worker.go_to("teaching")
    assert worker.task()["last_feedback"] is None
    feedback = worker.answer_current().json()["feedback"]
    assert worker.task()["last_feedback"] == feedback


def test_a_score_is_shown_only_if_the_study_shows_it():
    shown = Worker(make_study(score_told="at_once"))
    hidden = Worker(make_study(shows_score=False, score_told="at_once"))
    assert shown.go_to("done")["score"] == {
        "evaluation_accuracy": shown.participant.evaluation_accuracy
    }
    end = hidden.go_to("done")
    assert (end["score"], end["score_follows"]) == (None, False)


def test_every_recruiter_has_a_return_link_of_its_own():
    study = make_study(
        return_url="https://plain.example/",
        prolific_return_url="https://prolific.example/?in={SESSION_ID}",
        mturk_return_url="https://turk.example/{assignmentId}",
    )
    for link, parameters in {
        "https://plain.example/": {},
        "https://prolific.example/?in=7": {"PROLIFIC_PID": "p", "SESSION_ID": "7"},
        "https://turk.example/a1": {"workerId": "w", "assignmentId": "a1", "hitId": "h"},
    }.items():
        assert Worker(study, **parameters).go_to("done")["return_url"] == link
    without = make_study(dataset=study.dataset, prolific_return_url="https://prolific.example/")
    assert Worker(without).go_to("done")["return_url"] is None


def test_the_return_link_carries_the_ids_safely():
    study = make_study(
        prolific_return_url="https://example.org/?pid={PROLIFIC_PID}&c={code}",
        completion_code="A B",
    )
    worker = Worker(study, PROLIFIC_PID="x&y=1#/é")
    assert worker.go_to("done")["return_url"] == (
        "https://example.org/?pid=x%26y%3D1%23%2F%C3%A9&c=A%20B"
    )
