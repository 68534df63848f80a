"""The regularised estimate against the padded graph written out, and Bayes' rule for the guesses."""

import numpy as np
import pytest

from teaching.engine import BadSetting, Pool, make_teacher
from teaching.engine.history import Past
from teaching.engine.regularised import (
    GUESS_RATES,
    PRIOR_STRENGTH,
    beliefs,
    guess_rate,
    regularised_harmonic,
)
from tests.teaching.engine.bank.builders import class_history, class_pool


def padded(pool, history):
    """Every taught example with a second node that carries half its answer and half its label, and a prior for all."""
    n, k, affinity = pool.n, pool.class_count, pool.affinity.toarray()
    newest = {step.example: step.answer for step in history}
    said = [step.answer for step in history]
    shares = np.array([(said.count(c) + 1) / (len(said) + k) for c in range(k)])
    held, values = [], []
    for example, answer in newest.items():
        links = affinity[example].copy()
        links[example] = affinity[example].sum()
        held.append(links)
        values.append((np.eye(k)[answer] + np.eye(k)[pool.labels[example]]) / 2)
    for example in range(n):
        held.append(PRIOR_STRENGTH * affinity[example].sum() * np.eye(n)[example])
        values.append(shares)
    links = np.array(held).T
    system = np.diag(affinity.sum(axis=1) + links.sum(axis=1)) - affinity
    return np.linalg.inv(system) @ links @ np.array(values)


def taught(pool, steps, estimate=regularised_harmonic):
    """A history whose steps carry the estimates that were made before their answers."""
    history = []
    for step in class_history(pool, steps, right=0.7):
        p = estimate(pool, Past.read(history, pool))[step.example]
        history.append(type(step)(step.example, step.answer, p.tolist()))
    return history


@pytest.mark.parametrize(("n", "k"), [(24, 2), (24, 3), (320, 4)])
def test_beliefs_are_those_of_the_padded_graph(n, k):
    pool = class_pool(n, k=k)
    history = class_history(pool, 14)
    found = beliefs(pool, Past.read(history, pool))
    np.testing.assert_allclose(found, padded(pool, history), atol=1e-10)


@pytest.mark.parametrize("k", [2, 3])
def test_guesses_are_found_by_bayes_rule_from_the_stored_estimates(k):
    pool = class_pool(k=k)
    history = taught(pool, 15)
    chances = np.ones(len(GUESS_RATES))
    for step in range(15):
        q = padded(pool, history[:step])[history[step].example] if step else np.full(k, 1 / k)
        chances *= GUESS_RATES / k + (1 - GUESS_RATES) * q[history[step].answer]
    expected = chances @ GUESS_RATES / chances.sum()
    past = Past.read(history, pool)
    assert guess_rate(past) == pytest.approx(expected, abs=1e-9)
    p = expected / k + (1 - expected) * padded(pool, history)
    np.testing.assert_allclose(regularised_harmonic(pool, past), p, atol=1e-9)


def test_where_no_label_reaches_the_answers_elsewhere_count():
    apart = np.zeros((7, 7))
    for first, second in ((0, 1), (1, 2), (3, 4), (4, 5)):
        apart[first, second] = apart[second, first] = 1
    pool = Pool(np.arange(14.0).reshape(7, 2), [0, 1, 0, 1, 0, 1, 0], apart)
    history = [type(s)(s.example % 3, 1, 0.5) for s in class_history(pool, 6)]
    found = beliefs(pool, Past.read(history, pool))
    # Two answers more than were given are counted, one of each class.
    np.testing.assert_allclose(found[3:, 1], 7 / 8, atol=1e-12)
    np.testing.assert_allclose(beliefs(pool, Past.read([], pool)), 0.5)


def test_jedi_takes_it_by_name_and_no_other_teacher_does():
    pool = class_pool()
    history = taught(pool, 9)
    past = Past.read(history, pool)
    choice = make_teacher("jedi", beta=0.75, estimator="regularised").choose(
        pool, history, np.random.default_rng(0)
    )
    assert choice.probabilities == tuple(regularised_harmonic(pool, past)[choice.example].tolist())
    with pytest.raises(BadSetting, match="no choice of estimators"):
        make_teacher("rt", estimator="regularised")
    with pytest.raises(BadSetting, match="choose from paper, regularised"):
        make_teacher("jedi", estimator="other")
