"""The target concept w*: ridge logistic regression on the pool itself."""

import numpy as np
from scipy import linalg
from scipy.special import expit

from .arrays import FloatArray
from .errors import BadPool

# λ = 0.001·n: weak enough to classify well, strong enough to keep ‖w*‖ finite when a
# hyperplane separates the classes.
RIDGE_PER_EXAMPLE = 1e-3
STEPS = 100
# The share of the loss that Newton's method may still promise to gain when it takes its last
# step; that step squares the error, so the concept is exact to rounding.
SETTLED = 1e-12


def ridge_logistic(features: FloatArray, labels: FloatArray) -> FloatArray:
    """Minimise Σ log(1 + exp(−y wᵀx)) + λ/2 ‖w‖² over w; returns w* of shape (d,).

    `features` has shape (n, d), `labels` shape (n,) in {−1, +1}. The penalty falls on every
    feature alike, a constant one included.
    """
    n, d = features.shape
    if d <= n:
        return _newton(features, labels)
    # The minimum lies in the span of the rows, so n coordinates are enough.
    basis, coordinates = linalg.qr(features.T, mode="economic")
    return np.asarray(basis @ _newton(np.ascontiguousarray(coordinates.T), labels))


def _newton(features: FloatArray, labels: FloatArray) -> FloatArray:
    n, d = features.shape
    ridge = RIDGE_PER_EXAMPLE * n
    concept = np.zeros(d)
    for _ in range(STEPS):
        margins = labels * (features @ concept)
        f = expit(-margins)
        loss = _loss(margins, ridge, concept)
        gradient = ridge * concept - features.T @ (labels * f)
        hessian = features.T @ (features * (f * (1 - f))[:, None])
        hessian[np.diag_indices(d)] += ridge
        direction = -linalg.solve(hessian, gradient, assume_a="pos")
        slope = float(gradient @ direction)
        if -slope <= SETTLED * loss:
            return np.asarray(concept + direction)
        length = 1.0
        along = labels * (features @ direction)
        # Halve the step until it keeps a share of the decrease that it promised.
        while (
            _loss(margins + length * along, ridge, concept + length * direction)
            > loss + 1e-4 * length * slope
        ):
            length /= 2
        concept = concept + length * direction
    raise BadPool(
        "The target concept did not settle; scale the features to a common range or give a target."
    )


def _loss(margins: FloatArray, ridge: float, concept: FloatArray) -> float:
    return float(np.logaddexp(0, -margins).sum() + ridge / 2 * (concept @ concept))
