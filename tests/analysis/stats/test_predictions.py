"""Scores of predictions against values worked out by hand."""

import numpy as np
import pytest

from analysis.stats import predictions


def test_log_loss_by_hand():
    p, right = np.array([0.8, 0.5, 0.25]), np.array([1.0, 0.0, 0.0])
    expected = -(np.log(0.8) + np.log(0.5) + np.log(0.75)) / 3
    assert predictions.log_loss(p, right) == pytest.approx(expected)


def test_predictions_are_clipped():
    assert predictions.log_loss(np.array([1.0]), np.array([0.0])) == pytest.approx(-np.log(0.01))
    assert predictions.log_loss(np.array([1.0]), np.array([1.0])) == pytest.approx(-np.log(0.99))


def test_running_accuracy_knows_only_what_came_before():
    found = predictions.running_accuracy(np.array([1.0, 1.0, 0.0, 1.0]))
    np.testing.assert_allclose(found, [1 / 2, 2 / 3, 3 / 4, 3 / 5])
    of_five = predictions.running_accuracy(np.array([1.0, 1.0, 0.0, 1.0]), classes=5)
    np.testing.assert_allclose(of_five, [1 / 5, 2 / 6, 3 / 7, 3 / 8])


def test_leave_one_out_accuracy_is_of_all_others():
    rights = [np.array([1.0, 1.0]), np.array([0.0, 1.0, 0.0]), np.array([1.0])]
    assert predictions.leave_one_out_accuracy(rights) == pytest.approx([2 / 4, 3 / 3, 3 / 5])
    assert predictions.leave_one_out_accuracy([np.ones(3)]) == [0.5]
    assert predictions.leave_one_out_accuracy([np.ones(3)], classes=4) == [0.25]


def test_calibration_puts_every_prediction_into_one_bin():
    p = np.array([0.0, 0.05, 0.1, 0.95, 1.0])
    said = np.array([0.0, 1.0, 1.0, 1.0, 1.0])
    bins = predictions.calibration(p, said)
    assert [(one.n, one.observed) for one in bins] == [(2, 0.5), (1, 1.0), (2, 1.0)]
    assert bins[0].predicted == pytest.approx(0.025)
    assert all(one.interval.low <= one.observed <= one.interval.high for one in bins)


def test_a_loss_reduction_is_positive_where_the_loss_is_lower():
    summary = predictions.loss_reduction([0.5, 0.6, 0.4], [0.7, 0.7, 0.7])
    assert (summary.n, summary.mean) == (3, pytest.approx(0.2))
