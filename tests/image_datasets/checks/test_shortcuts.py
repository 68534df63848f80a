"""Shortcuts are found where they are planted, and nowhere else."""

import json
from functools import cache

import numpy as np
import pytest
from PIL import Image, ImageFilter

from image_datasets.checks.shortcuts import (
    FILE_CUES,
    IMAGE_CUES,
    ImageCues,
    file_cues,
    image_cues,
    measure_cues,
)
from image_datasets.extractors.base import BadDescriptions, describe_all
from image_datasets.pictures.encoding import Original
from studies.shortcuts import judged

LABELS = np.tile([-1, 1], 60)
SIDE = 40


def photograph(rng):
    """Something on some background: nothing in it depends on a class."""
    noise = rng.normal(0, rng.uniform(10, 30), (SIDE, SIDE, 1))
    return np.clip(rng.uniform(80, 170, 3) + noise, 0, 255).astype(np.uint8)


def with_white_border(pixels):
    framed = pixels.copy()
    framed[:4] = framed[-4:] = framed[:, :4] = framed[:, -4:] = 250
    return framed


def with_bright_corner(pixels):
    marked = pixels.copy()
    marked[-6:, -6:] = 255
    return marked


def blurred(pixels):
    return np.asarray(Image.fromarray(pixels).filter(ImageFilter.GaussianBlur(2)))


def brighter(pixels):
    return np.clip(pixels.astype(int) + 60, 0, 255).astype(np.uint8)


def flatter(pixels):
    mean = pixels.mean(axis=(0, 1))
    return (mean + (pixels - mean) * 0.2).astype(np.uint8)


@cache
def cues_with(planted=None):
    """The cues of 60 + 60 images, of which the positive ones are changed."""
    rng = np.random.default_rng(0)
    images = [photograph(rng) for _ in LABELS]
    if planted:
        pairs = zip(images, LABELS, strict=True)
        images = [planted(image) if label > 0 else image for image, label in pairs]
    return describe_all(ImageCues(), images)


def facts_with(**planted):
    """Facts that do not depend on a class, but for those of the positive class that are given."""
    rng = np.random.default_rng(1)
    facts = []
    for label in LABELS:
        width, height = (int(side) for side in rng.integers(400, 900, 2))
        fact = {
            "width": width,
            "height": height,
            "byte_count": int(width * height * rng.uniform(0.1, 0.5)),
            "format": str(rng.choice(["JPEG", "PNG"])),
        }
        fact |= planted if label > 0 else {}
        facts.append(Original(**fact, aspect=fact["width"] / fact["height"]))
    return facts


def shortcuts_in(report, concept=0.9):
    return judged(report.as_json(), concept, len(LABELS))


def telling(report):
    return {found.name for found in shortcuts_in(report).each if found.is_shortcut}


def test_nothing_is_found_where_nothing_is_planted():
    for seed in range(2):
        report = measure_cues(cues_with(), facts_with(), LABELS, seed)
        assert shortcuts_in(report).found == ()


@pytest.mark.parametrize(
    ("planted", "cue"),
    [
        (with_white_border, "border"),
        (with_bright_corner, "corners"),
        (blurred, "sharpness"),
        (brighter, "brightness"),
        (flatter, "contrast"),
    ],
)
def test_a_planted_image_cue_is_found(planted, cue):
    report = measure_cues(cues_with(planted), None, LABELS)
    found = {shortcut.name: shortcut for shortcut in report.each}[cue]
    assert cue in telling(report)
    assert found.mean > 0.75
    assert report.together.mean > 0.8


@pytest.mark.parametrize(
    ("planted", "cue"),
    [
        ({"width": 800, "height": 300}, "shape"),
        ({"width": 3000, "height": 3000}, "pixels"),
        ({"byte_count": 2_000_000}, "bytes"),
        ({"byte_count": 9_000}, "compression"),
        ({"format": "WEBP"}, "format"),
    ],
)
def test_a_planted_fact_of_the_original_is_found(planted, cue):
    report = measure_cues(cues_with(), facts_with(**planted), LABELS)
    assert cue in telling(report)


def test_a_class_in_the_middle_of_a_cue_is_found():
    facts = [
        Original(width, 600, 100_000, "JPEG", width / 600)
        for width in np.where(LABELS > 0, 600, np.tile([300, 300, 1200, 1200], 30))
    ]
    assert "shape" in telling(measure_cues(cues_with(), facts, LABELS))


def test_a_report_knows_which_images_a_cue_is_right_about():
    report = measure_cues(cues_with(blurred), None, LABELS)
    by_name = {cue.name: cue for cue in (report.together, *report.each)}
    assert set(report.right) == set(by_name)
    for name, right in report.right.items():
        assert right.mean() == pytest.approx(by_name[name].mean)


def test_what_nobody_can_see_is_no_cue():
    cues = cues_with().copy()
    cues[:, 26] = 128 + 0.05 * LABELS
    assert "brightness" not in telling(measure_cues(cues, None, LABELS))
    cues[:, 26] = 128 + 5 * LABELS
    assert "brightness" in telling(measure_cues(cues, None, LABELS))


def test_the_most_telling_cue_comes_first():
    report = measure_cues(cues_with(blurred), None, LABELS)
    means = [found.mean for found in report.each]
    assert means == sorted(means, reverse=True)
    assert report.each[0].name == "sharpness"


def test_guessing_the_frequent_class_is_no_shortcut():
    labels = np.where(np.arange(120) % 10 == 0, 1, -1)
    report = measure_cues(cues_with(), facts_with(), labels)
    assert report.chance == pytest.approx(0.9)
    assert not telling(report)


def test_cues_are_what_they_are_called():
    pixels = np.full((20, 20, 3), [10, 20, 30], dtype=np.uint8)
    pixels[0] = 200
    cues = image_cues(pixels)
    places = {cue.name: place for cue, place in IMAGE_CUES.items()}
    assert cues[places["border"]][:3].tolist() == [200, 200, 200]
    assert cues[places["border"]][3:6].tolist() == [10, 20, 30]
    assert cues[places["corners"]][6:9].tolist() == [10, 20, 30]
    grey = pixels @ np.array([0.299, 0.587, 0.114])
    assert cues[places["brightness"]][0] == pytest.approx(grey.mean())
    assert cues[places["contrast"]][0] == pytest.approx(grey.std())


def test_sharpness_is_the_mean_laplacian():
    grey = np.random.default_rng(0).integers(0, 256, (6, 7)).astype(np.uint8)
    total = 0.0
    for y in range(1, 5):
        for x in range(1, 6):
            g = grey.astype(float)
            around = g[y - 1, x] + g[y + 1, x] + g[y, x - 1] + g[y, x + 1]
            total += abs(around - 4 * g[y, x])
    cues = image_cues(np.repeat(grey[..., None], 3, axis=2))
    assert cues[24] == pytest.approx(np.log(total / 20 + 0.5))


@pytest.mark.parametrize("shape", [(1, 1), (2, 300), (300, 2)])
def test_the_smallest_images_have_cues_too(shape):
    assert np.isfinite(image_cues(np.zeros((*shape, 3), dtype=np.uint8))).all()


def test_every_cue_of_a_file_is_read():
    assert list(file_cues(facts_with())) == [cue.name for cue in FILE_CUES]
    empty = file_cues([Original(0, 0, 0, "", 1.0)])
    assert all(np.isfinite(columns).all() for columns in empty.values())


def test_the_same_seed_gives_the_same_report():
    first, second = (measure_cues(cues_with(), None, LABELS, 3).as_json() for _ in range(2))
    assert first == second


def test_the_report_is_plain_json():
    report = measure_cues(cues_with(with_white_border), None, LABELS)
    text = json.dumps(report.as_json(), allow_nan=False)
    assert json.loads(text)["together"]["name"] == "together"


def test_one_class_alone_is_refused():
    with pytest.raises(BadDescriptions, match="one class"):
        measure_cues(cues_with(), None, np.ones(120))
