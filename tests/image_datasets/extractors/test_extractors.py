"""Extractors against literal loops, and on drawn images that each must see or be blind to."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from scipy import stats

from image_datasets.extractors import base, deep, local, visual_words
from image_datasets.extractors.base import (
    BadDescriptions,
    Cancelled,
    ExtractorMissing,
    describe_all,
    normalised,
    principal_components,
)
from image_datasets.extractors.registry import EXTRACTORS, BadFittedFile, load, save
from teaching.engine.classes import likeliest
from teaching.engine.concept import ridge_logistic

SIDE = 48


def striped(rng, label):
    """Stripes of any width, phase and colour: across for one class, down for the other."""
    wave = np.sin(np.arange(SIDE) * rng.uniform(0.5, 0.9) + rng.uniform(0, 6))[:, None]
    stripes = np.broadcast_to(wave, (SIDE, SIDE)) + rng.normal(0, 0.3, (SIDE, SIDE))
    grey = (stripes if label > 0 else stripes.T)[..., None]
    picture = rng.uniform(90, 160, 3) + 40 * grey
    return np.clip(picture, 0, 255).astype(np.uint8)


def tinted(rng, label):
    """The same clouds in both classes, reddish or greenish at the same brightness."""
    blocks = rng.normal(0, 25, (6, 6)).repeat(8, axis=0).repeat(8, axis=1)
    tint = np.array([1, -0.299 / 0.587, 0]) * 35 * label
    return np.clip(128 + blocks[..., None] + tint, 0, 255).astype(np.uint8)


def drawn(draw, count, seed=0):
    """`count` images of each class, and their labels."""
    rng = np.random.default_rng(seed)
    labels = np.tile([-1, 1], count)
    return [draw(rng, label) for label in labels], labels


def described(name, images):
    return describe_all(EXTRACTORS[name], images, processes=1)


def held_out_accuracy(name, draw):
    """Fitted on 20 + 20 drawn images, measured on 20 + 20 others."""
    images, labels = drawn(draw, 40)
    descriptions = described(name, images)
    fitted = EXTRACTORS[name].fit(descriptions[:40], labels[:40])
    features = fitted.transform(descriptions)
    concept = ridge_logistic(features[:40], labels[:40], 0.04)
    return np.mean(likeliest(features[40:] @ concept.T) == (labels[40:] > 0))


@pytest.fixture(scope="module")
def local_pool():
    images, labels = drawn(tinted, 12)
    return described("colour", images), labels


@pytest.fixture(scope="module")
def pools(local_pool):
    """Descriptions and labels for every extractor."""
    rng = np.random.default_rng(3)
    deep = rng.gamma(1.0, 1.0, (24, 1280)).astype(np.float32)
    precomputed = rng.normal(5, [1, 10, 100], (24, 3))
    labels = local_pool[1]
    return {"paper": local_pool, "colour": local_pool, "deep": (deep, labels)} | {
        "brought": (precomputed, labels)
    }


def literal_cell_histograms(brightness, cell):
    rows, columns = brightness.shape[0] // cell, brightness.shape[1] // cell
    histograms = np.zeros((rows, columns, 8))
    for y in range(brightness.shape[0]):
        for x in range(brightness.shape[1]):
            right = down = 0.0
            if 0 < x < brightness.shape[1] - 1:
                right = brightness[y, x + 1] - brightness[y, x - 1]
            if 0 < y < brightness.shape[0] - 1:
                down = brightness[y + 1, x] - brightness[y - 1, x]
            turn = (np.degrees(np.arctan2(down, right)) % 360) / 45
            lower = int(turn) % 8
            share = turn - int(turn)
            length = (right**2 + down**2) ** 0.5
            histograms[y // cell, x // cell, lower] += length * (1 - share)
            histograms[y // cell, x // cell, (lower + 1) % 8] += length * share
    return histograms


def test_cells_count_gradients_by_orientation():
    brightness = np.random.default_rng(0).uniform(0, 255, (8, 12)).astype(np.float32)
    found = local.cell_histograms(brightness, cell=4)
    np.testing.assert_allclose(found, literal_cell_histograms(brightness, 4), rtol=1e-3, atol=0.05)


def test_patches_are_capped_and_of_length_one():
    cells = np.random.default_rng(1).gamma(0.5, 900, (5, 6, 8)).astype(np.float32)
    found = local.patch_histograms(cells)
    row = 0
    for y in range(2):
        for x in range(3):
            patch = [cells[y + i, x + j, o] for i in range(4) for j in range(4) for o in range(8)]
            length = max(sum(v**2 for v in patch) ** 0.5, local.FAINT)
            capped = [min(v / length, 0.2) for v in patch]
            again = max(sum(v**2 for v in capped) ** 0.5, 0.2)
            expected = [min(round(float(v / again * 512)), 255) for v in capped]
            assert np.abs(found[row].astype(int) - expected).max() <= 1
            row += 1
    assert row == len(found)


def test_a_patch_without_contrast_is_nothing():
    assert not local.patch_histograms(np.zeros((4, 4, 8), dtype=np.float32)).any()
    noise = np.full((4, 4, 8), 0.1, dtype=np.float32)
    assert local.patch_histograms(noise).max() < 10


def test_colours_are_mean_and_spread_of_opponents():
    canvas = np.random.default_rng(2).integers(0, 256, (4, 6, 3)).astype(np.float32)
    found = local.cell_colours(canvas, cell=2)
    for number in range(6):
        y, x = divmod(number, 3)
        pixels = canvas[2 * y : 2 * y + 2, 2 * x : 2 * x + 2].reshape(-1, 3)
        opponents = [
            [(r + g + b) / 3, (r - g) / 2 + 127.5, (r + g) / 4 - b / 2 + 127.5]
            for r, g, b in pixels
        ]
        expected = np.append(np.mean(opponents, axis=0), 2 * np.std(opponents, axis=0))
        np.testing.assert_allclose(found[number], np.clip(expected, 0, 255), atol=0.51)


def test_a_description_keeps_gradients_and_colours_apart():
    images, _ = drawn(tinted, 2)
    descriptions = described("paper", images)
    assert descriptions.dtype == np.uint8
    canvas = local.square_canvas(images[1], local.CANVAS).astype(np.float32)
    np.testing.assert_array_equal(local.colours_of(descriptions)[1], local.cell_colours(canvas))
    assert local.gradients_of(descriptions).shape == (4, 17 * 17, 128)


def test_ten_thousand_descriptions_fit_in_memory():
    assert EXTRACTORS["paper"].describe(np.zeros((64, 64, 3), np.uint8)).nbytes < 40_000


@pytest.mark.parametrize("mode", ["L", "P", "RGB", "RGBA", "CMYK", "1"])
def test_images_of_every_mode_have_the_same_shape_of_description(mode):
    image = Image.fromarray(np.arange(70 * 90, dtype=np.uint8).reshape(70, 90)).convert(mode)
    assert EXTRACTORS["paper"].describe(image).shape == (17 * 17 * 128 + 400 * 6,)


def test_the_nearest_word_is_the_nearest():
    rng = np.random.default_rng(0)
    points, centres = rng.normal(size=(40, 3)), rng.normal(size=(7, 3))
    expected = [min(range(7), key=lambda c: ((p - centres[c]) ** 2).sum()) for p in points]
    found = visual_words.words_of(points[None].astype(np.float32), centres.astype(np.float32))
    assert found.tolist() == [expected]


def test_k_means_ends_with_each_centre_the_mean_of_its_points():
    rng = np.random.default_rng(4)
    corners = np.array([[0, 0], [0, 50], [50, 0], [50, 50]], dtype=np.float32)
    points = (corners.repeat(25, axis=0) + rng.normal(size=(100, 2))).astype(np.float32)
    centres = visual_words.k_means(points, 4, np.random.default_rng(0))
    [nearest] = visual_words.words_of(points[None], centres)
    for number in range(4):
        members = [point for point, word in zip(points, nearest, strict=True) if word == number]
        np.testing.assert_allclose(centres[number], np.mean(members, axis=0), rtol=1e-5)


def test_k_means_survives_fewer_points_than_words():
    points = np.array([[1, 1], [1, 1], [9, 9]], dtype=np.float32)
    centres = visual_words.k_means(points, 5, np.random.default_rng(0))
    assert {tuple(centre) for centre in centres} == {(1, 1), (9, 9)}


@given(st.integers(0, 2**32 - 1), st.sampled_from([4, 5, 17, 20]))
@settings(max_examples=15, deadline=None)
def test_the_pyramid_counts_every_word_once_per_level(seed, side):
    found = np.random.default_rng(seed).integers(0, 3, (2, side * side))
    counts = visual_words.pyramid_counts(found, side, 3)
    for image in range(2):
        expected = np.zeros((21, 3))
        for place, word in enumerate(found[image]):
            y, x = divmod(place, side)
            for first, level in ((0, 1), (1, 2), (5, 4)):
                # A cell of a coarse level is made of whole cells of the finest.
                row, column = (4 * y // side) * level // 4, (4 * x // side) * level // 4
                expected[first + row * level + column, word] += 1
        assert counts[image].tolist() == expected.ravel().tolist()


def test_rare_words_weigh_more():
    counts = np.array([[1, 0, 2], [3, 0, 0], [1, 0, 0]], dtype=np.float32)
    expected = [np.log(4 / (1 + n)) + 1 for n in (3, 0, 1)]
    np.testing.assert_allclose(visual_words.inverse_document_frequency(counts), expected)


def test_analysis_of_variance_is_the_textbooks():
    rng = np.random.default_rng(0)
    labels = np.repeat([-1.0, 1.0], [12, 20])
    columns = rng.normal(size=(32, 5)) + labels[:, None] * [0, 0.2, 0.5, 1, 3]
    expected = [stats.f_oneway(c[labels < 0], c[labels > 0]).statistic for c in columns.T]
    np.testing.assert_allclose(visual_words.analysis_of_variance(columns, labels), expected)


def test_a_constant_column_says_nothing_and_a_perfect_one_everything():
    labels = np.repeat([-1.0, 1.0], 5)
    columns = np.column_stack([np.full(10, 7.0), labels, np.arange(10.0), np.zeros(10)])
    scores = visual_words.analysis_of_variance(columns, labels)
    assert scores[0] == scores[3] == 0
    assert scores[1] > 1e6 > scores[2] > 0


def test_principal_components_are_those_of_the_singular_values():
    for shape in [(30, 6), (6, 30)]:
        rows = np.random.default_rng(0).normal(size=shape)
        rows -= rows.mean(axis=0)
        axes, variances = principal_components(rows, 4)
        _, lengths, directions = np.linalg.svd(rows)
        np.testing.assert_allclose(np.abs(axes.T @ directions[:4].T), np.eye(4), atol=1e-7)
        np.testing.assert_allclose(variances, lengths[:4] ** 2 / len(rows))
        assert (axes[np.abs(axes).argmax(axis=0), range(4)] > 0).all()


def test_the_papers_features_are_the_papers_steps(local_pool):
    descriptions, labels = local_pool
    fitted = EXTRACTORS["paper"].fit(descriptions, labels, seed=5)
    found = visual_words.words_of(local.gradients_of(descriptions), fitted.vocabulary)
    counts = visual_words.pyramid_counts(found, 17, 100).astype(float)
    idf = np.log(25 / (1 + (counts > 0).sum(axis=0))) + 1
    # Sums of whole numbers are exact, so that equal columns are equal here as well.
    means = [sum(counts[:, column]) / 24 * idf[column] for column in range(2100)]
    top = sorted(sorted(range(2100), key=lambda column: -means[column])[:110])
    tf_idf = counts / (17 * 17) * idf
    rows = tf_idf[:, top] / np.linalg.norm(tf_idf[:, top], axis=1, keepdims=True)
    np.testing.assert_allclose(fitted.transform(descriptions), rows - rows.mean(axis=0), atol=1e-6)


@pytest.mark.parametrize("name", ["paper", "colour"])
def test_words_see_the_direction_of_stripes(name):
    assert held_out_accuracy(name, striped) >= 0.95


def test_the_papers_features_are_blind_to_colour():
    assert 0.25 <= held_out_accuracy("paper", tinted) <= 0.75


def test_the_colour_features_see_colour():
    assert held_out_accuracy("colour", tinted) >= 0.95


@pytest.mark.parametrize("name", ["paper", "colour", "deep", "brought"])
def test_features_are_centred_on_the_pool_and_at_most_as_many_as_taught(name, pools):
    descriptions, labels = pools[name]
    features = EXTRACTORS[name].fit(descriptions, labels).transform(descriptions)
    assert features.dtype == np.float64
    assert features.shape[0] == 24
    assert 1 <= features.shape[1] <= 110
    np.testing.assert_allclose(features.mean(axis=0), 0, atol=1e-9)


@pytest.mark.parametrize("name", ["paper", "colour", "deep"])
def test_features_have_length_one_before_they_are_centred(name, pools):
    descriptions, labels = pools[name]
    fitted = EXTRACTORS[name].fit(descriptions, labels)
    lengths = np.linalg.norm(fitted.transform(descriptions) + fitted.mean, axis=1)
    np.testing.assert_allclose(lengths, 1)


@pytest.mark.parametrize("name", ["paper", "colour", "deep", "brought"])
def test_an_images_features_do_not_depend_on_the_images_beside_it(name, pools):
    descriptions, labels = pools[name]
    fitted = EXTRACTORS[name].fit(descriptions[:16], labels[:16])
    together = fitted.transform(descriptions)
    np.testing.assert_allclose(fitted.transform(descriptions[20:21]), together[20:21], atol=1e-9)


@pytest.mark.parametrize("name", ["paper", "colour", "deep", "brought"])
def test_fitting_twice_gives_the_same(name, pools):
    descriptions, labels = pools[name]
    first, second = (EXTRACTORS[name].fit(descriptions, labels, seed=7) for _ in range(2))
    for field in dataclasses.fields(first):
        np.testing.assert_array_equal(getattr(first, field.name), getattr(second, field.name))


def test_another_seed_draws_another_vocabulary(local_pool):
    first, second = (EXTRACTORS["paper"].fit(*local_pool, seed=seed) for seed in (1, 2))
    assert not np.array_equal(first.vocabulary, second.vocabulary)


@pytest.mark.parametrize("name", ["paper", "colour", "deep", "brought"])
def test_what_was_fitted_survives_a_file(name, pools, tmp_path):
    descriptions, labels = pools[name]
    fitted = EXTRACTORS[name].fit(descriptions, labels)
    save(fitted, tmp_path / "fitted.npz")
    again = load(tmp_path / "fitted.npz")
    assert type(again) is type(fitted)
    np.testing.assert_array_equal(again.transform(descriptions), fitted.transform(descriptions))


@pytest.mark.parametrize(
    "content",
    [b"", b"not a zip", b"PK\x03\x04 cut off"],
)
def test_a_damaged_file_is_refused_with_the_remedy(content, tmp_path):
    (tmp_path / "fitted.npz").write_bytes(content)
    with pytest.raises(BadFittedFile, match="extract the features again"):
        load(tmp_path / "fitted.npz")


def test_a_file_with_pickled_objects_is_refused(tmp_path):
    objects = np.array([{"a": 1}], dtype=object)
    np.savez(tmp_path / "fitted.npz", extractor="brought", format=1, mean=objects)
    with pytest.raises(BadFittedFile):
        load(tmp_path / "fitted.npz")


def test_a_file_of_another_version_is_refused(pools, tmp_path):
    save(EXTRACTORS["brought"].fit(*pools["brought"]), tmp_path / "fitted.npz")
    with np.load(tmp_path / "fitted.npz") as file:
        arrays = dict(file)
    np.savez(tmp_path / "fitted.npz", **arrays | {"format": 99})
    with pytest.raises(BadFittedFile, match="another version"):
        load(tmp_path / "fitted.npz")


def test_processes_describe_the_same_in_the_same_order(monkeypatch, tmp_path):
    monkeypatch.setattr(base, "WORTH_A_PROCESS", 1)
    images, _ = drawn(striped, 10)
    paths = [tmp_path / f"{number}.png" for number in range(20)]
    for image, path in zip(images, paths, strict=True):
        Image.fromarray(image).save(path)
    seen = []
    alone = describe_all(EXTRACTORS["paper"], [path.read_bytes() for path in paths], processes=1)
    many = describe_all(
        EXTRACTORS["paper"], paths, processes=2, progress=lambda stage, done: seen.append(done)
    )
    np.testing.assert_array_equal(alone, many)
    assert seen == [number / 20 for number in range(1, 21)]


def test_describing_stops_when_it_is_cancelled():
    images, _ = drawn(striped, 5)
    seen = []
    with pytest.raises(Cancelled):
        describe_all(
            EXTRACTORS["paper"],
            images,
            progress=lambda stage, done: seen.append(done),
            cancelled=lambda: len(seen) == 3,
        )
    assert len(seen) == 3


def test_a_missing_extra_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(deep, "weights_file", lambda: None)
    assert "make deep" in EXTRACTORS["deep"].missing()
    with pytest.raises(ExtractorMissing, match="make deep"):
        describe_all(EXTRACTORS["deep"], drawn(striped, 1)[0])
    assert EXTRACTORS["paper"].missing() is None


def test_precomputed_columns_come_to_one_scale():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(1e6, 1e3, 50), rng.normal(0, 1e-5, 50), np.full(50, 3.0)])
    labels = np.tile([-1, 1], 25)
    features = EXTRACTORS["brought"].fit(rows, labels).transform(rows)
    np.testing.assert_allclose(features.std(axis=0), [0.5**0.5, 0.5**0.5, 0], atol=1e-9)
    np.testing.assert_allclose((features**2).sum(axis=1).mean(), 1)


def test_wide_precomputed_rows_are_turned_onto_their_components():
    rows = np.random.default_rng(0).normal(size=(40, 300))
    features = EXTRACTORS["brought"].fit(rows, np.tile([-1, 1], 20)).transform(rows)
    assert features.shape == (40, 39)
    scaled = (rows - rows.mean(axis=0)) / rows.std(axis=0) / 300**0.5
    apart = ((scaled[0] - scaled[1]) ** 2).sum()
    assert ((features[0] - features[1]) ** 2).sum() == pytest.approx(apart)


@pytest.mark.parametrize(
    ("rows", "words_of_remedy"),
    [
        ([[1.0, np.nan], [0.0, 1.0]], "Row 1"),
        ([[1.0, 2.0], [np.inf, 1.0]], "Row 2"),
        ([["a", "b"], ["c", "d"]], "numbers"),
        ([1.0, 2.0], "one row per image"),
    ],
)
def test_precomputed_features_that_are_no_numbers_are_refused(rows, words_of_remedy):
    with pytest.raises(BadDescriptions, match=words_of_remedy):
        EXTRACTORS["brought"].fit(np.array(rows), [-1, 1])


@pytest.mark.parametrize("labels", [[1, 1], [0, 2], [1], [-1, 1, 1], [0.5, 1]])
def test_labels_that_no_concept_has_are_refused(labels):
    with pytest.raises(BadDescriptions):
        EXTRACTORS["brought"].fit(np.eye(2), labels)


def test_a_row_of_zeros_stays_a_row_of_zeros():
    assert normalised(np.array([[0.0, 0.0], [3.0, 4.0]])).tolist() == [[0, 0], [0.6, 0.8]]


def test_every_extractor_is_registered_under_its_name():
    assert list(EXTRACTORS) == ["paper", "colour", "deep", "brought"]
    assert all(name == extractor.name for name, extractor in EXTRACTORS.items())


def test_the_guide_describes_every_extractor_as_it_describes_itself():
    guide = (Path(__file__).parents[3] / "docs" / "datasets.md").read_text()
    rows = [f"| `{name}` | {extractor.description} |" for name, extractor in EXTRACTORS.items()]
    assert "\n".join(rows) in guide


def test_the_feature_libraries_need_no_django():
    code = (
        "import sys, image_datasets.extractors, image_datasets.checks.insight;"
        "sys.exit('django' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
