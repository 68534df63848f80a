"""The model check: what it reads, how it counts, and its page."""

import csv
import io

import numpy as np
import pytest

from analysis.charts.accuracies import ArmBins, calibration_plot
from analysis.charts.shapes import Text
from analysis.modelcheck.page import check, kinds_table, model_page
from analysis.modelcheck.sessions import LearnerEstimate
from studies.models import Participant, Study
from teaching.engine import Shown, Tracked
from teaching.services import FITTED, fit_earlier_sessions
from tests.builders import make_dataset, make_study
from tests.worker import Worker


def test_a_panel_has_as_much_of_a_name_as_fits_into_it():
    names = ["regularised harmonic", "running accuracy", "a teacher with a very long name indeed"]
    drawing = calibration_plot("t", [ArmBins(name, []) for name in names], ("said", "expected"))
    texts = {shape.text for shape in drawing.shapes if isinstance(shape, Text)}
    assert {*names[:2], "said, %", "expected, %"} <= texts
    assert any(text.startswith("a teacher with") and text.endswith("…") for text in texts)


@pytest.fixture(scope="module")
def made_study(make_once):
    return make_once(make_finished_study)


@pytest.fixture
def finished(made_study, db):
    return Study.objects.get(pk=made_study.pk)


def make_finished_study():
    study = make_study(arms="jedi,rt")
    for _ in range(4):
        Worker(study).go_to("done")
    return study


def test_the_check_reads_what_was_stored(finished):
    found = check(finished, Participant.Purpose.LIVE)
    assert [(arm.name, len(arm.sessions)) for arm in found.arms] == [("jedi", 2), ("rt", 2)]
    for session in found.sessions:
        steps = list(Participant.objects.get(code=session.code).teachingsteps.order_by("position"))
        assert [step.probabilities for step in steps] == session.probabilities.tolist()
        assert [step.answer for step in steps] == list(session.answers)
        assert [bool(step.is_correct) for step in steps] == [bool(r) for r in session.right]
        assert session.code in found.fits


def test_what_was_fitted_when_the_teaching_ended_is_what_the_check_fits(finished):
    found = check(finished, Participant.Purpose.LIVE)
    fits = {code: (one.beta, one.low, one.high, [*one.surface]) for code, one in found.fits.items()}
    people = finished.participants
    assert {code: kept for code, *kept in people.values_list("code", *FITTED)} == {
        code: [*fit] for code, fit in fits.items()
    }
    # Sessions of before likelihoods were kept are fitted anew, and nobody else's fit changes.
    first = people.earliest("pk")
    people.filter(pk=first.pk).update(beta_fitted=0.3, beta_likelihood=None)
    assert (fit_earlier_sessions(), fit_earlier_sessions()) == (1, 0)
    again = people.values_list(*FITTED).get(pk=first.pk)
    assert again == fits[first.code]


def test_every_worker_is_counted_once_among_the_kinds_of_learners(finished):
    found = check(finished, Participant.Purpose.LIVE)
    table = model_page(finished, Participant.Purpose.LIVE)["kinds"]
    assert [column.group for column in table.columns][1::2] == ["JEDI", "RT", "All"]
    *kinds, total = [row[1:] for row in table.rows]
    assert np.sum(kinds, axis=0).tolist() == total
    assert total[::2] == [2, 2, 4]
    for arm in found.arms:
        for session, estimate in zip(arm.sessions, arm.estimates, strict=True):
            person = Participant.objects.get(code=session.code)
            teacher = Tracked(beta=person.beta, learning_rate=session.rate)
            history = [
                Shown(step.example.pool_index, step.answer, step.probabilities)
                for step in person.teachingsteps.select_related("example").order_by("position")
            ]
            assert estimate.families == teacher.mixture(session.pool, history).family_weights()


def test_workers_are_counted_by_their_likeliest_kind_and_apart_where_it_is_clear():
    sure, unsure, other = (
        LearnerEstimate(np.empty((0, 2)), kinds)
        for kinds in (
            {"rule": 0.6, "concept": 0.4},
            {"rule": 0.4, "concept": 0.3, "habit": 0.3},
            {"concept": 0.5, "rule": 0.5 - 1e-9},
        )
    )
    table = kinds_table([("JEDI", [sure, unsure, unsure]), ("RT", [other])], note="")
    assert [(column.group, column.title) for column in table.columns[1:3]] == [
        ("JEDI", "likeliest"), ("JEDI", "clearly"),
    ]  # fmt: skip
    assert [row[1:] for row in table.rows] == [
        [0, 0, 1, 0, 1, 0], [3, 1, 0, 0, 3, 1], [3, 1, 1, 0, 4, 1],
    ]  # fmt: skip


def test_only_people_who_count_are_checked(finished):
    Participant.objects.filter(arm="rt").update(is_excluded=True)
    assert [arm.name for arm in check(finished, "live").arms] == ["jedi"]
    assert check(finished, "rehearsal").arms == []


def test_the_page_and_its_figures(finished, researcher):
    base = f"/admin/studies/study/{finished.pk}/model/"
    page = researcher.get(base).content.decode()
    assert "running accuracy" in page
    assert "0.693" in page
    assert "Which learner model fits whom" in page
    assert "single fits lean towards the middle of the range. The mean of the group" in page
    for key in ("decay", "kinds"):
        for form, start in (("svg", b"<?xml"), ("pdf", b"%PDF"), ("csv", b"participant,arm")):
            assert b"".join(researcher.get(f"{base}{key}.{form}")).startswith(start)
    text = b"".join(researcher.get(f"{base}kinds.csv")).decode()
    for row in csv.DictReader(io.StringIO(text)):
        chances = {name: float(p) for name, p in row.items() if name.startswith("p_")}
        assert sum(chances.values()) == pytest.approx(1)
        assert max(chances, key=chances.get) == f"p_{row['likeliest']}"
    rows = list(
        csv.DictReader(io.StringIO(researcher.get(f"{base}calibration.csv").content.decode()))
    )
    assert sum(int(row["n"]) for row in rows) == sum(
        person.teachingsteps.count() for person in finished.participants.all()
    )
    assert researcher.get(f"{base}nothing.svg").status_code == 404


@pytest.mark.django_db
def test_a_study_of_many_classes_is_checked_by_its_right_answers(researcher):
    dataset = make_dataset(teaching=12, evaluation=9, classes=("a", "b", "c"))
    study = make_study(dataset=dataset, arms="jedi,rt")
    for _ in range(2):
        Worker(study).go_to("done")
    base = f"/admin/studies/study/{study.pk}/model/"
    assert "running accuracy" in researcher.get(base).content.decode()
    text = researcher.get(f"{base}calibration.csv").content.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    steps = [step for person in study.participants.all() for step in person.teachingsteps.all()]
    right = sum(float(row["right"]) * int(row["n"]) for row in rows)
    assert right == pytest.approx(sum(bool(step.is_correct) for step in steps))
    expected = sum(step.probabilities[step.example.label] for step in steps)
    assert sum(float(row["predicted"]) * int(row["n"]) for row in rows) == pytest.approx(expected)


@pytest.mark.django_db
def test_a_study_that_nobody_finished_has_a_page_too(researcher):
    study = make_study()
    page = researcher.get(f"/admin/studies/study/{study.pk}/model/").content.decode()
    assert "Nobody has finished yet" in page
