"""The harmonic estimate of what the learner believes (section 4.2 of the paper).

The paper pads the graph: each taught example becomes an extra node that carries the learner's
newest label and has the example's edges, while the example itself stays unlabelled so that it
can be shown again. Eliminating the labelled nodes leaves one system over the pool,

    (L + diag(r)) p = b,   r = A[:, o]·1,   b = A[:, o]·[label = +1],

with o the distinct taught examples. A component without label mass (r = 0) has p = ½.
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse import linalg as sparse_linalg

from .arrays import FloatArray, sums_by
from .history import Past, Shown
from .pool import Pool

# Up to here a step solves a small dense system with the shared inverse, at a cost that does not
# depend on the conditioning of the graph. Beyond, the rows that a session reads would fill
# hundreds of megabytes of page cache, and the iteration needs a few.
DENSE_LIMIT = 4_000
# The iteration ends when one more Jacobi sweep would change no p by more than this. A hundred
# times more leaves errors above 1e-8 in large pools.
TOLERANCE = 1e-12
# Graphs built by this engine need fewer than 100 iterations. The direct solve that takes over
# fills in towards a dense factor, so even slow graphs are better waited for.
ITERATIONS = 3_000


def belief(pool: Pool, history: Sequence[Shown]) -> FloatArray:
    """p = P(the learner says +1) for every example, shape (n,), given the answers so far."""
    return harmonic(pool, Past.read(history, pool.n))


def harmonic(pool: Pool, past: Past) -> FloatArray:
    """The harmonic p, shape (n,), after a checked history."""
    mass, positive = _label_mass(pool, past)
    reached = per_component(pool, mass) > 0
    if not reached.any():
        return np.full(pool.n, 0.5)
    solve = _by_shared_inverse if pool.n <= DENSE_LIMIT else _by_conjugate_gradients
    p = solve(pool, mass, positive)
    np.clip(p, 0.0, 1.0, out=p)
    p[~reached] = 0.5
    return p


def per_component(pool: Pool, values: FloatArray) -> FloatArray:
    """The sum of values (n,) over the component of each example, shape (n,)."""
    if pool.component_count == 1:
        return np.full(pool.n, values.sum())
    return sums_by(pool.components, values, pool.component_count)[pool.components]


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
    system[np.diag_indices(support.size)] += 1 / mass[support]
    votes = positive[support] / mass[support]
    sides = np.stack([votes, np.ones(support.size)])
    _, solved, failed = lapack.dposv(system.T, sides.T, overwrite_a=1, overwrite_b=1)
    if failed:  # the weights span more decades than a double holds
        return _by_direct_solve(pool, mass, positive)
    from_votes, from_ones = solved.T
    votes_sum = sums_by(component, from_votes, pool.component_count)
    ones_sum = sums_by(component, from_ones, pool.component_count)
    level = np.divide(votes_sum, ones_sum, out=np.zeros(ones_sum.size), where=ones_sum != 0)
    p = (from_votes - level[component] * from_ones) @ rows
    p += level[pool.components]
    return np.asarray(p)


def _by_conjugate_gradients(pool: Pool, mass: FloatArray, positive: FloatArray) -> FloatArray:
    """Iterate on the sparse system, preconditioned by its diagonal and one constant per component.

    The constant takes out what the diagonal cannot see: the level of a whole component, which
    only the few examples next to labels hold in place.
    """
    affinity = pool.affinity
    diagonal = pool.degrees + mass
    inverse_diagonal = np.divide(1.0, diagonal, out=np.zeros(pool.n), where=diagonal > 0)
    total = per_component(pool, mass)
    inverse_total = np.divide(1.0, total, out=np.zeros(pool.n), where=total > 0)

    def precondition(residual: FloatArray) -> FloatArray:
        return residual * inverse_diagonal + per_component(pool, residual) * inverse_total

    p = per_component(pool, positive) * inverse_total
    residual = positive - diagonal * p + affinity @ p
    step = precondition(residual)
    direction = step.copy()
    energy = float(residual @ step)
    for _ in range(ITERATIONS):
        if np.abs(residual * inverse_diagonal).max() <= TOLERANCE:
            return p
        image = diagonal * direction - affinity @ direction
        length = energy / float(direction @ image)
        p += length * direction
        residual -= length * image
        step = precondition(residual)
        energy, previous = float(residual @ step), energy
        direction = step + energy / previous * direction
    return _by_direct_solve(pool, mass, positive)


def _by_direct_solve(pool: Pool, mass: FloatArray, positive: FloatArray) -> FloatArray:
    """Factorise the sparse system; the last resort."""
    reached = np.flatnonzero(per_component(pool, mass) > 0)
    system = sparse.diags_array(pool.degrees + mass) - pool.affinity
    p = np.full(pool.n, 0.5)
    inside = sparse.csc_array(system.tocsr()[reached][:, reached])
    p[reached] = sparse_linalg.spsolve(inside, positive[reached])
    return p
