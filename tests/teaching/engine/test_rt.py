"""Random teaching."""

import numpy as np
import pytest

from teaching.engine import SimulatedLearner, belief, make_teacher, teach
from tests.teaching.engine.builders import make_pool, random_history


def test_random_teaching_draws_with_replacement():
    # 500 draws from 400 leave 400·(1 − (1 − 1/400)^500) ≈ 285.6 distinct ones.
    pool = make_pool(400, 2)
    rng = np.random.default_rng(0)
    teacher = make_teacher("rt", cold_start=0)
    counts = [len({teacher.choose(pool, [], rng).example for _ in range(500)}) for _ in range(5)]
    assert np.mean(counts) == pytest.approx(400 * (1 - (1 - 1 / 400) ** 500), abs=12)


def test_every_example_is_as_good_as_any_other():
    pool = make_pool(30)
    teacher = make_teacher("rt")
    history = random_history(30, 9)
    assert (teacher.scores(pool, history) == 0).all()
    choice = teacher.choose(pool, history, np.random.default_rng(0))
    assert choice.score == 0.0


def test_the_harmonic_estimate_is_kept_with_a_random_choice():
    pool = make_pool(30)
    history = random_history(30, 9)
    choice = make_teacher("rt").choose(pool, history, np.random.default_rng(0))
    assert choice.p == belief(pool, history)[choice.example]


def test_a_repeat_window_is_kept_when_one_is_set():
    pool = make_pool(6)
    rng = np.random.default_rng(0)
    learner = SimulatedLearner(np.zeros(4))
    history = teach(make_teacher("rt", repeat_window=3), pool, learner, steps=60, rng=rng)
    examples = [s.example for s in history]
    assert all(examples[t] not in examples[max(t - 3, 0) : t] for t in range(1, 60))
