import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics import accuracy, first_seen, teaching_gain


def test_accuracy_is_the_share_of_right_answers():
    assert accuracy([True, False, True, True]) == 0.75


def test_the_accuracy_of_no_answers_is_unknown():
    assert accuracy([]) is None


def test_repeats_do_not_count_as_first_seen():
    showings = [(4, False), (9, True), (4, True), (4, True), (2, False), (9, False)]
    assert first_seen(showings) == [False, True, False]


def test_the_gain_is_evaluation_minus_first_seen():
    assert teaching_gain(0.8, 0.55) == pytest.approx(0.25)
    assert teaching_gain(0.5, 0.7) == pytest.approx(-0.2)
    assert teaching_gain(None, 0.7) is None


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans())))
def test_there_is_one_first_showing_for_each_image(showings):
    assert len(first_seen(showings)) == len({example for example, _ in showings})
