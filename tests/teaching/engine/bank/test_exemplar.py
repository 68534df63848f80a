"""Exemplar models against the votes written out."""

import numpy as np
import pytest

from teaching.engine import Pool
from teaching.engine.bank.attention import DECAY, SPREAD, Attention
from teaching.engine.bank.exemplar import Exemplar, add_up

from .builders import (
    agreement,
    believed,
    centred,
    chances,
    class_history,
    class_pool,
    gains_of,
    made,
    seen_by,
)


def votes_at(seen, model, followed, point, shown, step):
    """Σ over what was shown before a step, one memory after the other."""
    total = np.zeros(seen.k)
    for r in range(step):
        apart = ((point - shown[r]) ** 2).sum()
        left = followed.decays[model] ** (step - 1 - r)
        total[seen.labels[r]] += left * np.exp(-apart / followed.widths[model])
    return np.log(total + followed.backgrounds[model] / seen.k)


@pytest.mark.parametrize("k", [2, 3])
def test_models_answer_by_the_votes_of_their_memories(k):
    seen = made(8, k)
    followed = Exemplar().follow(seen)
    for model in (0, 5, 14, 23):
        space = seen.spaces.both[followed.places[model]]
        mean = space.points.mean(axis=0)
        # The mean squared distance between two examples is twice their spread.
        points = (space.points - mean) / np.sqrt(2 * space.spread)
        shown = points[seen.examples]
        for step in range(8):
            expected = votes_at(seen, model, followed, shown[step], shown, step)
            np.testing.assert_allclose(followed.logits[model, step], expected, atol=1e-9)
        now = believed(followed)[model]
        expected = [votes_at(seen, model, followed, one, shown, 8) for one in points]
        np.testing.assert_allclose(now, centred(np.array(expected)), atol=1e-9)


def votes_now(followed, model):
    """What memories say about every example, (n, k), one after the other."""
    seen = followed.seen
    space = seen.spaces.both[followed.places[model]]
    total = np.zeros((seen.pool.n, seen.k))
    for age, (example, label) in enumerate(
        zip(seen.examples[::-1], seen.labels[::-1], strict=True)
    ):
        apart = ((space.points - space.points[example]) ** 2).sum(axis=1) / (2 * space.spread)
        total[:, label] += followed.decays[model] ** age * np.exp(-apart / followed.widths[model])
    return total


@pytest.mark.parametrize("count", [2, 12])
@pytest.mark.parametrize("k", [2, 3])
def test_the_gain_is_exact_where_examples_are_alike_or_have_nothing_in_common(k, count):
    pool = alike_or_apart(k)
    seen = seen_by(pool, class_history(pool, 8))
    followed = Exemplar().follow(seen)
    # Few models are worked out one after the other, and many side by side.
    models = np.arange(1, 24, 24 // count)[:count]
    gains = gains_of(followed, models)
    similar = pool.affinity.toarray() + np.eye(pool.n)
    for place, model in enumerate(models):
        left = followed.decays[model] * votes_now(followed, model) + followed.backgrounds[model] / k
        before = agreement(np.log(left), pool.labels)
        for x in range(pool.n):
            after = left.copy()
            after[:, pool.labels[x]] += similar[x]
            rise = agreement(np.log(after), pool.labels) - before
            assert gains[place, x] == pytest.approx(rise, abs=1e-9)


def alike_or_apart(k):
    """Examples in pairs that are wholly similar, and not at all to any other."""
    pool = class_pool(k=k)
    pairs = np.kron(np.eye(pool.n // 2), np.ones((2, 2)))
    return Pool(pool.features, pool.labels, pairs, pool.target)


@pytest.mark.parametrize("k", [2, 3])
def test_attention_goes_to_the_features_that_predicted_the_labels(k):
    seen = made(8, k)
    followed, single = Attention().follow(seen), seen.single
    values = single.standard[seen.examples]
    for model in (0, 7, 11):
        for step in range(8):
            weights = attended(single, step, followed.trusts[model])
            total = np.zeros(k)
            for r in range(step):
                apart = (weights * (values[step] - values[r]) ** 2).sum() / 2
                total[seen.labels[r]] += DECAY ** (step - 1 - r) * np.exp(
                    -apart / followed.widths[model]
                )
            expected = np.log(total + followed.backgrounds[model] / k)
            np.testing.assert_allclose(followed.logits[model, step], expected, atol=1e-9)
    now = believed(followed)
    for model in (0, 5, 11):
        weights = attended(single, 8, followed.trusts[model])
        apart = (weights * (single.standard[:, None] - values) ** 2).sum(axis=-1) / 2
        similar = DECAY ** np.arange(8)[::-1] * np.exp(-apart / followed.widths[model])
        expected = np.log(similar @ seen.truth + followed.backgrounds[model] / k)
        np.testing.assert_allclose(now[model], centred(expected), atol=1e-9)


def attended(single, step, trust):
    record = np.zeros(single.count)
    for r in range(step):
        record = 0.95 * record + single.log_chances[:, r, single.labels[r]]
    return (1 - SPREAD) * chances(trust * record) + SPREAD / single.count


def test_nothing_is_more_similar_than_itself_however_distances_are_rounded():
    near = np.array([[60.0, 1e-12, 0.0, -1.0]])
    votes = np.empty((2, 1, 4))
    add_up([(slice(0, 4), near)], np.array([0.02, 0.4]), np.ones((2, 1, 1)), out=votes)
    np.testing.assert_allclose(votes[:, 0], [np.exp([0, 0, 0, -20.0]), np.exp([0, 0, 0, -1.0])])
