"""Beliefs kept as odds and votes, against the softmax of logits."""

import numpy as np
import pytest

from teaching.engine.bank.agreement import Agreement
from teaching.engine.bank.beliefs import Beliefs, to_power

from .builders import agreement, chances, class_pool


def of_class_one(p):
    """Of two classes the chances of class 1 alone."""
    return p[..., 1, :] if p.shape[-2] == 2 else p


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize(
    "make", [Beliefs.of_logits, lambda logits: Beliefs.of_votes(np.exp(logits))]
)
def test_chances_are_the_softmax_of_firm_logits(k, make):
    logits = 3 * np.random.default_rng(k).standard_normal((4, k, 7))
    for firmness in (1.0, 1.5, 5.0, 0.7):
        expected = chances(firmness * logits.swapaxes(1, 2)).swapaxes(1, 2)
        found = make(logits).chances(firmness)
        np.testing.assert_allclose(found, of_class_one(expected), atol=1e-12)


@pytest.mark.parametrize("k", [2, 3])
def test_the_firmest_logits_are_certain_and_nothing_overflows(k):
    logits = np.zeros((1, k, 2))
    logits[0, 0] = [1e4, -1e4]
    for firmness in (1.5, 5.0):
        found = Beliefs.of_logits(logits).chances(firmness)
        assert np.isfinite(found).all()
        certain = found[0, 0] if k == 3 else 1 - found[0]
        np.testing.assert_array_equal(certain, [1, 0])


@pytest.mark.parametrize("power", [0.3, 1.0, 1.5, 2.0, 3.5, 4.0, 5.0, 20.0])
def test_powers_are_powers(power):
    values = np.random.default_rng(0).random(30) * 3
    found = np.empty(30)
    to_power(values, power, out=found)
    np.testing.assert_allclose(found, values**power, rtol=1e-13)


def test_of_two_classes_differences_tell_the_agreement():
    pool = class_pool()
    logits = np.random.default_rng(0).standard_normal((3, 2, pool.n))
    found = Agreement.of_differences(logits[:, 1] - logits[:, 0], pool.spaces.truth)
    expected = [agreement(one.T, pool.labels) for one in logits]
    np.testing.assert_allclose(found.now, expected, atol=1e-12)
    longer = found.scaled(np.array([1.0, 2.0, 3.0])).of_models(np.array([2, 1]))
    expected = [agreement(3 * logits[2].T, pool.labels), agreement(2 * logits[1].T, pool.labels)]
    np.testing.assert_allclose(longer.now, expected, atol=1e-12)
