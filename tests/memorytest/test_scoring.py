import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorytest.scoring import memory_decay, memory_length, memory_span, span_by_test


def test_the_memory_length_is_the_largest_number_restored():
    assert memory_length([(2, True), (3, True), (4, True), (5, False)]) == 4


def test_the_length_that_failed_is_not_the_memory_length():
    assert memory_length([(2, True), (3, False)]) == 2


def test_a_trial_in_which_even_two_failed_has_length_one():
    assert memory_length([(2, False)]) == 1


def test_restoring_nine_images_is_a_length_of_nine_and_no_error():
    assert memory_length([(n, True) for n in range(2, 10)]) == 9


@pytest.mark.parametrize(
    ("lengths", "span"),
    [([3, 5, 4], 4.5), ([4, 4, 4], 4.0), ([1, 1, 1], 1.0), ([2, 2, 9], 5.5), ([1, 1, 2], 1.5)],
)
def test_one_of_the_smallest_trials_is_dropped(lengths, span):
    assert memory_span(lengths) == span


@pytest.mark.parametrize(("span", "beta"), [(2, 0.5), (4, 0.75), (4.5, 1 - 1 / 4.5), (9, 8 / 9)])
def test_beta_is_one_minus_one_over_the_span(span, beta):
    assert memory_decay(span) == pytest.approx(beta, abs=1e-15)


def test_a_memory_of_one_example_has_the_papers_beta():
    assert memory_decay(1) == pytest.approx(math.exp(-1))


@given(st.lists(st.integers(1, 9), min_size=3, max_size=3))
def test_beta_is_never_overwritten_and_stays_below_one(lengths):
    span = memory_span(lengths)
    assert 0 < memory_decay(span) < 1
    if span > 1:
        assert 1 / (1 - memory_decay(span)) == pytest.approx(span)


@given(st.permutations([2, 5, 7]))
def test_the_order_of_the_trials_does_not_matter(lengths):
    assert memory_span(lengths) == 6.0


def test_the_span_of_a_rule_is_what_the_test_would_measure():
    def forgets_beyond(order, trial):
        return order if len(order) <= {1: 4, 2: 6, 3: 9}[trial] else order[::-1]

    assert span_by_test(forgets_beyond, 2, 9, 3) == 7.5
    assert span_by_test(lambda order, trial: order[::-1], 2, 9, 3) == 1
    assert span_by_test(lambda order, trial: order, 2, 9, 3) == 9
