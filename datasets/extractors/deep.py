"""Features of a network that was trained on ImageNet: an optional extra."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from teaching.engine.arrays import FloatArray

from . import network, weights
from .base import (
    FEATURES,
    Description,
    Extractor,
    Fitted,
    ImageLike,
    checked_labels,
    normalised,
    square_canvas,
)
from .components import principal_components

# The resolution that the network was trained with.
CANVAS = 224


@dataclass(frozen=True)
class FittedDeep(Fitted):
    """The way from the network's activations to components about the pool's mean."""

    centre: FloatArray
    """(CHANNELS,)"""
    axes: FloatArray
    """(CHANNELS, d)"""
    mean: FloatArray
    """(d,)"""

    def transform(self, descriptions: Description) -> FloatArray:
        """Features (n, d) of activations (n, CHANNELS)."""
        unit = normalised(descriptions.astype(np.float64))
        return normalised((unit - self.centre) @ self.axes) - self.mean


class DeepExtractor(Extractor):
    """Pooled activations of the last layer but one, on their principal components."""

    name = "deep"
    title = "Deep features (ImageNet)"
    description = "a network trained on ImageNet; an extra of 17 MB that `make deep` installs"
    kind = "deep"
    fitted = FittedDeep

    def missing(self) -> str | None:
        """The weights come in a package of their own."""
        return weights.REMEDY if weights.weights_file() is None else None

    def describe(self, image: ImageLike) -> Description:
        """Activations (CHANNELS,)."""
        return imagenet_network().activations(square_canvas(image, CANVAS))

    def fit(self, descriptions: Description, labels: npt.ArrayLike, seed: int = 0) -> FittedDeep:
        """Principal components of the pool, as they are."""
        checked_labels(labels, len(descriptions))
        unit = normalised(descriptions.astype(np.float64))
        centre = unit.mean(axis=0)
        axes, _ = principal_components(unit - centre, FEATURES)
        mean = normalised((unit - centre) @ axes).mean(axis=0)
        return FittedDeep(centre, axes, mean)


@cache
def imagenet_network() -> network.Network:
    """Built once per process."""
    return network.build(weights.imagenet_weights())
