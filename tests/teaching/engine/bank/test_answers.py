"""Models of the answers themselves, and of those who learn nothing, against counting."""

import numpy as np
import pytest

from teaching.engine.bank.accuracy import Difficulty, Practice, RunningAccuracy
from teaching.engine.bank.fixed import Habit, Knowledge

from .builders import believed, chances, gains_of, made
from .builders import centred as less_mean


@pytest.mark.parametrize("k", [2, 3])
def test_the_running_accuracy_counts_right_answers_from_two_guesses(k):
    seen = made(12, k)
    followed = RunningAccuracy().follow(seen)
    right = 0
    for step in range(12):
        share = (right + 2 / k) / (step + 2)
        expected = np.full(k, (1 - share) / (k - 1))
        expected[seen.labels[step]] = share
        np.testing.assert_allclose(chances(followed.logits[0, step]), expected, atol=1e-12)
        right += seen.answers[step] == seen.labels[step]
    now = chances(believed(followed)[0])
    of_truth = now[np.arange(seen.pool.n), seen.pool.labels]
    np.testing.assert_allclose(of_truth, (right + 2 / k) / 14, atol=1e-12)


def test_easy_examples_are_right_more_often_and_wrong_in_favour_of_similar_classes():
    seen = made(6, 3)
    followed = Difficulty().follow(seen)
    steepest = int(np.argmax(followed.slopes))
    now = chances(believed(followed)[steepest])
    labels, everything = seen.pool.labels, np.arange(seen.pool.n)
    right = now[everything, labels]
    assert np.corrcoef(np.argsort(np.argsort(right)), seen.spaces.ease)[0, 1] > 0.8
    wrong = now / (1 - right[:, None])
    wrong[everything, labels] = 0
    np.testing.assert_allclose(wrong, seen.spaces.rivals, atol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_with_practice_half_of_the_errors_go_within_the_half_way(k):
    seen = made(11, k)
    followed = Practice().follow(seen)
    ten = next(m for m in range(12) if followed.slopes[m] == 0 and m // 3 == 2)
    p = chances(followed.logits[ten])
    errors = 1 - p[np.arange(11), seen.labels]
    np.testing.assert_allclose(errors[[0, 10]], [1 - 1 / k, (1 - 1 / k) / 2], atol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_habits_repeat_answers_whatever_is_shown(k):
    seen = made(7, k)
    followed = Habit().follow(seen)
    said = [np.count_nonzero(seen.answers == c) + 1 for c in range(k)]
    now = chances(believed(followed))
    # The same for every example.
    np.testing.assert_allclose(now[0], np.tile(np.array(said) / sum(said), (seen.pool.n, 1)))
    assert now[2, 0, seen.answers[-1]] == pytest.approx(0.7)
    assert now[3, 0, seen.labels[-1]] == pytest.approx(0.7)
    assert gains_of(followed, np.arange(4)) is None


def test_those_who_know_answer_by_the_target_from_the_start():
    seen = made(5, 3)
    followed = Knowledge().follow(seen)
    logits = seen.pool.features @ seen.pool.target.T
    centred = logits - logits.mean(axis=0)
    expected = centred / np.sqrt((centred**2).mean())
    now = believed(followed)[1]
    np.testing.assert_allclose(now, less_mean(expected), atol=1e-9)
    np.testing.assert_allclose(followed.logits[1], expected[seen.examples], atol=1e-9)
