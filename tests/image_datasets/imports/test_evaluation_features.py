"""The features of evaluation images, kept for learners that are simulated."""

import numpy as np
import pytest

from image_datasets.extractors.base import describe_all
from image_datasets.extractors.registry import EXTRACTORS, load
from studies.models import Example
from teaching import pools
from teaching.choice import load_pool
from teaching.engine.classes import concept_vector
from tests.builders import make_dataset
from tests.image_datasets.made_imports import import_by_command, npz_files, source_folder

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir", "no_extra")]


def kept(dataset):
    return pools.evaluation_features(dataset)


@pytest.mark.parametrize("files", [None, npz_files()], ids=["images", "precomputed"])
def test_they_lie_in_the_space_of_the_pool(tmp_path, files):
    dataset = import_by_command(source_folder(tmp_path / "source", files))
    examples = dataset.examples.filter(split=Example.Split.EVALUATION)
    pool = load_pool(dataset).pool
    assert set(kept(dataset)) == set(examples.values_list("pk", flat=True))
    rows = np.array(list(kept(dataset).values()))
    assert rows.shape[1] == pool.dimensions
    assert (rows[:, -1] == pool.features[0, -1]).all()


def test_they_are_what_the_extractor_sees_about_the_pools_mean(tmp_path):
    dataset = import_by_command(source_folder(tmp_path / "source"))
    fitted = load(dataset.folder / "features.npz")
    extractor = EXTRACTORS[dataset.extractor]

    def seen(split):
        examples = list(dataset.examples.filter(split=split).order_by("pk"))
        paths = [dataset.image_path(example) for example in examples]
        return examples, fitted.transform(describe_all(extractor, paths))

    _, teaching = seen(Example.Split.TEACHING)
    examples, evaluation = seen(Example.Split.EVALUATION)
    for example, row in zip(examples, evaluation - teaching.mean(axis=0), strict=True):
        np.testing.assert_allclose(kept(dataset)[example.pk][:-1], row, atol=1e-6)


def test_the_target_concept_tells_unseen_images_apart_as_it_does_the_pool():
    dataset = make_dataset(teaching=200, evaluation=200, separation=1.5)
    target = concept_vector(load_pool(dataset).pool.target)
    labels = dict(dataset.examples.values_list("pk", "label"))
    right = [(x @ target >= 0) == labels[pk] for pk, x in kept(dataset).items()]
    assert np.mean(right) > 0.9


def test_a_data_set_without_them_says_so():
    dataset = make_dataset()
    (dataset.folder / pools.EVALUATION).unlink()
    assert kept(dataset) is None
