"""The collection that the demo study really uses, checked as it is."""

import numpy as np
import pytest

from datasets.checks.shortcuts import ImageCues, measure_cues
from datasets.demo import butterflies
from datasets.demo.butterflies import FIVE, TWO
from datasets.demo.collection import COLLECTIONS
from datasets.extractors.parallel import describe_all
from studies.shortcuts import judged

TEACHING, EVALUATION = COLLECTIONS["two"].drawn()


@pytest.mark.parametrize("part", [TEACHING, EVALUATION], ids=["teaching", "evaluation"])
def test_no_cue_of_the_demo_gives_more_than_84_percent_and_all_give_94(part):
    cues = butterflies.features(part)[:, : len(TWO.cues)]
    labels = np.array([2 * specimen.label - 1 for specimen in part])
    alone = (np.sign(cues) == labels[:, None]).mean(axis=0)
    together = (np.sign(cues.sum(axis=1)) == labels).mean()
    assert alone.max() <= 0.84
    assert 0.93 <= together <= 0.95


def test_the_demo_has_240_teaching_and_160_evaluation_images():
    assert (len(TEACHING), len(EVALUATION)) == (240, 160)


@pytest.mark.parametrize("part", COLLECTIONS["five"].drawn(), ids=["teaching", "evaluation"])
def test_the_five_species_are_balanced_and_their_cues_tell_nine_in_ten(part):
    labels = np.array([specimen.label for specimen in part])
    assert len(set(np.bincount(labels))) == 1
    places = [butterflies.TRAIT_NAMES.index(name) for name in FIVE.cues]
    cues, centres = butterflies.features(part)[:, places], np.array(FIVE.centres)
    found = ((cues[:, None, :] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert 0.9 <= np.mean(found == labels) <= 0.94


def test_the_five_species_have_no_shortcut():
    specimens = COLLECTIONS["five"].drawn()[0][:150]
    images = [butterflies.render(specimen, 160) for specimen in specimens]
    labels = [specimen.label for specimen in specimens]
    report = measure_cues(describe_all(ImageCues(), images, processes=1), None, labels)
    assert judged(report.as_json(), 0.9, len(labels)).found == ()
