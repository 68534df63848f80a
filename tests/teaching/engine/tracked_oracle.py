"""The tracked teacher written from its definition: full covariances, one model, memory and example at a time."""

from dataclasses import dataclass
from itertools import product
from math import erf, exp, log, pi, sqrt
from types import SimpleNamespace

import numpy as np
from scipy.special import expit

from tests.teaching.engine.builders import as_signs


@dataclass
class Model:
    """One learner (η, β) of the bank: mean and covariance of (w, v), shapes (2d,) and (2d, 2d)."""

    factor: float
    beta: float
    firmness: float
    log_weight: float
    mean: np.ndarray
    covariance: np.ndarray


def first_models(pool, beta, assumed):
    d = pool.features.shape[1]
    mean_square = np.mean([x @ x for x in pool.features])
    models = []
    for factor, span, firmness in product(assumed.rates, assumed.spans, assumed.firmness):
        covariance = np.zeros((2 * d, 2 * d))
        covariance[:d, :d] = assumed.conviction**2 / mean_square * np.eye(d)
        off = (log(factor) / log(assumed.rate_doubt), log(span) / log(assumed.span_doubt))
        models.append(
            Model(
                factor,
                max(1 - (1 - beta) / span, 0),
                firmness,
                -(off[0] ** 2) / 2 - off[1] ** 2 / 2,
                np.zeros(2 * d),
                covariance,
            )
        )
    return models


def weigh_answer(model, x, answer, guess, offset=0.0, by_guess=0.5):
    """Bayes' rule for an answer of probability guess·by_guess + (1 − guess)·Φ(±firmness·u/√(8/π))."""
    seen = np.concatenate([x, np.zeros_like(x)])
    gain = model.covariance @ seen
    mean, variance = offset + seen @ model.mean, seen @ gain
    scale = sqrt(8 / pi / model.firmness**2 + variance)
    r = answer * mean / scale
    chance = guess * by_guess + (1 - guess) * (1 + erf(r / sqrt(2))) / 2
    # First and second derivative of log(chance) by the mean.
    first = answer * (1 - guess) * exp(-r * r / 2) / sqrt(2 * pi) / scale / chance
    second = -first * answer * r / scale - first**2
    model.mean = model.mean + first * gain
    model.covariance = model.covariance + second * np.outer(gain, gain)
    model.log_weight += log(chance)


def learn_label(model, x, y, eta, noise, offset=0.0):
    """The learner's update, with f made linear in the margin by its mean and its mean slope."""
    d = len(x)
    w, v = model.mean[:d], model.mean[d:]
    f, slope = expected_error(offset + x @ w, x @ model.covariance[:d, :d] @ x, y)
    v = model.beta * v - y * f * x
    w = w - eta * v
    turned = slope * np.outer(x, x)
    to_v = np.hstack([turned, model.beta * np.eye(d)])
    to_w = np.hstack([np.eye(d), np.zeros((d, d))]) - eta * to_v
    transition = np.vstack([to_w, to_v])
    model.mean = np.concatenate([w, v])
    model.covariance = transition @ model.covariance @ transition.T
    model.covariance[:d, :d] += noise * np.eye(d)


def expected_error(mean, variance, y):
    """E[f] and E[f(1−f)] of a Gaussian margin."""
    kappa = 1 / sqrt(1 + pi * variance / 8)
    f = expit(-y * kappa * mean)
    return f, kappa * f * (1 - f)


def followed_all(pool, history, beta, rate, assumed):
    """The whole bank after a history."""
    pool = as_signs(pool)
    models = first_models(pool, beta, assumed)
    noise = assumed.drift * models[0].covariance[0, 0]
    for t, step in enumerate(history, start=1):
        x, y = pool.features[step.example], pool.labels[step.example]
        for model in models:
            weigh_answer(model, x, 1 if step.answer > 0 else -1, assumed.guess)
            learn_label(model, x, y, model.factor * rate(t), noise)
    return models


def followed(pool, history, beta, rate, assumed):
    """What is left of the bank after a history, with weights that add up to one."""
    return left_of(followed_all(pool, history, beta, rate, assumed), pool.features.shape[1])


def left_of(models, d):
    top = max(model.log_weight for model in models)
    models = [model for model in models if exp(model.log_weight - top) >= 1e-4]
    total = sum(exp(model.log_weight - top) for model in models)
    weights = [exp(model.log_weight - top) / total for model in models]
    shared = sum(w * model.covariance for w, model in zip(weights, models, strict=True))
    return models, weights, shared[:d, :d], shared[:d, d:]


def judged(pool, history, beta, rate, assumed):
    """Scores and p of every example of two classes, (n,) each."""
    weight = exemplar_posterior(pool, history, beta, rate, assumed)
    scores, p = judged_by_concept(pool, history, beta, rate, assumed)
    if weight < 1e-4:
        return scores, p
    typical, p_by_exemplars = judged_by_exemplars(pool, history, assumed)
    return typical if weight > 0.5 else scores, (1 - weight) * p + weight * p_by_exemplars


def judged_by_concept(pool, history, beta, rate, assumed):
    models, weights, spread, tie = followed(pool, history, beta, rate, assumed)
    pool = as_signs(pool)
    scores, chances = [], []
    for x, y in zip(pool.features, pool.labels, strict=True):
        score = chance = 0.0
        for weight, model in zip(weights, models, strict=True):
            eta = model.factor * rate(len(history) + 1)
            score += weight * expected_distance(pool, model, x, y, eta, spread, tie)
            says_plus = expected_error(
                model.firmness * (x @ model.mean[: len(x)]),
                model.firmness**2 * (x @ spread @ x),
                -1,
            )[0]
            chance += weight * (assumed.guess / 2 + (1 - assumed.guess) * says_plus)
        scores.append(score)
        chances.append(chance)
    return np.array(scores), np.array(chances)


def exemplar_posterior(pool, history, beta, rate, assumed):
    """Bayes' rule for the two hypotheses, from the chance of all answers under each."""
    first = first_models(pool, beta, assumed)
    last = followed_all(pool, history, beta, rate, assumed)
    concept = sum(exp(m.log_weight) for m in last) / sum(exp(m.log_weight) for m in first)
    chances = [
        exp(log_chance(pool, history, model, assumed.guess)) for model in memory_models(assumed)
    ]
    exemplars = assumed.exemplars.prior * sum(chances) / len(chances)
    return exemplars / (exemplars + (1 - assumed.exemplars.prior) * concept)


def memory_models(assumed):
    return list(product(assumed.exemplars.widths, assumed.exemplars.decays))


def log_chance(pool, history, model, guess):
    """Of all answers, by memories (width, fading) alone."""
    total = 0.0
    for s, step in enumerate(history):
        p = by_exemplars(pool, history[:s], pool.features[step.example], model)
        total += log(guess / 2 + (1 - guess) * (p if step.answer > 0 else 1 - p))
    return total


def by_exemplars(pool, history, x, model):
    """P(+1) of somebody who compares x with what was shown."""
    width, fading = model
    apart = 2 * np.mean([z @ z for z in pool.features])
    plus = total = 0.0
    for age, step in enumerate(reversed(history)):
        away = x - pool.features[step.example]
        strength = fading**age * exp(-(away @ away) / (width * apart))
        total += strength
        plus += strength * (pool.labels[step.example] > 0)
    share = plus / total if total > 0 else 0.5
    share = min(max(share, 0.02), 0.98)
    return share**4 / (share**4 + (1 - share) ** 4)


def judged_by_exemplars(pool, history, assumed):
    best = max(
        memory_models(assumed), key=lambda model: log_chance(pool, history, model, assumed.guess)
    )
    pool, affinity = as_signs(pool), pool.affinity.toarray()
    scores, chances = [], []
    for i, (x, y) in enumerate(zip(pool.features, pool.labels, strict=True)):
        p = by_exemplars(pool, history, x, best)
        tied = sum(affinity[i, j] * y * pool.labels[j] for j in range(pool.n))
        scores.append(-(1 - p if y > 0 else p) * max(tied, 0))
        chances.append(assumed.guess / 2 + (1 - assumed.guess) * p)
    return np.array(scores), np.array(chances)


def expected_distance(pool, model, x, y, eta, spread, tie, offset=0.0):
    """E‖w_t − w*‖² − E‖w_{t−1} − ηβv_{t−1} − w*‖² if the example is shown."""
    d = len(x)
    w, v = model.mean[:d], model.mean[d:]
    f, slope = expected_error(offset + x @ w, x @ spread @ x, y)
    along = x @ (w - eta * model.beta * v - pool.target)
    together = x @ spread @ x - eta * model.beta * (x @ tie @ x)
    return 2 * eta * (y * f * along - slope * together) + eta**2 * (f - slope) * (x @ x)


def judged_against_rest(pool, history, beta, rate, assumed):
    """Scores (n,) and probabilities (n, k) of more than two classes, one class against the rest at a time."""
    k, d = pool.target.shape
    scores, chances = np.zeros(pool.n), np.zeros((pool.n, k))
    offset, scale = -log(k - 1), k / (2 * (k - 1))
    for c in range(k):
        wanted = SimpleNamespace(target=pool.target[c] * k / (k - 1))
        models = first_models(pool, beta, assumed)
        for model in models:
            model.covariance = scale * model.covariance
        noise = assumed.drift * models[0].covariance[0, 0]
        for t, step in enumerate(history, start=1):
            x, said = pool.features[step.example], 1 if step.answer == c else -1
            y = 1 if pool.labels[step.example] == c else -1
            by_guess = 1 / k if said > 0 else 1 - 1 / k
            for model in models:
                weigh_answer(model, x, said, assumed.guess, offset, by_guess)
                learn_label(model, x, y, scale * model.factor * rate(t), noise, offset)
        models, weights, spread, tie = left_of(models, d)
        for i, x in enumerate(pool.features):
            y = 1 if pool.labels[i] == c else -1
            for weight, model in zip(weights, models, strict=True):
                eta = scale * model.factor * rate(len(history) + 1)
                away = expected_distance(wanted, model, x, y, eta, spread, tie, offset)
                scores[i] += 2 * ((k - 1) / k) ** 2 * weight * away
                margin = model.firmness * (offset + x @ model.mean[:d])
                spread_of = model.firmness**2 * (x @ spread @ x)
                chances[i, c] += weight * expected_error(margin, spread_of, -1)[0]
    shares = chances / chances.sum(axis=1, keepdims=True)
    return scores, assumed.guess / k + (1 - assumed.guess) * shares
