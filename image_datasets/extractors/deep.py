"""Features of a network that was trained on ImageNet: an optional extra."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from teaching.engine.arrays import FloatArray

from . import base, network, weights
from .components import principal_components

# The resolution that the network was trained with.
CANVAS = 224


@dataclass(frozen=True)
class FittedDeep(base.Fitted):
    """The way from the network's activations to components about the pool's mean."""

    centre: FloatArray
    """(CHANNELS,)"""
    axes: FloatArray
    """(CHANNELS, d)"""
    mean: FloatArray
    """(d,)"""

    def transform(self, descriptions: base.Description) -> FloatArray:
        """Features (n, d) of activations (n, CHANNELS)."""
        unit = base.normalised(descriptions.astype(np.float64))
        return base.normalised((unit - self.centre) @ self.axes) - self.mean


class DeepExtractor(base.Extractor):
    """Pooled activations of the last layer but one, on their principal components."""

    name = "deep"
    title = "Deep features (ImageNet)"
    description = (
        "the activations of a network trained on ImageNet, on their 110 principal components"
    )
    kind = "deep"
    fitted = FittedDeep

    def missing(self) -> str | None:
        """The weights come in a package of their own."""
        return weights.REMEDY if weights.weights_file() is None else None

    def describe(self, image: base.ImageLike) -> base.Description:
        """Activations (CHANNELS,)."""
        return imagenet_network().activations(base.square_canvas(image, CANVAS))

    def fit(
        self, descriptions: base.Description, labels: npt.ArrayLike, seed: int = 0
    ) -> FittedDeep:
        """Principal components of the pool, as they are."""
        base.checked_labels(labels, len(descriptions))
        unit = base.normalised(descriptions.astype(np.float64))
        centre = unit.mean(axis=0)
        axes, _ = principal_components(unit - centre, base.FEATURES)
        mean = base.normalised((unit - centre) @ axes).mean(axis=0)
        return FittedDeep(centre, axes, mean)


@cache
def imagenet_network() -> network.Network:
    """Built once per process."""
    return network.build(weights.imagenet_weights())
