import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics import (
    accuracy,
    confusion,
    first_seen,
    kappa,
    macro_recall,
    recalls,
    teaching_gain,
)


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


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.booleans())))
def test_there_is_one_first_showing_for_each_image(showings):
    assert len(first_seen(showings)) == len({example for example, _ in showings})


ANSWERS = st.integers(2, 20).flatmap(
    lambda k: st.tuples(
        st.just(k),
        st.lists(st.tuples(st.integers(0, k - 1), st.integers(0, k - 1)), max_size=60),
    )
)


def recalls_by_hand(answers, classes):
    found = []
    for label in range(classes):
        right = asked = 0
        for true, said in answers:
            if true == label:
                asked += 1
                if said == true:
                    right += 1
        found.append(right / asked if asked else None)
    return found


@settings(deadline=None)
@given(ANSWERS)
def test_recalls_and_their_mean_are_those_of_a_loop_over_the_classes(drawn):
    classes, answers = drawn
    wanted = recalls_by_hand(answers, classes)
    counts = confusion(answers, classes)
    assert recalls(counts) == wanted
    known = [recall for recall in wanted if recall is not None]
    mean = macro_recall(counts)
    assert mean == (pytest.approx(sum(known) / len(known)) if known else None)


@settings(deadline=None)
@given(st.integers(2, 20), st.integers(1, 5), st.randoms())
def test_with_equally_many_images_of_each_class_the_macro_recall_is_the_accuracy(k, each, random):
    answers = [(label, random.randrange(k)) for label in range(k) for _ in range(each)]
    right = accuracy([true == said for true, said in answers])
    assert macro_recall(confusion(answers, k)) == pytest.approx(right)


@settings(deadline=None)
@given(ANSWERS, st.randoms())
def test_other_numbers_for_the_classes_change_nothing_but_the_order_of_the_recalls(drawn, random):
    classes, answers = drawn
    numbers = random.sample(range(classes), classes)
    renamed = [(numbers[true], numbers[said]) for true, said in answers]
    before, after = confusion(answers, classes), confusion(renamed, classes)
    for true, said in itertools.product(range(classes), repeat=2):
        assert after[numbers[true]][numbers[said]] == before[true][said]
    assert [recalls(after)[numbers[label]] for label in range(classes)] == recalls(before)
    assert macro_recall(after) == pytest.approx(macro_recall(before))


@pytest.mark.parametrize("k", [2, 3, 5, 20])
def test_kappa_is_nought_for_guessing_and_one_for_no_error(k):
    assert kappa(1 / k, k) == pytest.approx(0, abs=1e-15)
    assert kappa(1.0, k) == 1
    assert kappa(0.0, k) == pytest.approx(-1 / (k - 1))
    for share in (0.1, 0.37, 0.83):
        assert kappa(share, k) == pytest.approx((share - 1 / k) / (1 - 1 / k))
    assert kappa(None, k) is None


def test_kappa_of_two_classes_is_twice_the_accuracy_less_one():
    assert kappa(0.83, 2) == pytest.approx(2 * 0.83 - 1)
