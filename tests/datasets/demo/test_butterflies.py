"""The demonstration data set: what can be learned from it, and what cannot."""

import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageChops

from datasets.demo import butterflies
from datasets.demo.butterflies import FIVE, TRAIT_NAMES, TWO, TWO_SHIFT, Specimen

PLAIN = Specimen(label=1, traits=(0.0,) * len(TRAIT_NAMES), grain=7)


def with_trait(name, value, specimen=PLAIN):
    traits = dict(zip(TRAIT_NAMES, specimen.traits, strict=True)) | {name: value}
    return replace(specimen, traits=tuple(traits.values()))


def labels_of(specimens):
    """−1 and +1, as formulas for two classes have it."""
    return np.array([2 * specimen.label - 1 for specimen in specimens])


def rank_auc(scores, labels):
    """The chance that a random specimen of the second species outranks one of the first."""
    second, first = scores[labels > 0], scores[labels < 0]
    above = (second[:, None] > first).mean()
    return above + 0.5 * (second[:, None] == first).mean()


def column(specimens, name):
    return butterflies.features(specimens)[:, TRAIT_NAMES.index(name)]


def linear_accuracy(train, test):
    """Accuracy on `test` of the least-squares classifier fitted to `train`."""
    weights, *_ = np.linalg.lstsq(with_constant(train[0]), train[1], rcond=None)
    return np.mean(np.sign(with_constant(test[0]) @ weights) == test[1])


def with_constant(table):
    return np.column_stack([table, np.ones(len(table))])


@pytest.fixture(scope="module")
def many():
    return butterflies.draw_specimens(20_000, seed=1)


@pytest.fixture(scope="module")
def few():
    return butterflies.draw_specimens(100, seed=4)


@pytest.fixture(scope="module")
def few_files(few):
    return butterflies.encoded_images(few, workers=1)


@pytest.mark.parametrize("species", [TWO, FIVE])
def test_the_names_of_species_begin_differently(species):
    k = len(species.names)
    assert len({name[0] for name in species.names}) == k == len(species.centres)


def test_the_same_seed_draws_the_same_specimens():
    assert butterflies.draw_specimens(40, 3) == butterflies.draw_specimens(40, 3)
    assert butterflies.draw_specimens(40, 3) != butterflies.draw_specimens(40, 4)


def test_the_same_specimen_gives_the_same_bytes_in_another_process():
    script = (
        "import hashlib; from datasets.demo import butterflies as b;"
        "s = b.draw_specimens(2, 11)[0]; print(hashlib.sha256(b.encode(b.render(s))).hexdigest())"
    )
    root = Path(__file__).parents[3]
    runs = [
        subprocess.run(
            [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True
        )
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout != ""


def test_several_processes_give_the_same_files_as_one(few, few_files):
    assert butterflies.encoded_images(few[:6], workers=2) == few_files[:6]


@pytest.mark.parametrize("count", [-2, 1, 241])
def test_a_count_that_cannot_be_balanced_is_refused(count):
    with pytest.raises(ValueError, match="multiple of 2"):
        butterflies.draw_specimens(count, seed=1)


def test_no_specimens_have_an_empty_feature_table():
    assert butterflies.draw_specimens(0, seed=1) == []
    assert butterflies.features([]).shape == (0, len(TRAIT_NAMES))


@pytest.mark.parametrize("seed", range(5))
def test_teaching_and_evaluation_are_balanced_in_species_and_hue(seed):
    teaching, evaluation = butterflies.draw_collection(seed)
    assert (len(teaching), len(evaluation)) == (240, 160)
    assert not set(teaching) & set(evaluation)
    for specimens in (teaching, evaluation):
        labels, hues = labels_of(specimens), column(specimens, "hue")
        assert labels.sum() == 0
        assert sorted(hues[labels > 0]) == sorted(hues[labels < 0])


def test_hue_has_the_scale_of_the_other_features(many):
    assert column(many, "hue").mean() == pytest.approx(0, abs=1e-9)
    assert column(many, "hue").std() == pytest.approx(1, abs=1e-3)


def test_the_order_of_the_specimens_tells_nothing(many):
    assert rank_auc(np.arange(len(many)), labels_of(many)) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("name", TWO.cues)
def test_one_cue_alone_decides_about_four_specimens_in_five(many, name):
    accuracy = np.mean(np.sign(column(many, name)) == labels_of(many))
    assert 0.80 < accuracy < 0.84


def test_three_cues_together_decide_94_percent(many):
    X, y = butterflies.features(many), labels_of(many)
    train, test = (X[:10_000, :3], y[:10_000]), (X[10_000:, :3], y[10_000:])
    assert linear_accuracy(train, test) == pytest.approx(0.94, abs=0.01)


def test_everything_but_the_cues_decides_nothing(many):
    X, y = butterflies.features(many)[:, len(TWO.cues) :], labels_of(many)
    train, test = (X[:10_000], y[:10_000]), (X[10_000:], y[10_000:])
    assert linear_accuracy(train, test) == pytest.approx(0.5, abs=0.02)


def test_nuisances_depend_neither_on_the_species_nor_on_each_other(many):
    nuisances = np.column_stack([column(many, name) for name in (*TWO.nuisances, "hue")])
    correlations = np.corrcoef(np.column_stack([labels_of(many), nuisances]), rowvar=False)
    assert np.abs(correlations - np.eye(len(correlations))).max() < 0.035


def test_cues_are_independent_within_a_species(many):
    first = [specimen for specimen in many if specimen.label == 0]
    cues = butterflies.features(first)[:, :3]
    assert np.abs(np.corrcoef(cues, rowvar=False) - np.eye(3)).max() < 0.04


def test_features_are_the_traits_in_the_order_of_their_names(few):
    table = butterflies.features(few)
    assert table.shape == (100, len(TRAIT_NAMES))
    assert table[5].tolist() == list(few[5].traits)
    assert few[5].named_traits()["band"] == column(few, "band")[5]


def visible_change(name, low, high):
    """How many pixels in a thousand differ clearly between two values of a trait."""
    images = [butterflies.render(with_trait(name, z), size=240) for z in (low, high)]
    difference = np.asarray(ImageChops.difference(*images)).max(axis=2)
    return 1000 * np.mean(difference > 12)


@pytest.mark.parametrize("name", TRAIT_NAMES)
@pytest.mark.parametrize(("low", "high"), [(-2.5, -1.0), (-1.0, 0.0), (0.0, 1.0), (1.0, 2.5)])
def test_every_trait_is_seen_over_its_whole_range(name, low, high):
    scale = np.sqrt(3) / 2.5 if name == "hue" else 1
    assert visible_change(name, low * scale, high * scale) > 1.5


@pytest.mark.parametrize("name", TRAIT_NAMES)
@pytest.mark.parametrize("value", [-6.0, 6.0])
def test_an_extreme_trait_still_gives_a_picture(name, value):
    assert butterflies.render(with_trait(name, value), size=120).size == (120, 120)


def test_species_is_drawn_through_the_cues_alone():
    other = replace(PLAIN, label=0)
    assert butterflies.render(PLAIN).tobytes() == butterflies.render(other).tobytes()


def test_a_level_specimen_under_a_lamp_from_above_is_symmetrical():
    image = butterflies.render(PLAIN)
    # The mottle of the paper and the frame's grain are not mirrored.
    inside = image.crop((60, 60, 420, 420)).convert("L")
    mirrored = inside.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    difference = np.asarray(ImageChops.difference(inside, mirrored))
    assert np.mean(difference > 40) < 0.02


def test_all_pictures_have_one_size_and_one_format(few_files):
    opened = [Image.open(io.BytesIO(data)) for data in few_files]
    assert {(image.format, image.mode, image.size) for image in opened} == {
        ("JPEG", "RGB", (480, 480))
    }


def jpeg_markers(data):
    """The kinds of the segments before the pixels."""
    kinds, at = [], 2
    while data[at + 1] != 0xDA:
        kinds.append(data[at + 1])
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return kinds


def test_a_file_holds_no_metadata(few_files):
    plain_jfif, tables, frame = 0xE0, {0xDB, 0xC4}, 0xC0
    for data in few_files:
        assert set(jpeg_markers(data)) <= {plain_jfif, frame} | tables
        assert data.endswith(b"\xff\xd9")


def test_encoding_drops_what_an_image_carries_with_it():
    image = butterflies.render(PLAIN, size=60)
    clean = butterflies.encode(image)
    image.info.update(comment=b"species: secret", exif=b"Exif\0\0secret", icc_profile=b"secret")
    assert butterflies.encode(image) == clean


def test_a_file_is_small_enough_for_a_phone(few_files):
    assert max(map(len, few_files)) < 50_000


def test_the_size_of_a_file_does_not_rank_the_species(few, few_files):
    sizes = np.array([len(data) for data in few_files])
    # Three standard errors of a rank AUC of 50 against 50.
    assert rank_auc(sizes, labels_of(few)) == pytest.approx(0.5, abs=0.17)


def test_the_typical_cues_of_both_species_give_files_of_the_same_size(few, few_files):
    """Specimens paired in everything but their cues: far sharper than ranking."""
    pairs = [[typical(specimen, label) for label in (-1, 1)] for specimen in few[:24]]
    first, second = (
        np.array([len(data) for data in butterflies.encoded_images(side, workers=1)])
        for side in zip(*pairs, strict=True)
    )
    spread = np.std([len(data) for data in few_files])
    assert abs(np.mean(second - first)) < 0.2 * spread


def typical(specimen, label):
    for name in TWO.cues:
        specimen = with_trait(name, TWO_SHIFT * label, specimen)
    return specimen


def of_five(count, seed=1):
    """Traits (count, 15) and class numbers of five species."""
    specimens = butterflies.draw_specimens(count, seed, FIVE)
    return butterflies.features(specimens), np.array([one.label for one in specimens])


def cues_of_five(X):
    return X[:, [TRAIT_NAMES.index(name) for name in FIVE.cues]]


def nearest(cues, centres):
    return ((cues[:, None, :] - centres) ** 2).sum(axis=2).argmin(axis=1)


def test_every_one_of_five_species_is_high_in_two_cues_and_shares_each_with_another():
    is_high = np.array(FIVE.centres) > 0
    assert (is_high.sum(axis=0) == 2).all()
    assert (is_high.sum(axis=1) == 2).all()
    assert len({tuple(row) for row in is_high.tolist()}) == 5


def test_the_cues_together_tell_92_percent_of_five_species_and_one_alone_few():
    X, y = of_five(20_000)
    cues, centres = cues_of_five(X), np.array(FIVE.centres)
    assert np.mean(nearest(cues, centres) == y) == pytest.approx(0.92, abs=0.01)
    for cue in range(5):
        # The best that can be said by one cue: one of the two species that are high in it, or of the other three.
        alone = max(
            np.mean(np.where(cues[:, cue] > 0, high, low) == y)
            for high in range(5)
            for low in range(5)
        )
        assert alone < 0.4


def test_nuisances_and_hues_of_five_species_tell_nothing():
    X, y = of_five(20_000)
    others = [TRAIT_NAMES.index(name) for name in (*FIVE.nuisances, "hue")]
    means = np.array([X[y == one][:, others].mean(axis=0) for one in range(5)])
    assert np.abs(means).max() < 0.07
    hues = [sorted(X[y == one][:, -1]) for one in range(5)]
    assert all(row == hues[0] for row in hues)
