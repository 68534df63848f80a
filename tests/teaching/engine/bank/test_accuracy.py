"""Models of how often answers are right, against counting."""

import numpy as np
import pytest

from teaching.engine.bank.accuracy import Practice, RunningAccuracy

from .builders import chances, logits_now, made


@pytest.mark.parametrize("k", [2, 3])
def test_the_running_accuracy_counts_right_answers_from_two_guesses(k):
    observed = made(12, k)
    predictions = RunningAccuracy().predict(observed)
    right = 0
    for step in range(12):
        share = (right + 2 / k) / (step + 2)
        expected = np.full(k, (1 - share) / (k - 1))
        expected[observed.labels[step]] = share
        np.testing.assert_allclose(chances(predictions.logits[0, step]), expected, atol=1e-12)
        right += observed.answers[step] == observed.labels[step]
    now = chances(logits_now(predictions)[0])
    of_truth = now[np.arange(observed.pool.n), observed.pool.labels]
    np.testing.assert_allclose(of_truth, (right + 2 / k) / 14, atol=1e-12)


def test_easy_examples_are_right_more_often_and_wrong_in_favour_of_similar_classes():
    observed = made(6, 3)
    predictions = Practice().predict(observed)
    steepest = int(np.argmax(predictions.slopes))
    now = chances(logits_now(predictions)[steepest])
    labels, everything = observed.pool.labels, np.arange(observed.pool.n)
    right = now[everything, labels]
    assert np.corrcoef(np.argsort(np.argsort(right)), observed.spaces.ease)[0, 1] > 0.8
    wrong = now / (1 - right[:, None])
    wrong[everything, labels] = 0
    rivals = np.where(wrong > 0, np.exp(observed.spaces.log_rivals), 0)
    np.testing.assert_allclose(wrong, rivals, atol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_with_practice_half_of_the_errors_go_within_the_half_way(k):
    observed = made(11, k)
    predictions = Practice().predict(observed)
    ten = next(m for m in range(12) if predictions.slopes[m] == 0 and m // 3 == 2)
    p = chances(predictions.logits[ten])
    errors = 1 - p[np.arange(11), observed.labels]
    np.testing.assert_allclose(errors[[0, 10]], [1 - 1 / k, (1 - 1 / k) / 2], atol=1e-9)
