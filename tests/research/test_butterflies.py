"""The specimens of the demo data sets, the painter, and the packs that they are written to."""

import io
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from PIL import Image, ImageChops

from image_datasets.demo import packs as loader
from research.butterflies import packs, specimens
from research.butterflies.painting import paint
from research.butterflies.specimens import (
    COLLECTIONS,
    FIVE,
    TRAIT_NAMES,
    TWO,
    Collection,
    Specimen,
)

PLAIN = Specimen(label=1, traits=(0.0,) * len(TRAIT_NAMES), grain=7)


def with_trait(name, value, specimen=PLAIN):
    traits = dict(zip(TRAIT_NAMES, specimen.traits, strict=True)) | {name: value}
    return replace(specimen, traits=tuple(traits.values()))


def painted(specimen, size=packs.SIDE):
    return paint(specimen.named_traits(), specimen.grain, size)


def features(some):
    return np.array([one.traits for one in some])


def labels_of(some):
    """−1 and +1."""
    return np.array([2 * specimen.label - 1 for specimen in some])


def rank_auc(scores, labels):
    """The chance that a random specimen of the second species outranks one of the first."""
    second, first = scores[labels > 0], scores[labels < 0]
    above = (second[:, None] > first).mean()
    return above + 0.5 * (second[:, None] == first).mean()


def column(some, name):
    return features(some)[:, TRAIT_NAMES.index(name)]


def linear_accuracy(train, test):
    """Accuracy on `test` of the least-squares classifier fitted to `train`."""
    weights, *_ = np.linalg.lstsq(with_constant(train[0]), train[1], rcond=None)
    return np.mean(np.sign(with_constant(test[0]) @ weights) == test[1])


def with_constant(table):
    return np.column_stack([table, np.ones(len(table))])


@pytest.fixture(scope="module")
def many():
    return specimens.draw_specimens(20_000, seed=1)


@pytest.mark.parametrize("species", [TWO, FIVE])
def test_the_names_of_species_begin_differently(species):
    k = len(species.names)
    assert len({name[0] for name in species.names}) == k == len(species.centres)


def test_the_same_seed_draws_the_same_specimens():
    assert specimens.draw_specimens(40, 3) == specimens.draw_specimens(40, 3)
    assert specimens.draw_specimens(40, 3) != specimens.draw_specimens(40, 4)


@pytest.mark.parametrize("count", [-2, 1, 241])
def test_a_count_that_cannot_be_balanced_is_refused(count):
    with pytest.raises(ValueError, match="multiple of 2"):
        specimens.draw_specimens(count, seed=1)


@pytest.mark.parametrize("seed", range(5))
def test_teaching_and_evaluation_are_balanced_in_species_and_hue(seed):
    teaching, evaluation = Collection(TWO, seed, teaching=60, evaluation=40).drawn()
    assert (len(teaching), len(evaluation)) == (60, 40)
    assert not set(teaching) & set(evaluation)
    for part in (teaching, evaluation):
        labels, hues = labels_of(part), column(part, "hue")
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
    X, y = features(many), labels_of(many)
    train, test = (X[:10_000, :3], y[:10_000]), (X[10_000:, :3], y[10_000:])
    assert linear_accuracy(train, test) == pytest.approx(0.94, abs=0.01)


def test_everything_but_the_cues_decides_nothing(many):
    X, y = features(many)[:, len(TWO.cues) :], labels_of(many)
    train, test = (X[:10_000], y[:10_000]), (X[10_000:], y[10_000:])
    assert linear_accuracy(train, test) == pytest.approx(0.5, abs=0.02)


def test_nuisances_depend_neither_on_the_species_nor_on_each_other(many):
    nuisances = np.column_stack([column(many, name) for name in (*TWO.nuisances, "hue")])
    correlations = np.corrcoef(np.column_stack([labels_of(many), nuisances]), rowvar=False)
    assert np.abs(correlations - np.eye(len(correlations))).max() < 0.035


def test_cues_are_independent_within_a_species(many):
    first = [specimen for specimen in many if specimen.label == 0]
    cues = features(first)[:, :3]
    assert np.abs(np.corrcoef(cues, rowvar=False) - np.eye(3)).max() < 0.04


def visible_change(name, low, high):
    """How many pixels in a thousand differ clearly between two values of a trait."""
    images = [painted(with_trait(name, z), size=240) for z in (low, high)]
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
    assert painted(with_trait(name, value), size=120).size == (120, 120)


def test_a_level_specimen_under_a_lamp_from_above_is_symmetrical():
    image = painted(PLAIN)
    # The mottle of the paper and the frame's grain are not mirrored.
    inside = image.crop((60, 60, 420, 420)).convert("L")
    mirrored = inside.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    difference = np.asarray(ImageChops.difference(inside, mirrored))
    assert np.mean(difference > 40) < 0.02


def of_five(count, seed=1):
    """Traits (count, 15) and class numbers of five species."""
    some = specimens.draw_specimens(count, seed, FIVE)
    return features(some), np.array([one.label for one in some])


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


def packed(name):
    return list(loader.read_pack(Path(loader.__file__).with_name(f"{name}.zip")))


@pytest.mark.parametrize("name", COLLECTIONS)
def test_the_pack_holds_the_specimens_that_its_seed_draws(name):
    parts = zip(("teaching", "evaluation"), COLLECTIONS[name].drawn(), strict=True)
    names = COLLECTIONS[name].species.names
    drawn = [(split, names[one.label], one.traits) for split, part in parts for one in part]
    assert [(one.split, one.label, one.traits) for one in packed(name)] == drawn


@pytest.mark.parametrize("name", COLLECTIONS)
def test_the_painter_paints_the_images_in_the_pack(name):
    teaching, evaluation = COLLECTIONS[name].drawn()
    for specimen, image in list(zip([*teaching, *evaluation], packed(name), strict=True))[::150]:
        difference = np.asarray(packs.painted(specimen), dtype=float) - np.asarray(
            Image.open(io.BytesIO(image.content))
        )
        # Compression alone gives up to 3.8; 0.3 more in a single trait gives more than 4 in most images.
        assert np.sqrt(np.square(difference).mean()) < 4


def test_the_loader_reads_what_the_painter_writes(tmp_path, monkeypatch):
    monkeypatch.setattr(packs, "SPEED", 10)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    collection = Collection(TWO, seed=3, teaching=2, evaluation=2)
    paths = [tmp_path / name for name in ("one.zip", "same.zip")]
    for path in paths:
        packs.write_pack(path, collection)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    read = list(loader.read_pack(paths[0]))
    assert [one.split for one in read] == ["teaching"] * 2 + ["evaluation"] * 2
    drawn = [one for part in collection.drawn() for one in part]
    assert [one.traits for one in read] == [one.traits for one in drawn]
    with ZipFile(paths[0]) as pack:
        assert pack.namelist() == ["specimens.csv", *(f"00{place}.avif" for place in range(4))]
