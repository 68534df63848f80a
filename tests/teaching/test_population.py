"""How β distributes among people: against brute force, and against groups of known learners."""

import numpy as np
import pytest
from scipy.stats import beta as beta_distribution

from teaching import population as groups
from teaching.decay import BETAS, RATES, likelihoods, together
from teaching.population import population
from tests.teaching.learners import session_of, told_apart


def made_surfaces(n: int, seed: int = 0) -> list[list[int]]:
    """Any surfaces, the largest of each 0."""
    rows = -np.random.default_rng(seed).integers(0, 300, (n, BETAS.size * RATES.size))
    return (rows - rows.max(axis=1, keepdims=True)).tolist()


def test_the_shapes_are_beta_and_normal_distributions():
    for shapes in (groups.shapes_of_beta(), groups.shapes_of_rate()):
        np.testing.assert_allclose(shapes.sum(axis=1), 1)
        assert (shapes >= 0).all()
    # The middle one of three concentrations, about 0.375.
    own = beta_distribution(0.375 * 8, 0.625 * 8)
    expected = own.cdf(BETAS + 0.05) - own.cdf(BETAS)
    np.testing.assert_allclose(groups.shapes_of_beta()[3 * 7 + 1], expected)
    normal = groups.shapes_of_rate()[3 * 4 + 1]
    assert normal.argmax() == 4
    apart = np.log(RATES[6] / RATES[4])
    assert normal[6] / normal[4] == pytest.approx(np.exp(-(apart**2) / 2))


def test_the_group_is_what_all_distributions_make_of_the_answers():
    people = [[one] for one in made_surfaces(5)]
    shapes, rates = groups.shapes_of_beta(), groups.shapes_of_rate()
    weights = np.empty((len(shapes), len(rates)))
    for h, betas in enumerate(shapes):
        for q, etas in enumerate(rates):
            each = [betas @ likelihoods(own)[0] @ etas for own in people]
            weights[h, q] = np.prod(each)
    likely = weights.sum(axis=1) / weights.sum()
    found = population(people)
    assert found.mean == pytest.approx(likely @ shapes @ BETAS)
    np.testing.assert_allclose(found.shares, likely @ shapes)
    assert sum(found.shares) == pytest.approx(1)
    assert found.sd == pytest.approx(np.sqrt(np.dot(found.shares, BETAS**2) - found.mean**2))
    means = shapes @ BETAS
    assert likely[means < found.interval.low].sum() <= 0.025
    assert likely[means > found.interval.high].sum() <= 0.025
    assert found.people == 5


def test_tasks_of_a_person_share_beta_but_not_the_rate():
    first, second, third = made_surfaces(3, seed=1)
    shapes, rates = groups.shapes_of_beta(), groups.shapes_of_rate()
    one, two, alone = likelihoods([first, second, third])
    likely = np.empty((len(shapes), len(rates)))
    for h, betas in enumerate(shapes):
        for q, etas in enumerate(rates):
            both = betas @ ((one @ etas) * (two @ etas))
            likely[h, q] = both * (betas @ alone @ etas)
    expected = likely.sum(axis=1) / likely.sum() @ shapes @ BETAS
    assert population([[first, second], [third]]).mean == pytest.approx(expected)


def test_people_are_worked_out_in_parts_and_in_any_order(monkeypatch):
    people = [[one] for one in made_surfaces(9)]
    whole = population(people)
    monkeypatch.setattr(groups, "AT_ONCE", 2)
    parts = population(people[::-1])
    assert parts.mean == pytest.approx(whole.mean)
    assert parts.interval == whole.interval


def test_nothing_known_about_anybody_leaves_the_mean_open():
    flat = [[[0] * (BETAS.size * RATES.size)]] * 30
    found = population(flat)
    assert found.interval.low < 0.05
    assert found.interval.high > 0.9


def test_groups_of_known_learners_are_told_apart_where_single_fits_are_not():
    pool = told_apart()
    found, singles = [], []
    for beta in (0.0, 0.5, 0.9):
        rng = np.random.default_rng(int(100 * beta))
        # People learn at rates of their own.
        factors = 2 * np.exp(rng.normal(0, 1.2, 100))
        fits = [session_of(pool, beta, 30, seed, factor) for seed, factor in enumerate(factors)]
        found.append(population([[fit.surface] for fit in fits]))
        singles.append(np.mean([together([fit.surface]).beta for fit in fits]))
    means = [one.mean for one in found]
    assert means == sorted(means)
    assert means == pytest.approx([0, 0.5, 0.9], abs=0.3)
    # 0 itself is the end of the grid, which a mean reaches only if nobody has another β.
    assert found[0].interval.low < 0.05
    assert found[1].interval.low <= 0.5 <= found[1].interval.high
    assert found[2].interval.low <= 0.9 <= found[2].interval.high
    assert np.ptp(singles) < np.ptp(means) / 2
