"""The memory decay that fits the answers of a session: against brute force and known learners."""

import json

import numpy as np
import pytest
from scipy.special import logsumexp

from research.recovery import drawn_session, two_classes
from teaching import decay
from teaching.engine import LearningRate, Pool, Shown, SimulatedLearner
from tests.teaching.engine.bank.builders import class_history, class_pool, observed_by


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_likelihood_is_that_of_the_learner_run_step_by_step(classes):
    pool = class_pool(n=20, k=classes)
    history = class_history(pool, 12)
    surface = decay.log_likelihoods(observed_by(pool, history))
    rate = observed_by(pool, history).learning_rate
    for b, r, style, g in (
        (0, 6, 0, 0),
        (10, 4, 0, 1),
        (19, 12, 0, 2),
        (5, 7, 1, 1),
        (9, 12, 2, 0),
    ):
        firmness = 10 ** decay.STYLES[style].decades
        # Where examples have the length 1, as the grid has it.
        initial = decay.RATES[r] / firmness / pool.spaces.given.mean_square
        own = LearningRate(initial, rate.decay)
        learner = SimulatedLearner(
            np.zeros((classes, pool.dimensions)), beta=decay.BETAS[b], learning_rate=own
        )
        total, guess = 0.0, decay.GUESS_RATES[g]
        for step in history:
            x = pool.features[step.example]
            p = learner.probabilities(x) ** firmness
            total += np.log(guess / classes + (1 - guess) * p[step.answer] / p.sum())
            learner.learn(x, int(pool.labels[step.example]))
        assert surface[style, b, r, g] == pytest.approx(total, abs=1e-9)


def test_answers_that_are_firmer_than_any_learning_are_in_proportion_to_it():
    """Beliefs at rates below the grid are those of its slowest rate, only smaller."""
    pool = class_pool(n=20, k=2)
    observed = observed_by(pool, class_history(pool, 6))
    for both in (0, 3):
        drawn, firm = (decay.log_likelihoods(observed)[style, :, both, 0] for style in (0, 2))
        np.testing.assert_allclose(firm, drawn, atol=0.1)


@pytest.mark.parametrize("classes", [2, 3])
def test_opinions_are_averaged_over_as_many_drawn_ones(classes):
    """Of a learner whom nothing was taught: answers to like images are alike, whichever they are."""
    pool = class_pool(n=20, k=classes)
    history = class_history(pool, 5, seed=3)
    observed = observed_by(pool, history)
    chances = decay._with_initial_beliefs(observed, np.zeros((5, classes, 1, 1)), 3.0)[:, :, 0, 0]
    given = pool.features[observed.examples] / np.sqrt(pool.spaces.given.mean_square)
    drawn = np.random.default_rng(0).standard_normal((200_000, classes, pool.dimensions))
    # Opinions of single classes are so long that those of differences between two have the deviation 3.
    logits = drawn @ given.T * 3 / np.sqrt(2)
    each = np.exp(logits - logits.max(axis=1, keepdims=True))
    each /= each.sum(axis=1, keepdims=True)
    said = each[:, observed.answers, np.arange(5)].cumprod(axis=1).mean(axis=0)
    expected = said / np.concatenate([[1.0], said[:-1]])
    np.testing.assert_allclose(chances[np.arange(5), observed.answers], expected, atol=0.12)


def test_long_sessions_are_worked_out_in_parts(monkeypatch):
    observed = observed_by(pool := class_pool(), class_history(pool, 30))
    whole = decay.log_likelihoods(observed)
    monkeypatch.setattr(decay, "MAX_LINKS", 1)
    np.testing.assert_allclose(decay.log_likelihoods(observed), whole, atol=1e-9)


def test_beta_is_the_mean_by_how_probable_each_makes_the_answers():
    observed = observed_by(pool := class_pool(), class_history(pool, 30, right=0.8))
    fit = decay.fit_decay(observed)
    likelihoods = np.exp(decay.log_likelihoods(observed))
    by_beta = likelihoods.sum(axis=(0, 2, 3)) / likelihoods.sum()
    assert fit.beta == pytest.approx(by_beta @ decay.BETAS, abs=0.002)
    low, high = np.searchsorted(decay.BETAS, [fit.low, fit.high])
    assert by_beta[:low].sum() < 0.025 < by_beta[: low + 1].sum()
    assert by_beta[high + 1 :].sum() < 0.025 < by_beta[high:].sum()
    by_rate = likelihoods.sum(axis=(0, 1, 3)) / likelihoods.sum()
    assert fit.rate == pytest.approx(np.exp(by_rate @ np.log(decay.RATES)))
    own = observed.learning_rate.initial * pool.spaces.given.mean_square
    assert fit.rate_factor == pytest.approx(fit.rate / own)
    assert fit.gain == pytest.approx(np.log(likelihoods.mean()) + 30 * np.log(2))


def test_a_stored_surface_gives_the_same_beta_again():
    fit = decay.fit_decay(observed_by(pool := class_pool(), class_history(pool, 30)))
    read = json.loads(json.dumps(fit.surface))
    again = decay.estimate_beta([read])
    assert (again.beta, again.low, again.high) == (fit.beta, fit.low, fit.high)
    assert max(read) == 0


def test_a_surface_from_before_styles_stands_for_every_style():
    earlier = -np.random.default_rng(0).integers(0, 300, decay.BETAS.size * decay.RATES.size)
    read = decay.likelihoods([earlier.tolist(), [0] * (4 * earlier.size)])
    assert read.shape == (2, 4, 20, 13)
    for one in read[0]:
        np.testing.assert_allclose(one, np.exp(earlier.reshape(20, 13) / 100))


def test_tasks_of_one_person_speak_of_one_beta_with_rates_of_their_own():
    fits = [
        decay.fit_decay(
            observed_by(pool := class_pool(seed=seed), class_history(pool, 20, seed=seed))
        )
        for seed in (1, 2)
    ]
    surfaces = [np.reshape(fit.surface, (4, 20, 13)) / 100 for fit in fits]
    together = sum(logsumexp(surface, axis=(0, 2)) for surface in surfaces)
    shares = np.exp(together - logsumexp(together))
    found = decay.estimate_beta([fit.surface for fit in fits])
    assert found.beta == pytest.approx(shares @ decay.BETAS)
    assert found.high - found.low <= min(fit.high - fit.low for fit in fits)


def test_intervals_hold_the_true_decay_at_least_as_often_as_they_say():
    pool = two_classes()
    fits = [drawn_session(pool, 0.75, 80, seed, factor=4) for seed in range(40)]
    assert sum(fit.low <= 0.75 <= fit.high for fit in fits) >= 36
    assert all(fit.low <= fit.beta <= fit.high for fit in fits)


def test_many_answers_find_the_decay_and_the_rate():
    pool = two_classes()
    quick = [drawn_session(pool, 0.0, 200, seed, factor=4) for seed in range(6)]
    slow = [drawn_session(pool, 0.9, 200, seed, factor=4) for seed in range(6)]
    assert np.mean([fit.beta for fit in slow]) - np.mean([fit.beta for fit in quick]) > 0.2
    assert all(fit.gain > 0 for fit in slow)
    # A larger β with a smaller rate explains the answers about as well.
    assert 1 < np.median([fit.rate_factor for fit in quick]) < 8


def test_answers_about_what_was_never_taught_say_nothing():
    # No example has anything in common with another, so that nothing is known at any step.
    pool = Pool(np.eye(8), np.arange(8) % 2)
    history = [Shown(example, example // 3 % 2, 0.5) for example in range(6)]
    fit = decay.fit_session(pool, history, LearningRate(0.6))
    assert fit.is_uninformative
    assert set(fit.surface) == {0}
    assert fit.gain == pytest.approx(0, abs=1e-9)
    assert fit.beta == pytest.approx(decay.BETAS.mean())
    assert not drawn_session(two_classes(), 0.9, 200, seed=0, factor=4).is_uninformative
