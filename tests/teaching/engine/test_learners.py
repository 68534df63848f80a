"""Simulated workers: habits, times, memory, leaving; and crowds of them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorytest import scoring
from teaching.engine import (
    BadSetting,
    Habits,
    LearningRate,
    ResponseTime,
    SimulatedLearner,
    SimulatedWorker,
    make_teacher,
    make_worker,
    teach,
)
from teaching.engine.classes import concept_vector
from teaching.engine.learners.people import doubt, extra_picture_chance
from tests.teaching.engine.builders import class_pool, make_pool

RATE = LearningRate(0.5, 20)


def worker(*, margin=0.0, beta=0.75, seed=0, bernoulli=False, **habits):
    """Somebody who answers the example [1.0] by a margin."""
    answers = "bernoulli" if bernoulli else "deterministic"
    rng = np.random.default_rng(seed)
    learner = SimulatedLearner([margin], beta=beta, learning_rate=RATE, answers=answers, rng=rng)
    return SimulatedWorker(learner, beta=beta, habits=Habits(**habits), seed=seed)


def share_of_plus(one, n=4000):
    return np.mean(one.answers(np.ones((n, 1))) > 0)


def measured_span(one, *, longest=9, trials=3):
    """The memory test as the worker meets it: growing rounds until one is wrong."""
    lengths = []
    for trial in range(1, trials + 1):
        rounds = []
        for n in range(2, longest + 1):
            order = [f"picture {k}" for k in range(n)]
            rounds.append((n, one.restore(order, trial) == order))
            if not rounds[-1][1]:
                break
        lengths.append(scoring.memory_length(rounds))
    return scoring.memory_span(lengths)


@pytest.mark.parametrize(
    "habits, expected",
    [
        ({}, 1.0),
        ({"guess": 0.4}, 0.8),
        ({"lapse": 0.1}, 0.9),
        ({"guess": 0.4, "lapse": 0.1}, 0.2 + 0.6 * 0.9),
        ({"guess": 1.0}, 0.5),
    ],
)
def test_guesses_and_lapses_come_as_often_as_their_chances_say(habits, expected):
    assert share_of_plus(worker(margin=3.0, **habits)) == pytest.approx(expected, abs=0.03)


def test_bernoulli_answers_pass_through_the_habits():
    p = 1 / (1 + math.exp(-1))
    expected = 0.1 + 0.8 * (p + 0.25 * (1 - 2 * p))
    one = worker(margin=1.0, bernoulli=True, guess=0.2, lapse=0.25)
    assert one.probabilities(np.ones(1))[1] == pytest.approx(expected)
    assert share_of_plus(one) == pytest.approx(expected, abs=0.03)


def test_response_times_are_shifted_lognormal_with_the_stated_median():
    times = ResponseTime(fastest_ms=300, typical_ms=1000, spread=0.5, hesitation=1.0)
    z = np.random.default_rng(0).standard_normal(20_000)
    sure, unsure = times(0.0, z), times(1.0, z)
    assert np.median(sure) == pytest.approx(1000, rel=0.03)
    assert np.median(unsure) == pytest.approx(300 + 2 * 700, rel=0.03)
    assert np.std(np.log(sure - 300)) == pytest.approx(0.5, rel=0.03)
    assert min(sure.min(), unsure.min()) > 300


def test_a_response_carries_the_answer_and_a_time():
    response = worker(margin=2.0).respond(np.ones(1))
    assert response.answer == 1
    assert 350 < response.response_ms < 60_000


def test_asking_for_times_or_leaving_moves_no_answer():
    plain, asked = (worker(margin=0.3, bernoulli=True, guess=0.3, lapse=0.1) for _ in range(2))
    answers = []
    for _ in range(50):
        asked.leaves()
        answers.append(asked.respond(np.ones(1)).answer)
    assert answers == list(plain.answers(np.ones((50, 1))))


def test_the_time_of_leaving_is_geometric():
    steps = []
    for seed in range(400):
        one, step = worker(seed=seed, drop_out=0.1), 1
        while not one.leaves():
            step += 1
        steps.append(step)
    assert np.mean(steps) == pytest.approx(10, rel=0.12)
    assert np.mean(np.array(steps) > 10) == pytest.approx(0.9**10, abs=0.06)
    assert not any(worker().leaves() for _ in range(100))


@pytest.mark.parametrize("beta", [0.0, 0.5, 1 - 1 / 3, 0.75, 0.8, 0.875, 1 - 1 / 9])
def test_the_memory_test_measures_a_whole_span_exactly(beta):
    for seed in range(5):
        assert measured_span(worker(beta=beta, seed=seed)) == pytest.approx(1 / (1 - beta))


@pytest.mark.parametrize("span", [1.3, 2.5, 4.25, 6.9])
def test_the_memory_test_measures_a_broken_span_on_average(span):
    measured = [measured_span(worker(beta=1 - 1 / span, seed=seed)) for seed in range(500)]
    assert np.mean(measured) == pytest.approx(span, abs=0.05)
    assert scoring.memory_decay(np.mean(measured)) == pytest.approx(1 - 1 / span, abs=0.02)


def test_nobody_measures_more_than_the_test_is_long():
    assert measured_span(worker(beta=0.999)) == 9


@given(st.floats(0, 1))
def test_with_three_trials_the_chance_of_one_more_is_the_trisected_sine(share):
    assert extra_picture_chance(share, 3) == pytest.approx(
        2 * math.sin(math.asin(share) / 3), abs=1e-7
    )


@given(st.floats(0, 1), st.integers(2, 6))
def test_the_chance_of_one_more_solves_its_equation(share, trials):
    q = extra_picture_chance(share, trials)
    assert 0 <= q <= 1
    assert (trials * q - q**trials) / (trials - 1) == pytest.approx(share, abs=1e-9)


@given(st.integers(1, 9), st.integers(2, 9), st.integers(1, 3), st.integers(0, 50))
def test_an_order_is_right_up_to_the_span_and_wrong_beyond(span, n, trial, seed):
    one = worker(beta=1 - 1 / span, seed=seed)
    order = list("abcdefghi"[:n])
    restored = one.restore(order, trial)
    assert sorted(restored) == order
    assert (restored == order) == (n <= one.memory_length(trial))
    assert one.restore(order, trial) == restored


@pytest.mark.parametrize(
    "settings",
    [{"guess": -0.1}, {"lapse": 1.1}, {"drop_out": float("nan")}],
)
def test_a_chance_outside_its_range_is_refused(settings):
    with pytest.raises(BadSetting, match=next(iter(settings))):
        Habits(**settings)


@pytest.mark.parametrize(
    "settings", [{"fastest_ms": 2000}, {"spread": -1}, {"hesitation": math.inf}, {"fastest_ms": -1}]
)
def test_impossible_response_times_are_refused(settings):
    with pytest.raises(BadSetting):
        ResponseTime(**settings)


def test_a_first_concept_is_as_convinced_as_it_was_asked_to_be():
    for scale in (0.01, 1.0, 100.0):
        pool = make_pool(60, 5)
        pool = type(pool)(pool.features * scale, pool.labels)
        one = make_worker(pool, beta=0.5, learning_rate=RATE, seed=3, conviction=0.7)
        margins = pool.features @ concept_vector(one.learner.concept)
        assert np.sqrt(np.mean(margins**2)) == pytest.approx(0.7)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_margins_between_any_two_classes_are_as_wide_as_the_conviction(k):
    pool = class_pool(60, 5, k=k)
    gaps = []
    for seed in range(200):
        one = make_worker(pool, beta=0.5, learning_rate=RATE, seed=seed, conviction=0.7)
        logits = pool.features @ one.learner.concept.T
        gaps += [logits[:, a] - logits[:, b] for a in range(k) for b in range(a)]
    assert np.sqrt(np.mean(np.square(gaps))) == pytest.approx(0.7)
    assert np.std([np.sqrt(np.mean(gap**2)) for gap in gaps]) < 0.35


@pytest.mark.parametrize("k", [2, 3, 7])
def test_habits_of_many_classes_come_as_often_as_their_chances_say(k):
    concept = np.log(np.arange(1.0, k + 1))[:, None]
    learner = SimulatedLearner(concept, answers="bernoulli", rng=np.random.default_rng(1))
    one = SimulatedWorker(learner, beta=0.5, habits=Habits(guess=0.2, lapse=0.3), seed=4)
    meant = np.arange(1.0, k + 1) / np.arange(1.0, k + 1).sum()
    expected = 0.2 / k + 0.8 * (0.7 * meant + 0.3 * (1 - meant) / (k - 1))
    np.testing.assert_allclose(one.probabilities(np.ones(1)), expected)
    said = np.bincount(one.answers(np.ones((6000, 1))), minlength=k) / 6000
    np.testing.assert_allclose(said, expected, atol=0.025)


@given(st.integers(2, 20), st.integers(0, 100))
def test_doubt_runs_from_none_to_all_classes_alike(k, seed):
    drawn = np.random.default_rng(seed).dirichlet(np.ones(k))
    assert 0 <= doubt(drawn) <= 1
    assert doubt(np.eye(k)[0]) == 0
    assert doubt(np.full(k, 1 / k)) == pytest.approx(1)
    assert doubt(np.array([0.3, 0.7])) == pytest.approx(4 * 0.3 * 0.7)


def test_first_concepts_are_right_as_often_as_wrong():
    pool = make_pool(200, 4)
    shares = []
    for seed in range(100):
        one = make_worker(pool, beta=0.5, learning_rate=RATE, seed=seed)
        shares.append(np.mean(one.answers(pool.features) == pool.labels))
    assert np.mean(shares) == pytest.approx(0.5, abs=0.06)


def test_the_same_seed_makes_the_same_worker_and_another_seed_another():
    pool = make_pool(40, 4)

    def session(seed):
        one = make_worker(
            pool, beta=0.6, learning_rate=RATE, seed=seed, noise=0.1, habits=Habits(guess=0.2)
        )
        teacher = make_teacher("jedi", beta=0.6, learning_rate=RATE)
        return teach(teacher, pool, one, steps=15, rng=np.random.default_rng(1))

    assert session([4, 2]) == session([4, 2])
    assert session([4, 2]) != session([4, 3])
