"""Features read a shortcut if their concept fails where the shortcut misleads."""

import numpy as np
import pytest
from scipy.stats import hypergeom

from image_datasets.checks.shortcuts import is_read, mantel_haenszel, measure_cues, readings_of
from image_datasets.checks.target import accuracy_of_features
from studies.shortcuts import judged

N = 240
LABELS = np.tile([-1.0, 1.0], N // 2)
RNG = np.random.default_rng(7)
# The brightness agrees with the class three times out of four.
BRIGHTNESS = LABELS * np.where(RNG.random(N) < 0.75, 1.0, -1.0) + RNG.normal(0, 0.2, N)
CONCEPT = LABELS + RNG.normal(0, 1.2, N)


def cues_with_brightness():
    cues = np.random.default_rng(1).normal(size=(N, 28))
    cues[:, 26] = BRIGHTNESS
    return measure_cues(cues, None, LABELS)


def readings(feature):
    accuracy, cues = accuracy_of_features(feature[:, None] / 4, LABELS), cues_with_brightness()
    found = judged(cues.as_json(), accuracy.mean, N)
    return {row.cue: row for row in readings_of(accuracy, cues, found, LABELS)}


def test_features_that_follow_the_shortcut_are_caught():
    row = readings(BRIGHTNESS + 0.3 * CONCEPT)["brightness"]
    assert row.is_read
    assert row.where_right > row.where_misleading + 0.3


def test_features_that_see_the_concept_alone_are_not():
    assert not readings(CONCEPT)["brightness"].is_read


def test_a_shortcut_that_never_misleads_leaves_the_question_open():
    always = np.ones(N, dtype=bool)
    assert is_read(RNG.random(N) < 0.9, always, LABELS)


def test_the_statistic_is_the_hypergeometric_one_class_by_class():
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, 60)
    right, cue = rng.random(60) < 0.7, rng.random(60) < 0.6
    surplus = variance = 0.0
    for label in range(3):
        mine = labels == label
        law = hypergeom(mine.sum(), right[mine].sum(), cue[mine].sum())
        surplus += (right & cue & mine).sum() - law.mean()
        variance += law.var()
    assert mantel_haenszel(right, cue, labels) == pytest.approx(surplus / np.sqrt(variance))


def test_nothing_can_be_said_of_a_concept_that_is_always_right():
    assert mantel_haenszel(np.ones(N, dtype=bool), BRIGHTNESS * LABELS > 0, LABELS) == 0
