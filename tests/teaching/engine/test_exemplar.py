"""An exemplar learner is recognised by the tracked teacher, and taught another way."""

import numpy as np
import pytest

from teaching.engine import (
    SGD,
    Assumptions,
    BadSetting,
    LearningRate,
    Shown,
    SimulatedLearner,
    Tracked,
    teach,
)
from teaching.engine.classes import likeliest
from teaching.engine.exemplar import ExemplarAssumptions, exemplar_probability
from teaching.engine.history import Past
from teaching.engine.learners.alternatives import ExemplarLearner
from tests.teaching.engine.builders import make_pool
from tests.teaching.engine.tracked_oracle import exemplar_posterior, judged

RATE = LearningRate(0.7, 20)
BLIND = Assumptions(exemplars=ExemplarAssumptions(prior=0.0))


def tracked(**settings):
    return Tracked(**({"beta": 0.75, "learning_rate": RATE} | settings))


def exemplar_learner(pool):
    return ExemplarLearner(
        pool.dimensions, width=0.16 * float(pool.squared_norms.mean()), decay=0.95
    )


def random_session(pool, learner, seed, steps=30):
    return teach(SGD(), pool, learner, steps=steps, rng=np.random.default_rng(seed))


def probability_of_exemplars(pool, history):
    judgement = tracked().judge(pool, Past.read(history, pool))
    return judgement.explanation.exemplar_probability


def test_scores_and_p_are_those_of_the_definition_for_an_exemplar_learner():
    pool = make_pool(25, 5, apart=0.5)
    history = random_session(pool, exemplar_learner(pool), seed=3)
    teacher = tracked(repeat_window=0)
    choice = teacher.choose(pool, history, np.random.default_rng(0))
    assert choice.explanation.exemplar_probability > 0.5
    assert (choice.diversity, choice.usefulness) == (None, None)
    assert choice.explanation.exemplar_probability == pytest.approx(
        exemplar_posterior(pool, history, 0.75, RATE, teacher.assumptions), rel=1e-9
    )
    scores, p = judged(pool, history, 0.75, RATE, teacher.assumptions)
    np.testing.assert_allclose(teacher.scores(pool, history), scores, rtol=1e-9, atol=1e-12)
    assert choice.p == pytest.approx(p[choice.example], abs=1e-11)


def test_a_learner_of_either_kind_is_known_by_its_answers():
    pool = make_pool(80, 8, apart=0.4)
    by_exemplars, by_concept = [], []
    for seed in range(8):
        history = random_session(pool, exemplar_learner(pool), seed)
        by_exemplars.append(probability_of_exemplars(pool, history))
        learner = SimulatedLearner(np.zeros(8), beta=0.75, learning_rate=RATE)
        history = random_session(pool, learner, seed)
        by_concept.append(probability_of_exemplars(pool, history))
    assert np.median(by_exemplars) > 0.9
    assert np.median(by_concept) < 0.02


def test_an_exemplar_learner_learns_more_when_the_teacher_reckons_with_it():
    pool = make_pool(120, 6, apart=0.6)
    known = {}
    for name, assumed in (("blind", BLIND), ("seeing", Assumptions())):
        shares = []
        for seed in range(6):
            learner = exemplar_learner(pool)
            rng = np.random.default_rng(seed)
            teach(tracked(assumptions=assumed), pool, learner, steps=30, rng=rng)
            shares.append(np.mean(likeliest(learner.probabilities(pool.features)) == pool.labels))
        known[name] = np.mean(shares)
    assert known["seeing"] > known["blind"] + 0.03


def test_the_hypothesis_can_be_left_out():
    pool = make_pool(25, 5, apart=0.5)
    history = random_session(pool, exemplar_learner(pool), seed=3)
    choice = tracked(assumptions=BLIND).choose(pool, history, np.random.default_rng(0))
    assert choice.explanation.exemplar_probability == 0
    assert choice.score == pytest.approx(choice.diversity - choice.usefulness)


def test_the_probability_of_an_exemplar_learner_is_bayes_rule():
    found = exemplar_probability(0.2, np.log([0.3, 1e-5]), np.log([0.1, 0.5]))
    np.testing.assert_allclose(found, [0.06 / (0.06 + 0.08), 2e-6 / (2e-6 + 0.4)], rtol=1e-12)


def test_before_any_answer_one_learner_in_ten_is_an_exemplar_learner():
    assert probability_of_exemplars(make_pool(20, 3), []) == pytest.approx(0.1, rel=1e-12)


def test_the_default_prior_is_weighed_against_the_answers_in_closed_form():
    """The same example twice: an exemplar learner has one memory then, of the same label, as firm as can be."""
    pool = make_pool(20, 3)
    label = int(pool.labels[0])
    history = [Shown(0, label, 0.5), Shown(0, label, 0.5)]
    firm = 0.98**4 / (0.98**4 + 0.02**4)
    by_exemplars = 0.5 * (0.1 / 2 + 0.9 * firm)
    by_concept = np.exp(tracked().posterior(pool, history).evidence)
    expected = 0.1 * by_exemplars / (0.1 * by_exemplars + 0.9 * by_concept)
    assert probability_of_exemplars(pool, history) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "wrong",
    [
        {"prior": 1.0},
        {"prior": -0.1},
        {"widths": ()},
        {"widths": (0.0,)},
        {"decays": ()},
        {"decays": (1.1,)},
        {"decays": (0.0,)},
    ],
)
def test_assumptions_outside_their_range_are_refused(wrong):
    with pytest.raises(BadSetting):
        ExemplarAssumptions(**wrong)
