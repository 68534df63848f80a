"""Whether the learner model fits: scores against hand-worked values, fits against brute force and known learners."""

import csv
import io

import numpy as np
import pytest
from scipy.special import expit

from analysis.modelcheck import beliefs, decay
from analysis.modelcheck.page import check
from studies.models import Participant, Study
from teaching.engine import LearningRate, SimulatedLearner
from teaching.engine.classes import concept_vector
from tests.builders import make_study
from tests.worker import Worker


def test_log_loss_by_hand():
    p, right = np.array([0.8, 0.5, 0.25]), np.array([1.0, 0.0, 0.0])
    expected = -(np.log(0.8) + np.log(0.5) + np.log(0.75)) / 3
    assert beliefs.log_loss(p, right) == pytest.approx(expected)


def test_a_sure_and_wrong_belief_costs_much_but_not_everything():
    assert beliefs.log_loss(np.array([1.0]), np.array([0.0])) == pytest.approx(-np.log(0.01))
    assert beliefs.log_loss(np.array([1.0]), np.array([1.0])) == pytest.approx(-np.log(0.99))


def test_the_chance_to_be_right_follows_the_label():
    chance = beliefs.chance_of_right(np.array([0.9, 0.9]), np.array([1.0, -1.0]))
    np.testing.assert_allclose(chance, [0.9, 0.1])


def test_running_accuracy_knows_only_what_came_before():
    found = beliefs.running_accuracy(np.array([1.0, 1.0, 0.0, 1.0]))
    np.testing.assert_allclose(found, [1 / 2, 2 / 3, 3 / 4, 3 / 5])


def test_the_constant_of_a_worker_is_of_the_others():
    rights = [np.array([1.0, 1.0]), np.array([0.0, 1.0, 0.0]), np.array([1.0])]
    assert beliefs.constant_of_others(rights) == pytest.approx([2 / 4, 3 / 3, 3 / 5])
    assert beliefs.constant_of_others([np.ones(3)]) == [0.5]


def test_calibration_puts_every_answer_into_one_class():
    p = np.array([0.0, 0.05, 0.1, 0.95, 1.0])
    said = np.array([0.0, 1.0, 1.0, 1.0, 1.0])
    bins = beliefs.calibration(p, said)
    assert [(one.n, one.observed) for one in bins] == [(2, 0.5), (1, 1.0), (2, 1.0)]
    assert bins[0].predicted == pytest.approx(0.025)
    assert all(one.interval.low <= one.observed <= one.interval.high for one in bins)


def taught(beta: float, steps: int, seed: int, factor: float = 1.0):
    """Examples, labels and answers of a learner with a known β, who draws its answers."""
    rng = np.random.default_rng(seed)
    rate = LearningRate(0.6)
    features = rng.normal(size=(steps, 3))
    labels = np.sign(features @ [1.0, -1.0, 0.5])
    learner = SimulatedLearner(
        np.zeros(3),
        beta=beta,
        learning_rate=LearningRate(0.6 * factor),
        answers="bernoulli",
        rng=rng,
    )
    answers = []
    for x, label in zip(features, labels, strict=True):
        answers.append(1 if learner.answer(x) else -1)
        learner.learn(x, int(label > 0))
    return features, labels, np.array(answers, dtype=float), rate


def test_the_likelihood_is_that_of_the_learner_run_step_by_step():
    features, labels, answers, rate = taught(0.5, 12, seed=1)
    surface = decay.log_likelihoods(features, labels, answers, rate)
    for i, j in ((0, 2), (20, 2), (38, 4), (10, 0)):
        slow = LearningRate(rate.initial * decay.RATES[j], rate.decay)
        learner = SimulatedLearner(np.zeros(3), beta=decay.BETAS[i], learning_rate=slow)
        total = 0.0
        for x, label, answer in zip(features, labels, answers, strict=True):
            p = expit(answer * (x @ concept_vector(learner.concept)))
            total += np.log(decay.GUESS / 2 + (1 - decay.GUESS) * p)
            learner.learn(x, int(label > 0))
        assert surface[i, j] == pytest.approx(total, abs=1e-10)


def test_intervals_hold_the_true_decay_about_as_often_as_they_say():
    fits = [decay.fit_decay(*taught(0.75, 80, seed)) for seed in range(40)]
    inside = sum(fit.interval.low <= 0.75 <= fit.interval.high for fit in fits)
    assert inside >= 34
    assert all(fit.interval.low <= fit.beta <= fit.interval.high for fit in fits)


def test_many_answers_find_the_decay_and_the_rate():
    quick = [decay.fit_decay(*taught(0.0, 400, seed)) for seed in range(8)]
    slow = [decay.fit_decay(*taught(0.9, 400, seed)) for seed in range(8)]
    assert np.mean([fit.beta for fit in slow]) - np.mean([fit.beta for fit in quick]) > 0.3


def test_answers_of_a_coin_prefer_no_decay():
    rng = np.random.default_rng(4)
    features, labels, _, rate = taught(0.5, 6, seed=3)
    fit = decay.fit_decay(features * 1e-9, labels, rng.choice([-1.0, 1.0], 6), rate)
    assert fit.tells_nothing
    assert fit.log_likelihood == pytest.approx(fit.without_learning, abs=1e-6)


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
        assert [step.p for step in steps] == list(session.p)
        assert [2 * step.answer - 1 for step in steps] == list(session.answers)
        assert [bool(step.is_correct) for step in steps] == [bool(r) for r in session.right]
        assert session.code in found.fits


def test_only_people_who_count_are_checked(finished):
    Participant.objects.filter(arm="rt").update(is_excluded=True)
    assert [arm.name for arm in check(finished, "live").arms] == ["jedi"]
    assert check(finished, "rehearsal").arms == []


def test_the_page_and_its_figures(finished, researcher):
    base = f"/admin/studies/study/{finished.pk}/model/"
    page = researcher.get(base).content.decode()
    assert "running accuracy" in page
    assert "0.693" in page
    for form, start in (("svg", b"<?xml"), ("pdf", b"%PDF"), ("csv", b"participant,arm")):
        assert b"".join(researcher.get(f"{base}decay.{form}")).startswith(start)
    rows = list(
        csv.DictReader(io.StringIO(researcher.get(f"{base}calibration.csv").content.decode()))
    )
    assert sum(int(row["n"]) for row in rows) == sum(
        person.teachingsteps.count() for person in finished.participants.all()
    )
    assert researcher.get(f"{base}nothing.svg").status_code == 404


@pytest.mark.django_db
def test_a_study_that_nobody_finished_has_a_page_too(researcher):
    study = make_study()
    page = researcher.get(f"/admin/studies/study/{study.pk}/model/").content.decode()
    assert "Nobody has finished yet" in page
