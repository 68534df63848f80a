"""The harmonic estimate of what the learner believes (section 4.2 of the paper).

The paper pads the graph: each taught example becomes an extra node that carries the learner's
newest label and has the example's edges, while the example itself stays unlabelled so that it
can be shown again. Eliminating the labelled nodes leaves one system over the pool,

    (L + diag(r)) P_c = B_c,   r = A[:, o]·1,   B_c = A[:, o]·[answer = c],

with o the distinct taught examples: one factorisation for all classes c, and k−1 right-hand sides,
because the P_c add up to 1. A component without label mass (r = 0) has P_c = 1/k.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse
from scipy.linalg import blas, lapack
from scipy.sparse import linalg as sparse_linalg

from .arrays import FloatArray, sums_by
from .classes import completed, folded, one_hot
from .history import Past, Shown
from .pool import INVERSE_LIMIT, Pool

# A pool this small is factorised whole, faster than anything that exploits its structure.
TINY_POOL = 256
# Up to this many examples next to a label (of two classes), the dense system over them is solved at
# once: faster than the iteration, but its cost grows with the cube, and one label on a hub can
# double it.
SMALL_SUPPORT = 200
# Beyond this size that first resort is left out: every step would read rows of the shared inverse
# all over hundreds of megabytes, which a small server's page cache does not hold.
PAGED_LIMIT = 4_000
# Graphs of many features settle in 20 to 50 iterations; flat ones (few features, far clusters)
# take hundreds, and then the shared inverse is the faster way.
PATIENCE = 100
# Where there is no shared inverse, what takes over is a sparse factorisation that fills in
# towards a dense one: flat graphs are better waited for.
LAST_PATIENCE = 3_000
# The iteration ends when its next preconditioned step is shorter than this, as a vector of
# probabilities: a hundred times as much leaves errors above 1e-8 where far clusters hang on the
# rest by single weak edges. In these units, weak components count as much as strong ones.
TOLERANCE = 1e-12
# Added to what is divided by: nothing beside any number that is left to reduce, and it keeps a
# class that nobody named, which has none, at 0.
NEXT_TO_NOTHING = float(np.finfo(np.float64).tiny)


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


# From here on each row is one class: NumPy works along rows, of which there are few, and LAPACK
# takes their transpose for columns.


def solution(pool: Pool, mass: FloatArray, votes: FloatArray) -> FloatArray:
    """Solve (L + diag(r)) P = B, (m, n), where labels reach, by the method that suits pool and labels."""
    if pool.n <= TINY_POOL:
        return _by_cholesky(pool, mass, votes)
    # One factorisation serves all classes, while the iteration works for each.
    small = SMALL_SUPPORT * math.sqrt(len(votes))
    if pool.n <= PAGED_LIMIT and np.count_nonzero(mass) <= small:
        return _by_shared_inverse(pool, mass, votes)
    has_inverse = pool.n <= INVERSE_LIMIT
    patience = PATIENCE if has_inverse else LAST_PATIENCE
    solved = _by_conjugate_gradients(pool, mass, votes, patience)
    if solved is not None:
        return solved
    last_resort = _by_shared_inverse if has_inverse else _by_direct_solve
    return last_resort(pool, mass, votes)


def votes_for(pool: Pool, past: Past) -> FloatArray:
    """B, shape (k, n): the weight of all neighbours that are labelled with each class."""
    if pool.n <= TINY_POOL:
        # The whole of −A is at hand, and a product with its rows takes half the time of what follows.
        return np.asarray(
            -one_hot(past.newest, pool.class_count).T @ pool.negated_affinity[past.taught]
        )
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


def _by_cholesky(pool: Pool, mass: FloatArray, votes: FloatArray) -> FloatArray:
    """Solve the dense system over the whole pool."""
    diagonal = pool.degrees + mass
    if pool.component_count > 1:
        # Where no label reaches, the system is singular and its solution of no use: any will do.
        diagonal += np.where(per_component(pool, mass) > 0, 0.0, pool.degrees + 1)
    system = pool.negated_affinity.copy()
    system.flat[:: pool.n + 1] = diagonal
    # The lower triangle is a quarter faster than the upper one in the LAPACK that SciPy has.
    factor, failed = lapack.dpotrf(system.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        return _by_shared_inverse(pool, mass, votes)
    if len(votes) == 1:
        # One side alone takes half the time of what serves many.
        half = blas.dtrsv(factor, votes[0], lower=1)
        return np.asarray(blas.dtrsv(factor, half, lower=1, trans=1))[None]
    solved, _ = lapack.dpotrs(factor, votes.T, lower=1)
    return np.asarray(solved.T)


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
    pool: Pool, mass: FloatArray, votes: FloatArray, patience: int
) -> FloatArray | None:
    """Iterate on the sparse system, for all classes side by side; None if that does not settle.

    The preconditioner is the diagonal plus one constant per component, which takes out what the
    diagonal cannot see: the level of a whole component, held in place by few labels.
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
    for _ in range(patience):
        if np.vecdot(step, step).max() <= TOLERANCE**2:
            return solved
        image = diagonal * direction
        image -= np.asarray(affinity @ direction.T).T
        length = (energy / (np.vecdot(direction, image) + NEXT_TO_NOTHING))[:, None]
        solved += np.multiply(direction, length, out=scaled)
        residual -= np.multiply(image, length, out=scaled)
        np.multiply(residual, inverse_diagonal, out=step)
        step += level(residual)
        energy, previous = np.vecdot(residual, step), energy
        direction *= (energy / (previous + NEXT_TO_NOTHING))[:, None]
        direction += step
    return None


def _level(pool: Pool, mass: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """What residuals (m, n) say about the level of each component: their sums over that of r."""
    if pool.component_count == 1:
        # A product with ones takes a third of the time of a sum.
        ones = np.ones(pool.n)
        total = float(ones @ mass)
        return lambda values: (values @ ones / total)[:, None]
    weights = _reciprocal(per_component(pool, mass))
    return lambda values: per_component(pool, values) * weights


def _reciprocal(values: FloatArray) -> FloatArray:
    """1/values, and 0 where a value is 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def _by_direct_solve(pool: Pool, mass: FloatArray, votes: FloatArray) -> FloatArray:
    """Factorise the sparse system; the last resort."""
    reached = np.flatnonzero(per_component(pool, mass) > 0)
    system = sparse.diags_array(pool.degrees + mass) - pool.affinity
    solved = np.zeros(votes.shape)
    inside = sparse.csc_array(system.tocsr()[reached][:, reached])
    solved[:, reached] = sparse_linalg.splu(inside).solve(votes[:, reached].T).T
    return solved
