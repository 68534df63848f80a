"""The pool of teaching examples, with everything that depends on it alone."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from . import storage
from .arrays import FloatArray, IntArray, SparseArray
from .classes import class_numbers, concept_matrix, of_class, one_hot
from .concept import losses_of, ridge_logistic
from .errors import BadPool, BadPoolFolder, PoolTooLarge
from .graph import Graph, checked_affinity, components_of, neighbour_graph
from .inverse import SharedInverse, shared_inverse
from .spaces import Spaces

# The shared inverse is dense: at this size 800 MB and half a minute of set-up, which grow with
# the square and the cube of n.
INVERSE_LIMIT = 10_000
# Products of four features, summed over a pool, stay far from overflow.
MAX_FEATURE = 1e50

# The arrays of a saved pool, besides its graph and the inverse.
SAVED = (
    "features",
    "labels",
    "target",
    "components",
    "bridges",
    "degrees",
    "squared_norms",
    "target_losses",
)


class Pool:
    """Examples that a teacher may show, their graph and the target concept. Immutable.

    A pool serves any number of participants and threads: nothing in it belongs to a session.
    All arrays are read-only.
    """

    features: FloatArray
    """(n, d)"""
    labels: IntArray
    """(n,): the class of each example, 0 … k−1"""
    affinity: SparseArray
    """A, (n, n): symmetric, 0 or above, zero diagonal"""
    target: FloatArray
    """W*, (k, d), with rows that add up to 0"""
    components: IntArray
    """(n,): the number of each example's connected component, from 0"""
    bridges: IntArray
    """(b, 2): the edges that were added to connect the graph; none if the affinity was given"""
    degrees: FloatArray
    """(n,): A·1"""
    squared_norms: FloatArray
    """(n,): ‖x‖²"""
    target_losses: FloatArray
    """(n,): log 1/P*_y, the loss of the target concept"""

    def __init__(
        self,
        features: npt.ArrayLike,
        labels: npt.ArrayLike,
        affinity: npt.ArrayLike | SparseArray | None = None,
        target: npt.ArrayLike | None = None,
        classes: int | None = None,
    ) -> None:
        """Set up a pool.

        features: (n, d) finite numbers, taken as they are. A bias is a constant column of the
        features and thereby an entry of the target; the pool adds none.
        labels: (n,), class numbers 0 … k−1, each of them there; two classes may be −1 and +1.
        affinity: (n, n), dense or sparse, symmetric, 0 or above; a connected graph of nearest
        neighbours is built when it is left out.
        target: W* of shape (k, d), or w* of shape (d,) for two classes; ridge logistic regression
        on the pool when left out.
        classes: k, one more than the largest label when left out.
        """
        x = _checked_features(features)
        y, k = class_numbers(labels, len(x), classes)
        concept = ridge_logistic(x, y) if target is None else _checked_target(target, k, x.shape[1])
        if affinity is None:
            graph = neighbour_graph(x)
        else:
            graph = Graph(checked_affinity(affinity, len(x)), np.empty((0, 2), dtype=np.intp))
        self._adopt(
            features=x,
            labels=y,
            affinity=graph.affinity,
            target=concept,
            components=components_of(graph.affinity),
            bridges=graph.bridges,
            degrees=np.asarray(graph.affinity.sum(axis=1)),
            squared_norms=np.einsum("ij,ij->i", x, x),
            target_losses=_checked_losses(x, y, concept),
        )

    @property
    def n(self) -> int:
        """The number of examples."""
        return int(self.features.shape[0])

    @property
    def dimensions(self) -> int:
        """The number of features, d."""
        return int(self.features.shape[1])

    @property
    def class_count(self) -> int:
        """The number of classes, k."""
        return int(self.target.shape[0])

    @cached_property
    def component_count(self) -> int:
        """How many connected components the graph has."""
        return int(self.components.max()) + 1

    @cached_property
    def truth(self) -> FloatArray:
        """(k, n): 1 in the row of each example's class."""
        return np.ascontiguousarray(one_hot(self.labels, self.class_count).T)

    @cached_property
    def label_contrasts(self) -> FloatArray:
        """(n, k−1): in column c−1, 1 for the examples of class c and −1 for those of class 0."""
        truth = one_hot(self.labels, self.class_count)
        return truth[:, 1:] - truth[:, :1]

    @cached_property
    def agreement(self) -> FloatArray:
        """The affinity to the example's own class minus the mean affinity to the other classes, (n,)."""
        k = self.class_count
        own = of_class(np.asarray(self.affinity @ one_hot(self.labels, k)), self.labels)
        return np.asarray(own - (self.degrees - own) / (k - 1))

    @cached_property
    def spaces(self) -> Spaces:
        """The feature spaces of the learner models (`bank/`)."""
        return Spaces.of(self)

    @cached_property
    def inverse(self) -> SharedInverse:
        """The dense inverse that the fast exact forms share: made by `save` or on first use."""
        if self.n > INVERSE_LIMIT:
            raise PoolTooLarge(
                f"The shared inverse serves pools of up to {INVERSE_LIMIT} examples, not {self.n}."
            )
        return shared_inverse(self.affinity, self.degrees, self.components, self.label_contrasts)

    def save(self, folder: str | Path) -> None:
        """Write the pool with every precomputation to a new folder, whole or not at all."""
        arrays = {name: getattr(self, name) for name in SAVED}
        arrays |= {
            "weights": self.affinity.data,
            "indices": self.affinity.indices,
            "indptr": self.affinity.indptr,
        }
        if self.n <= INVERSE_LIMIT:
            arrays |= {
                "inverse": self.inverse.matrix,
                "inverse_diagonal": self.inverse.diagonal,
                "inverse_label_sums": self.inverse.label_sums,
            }
        storage.write(Path(folder), arrays)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Map a saved pool; the processes that do so share its pages."""
        arrays = storage.read(Path(folder))
        pool = cls.__new__(cls)
        try:
            arrays = _with_class_numbers(arrays)
            affinity = _mapped_affinity(arrays)
            pool._adopt(affinity=affinity, **{name: arrays[name] for name in SAVED})
            if pool.n <= INVERSE_LIMIT:
                pool.__dict__["inverse"] = SharedInverse(
                    arrays["inverse"], arrays["inverse_diagonal"], arrays["inverse_label_sums"]
                )
        except (KeyError, ValueError) as error:
            raise BadPoolFolder(
                f"{folder} holds no consistent pool ({error}); save the pool again."
            ) from error
        return pool

    def _adopt(self, *, affinity: SparseArray, **arrays: npt.NDArray[Any]) -> None:
        """Take over the parts of a pool and make them read-only."""
        graph: tuple[npt.NDArray[Any], ...] = (affinity.data, affinity.indices, affinity.indptr)
        for array in (*graph, *arrays.values()):
            array.setflags(write=False)
        self.__dict__.update(arrays, affinity=affinity)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"A pool is immutable; make another one to change its {name}.")


def _with_class_numbers(
    arrays: Mapping[str, npt.NDArray[Any]],
) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a saved pool, those of two classes as −1 and +1 turned into numbers."""
    turned = dict(arrays)
    if arrays["target"].ndim == 2:
        return turned
    turned["labels"] = (arrays["labels"] > 0).astype(np.intp)
    turned["target"] = concept_matrix(arrays["target"])
    if "inverse_label_sums" in arrays:
        turned["inverse_label_sums"] = arrays["inverse_label_sums"][:, None]
    return turned


def _mapped_affinity(arrays: Mapping[str, npt.NDArray[Any]]) -> SparseArray:
    n = len(arrays["labels"])
    indices = arrays["indices"]
    # Compiled loops use these indices unchecked.
    if indices.size and not 0 <= indices.min() <= indices.max() < n:
        raise ValueError("its graph points outside the pool")
    return sparse.csr_array((arrays["weights"], indices, arrays["indptr"]), shape=(n, n))


def _numbers(given: npt.ArrayLike, rule: str) -> FloatArray:
    """A copy as numbers, or BadPool with this message."""
    try:
        return np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise BadPool(rule) from error


def _checked_features(features: npt.ArrayLike) -> FloatArray:
    x = _numbers(features, "Features are a matrix (n, d) of numbers.")
    if x.ndim != 2 or x.shape[0] < 2 or x.shape[1] < 1:
        raise BadPool(
            f"Features have shape {x.shape}; a pool needs (n, d) with at least two examples "
            "and one feature."
        )
    # A comparison with NaN is false, so this finds missing values too.
    usable = (np.abs(x) <= MAX_FEATURE).all(axis=1)
    if not usable.all():
        raise BadPool(
            f"Example {int(np.argmin(usable))} has features that are missing, infinite or beyond "
            f"{MAX_FEATURE:g}; replace or scale them."
        )
    return x


def _checked_target(target: npt.ArrayLike, k: int, d: int) -> FloatArray:
    rule = f"({d},) or (2, {d})" if k == 2 else f"({k}, {d})"
    concept = _numbers(target, f"A target concept is an array {rule} of numbers.")
    if concept.shape != (k, d) and (k, concept.shape) != (2, (d,)):
        raise BadPool(
            f"The target has shape {concept.shape}, features and classes need {rule}; a bias in "
            "the target needs a constant column in the features."
        )
    if not np.isfinite(concept).all():
        raise BadPool("The target concept has entries that are not finite.")
    matrix = concept_matrix(concept)
    # What all classes share tells no two of them apart.
    return np.asarray(matrix - matrix.mean(axis=0))


def _checked_losses(x: FloatArray, y: IntArray, concept: FloatArray) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):
        losses = losses_of(concept @ x.T, y)
    if not np.isfinite(losses).all():
        raise BadPool("Features and target are so large that their products overflow; scale them.")
    return losses
