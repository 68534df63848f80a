"""The tracked teacher: what it believes, what it says about it, and whom it teaches."""

from dataclasses import replace

import numpy as np
import pytest

from research.learners import ExemplarLearner, PrototypeLearner
from research.teachers import OmniscientJEDI
from teaching.engine import (
    LearningRate,
    Pool,
    Shown,
    SimulatedLearner,
    Tracked,
    make_teacher,
    teach,
)
from teaching.engine.bank import FAMILIES
from teaching.engine.history import Past
from teaching.engine.teachers.tracked import _words
from tests.teaching.engine.bank.builders import class_history, class_pool
from tests.teaching.engine.builders import make_pool, random_history

RATE = LearningRate(0.7, 20)


def tracked(**settings):
    return Tracked(**({"beta": 0.75, "learning_rate": RATE} | settings))


def chosen(teacher, pool, history):
    return teacher.choose(pool, history, np.random.default_rng(0))


# What it believes.


@pytest.mark.parametrize("k", [2, 4])
def test_it_predicts_each_answer_from_those_before_alone(k):
    pool = class_pool(30, k=k)
    history = class_history(pool, 12)
    predicted = tracked().predicted_answers(pool, history)
    assert predicted.shape == ((12,) if k == 2 else (12, k))
    again = tracked().predicted_answers(pool, history[:7])
    np.testing.assert_allclose(predicted[:7], again, atol=1e-12)
    assert tracked().predict(pool, history).shape == ((30,) if k == 2 else (30, k))


@pytest.mark.parametrize("k", [2, 4])
def test_what_is_stored_with_a_step_and_what_is_predicted_of_all_examples_are_the_same_prediction(
    k,
):
    pool, teacher = class_pool(30, k=k), tracked()
    learner = SimulatedLearner(np.zeros((k, pool.dimensions)), beta=0.75, learning_rate=RATE)
    history = teach(teacher, pool, learner, steps=12, rng=np.random.default_rng(1))
    predicted = teacher.predicted_answers(pool, history)
    np.testing.assert_allclose([step.p for step in history], predicted, atol=1e-12)
    for place, step in enumerate(history):
        everywhere = teacher.predict(pool, history[:place])
        np.testing.assert_allclose(everywhere[step.example], predicted[place], atol=1e-12)


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


def test_wrong_answers_are_expected_of_those_who_gave_them():
    pool = make_pool(40, apart=2.0)
    history = random_history(40, 30)
    right = [replace(step, answer=int(pool.labels[step.example])) for step in history]
    wrong = [replace(step, answer=1 - int(pool.labels[step.example])) for step in history]
    knows, errs = (tracked().predict(pool, h)[pool.labels == 1].mean() for h in (right, wrong))
    assert knows > 0.85
    assert errs < 0.3


# What it says.


@pytest.mark.parametrize("k", [2, 4])
def test_a_choice_says_which_learner_it_was_made_for_and_how_sure_it_is(k):
    pool = class_pool(30, k=k)
    choice = chosen(tracked(), pool, class_history(pool, 12))
    found = choice.explanation
    assert set(found.families) == {family.name for family in FAMILIES}
    assert sum(found.families.values()) == pytest.approx(1)
    assert found.families[found.leading] == max(found.families.values())
    title = next(family.title for family in FAMILIES if family.name == found.leading)
    assert title in found.text
    assert title in found.facts()[0][0]
    for of in range(k):
        low, high = found.interval(choice.example, of)
        assert 0 <= low <= choice.probabilities[of] <= high <= 1
    assert found.learner_rate > 0
    assert 0 <= found.learner_beta < 1
    assert choice.learning_rate == RATE(13)


def explained(**families):
    explanation = chosen(tracked(), make_pool(20), random_history(20, 6)).explanation
    return replace(explanation, families=families)


def test_kinds_of_learners_that_round_to_nothing_are_not_among_the_facts():
    names = [name for name, _ in explained(concept=0.968, prototype=0.03, rule=0.002).facts()]
    assert names[:3] == [
        "the worker follows a concept, as the paper assumes",
        "the worker compares with what is typical of each class",
        "learning rate η₀ inferred from the answers",
    ]


def test_before_the_first_answer_nothing_is_said_to_follow_from_answers():
    facts = dict(chosen(tracked(), make_pool(20), []).explanation.facts())
    assert "learning rate η₀ that was assumed" in facts
    assert not any("answers" in name for name in facts)


def test_kinds_of_learners_that_are_equally_likely_are_all_named():
    text = _words({"rule": 0.301, "concept": 0.299, "fixed": 0.25, "prototype": 0.15}, FAMILIES)
    assert text.startswith(
        "By the answers so far it is about equally likely that the worker goes by one feature at a time or that "
        "the worker follows a concept, as the paper assumes (30\N{NO-BREAK SPACE}% each)."
    )


def test_how_much_a_kind_of_learner_counts_is_what_its_family_says():
    [favoured] = [family for family in FAMILIES if family.choice_weight != 1]
    probable = {family.name: 1 / len(FAMILIES) for family in FAMILIES}
    assert f"{favoured.choice_weight:g} times that for a worker who {favoured.title}." in _words(
        probable, FAMILIES
    )
    alone = tuple(family for family in FAMILIES if family is not favoured)
    assert "counts by how probable it is." in _words(probable, alone)


@pytest.mark.parametrize(
    ("score", "words"),
    [(-0.0002, "largest expected decrease"), (0.1, "smallest expected increase")],
)
def test_the_best_image_lowers_the_disagreement_most_or_raises_it_least(score, words):
    assert words in explained(concept=1.0).advantage(score)


# Whom it teaches.


def accuracy_after(teacher_name, learner, pool, seed, rate):
    settings = {"beta": 0.7, "learning_rate": rate}
    teacher = (
        OmniscientJEDI(learner=learner, **settings)
        if teacher_name == "omniscient"
        else make_teacher(teacher_name, **settings)
    )
    teach(teacher, pool, learner, steps=30, rng=np.random.default_rng(seed))
    return np.mean(learner.probabilities(pool.features).argmax(axis=1) == pool.labels)


def mean_accuracies(names, make_learner, pool, rate, seeds=4):
    return [
        np.mean([accuracy_after(n, make_learner(seed), pool, seed, rate) for seed in range(seeds)])
        for n in names
    ]


def test_it_teaches_nearly_as_well_as_a_teacher_who_reads_minds():
    pool = make_pool(150, 12, apart=0.7)
    rate = LearningRate(0.5)

    def learner(_):
        return SimulatedLearner(np.zeros(12), beta=0.7, learning_rate=rate)

    rt, found, best = mean_accuracies(("rt", "tracked", "omniscient"), learner, pool, rate)
    assert found - rt > 0.7 * (best - rt) > 0


@pytest.mark.parametrize(
    "make_learner",
    [
        lambda _: PrototypeLearner(12, scale=12.0),
        lambda _: ExemplarLearner(12, width=2.0),
    ],
)
def test_it_teaches_learners_without_a_concept_better_than_chance_does(make_learner):
    pool = make_pool(120, 12, apart=0.8)
    rt, found = mean_accuracies(("rt", "tracked"), make_learner, pool, LearningRate(0.5), seeds=6)
    assert found > rt


# Edges.


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e6, 1e40])
@pytest.mark.parametrize("rate", [1e-6, 1e6])
def test_scores_are_finite_at_any_scale(scale, rate):
    reference = make_pool(15, 3)
    pool = Pool(reference.features * scale, reference.labels, target=[1 / scale, 0, 0])
    teacher = tracked(learning_rate=LearningRate(rate), repeat_window=0)
    assert np.isfinite(teacher.scores(pool, random_history(15, 40))).all()


def test_a_pool_without_features_still_serves():
    pool = Pool(np.zeros((6, 2)), [1, -1, 1, -1, 1, -1])
    choice = chosen(tracked(repeat_window=0), pool, random_history(6, 9))
    assert 0 < choice.p < 1
    assert np.isfinite(choice.scores).all()


ODD = {
    "nothing yet": lambda pool, t: [],
    "one class only": lambda pool, t: [
        (int(i), 0) for i in np.resize(np.flatnonzero(pool.labels == 0), t)
    ],
    "one image over and over": lambda pool, t: [(2, s % pool.class_count) for s in range(t)],
    "one answer to everything": lambda pool, t: [(s % pool.n, 1) for s in range(t)],
    "always wrong": lambda pool, t: [
        (s % pool.n, int(pool.labels[s % pool.n] + 1) % pool.class_count) for s in range(t)
    ],
    "now this, now that": lambda pool, t: [(s % 3, s // 3 % pool.class_count) for s in range(t)],
    "one answer": lambda pool, t: [(0, 1)],
}


@pytest.mark.parametrize("k", range(2, 10))
def test_odd_histories_give_finite_probabilities_and_the_same_choice_every_time(k):
    pools = [class_pool(3 * k, k=k) for _ in range(2)]
    for name, history_of in ODD.items():
        history = [Shown(i, answer, [1 / k] * k) for i, answer in history_of(pools[0], 40)]
        judged = [tracked(repeat_window=0).judge(one, Past.read(history, one)) for one in pools]
        first, second = judged
        assert np.isfinite(first.scores).all(), name
        assert ((first.probabilities > 0) & (first.probabilities < 1)).all(), name
        np.testing.assert_allclose(first.probabilities.sum(axis=1), 1, err_msg=name)
        assert (first.scores == second.scores).all(), name
        assert (first.probabilities == second.probabilities).all(), name
        predicted = tracked().mixture(pools[0], history).predicted_answers()
        np.testing.assert_allclose(predicted.sum(axis=1), 1, err_msg=name)


def test_scaling_features_against_the_learning_rate_changes_no_choice():
    pool = make_pool(30, 4)
    history = random_history(30, 15)
    scaled = Pool(pool.features * 8, pool.labels, pool.affinity, pool.target / 8)
    here = chosen(tracked(), pool, history)
    there = chosen(tracked(learning_rate=LearningRate(0.7 / 64)), scaled, history)
    assert here.example == there.example
    assert here.p == pytest.approx(there.p, abs=1e-9)
