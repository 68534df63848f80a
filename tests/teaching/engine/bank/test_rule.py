"""The rule model against a sum over every feature that a learner may have held."""

from itertools import product

import numpy as np
import pytest

from teaching.engine.bank.rule import MOVES, Rule, firm, likely
from teaching.engine.bank.single import BACKGROUND, DECAY, WIDTH

from .builders import agreement, chances, gains_of, made


@pytest.mark.parametrize("k", [2, 3])
def test_chances_are_those_of_all_ways_to_hold_features(k):
    seen = made(5, k, d=3)
    followed = Rule().follow(seen)
    for model in (0, 3, 7):
        spoken = firm(seen.single.chances, followed.firmness[model])
        takes = taken_up(seen, [0.3, 1.0][model % 2])
        for step in range(5):
            total = sum(
                weight * spoken[path[-1], step]
                for path, weight in paths(seen, followed.moves[model], spoken, takes, step)
            )
            expected = total / total.sum()
            np.testing.assert_allclose(chances(followed.logits[model, step]), expected, atol=1e-9)


def paths(seen, moves, spoken, takes, step):
    """Every sequence of held features up to a step, with its probability and that of the answers so far."""
    count = seen.single.count
    for path in product(range(count), repeat=step + 1):
        weight = 1 / count
        for s in range(step):
            weight *= spoken[path[s], s, seen.answers[s]]
            move = moves[0 if seen.answers[s] == seen.labels[s] else 1]
            stays = path[s + 1] == path[s]
            weight *= (1 - move) * stays + move * takes[s + 1][path[s + 1]]
        yield path, weight


def taken_up(seen, trust):
    """Where learners go who move on before each step: by the record of each feature."""
    record, takes = np.zeros(seen.single.count), []
    for step in range(len(seen) + 1):
        takes.append(chances(trust * record))
        if step < len(seen):
            record = 0.95 * record + seen.single.log_chances[:, step, seen.labels[step]]
    return takes


@pytest.mark.parametrize("k", [2, 3])
def test_a_feature_speaks_for_what_lies_near_along_it(k):
    seen = made(6, k)
    single = seen.single
    for feature, example in ((0, 3), (2, 11)):
        total = np.full(k, BACKGROUND / k)
        for r, shown in enumerate(seen.examples):
            apart = single.standard[example, feature] - single.standard[shown, feature]
            total[seen.labels[r]] += DECAY ** (5 - r) * np.exp(-(apart**2) / (2 * WIDTH))
        now = single.votes(np.array([1, feature]))[1, :, example]
        np.testing.assert_allclose(now, total, atol=1e-12)
        alone = single.votes_at(np.array([example]))[feature, :, 0]
        np.testing.assert_allclose(alone, total, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3])
def test_a_learner_gains_from_what_its_feature_gets_wrong(k):
    seen = made(20, k, n=42)
    followed = Rule().follow(seen)
    model = int(np.argmax([move == MOVES[1] for move in map(tuple, followed.moves)]))
    gains = gains_of(followed, np.arange(8))[model]
    weights = followed.held[[model]] + followed.taken[[model]]
    features = np.flatnonzero(likely(weights)[0])
    logs = np.log(seen.single.votes(features).swapaxes(1, 2))
    spoken = chances(followed.firmness[model] * logs)
    right = spoken[:, np.arange(seen.pool.n), seen.pool.labels]
    held, taken = followed.held[model, features], followed.taken[model, features]
    held, taken = held / held.sum(), taken / taken.sum()
    reached = np.array([agreement(np.log(one), seen.pool.labels) for one in spoken])
    for x in range(seen.pool.n):
        move = MOVES[1][0] * right[:, x] + MOVES[1][1] * (1 - right[:, x])
        after = held * (1 - move) + taken * (held * move).sum()
        assert gains[x] == pytest.approx((after - held) @ reached, abs=1e-12)
