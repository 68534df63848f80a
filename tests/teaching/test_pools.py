"""The border between rows and arrays."""

import numpy as np
import pytest

from studies.models import Example
from teaching import pools
from teaching.choice import history_of, load_pool
from teaching.engine import Shown
from teaching.models import TeachingStep
from tests.builders import make_dataset

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset():
    return make_dataset(teaching=12, evaluation=6)


def test_every_row_of_the_pool_is_its_example(dataset):
    loaded = load_pool(dataset)
    rows = {row.pk: row for row in dataset.examples.filter(split=Example.Split.TEACHING)}
    assert loaded.pool.n == len(loaded.example_ids) == len(rows) == 12
    for index, pk in enumerate(loaded.example_ids):
        assert rows[pk].pool_index == index
        assert rows[pk].label == loaded.pool.labels[index]


def test_a_pool_is_loaded_once_and_never_confused_with_another(dataset):
    assert load_pool(dataset) is load_pool(dataset)
    other = make_dataset(teaching=14, evaluation=6, seed=8)
    assert load_pool(other).pool.n == 14


def test_the_features_of_evaluation_images_belong_to_them(dataset):
    features = pools.evaluation_features(dataset)
    rows = dataset.examples.filter(split=Example.Split.EVALUATION).order_by("pk")
    assert list(features) == list(rows.values_list("pk", flat=True))
    stored = np.load(dataset.folder / pools.EVALUATION)
    np.testing.assert_array_equal(np.array(list(features.values())), stored)


def test_a_data_set_without_features_of_evaluation_images_says_so(dataset):
    (dataset.folder / pools.EVALUATION).unlink()
    assert pools.evaluation_features(dataset) is None


def test_a_history_has_the_answered_steps_alone(dataset):
    first, second = dataset.examples.filter(split=Example.Split.TEACHING).order_by("pool_index")[
        3:5
    ]
    steps = [
        TeachingStep(example=first, answer=0, probabilities=[0.75, 0.25]),
        TeachingStep(example=second, probabilities=[0.25, 0.75]),
    ]
    assert history_of(steps) == [Shown(example=3, answer=0, p=[0.75, 0.25])]


def test_an_evaluation_image_is_no_part_of_a_history(dataset):
    stranger = dataset.examples.filter(split=Example.Split.EVALUATION)[0]
    with pytest.raises(ValueError, match=f"{stranger.key} is not in the teaching pool"):
        history_of([TeachingStep(example=stranger, answer=1, probabilities=[0.5, 0.5])])
