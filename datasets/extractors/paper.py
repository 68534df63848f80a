"""The paper's features: a bag of visual words over a spatial pyramid, TF-IDF, the top 110."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import local, words
from .base import (
    FEATURES,
    Description,
    Extractor,
    Fitted,
    Float32Array,
    FloatArray,
    ImageLike,
    IntArray,
    checked_labels,
    normalised,
)

WORDS = 100


@dataclass(frozen=True)
class FittedPaper(Fitted):
    """A vocabulary, the columns that were chosen, their rarity and the pool's mean."""

    vocabulary: Float32Array
    """(WORDS, b)"""
    columns: IntArray
    """(d,): places in the pyramid's counts"""
    rarity: FloatArray
    """(d,): inverse document frequency"""
    mean: FloatArray
    """(d,)"""

    def transform(self, descriptions: Description) -> FloatArray:
        """Features (n, d) of local descriptions."""
        return _tf_idf(descriptions, self.vocabulary, self.columns, self.rarity) - self.mean


class PaperExtractor(Extractor):
    """Blind to colour, and chooses features without a look at the labels."""

    name = "paper"
    title = "Visual words, as in the paper"
    kind = local.KIND
    fitted = FittedPaper

    def describe(self, image: ImageLike) -> Description:
        """Gradient histograms (and colours, for those who look at them)."""
        return local.describe(image)

    def fit(self, descriptions: Description, labels: npt.ArrayLike, seed: int = 0) -> FittedPaper:
        """Vocabulary, rarity, the features with the highest mean TF-IDF, and their mean."""
        checked_labels(labels, len(descriptions))
        vocabulary = words.vocabulary(local.gradients_of(descriptions), WORDS, seed)
        counts = _counts(descriptions, vocabulary)
        rarity = words.inverse_document_frequency(counts)
        columns = words.highest(counts.mean(axis=0, dtype=np.float64) * rarity, FEATURES)
        chosen = normalised(counts[:, columns] * rarity[columns])
        return FittedPaper(vocabulary, columns, rarity[columns], chosen.mean(axis=0))


def _counts(descriptions: Description, vocabulary: Float32Array) -> Float32Array:
    found = words.words_of(local.gradients_of(descriptions), vocabulary)
    return words.pyramid_counts(found, local.PATCHES, len(vocabulary))


def _tf_idf(
    descriptions: Description, vocabulary: Float32Array, columns: IntArray, rarity: FloatArray
) -> FloatArray:
    # Every image has as many patches, so counts are term frequencies up to a factor that
    # normalising takes out.
    return normalised(_counts(descriptions, vocabulary)[:, columns] * rarity)
