"""The harmonic estimate, mended: what the paper's estimate leaves out about people.

The paper's estimate (`harmonic.py`) takes the newest answer to an example for what the learner believes ever after,
leaves that example itself to its neighbours, and knows no doubt: with few answers P is next to 0 or 1. Here

- a taught example carries e = ½(e_answer + e_label), because the learner was told the label after the answer, and
  speaks for itself as much as for all its neighbours together;
- every example is drawn by κ = 0.1 of its degree to π, how often each class was said so far, one answer for each class
  included: what was answered elsewhere counts where nothing near was taught. So walks along the graph end after ten
  steps or so, and a component without a label has π;
- an answer is a guess with chance g, found from how well the estimates stored with the steps predicted the answers.

With D the degrees and o the distinct taught examples that is one system for all classes c, as in the paper, and

    (L + diag(r) + κD) Q_c = A[:, o] e_c + D_o e_c + κD π_c,   r = A[:, o]·1 + D_o·1,   P = g/k + (1 − g) Q.
"""

from dataclasses import replace

import numpy as np

from .arrays import FloatArray
from .classes import completed, one_hot
from .harmonic import solution, votes_for
from .history import Past
from .pool import Pool

# κ, and how much of what a taught example carries is the label that the learner was told.
PRIOR = 0.1
TAKEN_UP = 0.5
# Chances to guess, equally probable at first.
GUESSES = np.array([0.02, 0.1, 0.2, 0.4, 0.6, 0.8])


def mended(pool: Pool, past: Past) -> FloatArray:
    """The probabilities that the learner says each class, shape (n, k), after a checked history."""
    g = guess_rate(past)
    return g / pool.class_count + (1 - g) * believed(pool, past)


def believed(pool: Pool, past: Past) -> FloatArray:
    """Q, shape (n, k): what the learner would say without guesses."""
    k, told = pool.class_count, replace(past, newest=pool.labels[past.taught])
    votes = (1 - TAKEN_UP) * votes_for(pool, past) + TAKEN_UP * votes_for(pool, told)
    carried = (1 - TAKEN_UP) * one_hot(past.newest, k) + TAKEN_UP * one_hot(told.newest, k)
    # An example without neighbours still has itself and the prior.
    degrees = np.where(pool.degrees > 0, pool.degrees, 1.0)
    votes[:, past.taught] += degrees[past.taught] * carried.T
    shares = (np.bincount(past.answers, minlength=k) + 1) / (len(past) + k)
    votes += PRIOR * degrees * shares[:, None]
    return completed(solution(pool, votes.sum(axis=0), votes[1:]).T)


def guess_rate(past: Past) -> float:
    """The expected g, by Bayes' rule from the probabilities P_s that were stored with the steps.

    With g_s the rate that was expected at step s, Q_s = (P_s − g_s/k)/(1 − g_s) is what was believed without guesses,
    and the answer speaks for a rate g by g/k + (1 − g) Q_s.
    """
    k = past.probabilities.shape[1]
    weights = np.full(GUESSES.size, 1 / GUESSES.size)
    for p in past.probabilities[np.arange(len(past)), past.answers].tolist():
        g = float(weights @ GUESSES)
        q = min(max((p - g / k) / (1 - g), 0.0), 1.0)
        weights = weights * (GUESSES / k + (1 - GUESSES) * q)
        weights /= weights.sum()
    return float(weights @ GUESSES)
