"""The mixture written out: every member by itself, Bayes' rule one answer after the other."""

import numpy as np

from teaching.engine.bank.mixture import CHANGE

from .builders import chances


def members_of(mixture):
    """What each member expects before each answer, (M, t, k), and its first weight, (M,)."""
    seen, p, weights = mixture.seen, [], []
    for member in mixture.members:
        family, followed = member.family, member.followed
        lean = seen.leaning[:-1] if family.leans else 0
        total = sum(style.weight for style in family.styles)
        for model, logits in enumerate(followed.logits):
            for style in family.styles:
                own = chances(style.firmness * logits + lean)
                p.append(style.guess / seen.k + (1 - style.guess) * own)
                share = followed.first_shares[model] * style.weight / total
                weights.append(family.weight * share)
    return np.array(p), np.array(weights) / sum(weights)


def expected(mixture):
    """P of all classes before each answer, (t, k), and the weights in the end, (M,)."""
    p, first = members_of(mixture)
    now, rows = first, []
    for step, answer in enumerate(mixture.seen.answers):
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
