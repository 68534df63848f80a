"""The memory decay that fits the answers of a session: against brute force and known learners."""

import json

import numpy as np
import pytest
from scipy.special import logsumexp

from teaching import decay
from teaching.engine import LearningRate, Pool, Shown, SimulatedLearner
from tests.teaching.engine.bank.builders import class_history, class_pool, seen_by
from tests.teaching.learners import RATE, session_of, told_apart


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_likelihood_is_that_of_the_learner_run_step_by_step(classes):
    pool = class_pool(n=20, k=classes)
    history = class_history(pool, 12)
    surface = decay.log_likelihoods(seen_by(pool, history))
    rate = seen_by(pool, history).learning_rate
    for b, r, g in ((0, 6, 0), (10, 4, 1), (19, 12, 2), (5, 0, 1)):
        # Where examples have the length 1, as the grid has it.
        own = LearningRate(decay.RATES[r] / pool.spaces.given.square, rate.decay)
        learner = SimulatedLearner(
            np.zeros((classes, pool.dimensions)), beta=decay.BETAS[b], learning_rate=own
        )
        total, guess = 0.0, decay.GUESSES[g]
        for step in history:
            x = pool.features[step.example]
            p = learner.probabilities(x)[step.answer]
            total += np.log(guess / classes + (1 - guess) * p)
            learner.learn(x, int(pool.labels[step.example]))
        assert surface[b, r, g] == pytest.approx(total, abs=1e-9)


def test_long_sessions_are_worked_out_in_parts(monkeypatch):
    seen = seen_by(pool := class_pool(), class_history(pool, 30))
    whole = decay.log_likelihoods(seen)
    monkeypatch.setattr(decay, "MOST_LINKS", 1)
    np.testing.assert_allclose(decay.log_likelihoods(seen), whole, atol=1e-9)


def test_beta_is_the_mean_by_how_probable_each_makes_the_answers():
    seen = seen_by(pool := class_pool(), class_history(pool, 30, right=0.8))
    fit = decay.fit_decay(seen)
    likelihoods = np.exp(decay.log_likelihoods(seen))
    by_beta = likelihoods.sum(axis=(1, 2)) / likelihoods.sum()
    assert fit.beta == pytest.approx(by_beta @ decay.BETAS, abs=0.002)
    low, high = np.searchsorted(decay.BETAS, [fit.low, fit.high])
    assert by_beta[:low].sum() < 0.025 < by_beta[: low + 1].sum()
    assert by_beta[high + 1 :].sum() < 0.025 < by_beta[high:].sum()
    by_rate = likelihoods.sum(axis=(0, 2)) / likelihoods.sum()
    assert fit.rate == pytest.approx(np.exp(by_rate @ np.log(decay.RATES)))
    own = seen.learning_rate.initial * pool.spaces.given.square
    assert fit.rate_factor == pytest.approx(fit.rate / own)
    assert fit.gain == pytest.approx(np.log(likelihoods.mean()) + 30 * np.log(2))


def test_a_stored_surface_gives_the_same_beta_again():
    fit = decay.fit_decay(seen_by(pool := class_pool(), class_history(pool, 30)))
    read = json.loads(json.dumps(fit.surface))
    again = decay.together([read])
    assert (again.beta, again.low, again.high) == (fit.beta, fit.low, fit.high)
    assert max(read) == 0


def test_tasks_of_one_person_speak_of_one_beta_with_rates_of_their_own():
    fits = [
        decay.fit_decay(seen_by(pool := class_pool(seed=seed), class_history(pool, 20, seed=seed)))
        for seed in (1, 2)
    ]
    surfaces = [np.reshape(fit.surface, (20, 13)) / 100 for fit in fits]
    together = sum(logsumexp(surface, axis=1) for surface in surfaces)
    shares = np.exp(together - logsumexp(together))
    found = decay.together([fit.surface for fit in fits])
    assert found.beta == pytest.approx(shares @ decay.BETAS)
    assert found.high - found.low <= min(fit.high - fit.low for fit in fits)


def test_intervals_hold_the_true_decay_at_least_as_often_as_they_say():
    pool = told_apart()
    fits = [session_of(pool, 0.75, 80, seed, factor=4) for seed in range(40)]
    assert sum(fit.low <= 0.75 <= fit.high for fit in fits) >= 36
    assert all(fit.low <= fit.beta <= fit.high for fit in fits)


def test_many_answers_find_the_decay_and_the_rate():
    pool = told_apart()
    quick = [session_of(pool, 0.0, 200, seed, factor=4) for seed in range(6)]
    slow = [session_of(pool, 0.9, 200, seed, factor=4) for seed in range(6)]
    assert np.mean([fit.beta for fit in slow]) - np.mean([fit.beta for fit in quick]) > 0.2
    assert all(fit.gain > 0 for fit in slow)
    # A smaller β with a larger rate explains the answers about as well.
    assert 1.5 < np.median([fit.rate_factor for fit in quick]) < 8


def test_answers_about_what_was_never_taught_say_nothing():
    # No example has anything in common with another, so that nothing is known at any step.
    pool = Pool(np.eye(8), np.arange(8) % 2)
    history = [Shown(example, example // 3 % 2, 0.5) for example in range(6)]
    fit = decay.fit_session(pool, history, RATE)
    assert fit.tells_nothing
    assert set(fit.surface) == {0}
    assert fit.gain == pytest.approx(0, abs=1e-9)
    assert fit.beta == pytest.approx(decay.BETAS.mean())
    assert not session_of(told_apart(), 0.9, 200, seed=0, factor=4).tells_nothing
