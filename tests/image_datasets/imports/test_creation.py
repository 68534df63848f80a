"""How a pool sees the features of a data set."""

import numpy as np
import pytest

from image_datasets.imports.creation import Frame


@pytest.mark.parametrize("scale", [0.05, 1.0, 30.0])
def test_the_constant_weighs_as_much_as_any_other_feature(scale):
    features = scale * np.random.default_rng(0).standard_normal((400, 6)) + 7
    seen = Frame.of(features).features(features)
    sizes = np.sqrt(np.mean(seen**2, axis=0))
    np.testing.assert_allclose(sizes, sizes[-1], rtol=0.15)
    np.testing.assert_allclose(seen[:, :-1].mean(axis=0), 0, atol=1e-12 * scale + 1e-14)


def test_a_concept_for_a_constant_of_one_keeps_its_margins():
    rng = np.random.default_rng(1)
    features = 0.1 * rng.standard_normal((50, 4))
    features -= features.mean(axis=0)
    concept = rng.standard_normal((3, 5))
    frame = Frame.of(features)
    expected = np.column_stack([features, np.ones(50)]) @ concept.T
    np.testing.assert_allclose(frame.features(features) @ frame.target(concept).T, expected)


def test_features_without_any_spread_have_a_constant_of_one():
    assert Frame.of(np.full((3, 2), 4.0)).constant == 1.0
