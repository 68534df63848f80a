"""The harmonic estimate of what the learner believes (section 4.2 of the paper).

The paper pads the graph: each taught example becomes an extra node that carries the learner's
newest label and has the example's edges, while the example itself stays unlabelled so that it
can be shown again. Eliminating the labelled nodes leaves one system over the pool,

    (L + diag(r)) p = b,   r = A[:, o]·1,   b = A[:, o]·[label = +1],

with o the distinct taught examples. A component without label mass (r = 0) has p = ½.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse
from scipy.linalg import blas, lapack
from scipy.sparse import linalg as sparse_linalg

from .arrays import FloatArray, sums_by
from .history import Past, Shown
from .pool import INVERSE_LIMIT, Pool

# A pool this small is factorised whole, faster than anything that exploits its structure.
TINY_POOL = 256
# Up to this many examples next to a label, the dense system over them is solved at once: faster
# than the iteration, but its cost grows with the cube, and one label on a hub can double it.
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


def belief(pool: Pool, history: Sequence[Shown]) -> FloatArray:
    """p = P(the learner says +1) for every example, shape (n,), given the answers so far."""
    return harmonic(pool, Past.read(history, pool.n))


def harmonic(pool: Pool, past: Past) -> FloatArray:
    """The harmonic p, shape (n,), after a checked history."""
    mass, positive = _label_mass(pool, past)
    if not mass.any():
        return np.full(pool.n, 0.5)
    p = _solved(pool, mass, positive)
    np.minimum(np.maximum(p, 0.0, out=p), 1.0, out=p)
    if pool.component_count > 1:
        p[per_component(pool, mass) == 0] = 0.5
    return p


def per_component(pool: Pool, values: FloatArray) -> FloatArray:
    """The sum of values (n,) over the component of each example, shape (n,)."""
    return sums_by(pool.components, values, pool.component_count)[pool.components]


def _solved(pool: Pool, mass: FloatArray, positive: FloatArray) -> FloatArray:
    """Solve (L + diag(r)) p = b where labels reach, by the method that suits pool and labels."""
    if pool.n <= TINY_POOL:
        return _by_cholesky(pool, mass, positive)
    if pool.n <= PAGED_LIMIT and np.count_nonzero(mass) <= SMALL_SUPPORT:
        return _by_shared_inverse(pool, mass, positive)
    has_inverse = pool.n <= INVERSE_LIMIT
    patience = PATIENCE if has_inverse else LAST_PATIENCE
    p = _by_conjugate_gradients(pool, mass, positive, patience)
    if p is not None:
        return p
    last_resort = _by_shared_inverse if has_inverse else _by_direct_solve
    return last_resort(pool, mass, positive)


def _label_mass(pool: Pool, past: Past) -> tuple[FloatArray, FloatArray]:
    """r and b, shape (n,): the weight of all labelled neighbours, and of those labelled +1."""
    # A is symmetric, so its rows serve as columns. They are read straight from its arrays:
    # slicing a sparse matrix costs more than the rest of a step in a small pool.
    indptr, indices, weights = pool.affinity.indptr, pool.affinity.indices, pool.affinity.data
    starts = indptr[past.taught]
    counts = indptr[past.taught + 1] - starts
    before = np.cumsum(counts) - counts
    entries = np.repeat(starts - before, counts) + np.arange(counts.sum())
    neighbours, links = indices[entries], weights[entries]
    says_plus = np.repeat(past.newest > 0, counts)
    mass = sums_by(neighbours, links, pool.n)
    positive = sums_by(neighbours, links * says_plus, pool.n)
    return mass, positive


def _by_cholesky(pool: Pool, mass: FloatArray, positive: FloatArray) -> FloatArray:
    """Solve the dense system over the whole pool."""
    diagonal = pool.degrees + mass
    if pool.component_count > 1:
        # Where no label reaches, the system is singular and its solution of no use: any will do.
        diagonal += np.where(per_component(pool, mass) > 0, 0.0, pool.degrees + 1)
    system = pool.negated_affinity.copy()
    system.flat[:: pool.n + 1] = diagonal
    # The lower triangle is a quarter faster than the upper one in the LAPACK that SciPy has.
    _, p, failed = lapack.dposv(system.T, positive, lower=1, overwrite_a=1)
    return _by_shared_inverse(pool, mass, positive) if failed else np.asarray(p)


def _by_shared_inverse(pool: Pool, mass: FloatArray, positive: FloatArray) -> FloatArray:
    """Solve on the support S of r alone.

    With q = b − r∘p the system reads Lp = q, so p = α + H[:, S] q with one α per component.
    On S this is (H_SS + diag(1/r)) q + α = b/r, and q sums to 0 on every component because
    the rows of L do.
    """
    support = np.flatnonzero(mass)
    component = pool.components[support]
    rows = pool.inverse.matrix[support]
    system = rows[:, support]
    system.flat[:: support.size + 1] += 1 / mass[support]
    votes = positive[support] / mass[support]
    sides = np.stack([votes, np.ones(support.size)])
    # H is positive definite, and so is what a positive diagonal makes of it.
    _, solved, _ = lapack.dposv(system.T, sides.T, lower=1, overwrite_a=1, overwrite_b=1)
    from_votes, from_ones = solved.T
    votes_sum = sums_by(component, from_votes, pool.component_count)
    ones_sum = sums_by(component, from_ones, pool.component_count)
    level = np.divide(votes_sum, ones_sum, out=np.zeros(ones_sum.size), where=ones_sum != 0)
    p = (from_votes - level[component] * from_ones) @ rows
    p += level[pool.components]
    return np.asarray(p)


def _by_conjugate_gradients(
    pool: Pool, mass: FloatArray, positive: FloatArray, patience: int
) -> FloatArray | None:
    """Iterate on the sparse system; None if that does not settle.

    The preconditioner is the diagonal plus one constant per component, which takes out what the
    diagonal cannot see: the level of a whole component, held in place by few labels.
    """
    affinity = pool.affinity
    diagonal = pool.degrees + mass
    # Components without labels have no level and isolated examples no diagonal: they start at 0
    # with no residual, and stay there.
    inverse_diagonal = _reciprocal(diagonal)
    level = _level(pool, mass)

    p = np.zeros(pool.n) + level(positive)
    residual = positive - diagonal * p
    residual += np.asarray(affinity @ p)
    step = residual * inverse_diagonal
    step += level(residual)
    direction = step.copy()
    energy = float(residual @ step)
    for _ in range(patience):
        if step @ step <= TOLERANCE**2:
            return p
        image = diagonal * direction
        image -= np.asarray(affinity @ direction)
        length = energy / float(direction @ image)
        p = blas.daxpy(direction, p, a=length)
        residual = blas.daxpy(image, residual, a=-length)
        step = residual * inverse_diagonal
        step += level(residual)
        energy, previous = float(residual @ step), energy
        direction *= energy / previous
        direction += step
    return None


def _level(pool: Pool, mass: FloatArray) -> Callable[[FloatArray], FloatArray | float]:
    """What a residual says about the level of each component: its sum over that of r."""
    if pool.component_count == 1:
        # A product with ones takes a third of the time of a sum.
        ones = np.ones(pool.n)
        total = float(ones @ mass)
        return lambda values: float(ones @ values) / total
    weights = _reciprocal(per_component(pool, mass))
    return lambda values: per_component(pool, values) * weights


def _reciprocal(values: FloatArray) -> FloatArray:
    """1/values, and 0 where a value is 0."""
    return np.divide(1.0, values, out=np.zeros(values.size), where=values > 0)


def _by_direct_solve(pool: Pool, mass: FloatArray, positive: FloatArray) -> FloatArray:
    """Factorise the sparse system; the last resort."""
    reached = np.flatnonzero(per_component(pool, mass) > 0)
    system = sparse.diags_array(pool.degrees + mass) - pool.affinity
    p = np.full(pool.n, 0.5)
    inside = sparse.csc_array(system.tocsr()[reached][:, reached])
    p[reached] = sparse_linalg.spsolve(inside, positive[reached])
    return p
