"""Exemplar models with attention, against the votes written out."""

import numpy as np
import pytest

from teaching.engine import Pool
from teaching.engine.bank.attention import DECAY, SPREAD, Attention

from .builders import (
    agreement,
    centred,
    chances,
    class_history,
    class_pool,
    logits_now,
    made,
    observed_by,
)


@pytest.mark.parametrize("k", [2, 3])
def test_the_gain_is_exact_where_examples_are_alike_or_have_nothing_in_common(k):
    pool = alike_or_apart(k)
    observed = observed_by(pool, class_history(pool, 8))
    predictions = Attention().predict(observed)
    models = np.array([1, 2, 6, 11])
    gains = predictions.gains(models)
    similar = pool.affinity.toarray() + np.eye(pool.n)
    now = np.exp(predictions.logits_at(slice(None)))
    for place, model in enumerate(models):
        background = predictions.backgrounds[model] / k
        left = DECAY * (now[model] - background) + background
        before = agreement(np.log(left), pool.labels)
        for x in range(pool.n):
            after = left.copy()
            after[:, pool.labels[x]] += similar[x]
            rise = agreement(np.log(after), pool.labels) - before
            assert gains[place, x] == pytest.approx(rise, abs=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_a_memory_reaches_its_neighbours_along_the_chord(k):
    """In any graph the rise of a logit is the similarity times the rise from a memory of the example itself."""
    pool = class_pool(k=k)
    observed = observed_by(pool, class_history(pool, 8))
    predictions, model = Attention().predict(observed), 4
    [gain] = predictions.gains(np.array([model]))
    background = predictions.backgrounds[model] / k
    left = DECAY * (np.exp(predictions.logits_at(slice(None))[model]) - background) + background
    similar = pool.affinity.toarray() + np.eye(pool.n)
    for x in range(pool.n):
        after, label = np.log(left), pool.labels[x]
        after[:, label] += similar[x] * (np.log(left[:, label] + 1) - np.log(left[:, label]))
        rise = agreement(after, pool.labels) - agreement(np.log(left), pool.labels)
        assert gain[x] == pytest.approx(rise, abs=1e-9)


def alike_or_apart(k):
    """Examples in pairs that are wholly similar, and not at all to any other."""
    pool = class_pool(k=k)
    pairs = np.kron(np.eye(pool.n // 2), np.ones((2, 2)))
    return Pool(pool.features, pool.labels, pairs, pool.target)


@pytest.mark.parametrize("k", [2, 3])
def test_attention_goes_to_the_features_that_predicted_the_labels(k):
    observed = made(8, k)
    predictions, single = Attention().predict(observed), observed.single_features
    values = observed.spaces.standard[observed.examples]
    for model in (0, 7, 11):
        for step in range(8):
            weights = attended(single, step, predictions.trusts[model])
            total = np.zeros(k)
            for r in range(step):
                apart = (weights * (values[step] - values[r]) ** 2).sum() / 2
                total[observed.labels[r]] += DECAY ** (step - 1 - r) * np.exp(
                    -apart / predictions.widths[model]
                )
            expected = np.log(total + predictions.backgrounds[model] / k)
            np.testing.assert_allclose(predictions.logits[model, step], expected, atol=1e-9)
    now = logits_now(predictions)
    for model in (0, 5, 11):
        weights = attended(single, 8, predictions.trusts[model])
        apart = (weights * (observed.spaces.standard[:, None] - values) ** 2).sum(axis=-1) / 2
        similar = DECAY ** np.arange(8)[::-1] * np.exp(-apart / predictions.widths[model])
        expected = np.log(similar @ observed.truth + predictions.backgrounds[model] / k)
        np.testing.assert_allclose(now[model], centred(expected), atol=1e-9)


def attended(single, step, trust):
    record = np.zeros(single.count)
    for r in range(step):
        record = 0.95 * record + np.log(single.chances[:, r, single.labels[r]])
    return (1 - SPREAD) * chances(trust * record) + SPREAD / single.count
