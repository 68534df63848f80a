"""The regularised harmonic estimate: the paper's estimate with label feedback, a prior and guesses.

The paper's estimate (`harmonic.py`) takes the newest answer to an example for what the learner believes ever after,
leaves that example itself to its neighbours, and is never uncertain: after a few answers P is close to 0 or 1. Here

- a taught example carries e = ½(e_answer + e_label), because the learner was told the label after the answer, and is
  tied to it with the weight of all its neighbours together;
- every example is tied with κ = 0.1 of its degree to π, the shares of the answers so far with a pseudocount of one for
  each class. So random walks on the graph end after about ten steps, and a component without labels has π;
- an answer is a guess with probability g, inferred from how well the estimates stored with the steps predicted the
  answers.

With D the degrees and o the distinct taught examples, that is one system for all classes c, as in the paper:

    (L + diag(r) + κD) Q_c = A[:, o] e_c + D_o e_c + κD π_c,   r = A[:, o]·1 + D_o·1,   P = g/k + (1 − g) Q.
"""

from dataclasses import replace

import numpy as np

from .arrays import FloatArray
from .classes import completed, one_hot
from .harmonic import solution, votes_for
from .history import Past
from .pool import Pool

# κ, and the share of the label in what a taught example carries.
PRIOR_STRENGTH = 0.1
LABEL_SHARE = 0.5
# Guess rates, with equal prior probabilities.
GUESS_RATES = np.array([0.02, 0.1, 0.2, 0.4, 0.6, 0.8])


def regularised_harmonic(pool: Pool, past: Past) -> FloatArray:
    """The probabilities that the learner says each class, shape (n, k), after a checked history."""
    g = guess_rate(past)
    return g / pool.class_count + (1 - g) * beliefs(pool, past)


def beliefs(pool: Pool, past: Past) -> FloatArray:
    """Q, shape (n, k): the probabilities without guesses."""
    k, labelled = pool.class_count, replace(past, newest=pool.labels[past.taught])
    votes = (1 - LABEL_SHARE) * votes_for(pool, past) + LABEL_SHARE * votes_for(pool, labelled)
    carried = (1 - LABEL_SHARE) * one_hot(past.newest, k) + LABEL_SHARE * one_hot(
        labelled.newest, k
    )
    # An example without neighbours still has itself and the prior.
    degrees = np.where(pool.degrees > 0, pool.degrees, 1.0)
    votes[:, past.taught] += degrees[past.taught] * carried.T
    shares = (np.bincount(past.answers, minlength=k) + 1) / (len(past) + k)
    votes += PRIOR_STRENGTH * degrees * shares[:, None]
    return completed(solution(pool, votes.sum(axis=0), votes[1:]).T)


def guess_rate(past: Past) -> float:
    """The posterior mean of g, from the probabilities P_s that were stored with the steps.

    With g_s the posterior mean at step s, Q_s = (P_s − g_s/k)/(1 − g_s) is the belief without guesses, and the
    likelihood of a rate g is g/k + (1 − g) Q_s.
    """
    k = past.probabilities.shape[1]
    weights = np.full(GUESS_RATES.size, 1 / GUESS_RATES.size)
    for p in past.probabilities[np.arange(len(past)), past.answers].tolist():
        g = float(weights @ GUESS_RATES)
        q = min(max((p - g / k) / (1 - g), 0.0), 1.0)
        weights = weights * (GUESS_RATES / k + (1 - GUESS_RATES) * q)
        weights /= weights.sum()
    return float(weights @ GUESS_RATES)
