"""What holds for every teacher: purity, cold start, repeat window, settings."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from research.learners import HingeLearner, SquaredLearner
from teaching.engine import (
    TEACHERS,
    BadSetting,
    LearningRate,
    Pool,
    Shown,
    SimulatedLearner,
    belief,
    make_teacher,
    teach,
)
from teaching.engine.history import Past
from teaching.engine.teachers import cold_start
from tests.teaching.engine.builders import (
    class_history,
    class_pool,
    gaussian_classes,
    make_pool,
    many_classes,
    random_history,
)

every_teacher = pytest.mark.parametrize("name", list(TEACHERS))


def run(name, pool, steps, *, seed=0, **options):
    rng = np.random.default_rng(seed)
    learner = SimulatedLearner(np.zeros(pool.dimensions), answers="bernoulli", rng=rng)
    return teach(make_teacher(name, **options), pool, learner, steps=steps, rng=rng)


def test_the_table_holds_the_papers_four_teachers_in_the_order_of_assignment_and_then_ours():
    assert list(TEACHERS) == ["jedi", "imt", "eer", "rt", "tracked"]


@every_teacher
def test_the_same_arguments_give_the_same_choice(name):
    pool = make_pool(40)
    for steps in (0, 3, 9):
        history = random_history(40, steps)
        teacher = make_teacher(name, beta=0.7)
        first = teacher.choose(pool, history, np.random.default_rng(5))
        make_teacher(name, beta=0.7).choose(pool, history[:1], np.random.default_rng(6))
        again = teacher.choose(pool, list(history), np.random.default_rng(5))
        assert first == again


@every_teacher
def test_another_pool_made_of_the_same_numbers_gives_the_same_choice(name):
    history = random_history(40, 12)
    choices = [
        make_teacher(name, beta=0.7).choose(make_pool(40), history, np.random.default_rng(5))
        for _ in range(2)
    ]
    assert choices[0] == choices[1]


@every_teacher
def test_a_choice_leaves_history_and_pool_as_they_were(name):
    pool = make_pool(40)
    history = random_history(40, 9)
    before, copy = pool.features.copy(), list(history)
    make_teacher(name, beta=0.7).choose(pool, history, np.random.default_rng(0))
    assert history == copy
    np.testing.assert_array_equal(pool.features, before)


@every_teacher
def test_a_choice_tops_its_list(name):
    pool = make_pool(40)
    choice = make_teacher(name, beta=0.7).choose(
        pool, random_history(40, 9), np.random.default_rng(0)
    )
    assert choice.top(3)[0][1] == choice.score
    assert [score for _, score in choice.top(40)] == sorted(score for _, score in choice.top(40))


def test_the_top_list_leaves_out_what_was_not_allowed():
    pool = make_pool(10)
    history = random_history(10, 9)
    choice = make_teacher("jedi", repeat_window=4).choose(pool, history, np.random.default_rng(0))
    recent = {s.example for s in history[-4:]}
    assert {example for example, _ in choice.top(10)} == set(range(10)) - recent


# Cold start.


@every_teacher
@pytest.mark.parametrize("seed", range(20))
def test_the_first_five_differ_and_show_both_classes(name, seed):
    pool = make_pool(12, 3, seed=seed)
    history = run(name, pool, 5, seed=seed)
    assert len({s.example for s in history}) == 5
    assert len({pool.labels[s.example] for s in history}) == 2


def test_both_classes_come_up_though_one_is_rare():
    features, _ = gaussian_classes(50, 3)
    labels = np.ones(50)
    labels[17] = -1
    pool = Pool(features, labels)
    places = Counter()
    for seed in range(200):
        history = run("rt", pool, 5, seed=seed)
        places[[s.example for s in history].index(17)] += 1
    # The rare one is not left for last: it takes each of the five places equally often.
    assert all(20 <= places[place] <= 62 for place in range(5))


def test_the_cold_start_has_the_law_of_drawing_again_until_both_classes_are_there():
    features, _ = gaussian_classes(5, 2)
    pool = Pool(features, [1, 1, 1, -1, -1])
    teacher = make_teacher("rt", cold_start=3)
    valid = [s for s in permutations(range(5), 3) if len({pool.labels[i] for i in s}) == 2]
    drawn = Counter()
    for seed in range(1500):
        history = []
        for t in range(3):
            choice = teacher.choose(pool, history, np.random.default_rng([7, seed, t]))
            history.append(Shown(choice.example, 1, choice.p))
        drawn[tuple(s.example for s in history)] += 1
    assert set(drawn) == set(valid)
    expected = 1500 / len(valid)
    chi_squared = sum((drawn[s] - expected) ** 2 / expected for s in valid)
    assert chi_squared < len(valid) + 5 * np.sqrt(2 * len(valid))


@pytest.mark.parametrize(
    "labels, steps",
    [
        ([0, 0, 0, 1, 1], 3),
        ([0, 0, 0, 1, 1], 1),
        ([0, 0, 1, 1, 2, 2], 3),
        ([0, 0, 0, 1, 2, 2], 4),
        ([0, 0, 0, 1, 2, 2], 2),
        ([0, 1, 1, 2, 2, 3], 3),
        ([0, 1, 1, 2, 2, 3], 5),
    ],
)
def test_every_cold_start_that_shows_all_classes_it_can_is_equally_likely(labels, steps):
    labels = np.array(labels)
    k = labels.max() + 1
    most = min(k, steps)
    sequences = list(permutations(range(len(labels)), steps))
    valid = [s for s in sequences if len(set(labels[list(s)])) == most]
    for sequence in sequences:
        probability = 1.0
        for t, example in enumerate(sequence):
            taught = np.array(sorted(sequence[:t]), dtype=np.intp)
            probability *= cold_start.chances(labels, taught, steps - t, k)[example]
        expected = (len(set(labels[list(sequence)])) == most) / len(valid)
        assert probability == pytest.approx(expected, abs=1e-12)


@every_teacher
@pytest.mark.parametrize("k", [3, 5])
def test_the_cold_start_of_many_classes_shows_each_of_them(name, k):
    pool = class_pool(12, 3, k=k)
    for cold, expected in ((5, k), (2, 2)):
        learner = SimulatedLearner(np.zeros((k, 3)), answers="bernoulli")
        teacher = make_teacher(name, cold_start=cold)
        history = teach(teacher, pool, learner, steps=cold, rng=np.random.default_rng(0))
        assert len({pool.labels[s.example] for s in history}) == expected


@every_teacher
def test_a_cold_start_choice_carries_the_estimate_of_its_moment(name):
    pool = make_pool(40)
    history = run(name, pool, 5)
    # Some learners of Tracked's bank know a little from the start.
    assert history[0].p == pytest.approx(0.5, abs=0.1 if name == "tracked" else 0.0)
    if name in ("jedi", "imt", "rt"):
        for t, step in enumerate(history):
            assert step.p == belief(pool, history[:t])[step.example]


@every_teacher
def test_scores_during_the_cold_start_say_that_chance_decides(name):
    pool = make_pool(40)
    history = random_history(40, 3, distinct=True)
    teacher = make_teacher(name)
    scores = teacher.scores(pool, history)
    assert set(np.flatnonzero(np.isinf(scores))) == {s.example for s in history}
    assert (scores[np.isfinite(scores)] == 0).all()
    choice = teacher.choose(pool, history, np.random.default_rng(0))
    assert choice.is_cold_start
    assert (choice.score, choice.diversity, choice.usefulness) == (0.0, None, None)


@every_teacher
def test_without_a_cold_start_the_rule_decides_at_once(name):
    choice = make_teacher(name, cold_start=0).choose(make_pool(20), [], np.random.default_rng(0))
    assert not choice.is_cold_start


def test_a_cold_start_of_one_draws_from_both_classes():
    pool = make_pool(20)
    teacher = make_teacher("jedi", cold_start=1)
    labels = {
        pool.labels[teacher.choose(pool, [], np.random.default_rng(s)).example] for s in range(20)
    }
    assert labels == {0, 1}


# Small pools and long sessions.


@pytest.mark.parametrize("name", ["jedi", "imt", "rt", "tracked"])
def test_a_session_longer_than_the_pool_goes_on(name):
    assert len(run(name, make_pool(7), 40, beta=0.9)) == 40


@every_teacher
def test_a_pool_of_two_serves_every_teacher(name):
    pool = Pool([[1.0], [-1.0]], [1, -1])
    history = run(name, pool, 2 if name == "eer" else 9, beta=0.5)
    assert {s.example for s in history[:2]} == {0, 1}


def test_a_window_larger_than_the_pool_leaves_one_example():
    pool = make_pool(6)
    history = run("jedi", pool, 30, repeat_window=1000)
    examples = [s.example for s in history]
    for t in range(5, 30):
        assert set(examples[t - 5 : t + 1]) == set(range(6))


# Settings.


@every_teacher
@pytest.mark.parametrize(
    "wrong",
    [
        {"beta": 1.0},
        {"beta": -0.01},
        {"beta": float("nan")},
        {"repeat_window": -1},
        {"cold_start": -1},
        {"repeat_window": 1.5},
        {"cold_start": 2.5},
        {"learning_rate": 0.5},
    ],
)
def test_a_setting_outside_its_range_is_refused_by_name(name, wrong):
    with pytest.raises(BadSetting):
        make_teacher(name, **wrong)


def test_an_unknown_teacher_is_refused_with_the_names_that_exist():
    with pytest.raises(BadSetting, match="jedi, imt, eer, rt, tracked"):
        make_teacher("sensei")


def test_the_default_learning_rate_is_the_papers():
    assert make_teacher("jedi").learning_rate == LearningRate(0.03, 20)


# Invariants.

seeds = st.integers(0, 10**6)
every_name = st.sampled_from(list(TEACHERS))
quick = settings(max_examples=40, deadline=None)


@quick
@given(seeds, st.integers(0, 25), st.sampled_from(["jedi", "imt", "eer", "tracked"]))
def test_swapping_the_classes_swaps_nothing_but_the_labels(seed, steps, name):
    features, labels = gaussian_classes(30, 3, seed=seed)
    pool, swapped = Pool(features, labels), Pool(features, -labels)
    history = random_history(30, steps, seed=seed)
    mirrored = [Shown(s.example, -s.answer, 1 - s.p) for s in history]
    teacher = make_teacher(name, beta=0.6, cold_start=0)
    np.testing.assert_allclose(
        teacher.scores(pool, history), teacher.scores(swapped, mirrored), rtol=1e-7, atol=1e-9
    )


@quick
@given(seeds, st.integers(0, 25), st.integers(3, 6), every_name)
def test_renaming_the_classes_renames_the_probabilities_and_nothing_else(seed, steps, k, name):
    features, labels = many_classes(30, 3, k=k, seed=seed)
    new = np.random.default_rng(seed).permutation(k)
    old = np.argsort(new)
    pool, renamed = Pool(features, labels), Pool(features, new[labels])
    np.testing.assert_allclose(renamed.target, pool.target[old], atol=1e-9)
    history = class_history(30, steps, k=k, seed=seed, distinct=True)
    other = [Shown(s.example, int(new[s.answer]), tuple(np.take(s.p, old))) for s in history]
    teacher = make_teacher(name, beta=0.6, cold_start=0)
    np.testing.assert_allclose(
        teacher.scores(pool, history), teacher.scores(renamed, other), rtol=1e-7, atol=1e-8
    )
    np.testing.assert_allclose(
        teacher.estimate(renamed, Past.read(other, renamed)),
        teacher.estimate(pool, Past.read(history, pool))[:, old],
        atol=1e-8,
    )


@quick
@given(seeds, st.integers(2, 6), st.sampled_from([SimulatedLearner, HingeLearner, SquaredLearner]))
def test_renaming_the_classes_renames_the_answers_of_a_learner(seed, k, kind):
    pool = class_pool(20, 3, k=k, seed=seed)
    rng = np.random.default_rng(seed)
    new, first = rng.permutation(k), rng.standard_normal((k, 3))
    learner, renamed = kind(first, beta=0.6), kind(first[np.argsort(new)], beta=0.6)
    for x, label in zip(pool.features, pool.labels, strict=True):
        assert renamed.answer(x) == new[learner.answer(x)]
        learner.learn(x, int(label))
        renamed.learn(x, int(new[label]))
    np.testing.assert_allclose(renamed.concept[new], learner.concept, atol=1e-12)


@pytest.mark.parametrize("spelling", ["signs", "numbers", "vectors"])
@every_teacher
def test_two_classes_may_be_spelled_in_three_ways(name, spelling):
    features, labels = gaussian_classes(30, 3)
    history = random_history(30, 9)
    reference = make_teacher(name, beta=0.6).choose(
        Pool(features, labels), history, np.random.default_rng(0)
    )
    if spelling != "signs":
        labels = (labels + 1) // 2
        history = [Shown(s.example, (s.answer + 1) // 2, s.p) for s in history]
    if spelling == "vectors":
        history = [Shown(s.example, s.answer, (1 - s.p, s.p)) for s in history]
    pool = Pool(features, labels, classes=2)
    assert make_teacher(name, beta=0.6).choose(pool, history, np.random.default_rng(0)) == reference
    np.testing.assert_array_equal(belief(pool, history).shape, (30,))


@quick
@given(seeds, st.integers(0, 25), st.sampled_from(["jedi", "imt", "eer", "tracked"]))
def test_renumbering_the_examples_renumbers_the_scores(seed, steps, name):
    pool = make_pool(30, 3, seed=seed)
    order = np.random.default_rng(seed).permutation(30)
    place = np.argsort(order)
    renumbered = Pool(
        pool.features[order],
        pool.labels[order],
        affinity=pool.affinity.toarray()[np.ix_(order, order)],
        target=pool.target,
    )
    history = random_history(30, steps, seed=seed)
    moved = [Shown(int(place[s.example]), s.answer, s.p) for s in history]
    teacher = make_teacher(name, beta=0.6, cold_start=0)
    np.testing.assert_allclose(
        teacher.scores(renumbered, moved),
        teacher.scores(pool, history)[order],
        rtol=1e-8,
        atol=1e-9,
    )


@quick
@given(seeds, st.integers(2, 15), st.floats(0, 0.95), st.sampled_from(["jedi", "imt", "tracked"]))
def test_nothing_repeats_inside_the_window(seed, n, beta, name):
    pool = make_pool(n, 3, seed=seed)
    history = run(name, pool, 20, seed=seed, beta=beta, learning_rate=LearningRate(0.5))
    memory = 0.0 if name == "imt" else beta
    window = min(int(2 / (1 - memory) + 0.5), n - 1)
    examples = [s.example for s in history]
    for t in range(min(5, n), 20):
        assert examples[t] not in examples[max(t - window, 0) : t]
