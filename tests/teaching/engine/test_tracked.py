"""The tracked teacher, against full covariances, quadrature, sampling and a learner that hides nothing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, ndtr
from scipy.stats import norm

from teaching.engine import (
    SGD,
    BadSetting,
    LearningRate,
    OmniscientJEDI,
    Pool,
    SimulatedLearner,
    Tracked,
    make_teacher,
    teach,
)
from teaching.engine.classes import concept_vector
from teaching.engine.exemplar import ExemplarAssumptions
from teaching.engine.history import Past
from teaching.engine.tracking import (
    LOGISTIC_VARIANCE,
    Assumptions,
    answer_update,
    expected_answer,
    expected_slope,
)
from tests.teaching.engine.builders import (
    as_signs,
    class_history,
    class_pool,
    make_pool,
    random_history,
)
from tests.teaching.engine.tracked_oracle import followed, judged, judged_against_rest

RATE = LearningRate(0.7, 20)
CERTAIN = Assumptions(conviction=0.0, drift=0.0, rates=(1.0,), spans=(1.0,), firmness=(1.0,))


def tracked(**settings):
    return Tracked(**({"beta": 0.75, "learning_rate": RATE} | settings))


# The fast form is the definition.


@pytest.mark.parametrize("beta", [0.0, 0.368, 0.75, 0.95])
@pytest.mark.parametrize("steps", [0, 1, 7, 40])
def test_scores_and_p_are_those_of_full_covariances(beta, steps):
    pool = make_pool(20, 4, seed=steps)
    history = random_history(20, steps, seed=steps)
    teacher = tracked(beta=beta, repeat_window=0, cold_start=0)
    scores, p = judged(pool, history, beta, RATE, teacher.assumptions)
    np.testing.assert_allclose(teacher.scores(pool, history), scores, rtol=1e-9, atol=1e-9)
    choice = teacher.choose(pool, history, np.random.default_rng(0))
    assert choice.p == pytest.approx(p[choice.example], abs=1e-11)


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(0, 20),
    st.floats(0, 0.99),
    st.floats(-2, 1),
    st.builds(
        Assumptions,
        conviction=st.floats(0, 3),
        drift=st.floats(0, 0.5),
        guess=st.floats(0.01, 0.5),
    ),
)
def test_any_assumptions_give_the_scores_of_full_covariances(seed, steps, beta, log_rate, assumed):
    pool = make_pool(12, 3, seed=seed)
    history = random_history(12, steps, seed=seed)
    rate = LearningRate(10**log_rate)
    teacher = tracked(
        beta=beta, learning_rate=rate, repeat_window=0, cold_start=0, assumptions=assumed
    )
    expected, _ = judged(pool, history, beta, rate, assumed)
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(teacher.scores(pool, history) / scale, expected / scale, atol=1e-9)


@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("steps", [0, 12])
def test_scores_and_probabilities_of_many_classes_are_those_of_full_covariances(k, steps):
    pool = class_pool(15, 4, k=k)
    history = class_history(15, steps, k=k)
    assumed = Assumptions(exemplars=ExemplarAssumptions(prior=0.0))
    teacher = tracked(repeat_window=0, cold_start=0, assumptions=assumed)
    scores, believed = judged_against_rest(pool, history, 0.75, RATE, assumed)
    np.testing.assert_allclose(teacher.scores(pool, history), scores, rtol=1e-9, atol=1e-9)
    found = teacher.estimate(pool, Past.read(history, pool))
    np.testing.assert_allclose(found, believed, atol=1e-9)


def test_the_posterior_is_that_of_full_covariances():
    pool = make_pool(30, 6)
    history = random_history(30, 25)
    teacher = tracked()
    models, weights, spread, tie = followed(pool, history, 0.75, RATE, teacher.assumptions)
    found = teacher.posterior(pool, history)
    shown = found.shown
    np.testing.assert_allclose(found.weights, weights, atol=1e-11)
    np.testing.assert_allclose(
        found.concepts @ shown, [model.mean[:6] for model in models], atol=1e-11
    )
    np.testing.assert_allclose(
        found.momenta @ shown, [model.mean[6:] for model in models], atol=1e-11
    )
    np.testing.assert_allclose(
        found.remainder * np.eye(6) + shown.T @ found.spread @ shown, spread, atol=1e-11
    )
    np.testing.assert_allclose(shown.T @ found.tie @ shown, tie, atol=1e-11)


# The definition is what it claims to be.


@pytest.mark.parametrize("mean, variance", [(0.0, 1.0), (1.3, 0.2), (-2.5, 4.0), (0.4, 0.0)])
@pytest.mark.parametrize("answer", [-1, 1])
@pytest.mark.parametrize("guess, firmness", [(0.05, 1.0), (0.4, 1.0), (0.1, 4.0)])
def test_an_answer_moves_the_margin_as_bayes_rule_does(mean, variance, answer, guess, firmness):
    doubt = LOGISTIC_VARIANCE / firmness**2
    chance, pull, curvature = (
        found[0]
        for found in answer_update(
            answer, np.array([mean]), np.array([variance]), np.array([doubt]), guess
        )
    )
    u = np.linspace(-12, 12, 40_001) * np.sqrt(variance) + mean
    prior = norm.pdf(u, mean, np.sqrt(variance)) if variance else np.ones_like(u)
    joint = prior * (guess / 2 + (1 - guess) * ndtr(answer * firmness * u / np.sqrt(8 / np.pi)))
    joint_mean = (u * joint).sum() / joint.sum()
    joint_variance = ((u - joint_mean) ** 2 * joint).sum() / joint.sum()
    assert chance == pytest.approx(joint.sum() / prior.sum(), abs=1e-9)
    assert mean + pull * variance == pytest.approx(joint_mean, abs=1e-9)
    assert variance * (1 - curvature * variance) == pytest.approx(joint_variance, abs=1e-9)


@pytest.mark.parametrize("mean", [-4.0, -1.0, 0.0, 0.5, 3.0])
@pytest.mark.parametrize("variance", [0.0, 0.3, 2.0, 9.0])
def test_the_expected_answer_is_within_two_hundredths_of_quadrature(mean, variance):
    nodes, weights = np.polynomial.hermite_e.hermegauss(101)
    p = expit(mean + np.sqrt(variance) * nodes)
    weights = weights / weights.sum()
    lean = expected_answer(np.array([mean]), np.array([variance]))
    slope = expected_slope(lean, np.array([variance]))
    assert (1 + lean[0]) / 2 == pytest.approx(weights @ p, abs=0.02)
    assert slope[0] == pytest.approx(weights @ (p * (1 - p)), abs=0.02)


def test_scores_are_the_distances_that_samples_of_the_posterior_leave():
    pool = make_pool(12, 3)
    history = random_history(12, 10)
    assumed = Assumptions(conviction=0.6, rates=(0.8, 1.5), spans=(1.0,), firmness=(1.0,))
    teacher = tracked(assumptions=assumed, repeat_window=0)
    models, weights, _, _ = followed(pool, history, 0.75, RATE, assumed)
    shared = sum(weight * model.covariance for weight, model in zip(weights, models, strict=True))
    rng = np.random.default_rng(0)
    deviations = rng.multivariate_normal(np.zeros(6), shared, 20_000, method="eigh")
    sampled = np.zeros(pool.n)
    for weight, model in zip(weights, models, strict=True):
        eta = model.factor * RATE(11)
        w, v = np.hsplit(model.mean + deviations, 2)
        signs = as_signs(pool)
        for i, (x, y) in enumerate(zip(signs.features, signs.labels, strict=True)):
            a = (y * expit(-y * (w @ x)))[:, None] * x
            after = w - eta * (model.beta * v - a) - signs.target
            before = w - eta * model.beta * v - signs.target
            sampled[i] += weight * np.mean((after**2).sum(axis=1) - (before**2).sum(axis=1))
    scores = teacher.scores(pool, history)
    # The distances range over more than one; what is left is the logistic curve's approximation.
    assert np.ptp(sampled) > 1
    np.testing.assert_allclose(scores, sampled, atol=0.06)


@pytest.mark.parametrize("beta", [0.0, 0.5, 0.9])
def test_a_teacher_that_is_certain_scores_as_one_that_reads_minds(beta):
    pool = make_pool(30, 5)
    learner = SimulatedLearner(np.zeros(5), beta=beta, learning_rate=RATE)
    teacher = tracked(beta=beta, assumptions=CERTAIN)
    omniscient = OmniscientJEDI(learner=learner, beta=beta, learning_rate=RATE)
    history = teach(teacher, pool, learner, steps=25, rng=np.random.default_rng(3))
    plain = replace(teacher, repeat_window=0)
    np.testing.assert_allclose(
        plain.scores(pool, history), omniscient.scores(pool, history), atol=1e-10
    )
    found = teacher.posterior(pool, history)
    concept = concept_vector(learner.concept)
    np.testing.assert_allclose(found.concepts[0] @ found.shown, concept, atol=1e-11)
    np.testing.assert_allclose(found.momenta[0] @ found.shown, learner.momentum[1], atol=1e-11)


# What the answers do.


def settled(factor, *, learners=20):
    """The mean log learning rate, in factors of the assumed one, for learners of a true factor."""
    pool = make_pool(60, 5, apart=0.7)
    found = []
    for seed in range(learners):
        rng = np.random.default_rng(seed)
        learner = SimulatedLearner(
            np.zeros(5),
            beta=0.6,
            learning_rate=LearningRate(0.6 * factor),
            answers="bernoulli",
            rng=rng,
        )
        history = teach(SGD(), pool, learner, steps=40, rng=rng)
        teacher = tracked(beta=0.6, learning_rate=LearningRate(0.6))
        found.append(np.log(teacher.posterior(pool, history).rate_factor))
    return np.mean(found)


def test_a_faster_learner_is_taken_for_a_faster_one():
    slow, right, fast = (settled(factor) for factor in (0.4, 1.0, 2.5))
    assert slow < right - 0.1
    assert fast > right + 0.1


def test_before_the_first_answer_the_bank_stands_around_rate_and_memory():
    found = tracked(beta=0.8).posterior(make_pool(20), [])
    best = int(np.argmax(found.weights))
    assert (found.bank.factors[best], found.bank.betas[best]) == (1.0, pytest.approx(0.8))
    assert found.rate_factor == pytest.approx(1.0)
    assert found.bank.factors.min() <= 1 / 2.5
    assert found.bank.factors.max() >= 2.5
    assert found.bank.betas.min() < 0.71 < 0.86 < found.bank.betas.max() < 1


def test_a_learner_who_never_wavers_is_taken_for_a_firm_one():
    pool = make_pool(60, 5, apart=0.7)
    firm = []
    for answers in ("bernoulli", "deterministic"):
        weight = 0.0
        for seed in range(15):
            rng = np.random.default_rng(seed)
            learner = SimulatedLearner(
                rng.normal(0, 0.4, 5), learning_rate=RATE, answers=answers, rng=rng
            )
            history = teach(SGD(), pool, learner, steps=40, rng=rng)
            found = tracked(beta=0.0).posterior(pool, history)
            weight += found.weights[found.bank.firmness > 1].sum() / 15
        firm.append(weight)
    assert firm[0] < 0.35 < 0.65 < firm[1]


def test_answers_against_the_model_leave_it_less_weight():
    pool = make_pool(40, 4, apart=3.0)
    learner = SimulatedLearner(np.zeros(4), beta=0.75, learning_rate=RATE)
    teacher = tracked(cold_start=30)
    history = teach(teacher, pool, learner, steps=25, rng=np.random.default_rng(1))
    stubborn = [replace(step, answer=-step.answer) for step in history]
    believed = teacher.posterior(pool, history).rate_factor
    assert teacher.posterior(pool, stubborn).rate_factor < believed


def test_p_is_half_before_the_first_answer_and_its_interval_is_the_prior():
    pool = make_pool(20)
    assumed = Assumptions(exemplars=ExemplarAssumptions(prior=0.0))
    teacher = tracked(cold_start=0, assumptions=assumed)
    choice = teacher.choose(pool, [], np.random.default_rng(0))
    margin = 0.25 * np.sqrt(pool.squared_norms[choice.example] / pool.squared_norms.mean())
    assert choice.p == 0.5
    # Half of the bank answers four times as firmly as the other half.
    high = expit(1.6449 * margin * np.sqrt((1 + 16) / 2))
    assert choice.explanation.interval(choice.example) == pytest.approx(
        (0.95 - 0.9 * high, 0.05 + 0.9 * high)
    )


def width_of(choice):
    low, high = choice.explanation.interval(choice.example)
    return high - low


def test_answers_narrow_the_interval_of_what_was_shown():
    pool = make_pool(30)
    teacher = tracked()
    asked = random_history(30, 12, distinct=True)
    before, after = (teacher.choose(pool, h, np.random.default_rng(0)) for h in (asked[:1], asked))
    assert width_of(after) < width_of(before)


def test_a_choice_says_which_learner_it_was_made_for():
    pool = make_pool(30)
    history = random_history(30, 12)
    teacher = tracked()
    for past in (history[:2], history):
        choice = teacher.choose(pool, past, np.random.default_rng(0))
        found = teacher.posterior(pool, past)
        assert choice.explanation.learner_rate == pytest.approx(RATE.initial * found.rate_factor)
        assert choice.explanation.learner_beta == pytest.approx(found.beta)
        low, high = choice.explanation.interval(choice.example)
        assert low < choice.p < high
        assert 0 < choice.explanation.exemplar_probability < 0.5
    assert choice.learning_rate == RATE(13)
    assert choice.score == pytest.approx(choice.diversity - choice.usefulness)


def test_the_stored_p_has_no_part_in_it():
    pool = make_pool(30)
    history = random_history(30, 9)
    certain = [replace(step, p=0.9) for step in history]
    assert (tracked().scores(pool, history) == tracked().scores(pool, certain)).all()


def test_the_order_of_the_answers_matters():
    pool = make_pool(30)
    history = random_history(30, 8, distinct=True)
    turned = [history[-1], *history[1:-1], history[0]]
    assert not np.allclose(tracked().scores(pool, history), tracked().scores(pool, turned))


# It teaches.


def test_it_comes_nearly_as_close_as_a_teacher_who_reads_minds():
    pool = make_pool(150, 8, apart=0.8)
    rate = LearningRate(0.5)
    left = {"rt": [], "tracked": [], "omniscient": []}
    for seed in range(4):
        for name, distances in left.items():
            learner = SimulatedLearner(np.zeros(8), beta=0.7, learning_rate=rate)
            settings = {"beta": 0.7, "learning_rate": rate}
            teacher = (
                OmniscientJEDI(learner=learner, **settings)
                if name == "omniscient"
                else make_teacher(name, **settings)
            )
            teach(teacher, pool, learner, steps=30, rng=np.random.default_rng(seed))
            distances.append(np.linalg.norm(learner.concept - pool.target))
    rt, found, best = (np.mean(left[name]) for name in ("rt", "tracked", "omniscient"))
    assert rt - found > 0.7 * (rt - best)


# Edges.


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e6, 1e40])
@pytest.mark.parametrize("rate", [1e-6, 1.0, 1e6])
def test_scores_are_finite_at_any_scale(scale, rate):
    reference = make_pool(15, 3)
    pool = Pool(reference.features * scale, reference.labels, target=[1 / scale, 0, 0])
    teacher = tracked(learning_rate=LearningRate(rate), repeat_window=0)
    assert np.isfinite(teacher.scores(pool, random_history(15, 40))).all()


def test_a_pool_without_features_still_serves():
    pool = Pool(np.zeros((6, 2)), [1, -1, 1, -1, 1, -1])
    choice = tracked(repeat_window=0).choose(pool, random_history(6, 9), np.random.default_rng(0))
    assert choice.p == 0.5
    assert choice.score == 0.0


def test_one_sided_answers_and_one_example_over_and_over_give_finite_scores():
    pool = make_pool(30)
    history = [replace(step, example=3, answer=1) for step in random_history(30, 60)]
    assert np.isfinite(tracked(repeat_window=0).scores(pool, history)).all()


def test_scaling_features_against_the_learning_rate_changes_no_choice():
    pool = make_pool(30, 4)
    history = random_history(30, 15)
    scaled = Pool(pool.features * 8, pool.labels, pool.affinity, pool.target / 8)
    here = tracked().choose(pool, history, np.random.default_rng(0))
    there = tracked(learning_rate=LearningRate(0.7 / 64)).choose(
        scaled, history, np.random.default_rng(0)
    )
    assert here.example == there.example
    assert here.p == pytest.approx(there.p, abs=1e-12)


@pytest.mark.parametrize(
    "wrong",
    [
        {"conviction": -1.0},
        {"drift": -0.1},
        {"guess": 0.0},
        {"guess": 1.0},
        {"rates": ()},
        {"spans": (0.0, 1.0)},
        {"firmness": (-1.0,)},
        {"rate_doubt": 1.0},
        {"span_doubt": float("nan")},
    ],
)
def test_an_assumption_outside_its_range_is_refused_by_name(wrong):
    with pytest.raises(BadSetting):
        Assumptions(**wrong)


def test_one_pass_foretells_every_answer_as_choice_after_choice_would():
    pool = make_pool(40, 4, seed=3)
    history = random_history(40, 12, seed=3)
    teacher = tracked(beta=0.6, cold_start=0)
    predicted = teacher.predicted_answers(pool, history)
    for step, shown in enumerate(history):
        judged_then = teacher.judge(pool, Past.read(history[:step], pool))
        assert predicted[step] == pytest.approx(judged_then.p[shown.example], abs=0.03)
        np.testing.assert_allclose(
            teacher.predicted_answers(pool, history[:step]), predicted[:step], rtol=1e-9
        )
    flipped = [replace(shown, answer=-shown.answer) for shown in history[-1:]]
    again = teacher.predicted_answers(pool, [*history[:-1], *flipped])
    assert again[-1] == pytest.approx(predicted[-1], rel=1e-9)
