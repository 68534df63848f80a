"""The packs of the demo studies, and the data sets made from them."""

import csv
import io
from collections import Counter
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from PIL import Image

from image_datasets.checks.shortcuts import ImageCues, measure_cues
from image_datasets.demo import packs
from image_datasets.demo.services import DEMOS, load_demo
from image_datasets.extractors.base import describe_all
from studies.models import Example
from studies.shortcuts import judged
from teaching.choice import load_pool

FOLDER = Path(packs.__file__).parent
NUMBERS = list(DEMOS)
COUNTS = {"two": {"teaching": 240, "evaluation": 160}, "five": {"teaching": 300, "evaluation": 200}}
CUES = {
    "two": ("tip", "pupil", "band"),
    "five": ("tip", "pupil", "band", "tails", "scallops"),
}


@pytest.fixture(scope="module", params=NUMBERS)
def number(request):
    return request.param


@pytest.fixture(scope="module")
def packed(number):
    return list(packs.read_pack(FOLDER / f"{number}.zip"))


def trait_names(number):
    with ZipFile(FOLDER / f"{number}.zip") as pack:
        return next(csv.reader(io.StringIO(pack.read("specimens.csv").decode())))[3:]


def labels_and_cues(number, packed, split):
    places = [trait_names(number).index(name) for name in CUES[number]]
    images = [one for one in packed if one.split == split]
    labels = np.array([DEMOS[number].classes.index(one.label) for one in images])
    return labels, np.array([one.traits for one in images])[:, places]


def test_both_parts_of_a_pack_are_balanced(number, packed):
    classes = DEMOS[number].classes
    assert Counter((one.split, one.label) for one in packed) == {
        (split, label): count // len(classes)
        for split, count in COUNTS[number].items()
        for label in classes
    }


@pytest.mark.parametrize("split", ["teaching", "evaluation"])
def test_no_cue_alone_decides_the_class_and_all_together_decide_nine_in_ten(number, packed, split):
    labels, cues = labels_and_cues(number, packed, split)
    k = len(DEMOS[number].classes)
    centres = np.array([cues[labels == one].mean(axis=0) for one in range(k)])
    nearest = ((cues[:, None, :] - centres) ** 2).argmin(axis=1)
    assert (nearest == labels[:, None]).mean(axis=0).max() <= 0.86
    together = ((cues[:, None, :] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert 0.9 <= (together == labels).mean() <= 0.96


def test_the_images_of_a_pack_share_format_and_size_and_carry_no_metadata(packed):
    for one in packed[::20]:
        with Image.open(io.BytesIO(one.content)) as image:
            assert (image.format, image.mode, image.size) == ("AVIF", "RGB", (480, 480))
            assert not image.getexif()
            assert not {"icc_profile", "xmp", "exif"} & set(image.info)


def test_a_pack_is_below_five_megabytes(number):
    assert (FOLDER / f"{number}.zip").stat().st_size < 5_000_000


def test_the_images_of_five_species_have_no_shortcut():
    images, labels = [], []
    for one in packs.read_pack(FOLDER / "five.zip"):
        if len(images) < 150:
            images.append(Image.open(io.BytesIO(one.content)).reduce(3))
            labels.append(DEMOS["five"].classes.index(one.label))
    report = measure_cues(describe_all(ImageCues(), images, processes=1), None, labels)
    assert judged(report.as_json(), 0.9, len(labels)).found == ()


@pytest.mark.django_db
def test_the_demo_data_set_has_the_images_and_traits_of_its_pack():
    dataset = load_demo("two").dataset
    assert (dataset.name, dataset.seed, dataset.extractor) == ("Butterflies", 58, "traits")
    assert dataset.class_names == ["Varnel", "Osmery"]
    # A function of all features and labels: it stays as it was before there were packs.
    assert dataset.learning_rate == pytest.approx(0.13591825983879954, rel=1e-9)
    packed = list(packs.read_pack(FOLDER / "two.zip"))
    teaching = [one for one in packed if one.split == "teaching"]
    order = np.random.default_rng(58).permutation(len(teaching))
    traits = np.array([one.traits for one in teaching])
    features = load_pool(dataset).pool.features
    np.testing.assert_array_equal(features[:, :-1], traits[order] - traits.mean(axis=0))
    examples = dataset.examples.filter(split=Example.Split.TEACHING).order_by("pool_index")
    for example, place in zip(examples[:3], order[:3], strict=True):
        with Image.open(dataset.image_path(example)) as image:
            assert (image.format, image.size) == ("JPEG", (480, 480))
            assert set(image.info) == {"jfif", "jfif_version", "jfif_unit", "jfif_density"}
            assert rms(image, Image.open(io.BytesIO(teaching[place].content))) < 5
    assert {path.stat().st_size for path in dataset.image_folder().iterdir()} == {
        dataset.image_path(examples[0]).stat().st_size
    }


def rms(one, other):
    difference = np.asarray(one, dtype=float) - np.asarray(other, dtype=float)
    return np.sqrt(np.square(difference).mean())
