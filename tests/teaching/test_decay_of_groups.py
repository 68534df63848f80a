"""How β distributes among people: against brute force, and against groups of known learners."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import beta as beta_distribution

from research.recovery import drawn_session, firm_session, two_classes
from teaching import decay
from teaching.decay import BETAS, RATES, STYLES, estimate_beta, estimate_group, likelihoods


def made_surfaces(n: int, seed: int = 0) -> list[list[int]]:
    """Any surfaces, the largest of each 0."""
    rows = -np.random.default_rng(seed).integers(0, 300, (n, len(STYLES) * BETAS.size * RATES.size))
    return (rows - rows.max(axis=1, keepdims=True)).tolist()


def test_the_shapes_are_beta_and_normal_distributions():
    for shapes in (
        decay.beta_distributions(),
        decay.style_distributions(),
        decay.rate_distributions(),
    ):
        np.testing.assert_allclose(shapes.sum(axis=1), 1)
        assert (shapes >= 0).all()
    # The middle one of three concentrations, about 0.37, with any likelihood that is straight between the values.
    own, likelihood = beta_distribution(0.37 * 8, 0.63 * 8), np.sin(9 * BETAS)
    each = np.linspace(0, 1, 20_001)
    expected = np.trapezoid(own.pdf(each) * np.interp(each, BETAS, likelihood), each)
    assert decay.beta_distributions()[3 * 18 + 1] @ likelihood == pytest.approx(expected, abs=1e-6)
    normal = decay.rate_distributions()[3 * 4 + 1]
    assert normal.argmax() == 4
    apart = np.log(RATES[6] / RATES[4])
    assert normal[6] / normal[4] == pytest.approx(np.exp(-(apart**2) / 2))


def test_the_group_is_what_all_distributions_make_of_the_answers():
    people = [[one] for one in made_surfaces(5)]
    shapes = decay.beta_distributions()
    read = [likelihoods(own)[0] for own in people]
    weights = np.zeros(len(shapes))
    for styles, etas in product(decay.style_distributions(), decay.rate_distributions()):
        by_person = [np.tensordot(styles, one, axes=1) @ etas for one in read]
        weights += [np.prod([betas @ one for one in by_person]) for betas in shapes]
    likely = weights / weights.sum()
    found = estimate_group(people)
    assert found.mean == pytest.approx(likely @ shapes @ BETAS)
    np.testing.assert_allclose(found.shares, likely @ shapes)
    assert sum(found.shares) == pytest.approx(1)
    assert found.sd == pytest.approx(np.sqrt(np.dot(found.shares, BETAS**2) - found.mean**2))
    means = shapes @ BETAS
    assert likely[means < found.low].sum() == pytest.approx(0.025, abs=0.005)
    assert likely[means > found.high].sum() == pytest.approx(0.025, abs=0.005)
    assert found.people == 5


def test_the_interval_of_a_large_group_lies_on_both_sides_of_its_mean():
    """Everybody's answers speak for a β between two values of the grid."""
    by_beta = -np.rint(800 * (BETAS - 0.83) ** 2).astype(int)
    surface = np.repeat(by_beta - by_beta.max(), RATES.size).tolist()
    found = estimate_group([[surface]] * 300)
    assert found.mean == pytest.approx(0.83, abs=0.03)
    assert found.low < found.mean - 0.005
    assert found.high > found.mean + 0.005


def test_tasks_of_a_person_share_beta_but_neither_rate_nor_style():
    first, second, third = made_surfaces(3, seed=1)
    shapes, read = decay.beta_distributions(), likelihoods([first, second, third])
    likely = np.zeros(len(shapes))
    for styles, etas in product(decay.style_distributions(), decay.rate_distributions()):
        one, two, alone = (np.tensordot(styles, each, axes=1) @ etas for each in read)
        likely += [(betas @ (one * two)) * (betas @ alone) for betas in shapes]
    expected = likely / likely.sum() @ shapes @ BETAS
    assert estimate_group([[first, second], [third]]).mean == pytest.approx(expected)


def test_people_are_worked_out_in_parts_and_in_any_order(monkeypatch):
    people = [[one] for one in made_surfaces(9)]
    whole = estimate_group(people)
    monkeypatch.setattr(decay, "PEOPLE_AT_ONCE", 2)
    parts = estimate_group(people[::-1])
    assert parts.mean == pytest.approx(whole.mean)
    assert parts.low == pytest.approx(whole.low)
    assert parts.high == pytest.approx(whole.high)


def test_nothing_known_about_anybody_leaves_the_mean_open():
    flat = [[[0] * (BETAS.size * RATES.size)]] * 30
    found = estimate_group(flat)
    assert found.low < 0.05
    assert found.high > 0.9


def test_groups_of_known_learners_are_told_apart_where_single_fits_are_not():
    pool = two_classes()
    found, singles = [], []
    for beta in (0.0, 0.5, 0.9):
        rng = np.random.default_rng(int(100 * beta))
        # People learn at rates of their own.
        factors = 2 * np.exp(rng.normal(0, 1.2, 100))
        fits = [drawn_session(pool, beta, 30, seed, factor) for seed, factor in enumerate(factors)]
        found.append(estimate_group([[fit.surface] for fit in fits]))
        singles.append(np.mean([estimate_beta([fit.surface]).beta for fit in fits]))
    means = [one.mean for one in found]
    assert means == sorted(means)
    assert means == pytest.approx([0, 0.5, 0.9], abs=0.3)
    # 0 itself is the end of the grid, which a mean reaches only if nobody has another β.
    assert found[0].low < 0.05
    assert found[1].low <= 0.5 <= found[1].high
    assert found[2].low <= 0.9 <= found[2].high
    assert np.ptp(singles) < np.ptp(means) / 2


@pytest.mark.parametrize("beta", [0.0, 0.4, 0.8])
def test_firm_answers_are_not_taken_for_a_long_memory(beta):
    pool = two_classes()
    fits = [firm_session(pool, beta, 30, seed) for seed in range(60)]
    found = estimate_group([[fit.surface] for fit in fits])
    assert found.mean == pytest.approx(beta, abs=0.1)
    assert found.low <= max(beta, 0.02) <= found.high


def test_first_opinions_hide_no_difference_between_groups():
    pool = two_classes()
    forgetful, retentive = (
        estimate_group([[firm_session(pool, beta, 30, seed, 0.3).surface] for seed in range(60)])
        for beta in (0.0, 0.9)
    )
    assert forgetful.high < retentive.low
    assert retentive.low <= 0.9 <= retentive.high
