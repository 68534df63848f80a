"""The harmonic estimate of the learner's beliefs (section 4.2 of the paper).

The paper pads the graph: each taught example becomes an extra node that carries the learner's
newest answer and has the example's edges, while the example itself stays unlabelled so that it
can be shown again. Eliminating the labelled nodes leaves one system over the pool,

    (L + diag(r)) P_c = B_c,   r = A[:, o]·1,   B_c = A[:, o]·[answer = c],

with o the distinct taught examples: one matrix for all classes c, and k−1 right-hand sides,
because the P_c add up to 1. A component without label mass (r = 0) has P_c = 1/k.

Two solvers. The shared inverse of the pool reduces the system to the support of r, and its cost
grows with the cube of the support. Conjugate gradients take 20 to 50 iterations on graphs of many
features at any size, but hundreds on flat graphs (few features, distant clusters).
Milliseconds per solve after 29 answers, one BLAS thread:

    pool                shared inverse   conjugate gradients
    220, 110 features        0.53              0.77
    1,000, 110 features      7.0               1.4
    1,000, 2 features        0.46              9.3
    10,000, 110 features   467                10.7
    10,000, 2 features       3.7             338
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.linalg import lapack

from .arrays import FloatArray, sums_by
from .classes import completed, folded
from .errors import BadAffinity
from .history import Past, Shown
from .pool import INVERSE_LIMIT, Pool

# Up to this support (for two classes) the shared inverse is the first choice. Conjugate gradients repeat their
# work for every class, the inverse does not.
SMALL_SUPPORT = 256
# In larger pools it is the second: every step would read rows all over hundreds of megabytes,
# which a small server's page cache does not hold.
PAGED_LIMIT = 4_000
# Iterations before the shared inverse takes over, and where there is none.
MAX_ITERATIONS = 100
MAX_ITERATIONS_ALONE = 20_000
# The iteration ends when its next preconditioned step, a vector of probabilities, is shorter than
# this. With 1e-10 errors exceed 1e-8 where distant clusters hang on single weak edges.
TOLERANCE = 1e-12
# Prevents 0/0 for a class that nobody answered.
TINY = float(np.finfo(np.float64).tiny)


def belief(pool: Pool, history: Sequence[Shown]) -> FloatArray:
    """P(the learner says class 1) for every example, shape (n,), given the answers so far.

    With more than two classes, the probabilities of all of them, shape (n, k).
    """
    return folded(harmonic(pool, Past.read(history, pool)))


def harmonic(pool: Pool, past: Past) -> FloatArray:
    """The harmonic probabilities of every class, shape (n, k), after a checked history."""
    votes = votes_for(pool, past)
    mass = votes.sum(axis=0)
    if not mass.any():
        return np.full((pool.n, pool.class_count), 1 / pool.class_count)
    probabilities = completed(solution(pool, mass, votes[1:]).T)
    if pool.component_count > 1:
        probabilities[per_component(pool, mass) == 0] = 1 / pool.class_count
    return probabilities


def per_component(pool: Pool, values: FloatArray) -> FloatArray:
    """The sums of values (n,) or (m, n) over the component of each example, in the same shape."""
    return sums_by(pool.components, values, pool.component_count)[..., pool.components]


# Below, each row is one class: NumPy works along rows, and LAPACK takes their transpose as columns.


def solution(pool: Pool, mass: FloatArray, votes: FloatArray) -> FloatArray:
    """Solve (L + diag(r)) P = B, (m, n), on the components that labels reach."""
    has_inverse = pool.n <= INVERSE_LIMIT
    is_small = np.count_nonzero(mass) <= SMALL_SUPPORT * math.sqrt(len(votes))
    if has_inverse and pool.n <= PAGED_LIMIT and is_small:
        return _by_shared_inverse(pool, mass, votes)
    limit = MAX_ITERATIONS if has_inverse else MAX_ITERATIONS_ALONE
    solved = _by_conjugate_gradients(pool, mass, votes, limit)
    if solved is not None:
        return solved
    if has_inverse:
        return _by_shared_inverse(pool, mass, votes)
    raise BadAffinity(
        "The affinity joins groups of examples by weights too weak beside those within them "
        "to compute with; raise the weak weights or set them to 0."
    )


def votes_for(pool: Pool, past: Past) -> FloatArray:
    """B, shape (k, n): the total weight of the neighbours that are labelled with each class."""
    # A is symmetric, so its rows serve as columns. They are read straight from its arrays:
    # slicing a sparse matrix costs more than the rest of a step in a small pool.
    indptr, indices, weights = pool.affinity.indptr, pool.affinity.indices, pool.affinity.data
    starts = indptr[past.taught]
    counts = indptr[past.taught + 1] - starts
    before = np.cumsum(counts) - counts
    entries = np.repeat(starts - before, counts) + np.arange(counts.sum())
    places = np.repeat(past.newest * pool.n, counts) + indices[entries]
    k = pool.class_count
    return sums_by(places, weights[entries], k * pool.n).reshape(k, pool.n)


def _by_shared_inverse(pool: Pool, mass: FloatArray, votes: FloatArray) -> FloatArray:
    """Solve on the support S of r alone.

    With Q = B − r∘P the system reads LP = Q, so P = α + H[:, S] Q with one α per component and
    class. On S this is (H_SS + diag(1/r)) Q + α = B/r, and Q sums to 0 on every component because
    the rows of L do.
    """
    support = np.flatnonzero(mass)
    component = pool.components[support]
    rows = pool.inverse.matrix[support]
    system = rows[:, support]
    system.flat[:: support.size + 1] += 1 / mass[support]
    sides = np.vstack([votes[:, support] / mass[support], np.ones(support.size)])
    # H is positive definite, and so is what a positive diagonal makes of it.
    _, solved, _ = lapack.dposv(system.T, sides.T, lower=1, overwrite_a=1, overwrite_b=1)
    from_votes, from_ones = solved.T[:-1], solved.T[-1]
    sums = sums_by(component, solved.T, pool.component_count)
    level = np.divide(sums[:-1], sums[-1], out=np.zeros_like(sums[:-1]), where=sums[-1] != 0)
    flow = from_votes - level[:, component] * from_ones
    return np.asarray(flow @ rows + level[:, pool.components])


def _by_conjugate_gradients(
    pool: Pool, mass: FloatArray, votes: FloatArray, max_iterations: int
) -> FloatArray | None:
    """Preconditioned conjugate gradients on the sparse system, all classes in parallel; None without convergence.

    The preconditioner is the diagonal plus one constant per component: the level of a component, which few labels
    hold in place and the diagonal does not see.
    """
    affinity = pool.affinity
    diagonal = pool.degrees + mass
    # Components without labels have no level and isolated examples no diagonal: they start at 0
    # with no residual, and stay there. So does a class that nobody named.
    inverse_diagonal = _reciprocal(diagonal)
    level = _level(pool, mass)

    solved = np.zeros(votes.shape) + level(votes)
    residual = votes - diagonal * solved
    residual += np.asarray(affinity @ solved.T).T
    step = residual * inverse_diagonal
    step += level(residual)
    direction, scaled = step.copy(), np.empty_like(step)
    energy = np.vecdot(residual, step)
    for _ in range(max_iterations):
        if np.vecdot(step, step).max() <= TOLERANCE**2:
            return solved
        image = diagonal * direction
        image -= np.asarray(affinity @ direction.T).T
        length = (energy / (np.vecdot(direction, image) + TINY))[:, None]
        solved += np.multiply(direction, length, out=scaled)
        residual -= np.multiply(image, length, out=scaled)
        np.multiply(residual, inverse_diagonal, out=step)
        step += level(residual)
        energy, previous = np.vecdot(residual, step), energy
        direction *= (energy / (previous + TINY))[:, None]
        direction += step
    return None


def _level(pool: Pool, mass: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """The correction of each component's level for residuals (m, n): their sum divided by that of r."""
    if pool.component_count == 1:
        # A product with ones is three times as fast as a sum.
        ones = np.ones(pool.n)
        total = float(ones @ mass)
        return lambda values: (values @ ones / total)[:, None]
    weights = _reciprocal(per_component(pool, mass))
    return lambda values: per_component(pool, values) * weights


def _reciprocal(values: FloatArray) -> FloatArray:
    """1/values, and 0 where a value is 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
