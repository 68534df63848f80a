"""How many workers a finding takes: against the textbook, SciPy, and each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.stats.power import (
    MAX_N,
    Question,
    detectable_effect,
    needed_by_drawing,
    needed_by_formula,
    pooled_sd,
    power_by_formula,
    smallest_n,
)


@pytest.mark.parametrize(
    ("d", "n"), [(0.2, 394), (0.5, 64), (0.8, 26), (1.0, 17)]
)  # Cohen's table for 80 % power at a two-sided 5 %
def test_the_formula_gives_the_textbooks_numbers(d, n):
    assert needed_by_formula(Question(d), sd=1.0) == n


@pytest.mark.parametrize(
    ("n", "alpha", "d"),
    [(6, 0.05, 1.796), (12, 0.05, 1.197), (26, 0.05, 0.792), (64, 0.05, 0.499), (6, 0.025, 2.044)],
)
def test_the_detectable_effect_is_the_noncentral_ts(n, alpha, d):
    assert detectable_effect(n, alpha) == pytest.approx(d, abs=5e-4)
    assert power_by_formula(n, detectable_effect(n, alpha), 1.0, alpha) == pytest.approx(0.8)


def test_too_few_detect_no_effect_that_could_be_named():
    assert detectable_effect(4) is None
    assert detectable_effect(MAX_N) < 0.03


def test_the_power_of_no_effect_is_alpha():
    assert power_by_formula(30, 1e-12, 1.0, 0.05) == pytest.approx(0.05, abs=1e-6)


def test_the_formula_is_what_a_simulation_finds():
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.6, 1, (20_000, 25)), rng.normal(0, 1, (20_000, 25))
    found = np.mean(stats.ttest_ind(a, b, axis=1).pvalue < 0.05)
    assert power_by_formula(25, 0.6, 1.0, 0.05) == pytest.approx(found, abs=0.01)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.05, 3), st.floats(0.01, 0.2), st.floats(0.5, 0.95))
def test_the_number_is_the_fewest_that_is_enough(effect, alpha, power):
    n = needed_by_formula(Question(effect, alpha, power), sd=1.0)
    assert power_by_formula(n, effect, 1.0, alpha) >= power
    if n > 2:
        assert power_by_formula(n - 1, effect, 1.0, alpha) < power


def test_an_effect_that_no_study_could_see_has_no_number():
    assert needed_by_formula(Question(1e-4), sd=1.0) is None
    assert smallest_n(lambda n: n >= MAX_N) == MAX_N


def test_drawing_from_normal_workers_agrees_with_the_formula():
    rng = np.random.default_rng(5)
    first, second = rng.normal(0.3, 0.1, 2000), rng.normal(0.1, 0.1, 2000)
    drawn = needed_by_drawing(Question(0.05), first, second)
    assert drawn == pytest.approx(needed_by_formula(Question(0.05), 0.1), rel=0.12)


def test_unequal_spreads_and_one_sided_shapes_are_drawn_as_they_are():
    rng = np.random.default_rng(6)
    narrow, wide = rng.normal(0, 0.05, 500), rng.normal(0, 0.15, 500)
    both = needed_by_drawing(Question(0.05), narrow, wide)
    assert needed_by_drawing(Question(0.05), narrow, narrow) < both
    assert both < needed_by_drawing(Question(0.05), wide, wide)


def test_workers_who_are_all_alike_break_nothing():
    assert needed_by_drawing(Question(0.05), [0.2] * 5, [0.2] * 5) == 2
    assert needed_by_drawing(Question(0.05), [0.2], [0.1, 0.3]) is None


def test_the_pooled_spread_weighs_arms_by_their_degrees_of_freedom():
    groups = [[1.0, 3.0], [0.0, 0.0, 3.0], [7.0]]
    assert pooled_sd(groups) == pytest.approx(((2 + 6) / 3) ** 0.5)
    assert pooled_sd([[1.0], []]) is None


@pytest.mark.parametrize(
    "wrong",
    [{"effect": 0}, {"effect": float("nan")}, {"effect": 1, "alpha": 0}, {"effect": 1, "power": 1}],
)
def test_a_question_without_sense_is_refused(wrong):
    with pytest.raises(ValueError, match=r"above 0|between 0 and 1"):
        Question(**wrong)
