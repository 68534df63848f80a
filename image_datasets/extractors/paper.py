"""The paper's features: a bag of visual words over a spatial pyramid, TF-IDF, the top 110."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from teaching.engine.arrays import FloatArray, IntArray

from . import local, words
from .base import FEATURES, Description, Fitted, Float32Array, checked_labels, normalised


@dataclass(frozen=True)
class FittedPaper(Fitted):
    """A vocabulary, the columns that were chosen, their rarity and the pool's mean."""

    vocabulary: Float32Array
    """(words, b)"""
    columns: IntArray
    """(d,): places in the pyramid's counts"""
    rarity: FloatArray
    """(d,): inverse document frequency"""
    mean: FloatArray
    """(d,)"""

    def transform(self, descriptions: Description) -> FloatArray:
        """Features (n, d) of local descriptions."""
        counts = words.word_counts(local.gradients_of(descriptions), self.vocabulary)
        return _tf_idf(counts, self.columns, self.rarity) - self.mean


class PaperExtractor(local.LocalExtractor):
    """Blind to colour, and chooses features without a look at the labels."""

    name = "paper"
    title = "Visual words, as in the paper"
    description = (
        "visual words over a three-level pyramid, TF-IDF, the 110 strongest, as in the paper"
    )
    fitted = FittedPaper

    def fit(self, descriptions: Description, labels: npt.ArrayLike, seed: int = 0) -> FittedPaper:
        """Vocabulary, rarity, the features with the highest mean TF-IDF, and their mean."""
        checked_labels(labels, len(descriptions))
        gradients = local.gradients_of(descriptions)
        vocabulary = words.vocabulary(gradients, seed)
        counts = words.word_counts(gradients, vocabulary)
        rarity = words.inverse_document_frequency(counts)
        columns = words.highest(counts.mean(axis=0, dtype=np.float64) * rarity, FEATURES)
        mean = _tf_idf(counts, columns, rarity[columns]).mean(axis=0)
        return FittedPaper(vocabulary, columns, rarity[columns], mean)


def _tf_idf(counts: Float32Array, columns: IntArray, rarity: FloatArray) -> FloatArray:
    # Every image has as many patches, so counts are term frequencies up to a factor that
    # normalising takes out.
    return normalised(counts[:, columns] * rarity)
