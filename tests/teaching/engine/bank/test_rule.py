"""The rule model against a sum over every feature that a learner may have held."""

from itertools import product

import numpy as np
import pytest

from teaching.engine.bank.rule import SWITCHES, Rule, likely, sharpened
from teaching.engine.bank.single_features import BACKGROUND, DECAY, WIDTH

from .builders import agreement, chances, made


@pytest.mark.parametrize("k", [2, 3])
def test_chances_are_those_of_all_ways_to_hold_features(k):
    observed = made(5, k, d=3)
    predictions = Rule().predict(observed)
    for model in (0, 3, 7):
        spoken = sharpened(observed.single_features.chances, predictions.temperatures[model])
        takes = taken_up(observed, [0.3, 1.0][model % 2])
        for step in range(5):
            total = sum(
                weight * spoken[path[-1], step]
                for path, weight in paths(
                    observed, predictions.switches[model], spoken, takes, step
                )
            )
            expected = total / total.sum()
            np.testing.assert_allclose(
                chances(predictions.logits[model, step]), expected, atol=1e-9
            )


def paths(observed, moves, spoken, takes, step):
    """Every sequence of held features up to a step, with its probability and that of the answers so far."""
    count = observed.single_features.count
    for path in product(range(count), repeat=step + 1):
        weight = 1 / count
        for s in range(step):
            weight *= spoken[path[s], s, observed.answers[s]]
            move = moves[0 if observed.answers[s] == observed.labels[s] else 1]
            stays = path[s + 1] == path[s]
            weight *= (1 - move) * stays + move * takes[s + 1][path[s + 1]]
        yield path, weight


def taken_up(observed, trust):
    """Where learners go who move on before each step: by the record of each feature."""
    record, takes = np.zeros(observed.single_features.count), []
    for step in range(len(observed) + 1):
        takes.append(chances(trust * record))
        if step < len(observed):
            record = 0.95 * record + np.log(
                observed.single_features.chances[:, step, observed.labels[step]]
            )
    return takes


@pytest.mark.parametrize("k", [2, 3])
def test_a_feature_speaks_for_what_lies_near_along_it(k):
    observed = made(6, k)
    single = observed.single_features
    for feature, example in ((0, 3), (2, 11)):
        total = np.full(k, BACKGROUND / k)
        for r, shown in enumerate(observed.examples):
            apart = single.standard[example, feature] - single.standard[shown, feature]
            total[observed.labels[r]] += DECAY ** (5 - r) * np.exp(-(apart**2) / (2 * WIDTH))
        expected = total / total.sum()
        for examples, place in ((slice(None), example), (np.array([example]), 0)):
            now = single.chances_at(examples, np.array([1, feature]))[1, place]
            np.testing.assert_allclose(now, expected, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3])
def test_a_learner_gains_from_what_its_feature_gets_wrong(k):
    observed = made(20, k, n=42)
    predictions = Rule().predict(observed)
    model = int(np.argmax([move == SWITCHES[1] for move in map(tuple, predictions.switches)]))
    gains = predictions.gains(np.arange(8))[model]
    weights = predictions.used[[model]] + predictions.next_used[[model]]
    features = np.flatnonzero(likely(weights)[0])
    logs = np.log(observed.single_features.chances_at(slice(None), features))
    spoken = chances(predictions.temperatures[model] * logs)
    right = spoken[:, np.arange(observed.pool.n), observed.pool.labels]
    held, taken = predictions.used[model, features], predictions.next_used[model, features]
    held, taken = held / held.sum(), taken / taken.sum()
    reached = np.array([agreement(np.log(one), observed.pool.labels) for one in spoken])
    for x in range(observed.pool.n):
        move = SWITCHES[1][0] * right[:, x] + SWITCHES[1][1] * (1 - right[:, x])
        after = held * (1 - move) + taken * (held * move).sum()
        assert gains[x] == pytest.approx((after - held) @ reached, abs=1e-12)
