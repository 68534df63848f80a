"""The target concept W*: ridge logistic regression on the pool itself."""

import numpy as np
import numpy.typing as npt
from scipy import linalg

from .arrays import FloatArray, IntArray
from .classes import class_numbers, contrasts, one_hot
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
# Up to so many numbers to find, (k−1)·d, their second derivatives are kept in one matrix. Beyond, a
# step is iterated on until its error is this share of it.
MOST_DENSE = 1_000
ITERATED, MOST_ITERATIONS = 1e-9, 500
UNSETTLED = (
    "The target concept did not settle; scale the features to a common range or give a target."
)


def ridge_logistic(
    features: FloatArray, labels: npt.ArrayLike, ridge: float | FloatArray | None = None
) -> FloatArray:
    """Minimise Σ log 1/P_y + Σ λ_j ‖W_·j‖² over W, P = softmax(Wx); returns W* of shape (k, d).

    `features` has shape (n, d), `labels` shape (n,): class numbers, or −1 and +1. `ridge` is λ: one
    number for every feature alike, a constant one included, 0.001·n if left out; or one number per
    feature, shape (d,), in which 0 lets a bias column go free. The rows of W* add up to 0; of two
    classes it is (−w/2, +w/2), with w the minimum of Σ log(1 + exp(−y wᵀx)) + ½ Σ λ_j w_j².
    """
    n, d = features.shape
    y, k = class_numbers(labels, n)
    given = RIDGE_PER_EXAMPLE * n if ridge is None else ridge
    penalty: FloatArray = np.broadcast_to(np.asarray(given, dtype=np.float64), (d,))
    found = _newton(features, y, penalty, k) if d <= n else _wide(features, y, penalty, k)
    return np.asarray(contrasts(k) @ found)


def losses_of(logits: FloatArray, labels: IntArray) -> FloatArray:
    """log 1/P_y, shape (n,), from logits (k, n) and class numbers (n,)."""
    return np.asarray(np.logaddexp.reduce(_beyond(logits, labels), axis=0))


def _beyond(logits: FloatArray, labels: IntArray) -> FloatArray:
    """How much larger each logit is than that of the true class, (k, n)."""
    return np.asarray(logits - logits[labels, np.arange(labels.size)])


def _wide(features: FloatArray, labels: IntArray, penalty: FloatArray, k: int) -> FloatArray:
    """The same minimum where features outnumber examples.

    It lies in the span of the rows, once λ_j is taken into the length of feature j, so n
    coordinates are enough beside the features that go free.
    """
    bound = penalty > 0
    lengths = np.sqrt(penalty[bound])
    basis, coordinates = linalg.qr((features[:, bound] / lengths).T, mode="economic")
    reduced = np.column_stack([coordinates.T, features[:, ~bound]])
    rank = len(coordinates)
    weights = np.repeat([1.0, 0.0], [rank, reduced.shape[1] - rank])
    found = _newton(reduced, labels, weights, k)
    concept = np.empty((k - 1, len(penalty)))
    concept[:, bound] = found[:, :rank] @ basis.T / lengths
    concept[:, ~bound] = found[:, rank:]
    return concept


def _newton(features: FloatArray, labels: IntArray, penalty: FloatArray, k: int) -> FloatArray:
    """Θ, shape (k−1, d), with W = BΘ and B the contrasts: the penalty on it is ½ Σ λ_j ‖Θ_·j‖²."""
    basis, truth = contrasts(k), one_hot(labels, k).T
    concept = np.zeros((k - 1, features.shape[1]))
    for _ in range(STEPS):
        logits = basis @ (concept @ features.T)
        beyond = _beyond(logits, labels)
        losses = np.logaddexp.reduce(beyond, axis=0)
        probabilities = np.exp(beyond - losses)
        loss = float(losses.sum()) + _penalty(penalty, concept)
        gradient = penalty * concept + (basis.T @ (probabilities - truth)) @ features
        if gradient.size <= MOST_DENSE:
            hessian = _hessian(features, probabilities, basis, penalty)
            direction = -_solved(hessian, gradient.ravel()).reshape(concept.shape)
        else:
            direction = -_iterated(features, probabilities, basis, penalty, gradient)
        slope = float(np.vdot(gradient, direction))
        if -slope <= SETTLED * loss:
            return np.asarray(concept + direction)
        length = 1.0
        along = basis @ (direction @ features.T)
        # Halve the step until it keeps a share of the decrease that it promised.
        while (
            float(losses_of(logits + length * along, labels).sum())
            + _penalty(penalty, concept + length * direction)
            > loss + 1e-4 * length * slope
        ):
            length /= 2
        concept = concept + length * direction
    raise BadPool(UNSETTLED)


def _iterated(
    features: FloatArray,
    probabilities: FloatArray,
    basis: FloatArray,
    penalty: FloatArray,
    gradient: FloatArray,
) -> FloatArray:
    """The Newton step by conjugate gradients, for classes and features too many for a matrix of all.

    The preconditioner is the bound ¼XᵀX + diag(λ) of the second derivatives of each row of Θ.
    """
    bound = features.T @ features / 4
    bound.flat[:: len(bound) + 1] += penalty
    factor = linalg.cho_factor(bound + DAMPING * np.diag(bound.diagonal()), check_finite=False)

    def image(rows: FloatArray) -> FloatArray:
        along = basis @ (rows @ features.T)
        weighted = probabilities * (along - (probabilities * along).sum(axis=0))
        return np.asarray((basis.T @ weighted) @ features + penalty * rows)

    step, residual = np.zeros_like(gradient), gradient.copy()
    preconditioned = linalg.cho_solve(factor, residual.T, check_finite=False).T
    direction = preconditioned.copy()
    energy = first = float(np.vdot(residual, preconditioned))
    for _ in range(MOST_ITERATIONS):
        if energy <= ITERATED**2 * first:
            break
        moved = image(direction)
        length = energy / float(np.vdot(direction, moved))
        step += length * direction
        residual -= length * moved
        preconditioned = linalg.cho_solve(factor, residual.T, check_finite=False).T
        energy, previous = float(np.vdot(residual, preconditioned)), energy
        direction = preconditioned + energy / previous * direction
    return step


def _hessian(
    features: FloatArray, probabilities: FloatArray, basis: FloatArray, penalty: FloatArray
) -> FloatArray:
    """The second derivatives by the entries of Θ, row after row; ((k−1)d, (k−1)d)."""
    m, d = basis.shape[1], features.shape[1]
    # From the mean of each contrast, so that nothing cancels where P is next to 0 or 1.
    apart = basis.T[:, :, None] - (basis.T @ probabilities)[:, None]
    weighted = probabilities * apart
    hessian = np.empty((m, d, m, d))
    for a in range(m):
        for b in range(a + 1):
            weights = (weighted[a] * apart[b]).sum(axis=0)
            hessian[a, :, b] = hessian[b, :, a] = features.T @ (features * weights[:, None])
    square = hessian.reshape(m * d, m * d)
    square.flat[:: m * d + 1] += np.tile(penalty, m)
    return square


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


def _penalty(penalty: FloatArray, concept: FloatArray) -> float:
    return float(np.vdot(penalty * concept, concept)) / 2
