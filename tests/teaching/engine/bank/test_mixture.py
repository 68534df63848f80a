"""The mixture against Bayes' rule, member by member, and what it promises."""

from dataclasses import replace

import numpy as np
import pytest

from teaching.engine import Pool
from teaching.engine.bank import FAMILIES, Predictions
from teaching.engine.bank import mixture as mixture_module
from teaching.engine.bank.accuracy import RunningAccuracy
from teaching.engine.bank.mixture import CHANGE, Mixture, likeliest, posterior
from teaching.engine.spaces import MAX_FEATURES

from . import oracle
from .builders import (
    centred,
    chances,
    class_history,
    class_pool,
    logits_now,
    made,
    observed_by,
)


@pytest.mark.parametrize("k", [2, 3])
def test_the_mixture_is_bayes_rule_over_every_model_in_every_style(k):
    mixture = Mixture.fit(made(7, k), FAMILIES)
    expected, weights = oracle.expected(mixture)
    np.testing.assert_allclose(mixture.predicted_answers(), expected, atol=1e-9)
    np.testing.assert_allclose(mixture.weights[:, -1], weights, atol=1e-12)
    assert sum(mixture.family_weights().values()) == pytest.approx(1)


@pytest.mark.parametrize("k", [2, 3])
def test_a_single_model_is_the_mixture_of_its_styles_and_has_a_name(k):
    mixture = Mixture.fit(made(7, k), FAMILIES)
    for member in mixture.members:
        assert len(set(member.predictions.names)) == member.shape[0]
        for model, alone in enumerate(member.each_alone()):
            if model % 5 == 0:
                predictions = One(member.predictions.logits[[model]])
                one = Mixture.of_members(
                    mixture.observed, (replace(member, predictions=predictions),)
                )
                np.testing.assert_allclose(alone, oracle.expected(one)[0], atol=1e-12)


class One(Predictions):
    """A single model, of which only the logits are known."""

    names = ("one",)
    logits_at = None

    def __init__(self, logits):
        self.logits = logits


@pytest.mark.parametrize("right", [0.2, 0.5, 0.95])
def test_it_is_never_worse_than_the_running_accuracy_by_more_than_its_prior(right):
    pool = class_pool(40, k=2)
    observed = observed_by(pool, class_history(pool, 60, right=right))
    mixture = Mixture.fit(observed, FAMILIES)
    alone = mixture.only(RunningAccuracy.name)
    steps = np.arange(60)
    own, others = (
        -np.log(m.predicted_answers()[steps, observed.answers]).sum() for m in (mixture, alone)
    )
    share = RunningAccuracy.weight / sum(family.weight for family in FAMILIES)
    assert own <= others - np.log(share) - 60 * np.log1p(-CHANGE)


def test_a_family_has_one_model_and_the_likeliest_of_all_have_the_rest():
    totals = [np.array([0.1, 0.3, 0.1, 0.2]), np.array([0.02, 0.03]), np.array([0.15, 0.1])]
    chosen = likeliest(totals, count=5)
    assert [models.tolist() for models in chosen] == [[0, 1, 3], [1], [0]]
    assert [models.tolist() for models in likeliest(totals, count=1)] == [[1], [1], [0]]


@pytest.mark.parametrize("noise", [-1e-16, 0.0, 1e-16])
def test_of_models_that_differ_by_rounding_alone_the_first_is_chosen(noise):
    twins = np.array([0.2, 0.2 + noise]), np.array([0.3, 0.1, 0.1 + noise])
    assert [models.tolist() for models in likeliest(twins, count=3)] == [[0, 1], [0]]
    assert [models.tolist() for models in likeliest(twins, count=2)] == [[0], [0]]
    assert [models.tolist() for models in likeliest(twins, count=4)] == [[0, 1], [0, 1]]


def test_nobody_is_ruled_out_for_good():
    likelihoods = np.array([[0.9] * 40 + [0.1] * 10, [0.1] * 40 + [0.9] * 10])
    weights = posterior(np.array([0.5, 0.5]), likelihoods.T)
    assert weights[0, 40] > 0.98
    assert weights[1, -1] > 0.98


def test_what_the_study_assumes_counts_for_more_in_a_choice_than_it_is_probable():
    observed = made(12)
    mixture = Mixture.fit(observed, FAMILIES)
    total, counted = 0.0, 0.0
    for place, models in mixture.leading():
        member, weights = mixture.members[place], mixture.parts[place][:, :, -1]
        shares = (
            weights[models] / weights[models].sum() * weights.sum() * member.family.choice_weight
        )
        gains = member.predictions.gains(models)
        total = total + (0 if gains is None else shares @ (1 - member.styles.guess_rates) @ gains)
        counted += shares.sum()
    np.testing.assert_allclose(mixture.expected_gains(), total / counted, atol=1e-12)
    first = {family.name: family.weight * family.choice_weight for family in FAMILIES}
    assert first["concept"] > sum(first.values()) / 2


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("right", [0.3, 0.6, 0.95])
def test_what_is_expected_is_the_sum_over_every_model_in_every_style(k, right):
    pool = class_pool(k=k)
    mixture = Mixture.fit(observed_by(pool, class_history(pool, 16, right=right)), FAMILIES)
    once, twice = 0.0, 0.0
    for member, part in zip(mixture.members, mixture.parts, strict=True):
        lean = mixture.observed.response_bias[-1] if member.family.is_biased else 0
        for logits, weights in zip(logits_now(member.predictions), part[:, :, -1], strict=True):
            for style, weight in zip(member.family.styles, weights, strict=True):
                p = chances(style.inverse_temperature * logits + lean)
                p = style.guess_rate / k + (1 - style.guess_rate) * p
                once, twice = once + weight * p, twice + weight * p**2
    np.testing.assert_allclose(mixture.predict(slice(None)), once, atol=1e-12)
    low, high = mixture.interval(np.arange(pool.n))
    reach = 1.6449 * np.sqrt(twice - once**2)
    np.testing.assert_allclose(low, np.maximum(once - reach, 0), atol=1e-9)
    np.testing.assert_allclose(high, np.minimum(once + reach, 1), atol=1e-9)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("steps", [0, 1, 16])
def test_every_model_believes_of_an_example_what_it_would_if_it_were_shown_next(k, steps):
    pool = class_pool(n=30, k=k)
    history = class_history(pool, steps, right=0.8)
    now = Mixture.fit(observed_by(pool, history), FAMILIES)
    for example in (0, 7, 29):
        shown = [*history, replace(class_history(pool, 1)[0], example=example)]
        then = Mixture.fit(observed_by(pool, shown), FAMILIES)
        at = np.array([example])
        for before, after in zip(now.members, then.members, strict=True):
            own, expected = before.predictions.logits_at(at)[:, 0], after.predictions.logits[:, -1]
            np.testing.assert_allclose(centred(own), centred(expected), atol=1e-9)
        np.testing.assert_allclose(now.predict(at)[0], then.predicted_answers()[-1], atol=1e-12)


def test_a_pool_that_is_looked_at_in_pieces_is_expected_to_answer_the_same(monkeypatch):
    mixture = Mixture.fit(made(9, 3, n=31), FAMILIES)
    whole = mixture.predict(slice(None))
    monkeypatch.setattr(mixture_module, "BATCH", 7)
    np.testing.assert_allclose(mixture.predict(slice(None)), whole, atol=1e-12)
    np.testing.assert_allclose(mixture.predict(slice(5, 20)), whole[5:20], atol=1e-12)


def test_models_mean_the_same_in_a_pool_of_another_scale():
    pool = class_pool()
    larger = Pool(1000 * pool.features, pool.labels, pool.affinity, pool.target / 1000)
    history = class_history(pool, 9)
    rate = observed_by(pool, history).learning_rate
    smaller_rate = type(rate)(rate.initial / 1000**2, rate.decay)
    one = Mixture.fit(observed_by(pool, history), FAMILIES).predicted_answers()
    other = Mixture.fit(
        observed_by(larger, history, rate=smaller_rate), FAMILIES
    ).predicted_answers()
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_a_pool_whose_classes_nothing_tells_apart_is_answered():
    pool = Pool(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    expected = Mixture.fit(observed_by(pool, class_history(pool, 4)), FAMILIES).predicted_answers()
    assert np.isfinite(expected).all()


def test_of_many_features_those_that_tell_the_classes_apart_are_attended_to():
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 2
    features = rng.standard_normal((200, 60))
    features[:, 50] += 3 * labels
    spaces = Pool(features, labels).spaces
    assert spaces.standard.shape == (200, MAX_FEATURES)
    told = [abs(np.corrcoef(column, labels)[0, 1]) for column in spaces.standard.T]
    assert max(told) > 0.7
