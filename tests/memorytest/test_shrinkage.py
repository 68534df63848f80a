"""Shrinking n̄ towards the mean of other people: against integrals, plain loops and simulated people."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate
from scipy.stats import norm

from memorytest.scoring import memory_span
from memorytest.shrinkage import (
    PRIOR_BETWEEN,
    PRIOR_MEAN,
    PRIOR_PEOPLE,
    PRIOR_WITHIN,
    VARIANCE_OF_SMALLEST,
    Shrinkage,
    estimate_shrinkage,
    span_variance,
)

LENGTHS = st.lists(st.tuples(*[st.integers(1, 9)] * 3), max_size=12)


def test_the_table_has_the_variance_of_the_smallest_of_some_normal_numbers():
    for k, variance in VARIANCE_OF_SMALLEST.items():
        moments = [
            integrate.quad(lambda x, m=m, k=k: x**m * k * norm.pdf(x) * norm.sf(x) ** (k - 1), -9, 9)[0]
            for m in (1, 2)
        ]  # fmt: skip
        assert variance == pytest.approx(moments[1] - moments[0] ** 2, abs=1e-9)


def test_the_variance_of_a_span_is_that_of_drawn_trials():
    rng = np.random.default_rng(3)
    for trials in (2, 3, 6):
        drawn = np.sort(rng.standard_normal((200_000, trials)), axis=1)[:, 1:].mean(axis=1)
        assert span_variance(trials) == pytest.approx(drawn.var(), rel=0.01)


def test_with_nobody_before_the_prior_decides_alone():
    shrinkage = estimate_shrinkage({}, 3)
    assert shrinkage == Shrinkage(3, 0, PRIOR_MEAN, PRIOR_WITHIN, pytest.approx(PRIOR_BETWEEN))
    # Equal variances: 1/(1 + c), with c of three trials in closed form.
    c = (2 + 3**0.5 / (2 * np.pi) - 9 / (4 * np.pi) + 0) / 4
    assert span_variance(3) == pytest.approx(c)
    assert shrinkage.weight == pytest.approx(1 / (1 + c))
    assert shrinkage.shrunken(PRIOR_MEAN) == PRIOR_MEAN
    assert shrinkage.shrunken(8.0) == pytest.approx(5.5 + 2.5 / (1 + c))


def test_one_person_before_moves_the_mean_by_an_eleventh_and_says_nothing_of_others():
    shrinkage = estimate_shrinkage({(9, 9, 8): 1}, 3)
    assert shrinkage.mean == pytest.approx((10 * 5.5 + 9) / 11)
    assert shrinkage.within == pytest.approx((10 * PRIOR_WITHIN + 2 / 3) / 12)
    spread = PRIOR_BETWEEN + span_variance(3) * PRIOR_WITHIN
    assert shrinkage.between == pytest.approx(spread - span_variance(3) * shrinkage.within)


@given(LENGTHS)
def test_any_number_of_people_count_as_in_plain_loops(people):
    shrinkage = estimate_shrinkage(Counter(people), 3)
    spans, own = [memory_span(one) for one in people], max(len(people) - 1, 0)
    mean = (PRIOR_PEOPLE * PRIOR_MEAN + sum(spans)) / (PRIOR_PEOPLE + len(people))
    squares = [(length - np.mean(one)) ** 2 for one in people for length in one]
    within = (10 * PRIOR_WITHIN + sum(squares)) / (10 + 2 * len(people))
    scatter = np.var(spans, ddof=1) * own if own else 0.0
    prior = PRIOR_BETWEEN + span_variance(3) * PRIOR_WITHIN
    between = max(0.0, (10 * prior + scatter) / (10 + own) - span_variance(3) * within)
    assert shrinkage.people == len(people)
    assert (shrinkage.mean, shrinkage.within) == (pytest.approx(mean), pytest.approx(within))
    assert shrinkage.between == pytest.approx(between, abs=1e-12)


@given(LENGTHS, st.floats(1, 9))
def test_a_shrunken_span_lies_between_the_span_and_the_mean(people, span):
    shrinkage = estimate_shrinkage(Counter(people), 3)
    low, high = sorted((span, shrinkage.mean))
    assert 0 <= shrinkage.weight < 1
    assert low - 1e-9 <= shrinkage.shrunken(span) <= high + 1e-9


def test_people_who_differ_less_than_their_trials_are_all_taken_for_the_mean():
    people = dict.fromkeys(itertools.permutations((1, 4, 9)), 50)
    shrinkage = estimate_shrinkage(people, 3)
    assert (shrinkage.between, shrinkage.weight) == (0.0, 0.0)
    assert shrinkage.shrunken(9) == shrinkage.mean == pytest.approx(6.5, abs=0.05)


def test_people_whose_trials_agree_are_hardly_shrunken():
    people = {(n, n, n): 200 for n in range(2, 10)}
    assert estimate_shrinkage(people, 3).weight > 0.99


@pytest.mark.parametrize(("between", "within"), [(1.5, 1.5), (0.5, 2.0), (2.0, 0.7)])
def test_shrunken_spans_are_nearer_to_the_true_ones(between, within):
    rng = np.random.default_rng(5)
    true = rng.normal(5.5, between, 400)
    trials = rng.normal(true[:, None], within, (400, 3))
    # n̄ is above the mean of the trials on average, because the smallest is dropped; shrinking is about its spread.
    above = 0.5 * within * 0.8463
    spans = np.array([memory_span(one) for one in trials])
    shrinkage = estimate_shrinkage(Counter(map(tuple, trials)), 3)
    shrunken = np.array([shrinkage.shrunken(span) for span in spans])
    truth = true + above
    assert np.mean((shrunken - truth) ** 2) < np.mean((spans - truth) ** 2)
    best = between**2 / (between**2 + span_variance(3) * within**2)
    assert shrinkage.weight == pytest.approx(best, abs=0.06)
