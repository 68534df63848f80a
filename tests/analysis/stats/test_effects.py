"""The size of an effect, by definition."""

import math

import pytest

from analysis.stats.comparisons import hedges_g, hedges_interval


def test_hedges_g_by_definition():
    a, b = (1.0, 2.0, 3.0, 4.0), (2.0, 4.0, 6.0, 8.0)
    # Variances 5/3 and 20/3, pooled 25/6; the exact J(6) is Γ(3) / (√3 Γ(2.5)).
    d = -2.5 / math.sqrt(25 / 6)
    j = math.gamma(3) / (math.sqrt(3) * math.gamma(2.5))
    assert hedges_g(a, b) == pytest.approx(d * j)
    assert j == pytest.approx(1 - 3 / (4 * 6 - 1), abs=0.002)
    interval = hedges_interval(d * j, 4, 4)
    error = math.sqrt(8 / 16 + (d * j) ** 2 / 16)
    assert interval.low == pytest.approx(d * j - 1.959964 * error, abs=1e-5)
    assert interval.high == pytest.approx(d * j + 1.959964 * error, abs=1e-5)
