"""The insight stored with a data set: examples to look at, a map, properties of the graph, and warnings."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import ArpackError, eigsh

from image_datasets.errors import plural
from image_datasets.extractors.base import principal_components
from teaching.engine import Pool
from teaching.engine.arrays import FloatArray, IntArray
from teaching.engine.classes import likeliest, of_class

from .target import Accuracy, Similarity, homophily_by_chance, neighbour_accuracy

# Examples in each list, and points on the map; more would slow the page down.
SHOWN = 12
POINTS = 2_000
# The neighbours that vote when two maps are compared.
VOTERS = 9

# Thresholds of the warnings.
TOO_EASY = 0.97
# As a share of the way from guessing to always right: 70 % with two classes.
WEAK = 0.4
FEW_IMAGES = 50
UNBALANCED = 0.5
SURELY_WRONG = 0.95
# Digits after the decimal point.
DIGITS = 4


@dataclass(frozen=True)
class Concern:
    """A warning and its remedy."""

    code: str
    message: str
    remedy: str


@dataclass(frozen=True)
class PoolExample:
    """An example by its index in the pool, with its out-of-fold prediction."""

    pool_index: int
    label: int
    said: int
    """the most probable class"""
    probability: float
    """of that class"""


@dataclass(frozen=True)
class Map:
    """Up to POINTS examples of the pool on the unit square."""

    method: str
    """"components" or "graph": the layout in which the classes lie further apart"""
    pool_index: list[int]
    label: list[int]
    x: list[float]
    y: list[float]


@dataclass(frozen=True)
class GraphHealth:
    """The graph over the pool."""

    pieces_before_bridges: int
    bridges: list[tuple[int, int]]
    """pairs of pool indices that were connected to make the graph connected"""
    fewest_neighbours: int
    median_neighbours: float
    most_neighbours: int
    homophily_by_chance: float
    """how often two images have the same class if labels are random"""


@dataclass(frozen=True)
class Insight:
    """`Dataset.insight`: plain numbers, lists and strings."""

    classes: tuple[str, ...]
    counts: tuple[int, ...]
    """examples of the teaching pool, class 0 first"""
    accuracy: dict[str, Any]
    """see `Accuracy`, without probabilities"""
    hardest: list[PoolExample]
    ambiguous: list[PoolExample]
    map: Map
    graph: GraphHealth
    shortcuts: dict[str, Any] | None
    """cues as they were measured; `studies.shortcuts` judges them"""
    warnings: list[Concern]


def insight_of(
    pool: Pool,
    accuracy: Accuracy,
    *,
    order: IntArray | None = None,
    classes: Sequence[str],
    cues: dict[str, Any] | None = None,
) -> Insight:
    """The insight of a finished pool.

    `accuracy` is the chosen extractor's, over the same examples. If the pool has been shuffled since, `order` (n,) has
    the row of `accuracy` of each row of the pool.
    """
    probabilities = accuracy.probabilities if order is None else accuracy.probabilities[order]
    graph = graph_health(pool)
    counts = tuple(np.bincount(pool.labels, minlength=len(classes)).tolist())
    hard = hardest(pool.labels, probabilities)
    summary = {key: value for key, value in asdict(accuracy).items() if key != "probabilities"}
    found = [
        *_warnings_about_examples(counts, classes),
        *_warnings_about_accuracy(accuracy, counts, hard),
        *_warnings_about_graph(graph, accuracy.likeness),
    ]
    return Insight(
        classes=tuple(classes),
        counts=counts,
        accuracy=summary,
        hardest=hard,
        ambiguous=most_ambiguous(pool.labels, probabilities),
        map=map_of(pool),
        graph=graph,
        shortcuts=cues,
        warnings=found,
    )


def hardest(labels: IntArray, probabilities: FloatArray, most: int = SHOWN) -> list[PoolExample]:
    """The examples with a wrong out-of-fold prediction, largest margin first; probabilities (n, k)."""
    wrong = np.flatnonzero(likeliest(probabilities) != labels)
    lost = probabilities[wrong].max(axis=1) - of_class(probabilities[wrong], labels[wrong])
    return _examples(wrong[np.argsort(-lost, kind="stable")][:most], labels, probabilities)


def most_ambiguous(
    labels: IntArray, probabilities: FloatArray, most: int = SHOWN
) -> list[PoolExample]:
    """The examples with the smallest margin between the two most probable classes."""
    second, first = np.sort(probabilities, axis=1)[:, -2:].T
    order = np.argsort(first - second, kind="stable")
    return _examples(order[:most], labels, probabilities)


def _examples(places: IntArray, labels: IntArray, probabilities: FloatArray) -> list[PoolExample]:
    said = likeliest(probabilities)
    return [
        PoolExample(
            pool_index=int(place),
            label=int(labels[place]),
            said=int(said[place]),
            probability=round(float(probabilities[place].max()), DIGITS),
        )
        for place in places
    ]


def map_of(pool: Pool) -> Map:
    """The pool in two dimensions, by the layout that separates the classes better.

    Pools are shuffled, so the first POINTS examples are as good as any.
    """
    layouts = {"components": component_layout(pool.features)[:POINTS]}
    if (by_graph := graph_layout(pool)) is not None:
        layouts["graph"] = by_graph[:POINTS]
    labels = pool.labels[:POINTS]
    scores = {
        name: neighbour_accuracy(layout, labels, VOTERS).mean if len(set(labels)) > 1 else 0
        for name, layout in layouts.items()
    }
    method = max(scores, key=lambda name: scores[name])
    square = _on_unit_square(layouts[method])
    return Map(
        method=method,
        pool_index=list(range(len(square))),
        label=[int(label) for label in labels],
        x=[round(float(x), DIGITS) for x in square[:, 0]],
        y=[round(float(y), DIGITS) for y in square[:, 1]],
    )


def component_layout(features: FloatArray) -> FloatArray:
    """The first two principal components of features (n, d); (n, 2)."""
    centred = features - features.mean(axis=0)
    axes, _ = principal_components(centred, 2)
    layout = np.zeros((len(features), 2))
    layout[:, : axes.shape[1]] = centred @ axes
    return layout


def graph_layout(pool: Pool) -> FloatArray | None:
    """The two smoothest functions on the graph, (n, 2); None if the solver does not converge.

    They are the leading eigenvectors of the random walk after the constant one, from a fixed start vector, each with
    the sign that makes its largest entry positive.
    """
    if pool.n < 5:
        return None
    scale = 1 / np.sqrt(np.maximum(pool.degrees, np.finfo(float).tiny))
    walk = sparse.diags_array(scale) @ pool.affinity @ sparse.diags_array(scale)
    try:
        values, vectors = eigsh(
            (walk + sparse.eye_array(pool.n)) / 2,
            k=3,
            v0=np.random.default_rng(0).standard_normal(pool.n),
            tol=1e-5,
            maxiter=2_000,
        )
    except ArpackError:
        return None
    smooth = vectors[:, np.argsort(-values, kind="stable")[1:3]] * scale[:, None]
    peaks = smooth[np.abs(smooth).argmax(axis=0), [0, 1]]
    return np.asarray(smooth * np.where(peaks < 0, -1.0, 1.0))


def _on_unit_square(layout: FloatArray) -> FloatArray:
    low, high = layout.min(axis=0), layout.max(axis=0)
    return np.asarray((layout - low) / np.where(high > low, high - low, 1.0))


def graph_health(pool: Pool) -> GraphHealth:
    """The shape of the graph, along which the teacher carries what a learner says."""
    neighbours = np.diff(pool.affinity.indptr)
    return GraphHealth(
        pieces_before_bridges=pool.component_count + len(pool.bridges),
        bridges=[(int(one), int(other)) for one, other in pool.bridges],
        fewest_neighbours=int(neighbours.min()),
        median_neighbours=float(np.median(neighbours)),
        most_neighbours=int(neighbours.max()),
        homophily_by_chance=round(homophily_by_chance(pool.labels), DIGITS),
    )


def _warnings_about_examples(counts: Sequence[int], classes: Sequence[str]) -> Iterator[Concern]:
    fewer, more = min(counts), max(counts)
    if fewer < FEW_IMAGES:
        yield Concern(
            "few_images",
            f"There are only {fewer} teaching images of the class “{classes[int(np.argmin(counts))]}”.",
            f"Add images: with fewer than {FEW_IMAGES} of a class the target concept is a guess.",
        )
    if fewer < UNBALANCED * more:
        yield Concern(
            "unbalanced",
            f"The classes are unbalanced: {more} teaching images against {fewer}.",
            "Add images of the rarest class, or leave out some of the others.",
        )


def _warnings_about_accuracy(
    accuracy: Accuracy, counts: Sequence[int], hard: Sequence[PoolExample]
) -> Iterator[Concern]:
    chance = max(counts) / sum(counts)
    interval = f"{percent(accuracy.low)} to {percent(accuracy.high)}"
    if accuracy.low <= chance:
        yield Concern(
            "at_chance",
            f"The target concept may be no better than guessing: it is right about "
            f"{percent(accuracy.mean)} of unseen images ({interval}), guessing about {percent(chance)}.",
            "Choose other features, check the labels, or add images.",
        )
    elif accuracy.mean < 1 / len(counts) + WEAK * (1 - 1 / len(counts)):
        yield Concern(
            "weak",
            f"The target concept is right about only {percent(accuracy.mean)} of unseen images ({interval}).",
            "Choose other features: what the teacher cannot tell apart it cannot teach.",
        )
    if accuracy.likeness and (nearest := accuracy.likeness.neighbours.mean) >= TOO_EASY:
        yield Concern(
            "too_easy",
            f"This task may be too easy: nearest-neighbour accuracy is {percent(nearest)}.",
            "Choose classes that are harder to tell apart, or expect everybody to learn them.",
        )
    contradicting = sum(one.probability >= SURELY_WRONG for one in hard)
    if contradicting:
        verb = "looks" if contradicting == 1 else "look"
        yield Concern(
            "contradicting",
            f"{contradicting} of the hardest examples {verb} very much like another class.",
            "Look at them: their labels may be wrong.",
        )


def _warnings_about_graph(graph: GraphHealth, similarity: Similarity | None) -> Iterator[Concern]:
    if graph.pieces_before_bridges > 1:
        yield Concern(
            "bridges",
            f"The pool falls into {graph.pieces_before_bridges} groups of similar images, connected "
            f"by {plural(len(graph.bridges), 'bridge')}.",
            "Look at the map: a group may be a duplicate series or come from another source.",
        )
    # Half way from what chance gives would be a lot already; a twentieth is nothing.
    by_chance = graph.homophily_by_chance
    if similarity and similarity.homophily < by_chance + 0.05 * (1 - by_chance):
        yield Concern(
            "mixed_graph",
            f"Similar images are of one class no more often than by chance "
            f"({percent(similarity.homophily)}), so the teacher can hardly tell what a person believes.",
            "Choose other features.",
        )


def percent(share: float) -> str:
    """A share as text: 100 % and 0 % only if it is exact."""
    whole = round(100 * share)
    if 0 < share < 1:
        whole = min(max(whole, 1), 99)
    return f"{whole} %"
