"""The mixture written out: every member by itself, Bayes' rule one answer after the other."""

import numpy as np

from teaching.engine.bank.mixture import CHANGE

from .builders import chances


def members_of(mixture):
    """What each member expects before each answer, (M, t, k), and its first weight, (M,)."""
    observed, p, weights = mixture.observed, [], []
    for member in mixture.members:
        family, predictions = member.family, member.predictions
        lean = observed.response_bias[:-1] if family.is_biased else 0
        total = sum(style.weight for style in family.styles)
        for model, logits in enumerate(predictions.logits):
            for style in family.styles:
                own = chances(style.inverse_temperature * logits + lean)
                p.append(style.guess_rate / observed.k + (1 - style.guess_rate) * own)
                share = predictions.prior[model] * style.weight / total
                weights.append(family.weight * share)
    return np.array(p), np.array(weights) / sum(weights)


def expected(mixture):
    """P of all classes before each answer, (t, k), and the weights in the end, (M,)."""
    p, first = members_of(mixture)
    now, rows = first, []
    for step, answer in enumerate(mixture.observed.answers):
        rows.append(now @ p[:, step])
        now = now * p[:, step, answer]
        now = (1 - CHANGE) * now / now.sum() + CHANGE * first
    return np.array(rows), now


def predicted_answers(teacher, pool, history):
    """P(class 1) before each answer of two classes, each from the history before it alone, (t,)."""
    rows = []
    for step in range(1, len(history) + 1):
        predicted, _ = expected(teacher.mixture(pool, history[:step]))
        rows.append(predicted[-1, 1])
    return np.array(rows)
