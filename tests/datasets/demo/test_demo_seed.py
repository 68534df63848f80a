"""The collection that the demo study really uses, checked as it is."""

import numpy as np
import pytest

from datasets.demo import butterflies
from datasets.demo.collection import SEED

TEACHING, EVALUATION = butterflies.draw_collection(SEED)


@pytest.mark.parametrize("part", [TEACHING, EVALUATION], ids=["teaching", "evaluation"])
def test_no_cue_of_the_demo_gives_more_than_84_percent_and_all_give_94(part):
    cues = butterflies.features(part)[:, : len(butterflies.CUES)]
    labels = np.array([specimen.label for specimen in part])
    alone = (np.sign(cues) == labels[:, None]).mean(axis=0)
    together = (np.sign(cues.sum(axis=1)) == labels).mean()
    assert alone.max() <= 0.84
    assert 0.93 <= together <= 0.95


def test_the_demo_has_240_teaching_and_160_evaluation_images():
    assert (len(TEACHING), len(EVALUATION)) == (240, 160)
