"""The ceiling: the target concept's accuracy on the evaluation images, from what is stored with a data set."""

import pytest

from studies.models import Example
from teaching import pools
from teaching.ceiling import NO_FEATURES, ceiling_of, ceiling_sentence
from teaching.choice import load_pool
from teaching.engine.classes import concept_vector
from tests.builders import make_dataset

pytestmark = pytest.mark.django_db


def test_the_ceiling_counts_the_evaluation_images_that_the_concept_gets_right():
    dataset = make_dataset(teaching=60, evaluation=40, separation=0.6)
    features = pools.evaluation_features(dataset)
    labels = dict(
        dataset.examples.filter(split=Example.Split.EVALUATION).values_list("pk", "label")
    )
    target = concept_vector(load_pool(dataset).pool.target)
    right = sum((features[pk] @ target >= 0) == label for pk, label in labels.items())
    ceiling = ceiling_of(dataset)
    assert (ceiling.mean, ceiling.n) == (right / 40, 40)
    assert 0.5 < ceiling.low < ceiling.mean < ceiling.high < 1
    assert f"{100 * ceiling.mean:.0f} % of the evaluation images" in ceiling_sentence(dataset)


def test_without_features_of_the_evaluation_images_the_ceiling_is_unknown_and_says_why():
    dataset = make_dataset()
    (dataset.folder / pools.EVALUATION).unlink()
    assert ceiling_of(dataset) is None
    assert ceiling_sentence(dataset) == NO_FEATURES
