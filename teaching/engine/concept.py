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
# Copies of a feature leave directions without curvature but the ridge's, which rounding may turn
# negative beside large features. This much of the unit diagonal outweighs it.
DAMPING = 1e-12
UNSETTLED = (
    "The target concept did not settle; scale the features to a common range or give a target."
)


def ridge_logistic(
    features: FloatArray, labels: FloatArray, ridge: float | FloatArray | None = None
) -> FloatArray:
    """Minimise Σ log(1 + exp(−y wᵀx)) + ½ Σ λ_j w_j² over w; returns w* of shape (d,).

    `features` has shape (n, d), `labels` shape (n,) in {−1, +1}. `ridge` is λ: one number for
    every feature alike, a constant one included, 0.001·n if left out; or one number per feature,
    shape (d,), in which 0 lets a bias column go free (both classes must then be there).
    """
    n, d = features.shape
    given = RIDGE_PER_EXAMPLE * n if ridge is None else ridge
    penalty: FloatArray = np.broadcast_to(np.asarray(given, dtype=np.float64), (d,))
    return _newton(features, labels, penalty) if d <= n else _wide(features, labels, penalty)


def _wide(features: FloatArray, labels: FloatArray, penalty: FloatArray) -> FloatArray:
    """The same minimum where features outnumber examples.

    It lies in the span of the rows, once λ_j is taken into the length of feature j, so n
    coordinates are enough beside the features that go free.
    """
    bound = penalty > 0
    lengths = np.sqrt(penalty[bound])
    basis, coordinates = linalg.qr((features[:, bound] / lengths).T, mode="economic")
    reduced = np.column_stack([coordinates.T, features[:, ~bound]])
    rank = len(coordinates)
    found = _newton(reduced, labels, np.repeat([1.0, 0.0], [rank, reduced.shape[1] - rank]))
    concept = np.empty(len(penalty))
    concept[bound] = basis @ found[:rank] / lengths
    concept[~bound] = found[rank:]
    return concept


def _newton(features: FloatArray, labels: FloatArray, penalty: FloatArray) -> FloatArray:
    d = features.shape[1]
    concept = np.zeros(d)
    for _ in range(STEPS):
        margins = labels * (features @ concept)
        f = expit(-margins)
        loss = _loss(margins, penalty, concept)
        gradient = penalty * concept - features.T @ (labels * f)
        hessian = features.T @ (features * (f * (1 - f))[:, None])
        hessian.flat[:: d + 1] += penalty
        direction = -_solved(hessian, gradient)
        slope = float(gradient @ direction)
        if -slope <= SETTLED * loss:
            return np.asarray(concept + direction)
        length = 1.0
        along = labels * (features @ direction)
        # Halve the step until it keeps a share of the decrease that it promised.
        while (
            _loss(margins + length * along, penalty, concept + length * direction)
            > loss + 1e-4 * length * slope
        ):
            length /= 2
        concept = concept + length * direction
    raise BadPool(UNSETTLED)


def _solved(hessian: FloatArray, gradient: FloatArray) -> FloatArray:
    """Solve for the Newton step with every feature brought to unit curvature first."""
    curvature = hessian.diagonal()
    scale = 1 / np.sqrt(np.where(curvature > 0, curvature, 1.0))
    scaled = hessian * scale[:, None] * scale
    scaled.flat[:: len(scaled) + 1] += DAMPING
    # Straight from LAPACK: with few features, SciPy's own checks take twenty times as long as the solution.
    _, step, failure = linalg.lapack.dposv(scaled, scale * gradient)
    if failure:
        raise BadPool(UNSETTLED)
    return np.asarray(scale * step)


def _loss(margins: FloatArray, penalty: FloatArray, concept: FloatArray) -> float:
    return float(np.logaddexp(0, -margins).sum() + (penalty * concept) @ concept / 2)
