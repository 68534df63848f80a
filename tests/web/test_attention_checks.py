"""Attention checks: what the worker is told, what is counted, and what no number ever counts."""

import csv
import io

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from analysis.exports.files import Selection, table_chunks
from analysis.results.page import results_page
from evaluation.models import EvaluationItem
from evaluation.stage import Drawn, EvaluationStage, draw_images, with_checks
from studies.models import Example, Participant, Study
from tests.builders import make_dataset, make_participant, make_study
from tests.worker import Json, Worker

pytestmark = pytest.mark.django_db

CLASSES = {"wild": -1, "domestic": 1}


@pytest.fixture
def study() -> Study:
    return make_study(arms="rt", attention_checks=3)


def obedient(task: Json) -> Json:
    """Does as an attention check asks, and answers everything else with one class."""
    return {"label": task["instruction"] or "wild"}


def heedless(task: Json) -> Json:
    """Answers every attention check with the other class."""
    others = {"wild": "domestic", "domestic": "wild"}
    return {"label": others[task["instruction"]] if task["instruction"] else "wild"}


def in_evaluation(study: Study) -> Worker:
    """A worker at the first image of the test; what came before does not matter here."""
    worker = Worker(study)
    participant = worker.participant
    participant.stage = Participant.Stage.EVALUATION
    EvaluationStage().begin(participant)
    participant.save()
    return worker


def drawn_for(study: Study) -> list[Drawn]:
    participant = make_participant(study)
    return with_checks(participant, draw_images(participant))


def items_of(worker: Worker) -> list[EvaluationItem]:
    return list(EvaluationItem.objects.of(worker.participant))


def test_a_study_has_none_unless_it_asks_for_them():
    worker = in_evaluation(make_study(arms="rt"))
    assert worker.task()["instruction"] is None
    assert not EvaluationItem.objects.checks().exists()
    assert EvaluationItem.objects.counted().count() == 6


def test_checks_come_on_top_of_the_evaluation_and_of_its_progress(study):
    worker = in_evaluation(study)
    state = worker.get().json()
    assert state["task"]["items"] == 9
    assert state["session"]["stages"][-1]["total"] == 9
    asked = []
    while state["task"]["kind"] == "evaluation":
        assert state["session"]["stages"][-1]["done"] == state["task"]["item"] - 1
        asked.append(state["task"]["instruction"])
        state = worker.answer_task(state, obedient).json()
    assert len(asked) == 9
    assert [name for name in asked if name] == [
        study.dataset.class_names[item.instructed_label]
        for item in items_of(worker)
        if item.is_check
    ]
    assert state["session"]["stages"][-1] == {
        "name": "evaluation", "title": "Test", "done": 9, "part": 0.0, "total": 9,
    }  # fmt: skip


def test_the_first_image_is_never_a_check_and_the_places_differ_between_workers(study):
    everybodys = [
        [item.instructed_label is not None for item in drawn_for(study)] for _ in range(30)
    ]
    assert all(sum(places) == 3 and not places[0] for places in everybodys)
    # Every other place has its turn, the last one too.
    assert all(any(places[place] for places in everybodys) for place in range(1, 9))


def test_the_images_of_the_test_are_drawn_as_if_there_were_no_checks(study):
    participant = make_participant(study)
    drawn = draw_images(participant)
    items = with_checks(participant, drawn)
    assert [item.example for item in items if item.instructed_label is None] == drawn
    twin = make_participant(make_study(dataset=study.dataset, arms="rt", seed=study.seed))
    twin.seed = participant.seed
    assert draw_images(twin) == drawn


def test_the_same_worker_would_always_get_the_same_checks(study):
    participant = make_participant(study)
    drawn = draw_images(participant)
    assert with_checks(participant, drawn) == with_checks(participant, drawn)


def test_both_classes_are_asked_for_whatever_the_image_is():
    """Over many checks, what is asked for agrees with the true class about half of the time."""
    study = make_study(arms="rt", attention_checks=10, dataset=make_dataset(evaluation=30))
    truths = dict(Example.objects.values_list("pk", "label"))
    agreeing = 0
    for _ in range(20):
        checks = [item for item in drawn_for(study) if item.instructed_label is not None]
        assert sorted(check.instructed_label for check in checks) == [0] * 5 + [1] * 5
        agreeing += sum(truths[check.example] == check.instructed_label for check in checks)
    assert 65 <= agreeing <= 135


def test_one_check_asks_for_either_class():
    study = make_study(arms="rt", attention_checks=1)
    asked = {item.instructed_label for _ in range(20) for item in drawn_for(study)}
    assert asked == {None, 0, 1}


def test_checks_show_images_that_the_test_does_not(study):
    items = items_of(in_evaluation(study))
    assert len({item.example_id for item in items}) == 9
    assert {item.example.split for item in items} == {"evaluation"}


def test_when_the_evaluation_set_is_used_up_checks_show_images_of_the_pool():
    study = make_study(arms="rt", attention_checks=4, dataset=make_dataset(evaluation=8))
    worker = in_evaluation(study)
    splits = sorted(item.example.split for item in items_of(worker) if item.is_check)
    assert splits == ["evaluation", "evaluation", "teaching", "teaching"]
    state = worker.get().json()
    while state["task"]["kind"] == "evaluation":
        assert worker.client.get(state["task"]["image"]["url"]).status_code == 200
        state = worker.answer_task(state, obedient).json()


def test_more_checks_than_images_are_refused_with_a_way_out():
    dataset = make_dataset(teaching=8, evaluation=6)
    with pytest.raises(ValidationError, match="has 8 images beside those of the evaluation"):
        make_study(dataset=dataset, arms="rt", attention_checks=9)
    assert make_study(dataset=dataset, arms="rt", attention_checks=8).pk


def finish(study: Study, choose) -> Worker:
    worker = in_evaluation(study)
    worker.go_to("done", choose)
    return worker


def test_a_check_is_passed_or_failed_and_neither_right_nor_wrong(study):
    for choose, passed in ((obedient, True), (heedless, False)):
        checks = [item for item in items_of(finish(study, choose)) if item.is_check]
        assert [check.is_passed for check in checks] == [passed] * 3
        assert [check.is_correct for check in checks] == [None] * 3


def test_the_database_refuses_a_check_that_counts_as_right(study):
    in_evaluation(study)
    check = EvaluationItem.objects.checks().first()
    with pytest.raises(IntegrityError), transaction.atomic():
        EvaluationItem.objects.filter(pk=check.pk).update(is_correct=True)


@pytest.mark.parametrize("choose", [obedient, heedless])
def test_accuracy_and_gain_are_of_the_test_alone(study, choose):
    worker = Worker(study)
    worker.go_to("evaluation")
    worker.go_to("done", choose)
    participant = worker.participant
    assert EvaluationItem.objects.of(participant).counted().count() == 6
    # Half of the test is wild, and everything in it was called wild.
    assert participant.evaluation_accuracy == 0.5
    assert participant.teaching_gain == 0.5 - participant.first_seen_accuracy


def test_results_count_no_check(study):
    worker = finish(study, heedless)
    Participant.objects.with_token(worker.token).update(arm="rt")
    EvaluationItem.objects.update(response_ms=700.0)
    page = results_page(study)
    confusion = next(figure for figure in page["figures"] if figure.key == "confusion")
    assert sum(int(row[-1]) for row in confusion.rows) == 6
    times = next(figure for figure in page["figures"] if figure.key == "response-times")
    in_test = [row for row in times.rows if row[1] == "evaluation"]
    assert sum(int(row[-1]) for row in in_test) == 6


def test_files_tell_what_was_asked_for_and_whether_it_was_done(study):
    passed, failed = (finish(study, choose).participant for choose in (obedient, heedless))
    text = b"".join(table_chunks(Selection(study), "evaluation", "csv")).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 18
    for row in rows:
        is_check = row["instructed_label"] != ""
        assert (row["is_passed"] == "") == (not is_check)
        assert (row["is_correct"] == "") == is_check
    outcomes = {(row["participant"], row["is_passed"]) for row in rows if row["is_passed"]}
    assert outcomes == {(passed.code, "1"), (failed.code, "0")}


def test_a_check_is_answered_once_like_every_other_image(study):
    worker = in_evaluation(study)
    state = worker.get().json()
    while not state["task"]["instruction"]:
        state = worker.answer_task(state, obedient).json()
    position = state["task"]["position"]
    assert worker.answer_task(state, obedient).json()["feedback"] is None
    assert worker.answer(position=position, **obedient(state["task"])).status_code == 200
    assert worker.answer(position=position, **heedless(state["task"])).status_code == 409


def test_who_is_under_way_keeps_the_checks_of_the_version_they_joined(study):
    worker = in_evaluation(study)
    study.attention_checks = 0
    study.save()
    assert worker.task()["items"] == 9
    worker.go_to("done", obedient)
    assert worker.participant.evaluation_accuracy == 0.5
    study = Study.objects.get(pk=study.pk)
    assert in_evaluation(study).task()["items"] == 6
