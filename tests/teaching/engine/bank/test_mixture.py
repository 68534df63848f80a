"""The mixture against Bayes' rule, member by member, and what it promises."""

from dataclasses import replace

import numpy as np
import pytest

from teaching.engine import Pool
from teaching.engine.bank import FAMILIES, Followed
from teaching.engine.bank.accuracy import RunningAccuracy
from teaching.engine.bank.base import Among
from teaching.engine.bank.mixture import CHANGE, Mixture, likeliest, weighed
from teaching.engine.bank.outlook import Outlook
from teaching.engine.spaces import MOST_FEATURES

from . import oracle
from .builders import chances, class_history, class_pool, logits_of, made, now_of, seen_by


@pytest.mark.parametrize("k", [2, 3])
def test_the_mixture_is_bayes_rule_over_every_model_in_every_style(k):
    mixture = Mixture.follow(made(7, k), FAMILIES)
    expected, weights = oracle.expected(mixture)
    np.testing.assert_allclose(mixture.expected(), expected, atol=1e-9)
    np.testing.assert_allclose(mixture.weights[:, -1], weights, atol=1e-12)
    assert sum(mixture.family_weights().values()) == pytest.approx(1)


@pytest.mark.parametrize("k", [2, 3])
def test_a_single_model_is_the_mixture_of_its_styles_and_has_a_name(k):
    mixture = Mixture.follow(made(7, k), FAMILIES)
    for member in mixture.members:
        assert len(set(member.followed.names)) == member.shape[0]
        for model, alone in enumerate(member.each_alone()):
            if model % 5 == 0:
                followed = One(member.followed.logits[[model]])
                one = Mixture.of_members(mixture.seen, (replace(member, followed=followed),))
                np.testing.assert_allclose(alone, oracle.expected(one)[0], atol=1e-12)


class One(Followed):
    """A single model, of which only the logits are known."""

    names = ("one",)
    now = None

    def __init__(self, logits):
        self.logits = logits


@pytest.mark.parametrize("right", [0.2, 0.5, 0.95])
def test_it_is_never_worse_than_the_running_accuracy_by_more_than_its_prior(right):
    pool = class_pool(40, k=2)
    seen = seen_by(pool, class_history(pool, 60, right=right))
    mixture = Mixture.follow(seen, FAMILIES)
    alone = mixture.alone(RunningAccuracy.name)
    steps = np.arange(60)
    own, others = (-np.log(m.expected()[steps, seen.answers]).sum() for m in (mixture, alone))
    share = RunningAccuracy.weight / sum(family.weight for family in FAMILIES)
    assert own <= others - np.log(share) - 60 * np.log1p(-CHANGE)


def test_a_family_has_one_model_and_the_likeliest_of_all_have_the_rest():
    totals = [np.array([0.1, 0.3, 0.1, 0.2]), np.array([0.02, 0.03]), np.array([0.15, 0.1])]
    chosen = likeliest(totals, most=5)
    assert [models.tolist() for models in chosen] == [[0, 1, 3], [1], [0]]
    assert [models.tolist() for models in likeliest(totals, most=1)] == [[1], [1], [0]]


def test_nobody_is_ruled_out_for_good():
    likelihoods = np.array([[0.9] * 40 + [0.1] * 10, [0.1] * 40 + [0.9] * 10])
    weights = weighed(np.array([0.5, 0.5]), likelihoods.T)
    assert weights[0, 40] > 0.98
    assert weights[1, -1] > 0.98


def test_what_the_study_assumes_counts_for_more_in_a_choice_than_it_is_probable():
    seen = made(12)
    mixture = Mixture.follow(seen, FAMILIES)
    total, counted = 0.0, 0.0
    for place, models in mixture.leading():
        member, weights = mixture.members[place], mixture.parts[place][:, :, -1]
        shares = weights[models] / weights[models].sum() * weights.sum() * member.family.assumed
        gains = now_of(member.followed, models).gains
        total = total + (0 if gains is None else shares @ (1 - member.styles.guesses) @ gains)
        counted += shares.sum()
    np.testing.assert_allclose(Outlook.of(mixture).gains, total / counted, atol=1e-12)
    first = {family.name: family.weight * family.assumed for family in FAMILIES}
    assert first["concept"] == pytest.approx(sum(first.values()) / 2, rel=0.05)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("right", [0.3, 0.6, 0.95])
def test_the_outlook_is_the_sum_over_every_model_in_every_style(k, right):
    pool = class_pool(k=k)
    mixture = Mixture.follow(seen_by(pool, class_history(pool, 16, right=right)), FAMILIES)
    total, once, twice = 0.0, 0.0, 0.0
    for place, models in mixture.leading():
        member, weights = mixture.members[place], mixture.parts[place][:, :, -1]
        lean = mixture.seen.leaning[-1] if member.family.leans else 0
        believed = logits_of(now_of(member.followed, models).beliefs)
        for row, model in enumerate(models):
            for style, weight in zip(member.family.styles, weights[model], strict=True):
                share = weight * weights.sum() / weights[models].sum()
                p = chances(style.firmness * believed[row] + lean)
                p = style.guess / k + (1 - style.guess) * p
                total, once, twice = total + share, once + share * p, twice + share * p**2
    outlook = Outlook.of(mixture)
    np.testing.assert_allclose(outlook.probabilities, once / total, atol=1e-12)
    spread = np.sqrt(twice / total - (once / total) ** 2)
    np.testing.assert_allclose(outlook.spread, spread, atol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_what_is_expected_of_the_pool_is_what_is_expected_of_the_next_answer(k):
    pool = class_pool(k=k)
    history = class_history(pool, 16, right=0.9)
    before = Mixture.follow(seen_by(pool, history[:-1]), FAMILIES)
    after = Mixture.follow(seen_by(pool, history), FAMILIES)
    outlook = Outlook.of(before)
    np.testing.assert_allclose(outlook.probabilities.sum(axis=1), 1)
    # Ruled-out families and lesser models are left out of the whole pool.
    shown = outlook.probabilities[history[-1].example]
    np.testing.assert_allclose(shown, after.expected()[-1], atol=0.05)
    low, high = outlook.interval
    assert ((low <= outlook.probabilities) & (outlook.probabilities <= high)).all()


def test_models_mean_the_same_in_a_pool_of_another_scale():
    pool = class_pool()
    larger = Pool(1000 * pool.features, pool.labels, pool.affinity, pool.target / 1000)
    history = class_history(pool, 9)
    rate = seen_by(pool, history).learning_rate
    smaller_rate = type(rate)(rate.initial / 1000**2, rate.decay)
    one = Mixture.follow(seen_by(pool, history), FAMILIES).expected()
    other = Mixture.follow(seen_by(larger, history, rate=smaller_rate), FAMILIES).expected()
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_a_pool_whose_classes_nothing_tells_apart_is_answered():
    pool = Pool(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    expected = Mixture.follow(seen_by(pool, class_history(pool, 4)), FAMILIES).expected()
    assert np.isfinite(expected).all()


def test_distances_are_in_units_of_the_mean_over_all_pairs():
    points = np.random.default_rng(0).normal(3, 2, (30, 4))
    spaces = Pool(points, np.arange(30) % 3).spaces
    both = spaces.given.points, spaces.relevant.points
    among = Among(spaces, np.arange(30), both)
    for own, distances in zip(both, among.distances, strict=True):
        squared = ((own[:, None] - own) ** 2).sum(axis=-1)
        np.testing.assert_allclose(distances, squared / squared.mean(), atol=1e-12)


def test_of_many_features_those_that_tell_the_classes_apart_are_attended_to():
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 2
    features = rng.standard_normal((200, 60))
    features[:, 50] += 3 * labels
    spaces = Pool(features, labels).spaces
    assert spaces.standard.shape == (200, MOST_FEATURES)
    told = [abs(np.corrcoef(column, labels)[0, 1]) for column in spaces.standard.T]
    assert max(told) > 0.7
