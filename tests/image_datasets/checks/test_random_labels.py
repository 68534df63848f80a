"""With random labels there is nothing to find, and every number on a data set's page says so."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from image_datasets.checks.shortcuts import mantel_haenszel, measure_cues
from image_datasets.checks.target import (
    accuracy_of_features,
    cross_validated_accuracy,
    fit_target,
    neighbour_accuracy,
    with_bias,
)
from image_datasets.extractors.base import Extractor, Fitted
from image_datasets.extractors.registry import EXTRACTORS
from image_datasets.extractors.visual_words import analysis_of_variance

N, HELD_OUT = 120, 240


def luck(pools):
    """Three standard errors of a share of N, averaged over the pools."""
    return 3 * 0.5 / math.sqrt(N * pools)


@dataclass(frozen=True)
class Columns(Fitted):
    best: np.ndarray

    def transform(self, rows):
        return rows[:, self.best]


class Peeking(Extractor):
    """Keeps the five of many columns that the labels like best."""

    name = title = kind = "peeking"

    def describe(self, image):
        raise NotImplementedError

    def fit(self, descriptions, labels, seed=0):
        return Columns(np.argsort(-analysis_of_variance(descriptions, np.asarray(labels)))[:5])


def dealt(seed, k=2):
    """Noise and labels that have nothing to do with it; the last HELD_OUT rows are an evaluation set."""
    noise = np.random.default_rng(seed).normal(size=(N + HELD_OUT, 300))
    return noise, np.tile(np.arange(k), (N + HELD_OUT) // k)


def numbers_of(seed, k):
    """Everything that a page says about one pool of k classes, as a lead over chance."""
    noise, labels = dealt(seed, k)
    pool, y = noise[:N], labels[:N]
    accuracy = cross_validated_accuracy(Peeking(), pool, y)
    cues = measure_cues(np.random.default_rng(seed + 99).normal(size=(N, 28)), None, y)
    features = Peeking().fit(pool, y)
    concept = fit_target(features.transform(pool), y, accuracy.penalty)
    answers = with_bias(features.transform(noise[N:])) @ concept.T
    return {
        "concept": accuracy.mean - 1 / k,
        "neighbours": accuracy.likeness.neighbours.mean - 1 / k,
        "homophily": accuracy.likeness.homophily - 1 / k,
        "confusion": sum(accuracy.confusion[c][c] for c in range(k)) / N - 1 / k,
        "ceiling": np.mean(answers.argmax(axis=1) == labels[N:]) - 1 / k,
        "all cues": cues.together.mean - 1 / k,
        "cues": np.mean([cue.mean for cue in cues.each]) - 1 / k,
        # In standard errors, turned into a share's.
        "reading": mantel_haenszel(accuracy.right(y), cues.right["together"], y)
        * 0.5
        / math.sqrt(N),
    }


@pytest.mark.parametrize(("k", "pools"), [(2, 16), (4, 8)])
def test_every_number_is_at_chance_even_when_labels_choose_the_features(k, pools):
    found = [numbers_of(seed, k) for seed in range(pools)]
    for name in found[0]:
        assert abs(np.mean([numbers[name] for numbers in found])) < luck(pools), name


def test_features_that_were_chosen_by_all_labels_would_not_be():
    leaks = []
    for seed in range(4):
        noise, y = (rows[:N] for rows in dealt(seed))
        features = Peeking().fit(noise, y).transform(noise)
        leaks.append((accuracy_of_features(features, y).mean, neighbour_accuracy(features, y).mean))
    assert np.mean(leaks, axis=0).min() > 0.5 + luck(16)


@pytest.mark.parametrize("name", ["paper", "colour"])
def test_our_extractors_are_at_chance_too(name):
    rng = np.random.default_rng(1)
    descriptions = rng.integers(0, 256, (40, 17 * 17 * 128 + 400 * 6), dtype=np.uint8)
    accuracy = cross_validated_accuracy(EXTRACTORS[name], descriptions, np.tile([-1, 1], 20))
    for share in (accuracy, accuracy.likeness.neighbours):
        assert share.low <= 0.5 <= share.high
