"""Copies are found, relatives are not."""

import time
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image, ImageEnhance

from image_datasets.pictures.duplicates import (
    HASH_BITS,
    MAX_BITS,
    as_uint64,
    copy_threshold,
    find_duplicates,
    near_pairs,
    perceptual_hash,
)
from image_datasets.pictures.encoding import prepare
from tests.image_datasets.drawn_files import decoded, encoded, scene, specimen


def distance(first, second):
    one, two = (np.frombuffer(perceptual_hash(image), np.uint8) for image in (first, second))
    return int(np.bitwise_count(one ^ two).sum())


def cropped(image, share):
    """Without a rim of `share` in all, on each axis."""
    dx, dy = round(image.width * share / 2), round(image.height * share / 2)
    return image.crop((dx, dy, image.width - dx, image.height - dy))


COPIES = {
    "recompressed": lambda image: decoded(encoded(image, "JPEG", quality=30)),
    "as a GIF": lambda image: decoded(encoded(image, "GIF")),
    "a third of the size": lambda image: image.resize((image.width // 3, image.height // 3)),
    "another shape": lambda image: image.resize((image.width, image.height * 3 // 4)),
    "brightened": lambda image: ImageEnhance.Brightness(image).enhance(1.25),
    "darkened": lambda image: ImageEnhance.Brightness(image).enhance(0.7),
    "with less contrast": lambda image: ImageEnhance.Contrast(image).enhance(0.7),
    "in grey": lambda image: image.convert("L"),
    "cropped by 4 %": lambda image: cropped(image, 0.04),
}


@pytest.mark.parametrize("change", COPIES)
def test_a_changed_copy_is_near(change):
    scenes = [scene(seed) for seed in range(15)]
    assert max(distance(image, COPIES[change](image)) for image in scenes) <= MAX_BITS - 10


def test_strangers_are_far_from_the_threshold():
    scenes = [scene(seed) for seed in range(60)]
    distances = [distance(a, b) for i, a in enumerate(scenes) for b in scenes[max(0, i - 8) : i]]
    assert min(distances) > MAX_BITS + 10
    assert np.mean(distances) == pytest.approx(HASH_BITS / 2, abs=8)


def hashes_of(pictures):
    prepared = [prepare(encoded(picture), "a.png") for picture in pictures]
    return [p.pixel_hash for p in prepared], [p.perceptual_hash for p in prepared]


def test_copies_among_strangers_are_grouped():
    pictures = [scene(seed, 160, 120) for seed in range(25)]
    pictures += [pictures[3].copy(), COPIES["cropped by 4 %"](pictures[7]), pictures[3].copy()]
    pictures.append(COPIES["recompressed"](pictures[3]))
    pixel_hashes, perceptual_hashes = hashes_of(pictures)
    assert find_duplicates(pixel_hashes, perceptual_hashes) == ((3, 25, 27, 28), (7, 26))
    assert copy_threshold(as_uint64(perceptual_hashes)) == MAX_BITS


def test_exact_copies_are_found_across_formats():
    picture = scene(1)
    first = prepare(encoded(picture, "PNG"), "a.png")
    second = prepare(encoded(picture, "WEBP", lossless=True), "b.webp")
    assert first.pixel_hash == second.pixel_hash


def test_pictures_of_one_family_are_not_copies_of_each_other():
    """With a common layout all of them are nearer than a crop is in photographs."""
    pictures = [specimen(seed) for seed in range(60)]
    assert min(distance(a, b) for a, b in pairwise(pictures)) < MAX_BITS
    pixel_hashes, perceptual_hashes = hashes_of(pictures)
    assert find_duplicates(pixel_hashes, perceptual_hashes) == ()
    assert 0 < copy_threshold(as_uint64(perceptual_hashes)) < MAX_BITS - 10


def test_a_recompressed_copy_is_found_even_in_a_family():
    pictures = [specimen(seed) for seed in range(60)]
    pictures.append(decoded(encoded(pictures[5], "JPEG", quality=70)))
    assert find_duplicates(*hashes_of(pictures)) == ((5, 60),)


def test_none_one_and_two_pictures_have_an_answer():
    pixel_hashes, perceptual_hashes = hashes_of([scene(1), scene(1).resize((100, 75))])
    assert find_duplicates([], []) == ()
    assert find_duplicates(pixel_hashes[:1], perceptual_hashes[:1]) == ()
    assert find_duplicates(pixel_hashes, perceptual_hashes) == ((0, 1),)


def test_a_blank_picture_has_a_hash():
    assert perceptual_hash(Image.new("RGB", (100, 100))) == bytes(32)


def test_the_pairs_are_those_of_a_plain_double_loop():
    rng = np.random.default_rng(3)
    hashes = [rng.bytes(32) for _ in range(600)]
    hashes += [bytes([*hashes[i][:30], *rng.bytes(2)]) for i in range(0, 600, 50)]
    found = sorted(near_pairs(as_uint64(hashes), 100))
    bits = [np.frombuffer(code, np.uint8) for code in hashes]
    plain = [
        (i, j)
        for i in range(612)
        for j in range(i + 1, 612)
        if np.bitwise_count(bits[i] ^ bits[j]).sum() <= 100
    ]
    assert len(plain) >= 12
    assert found == plain


def test_ten_thousand_pictures_take_seconds_and_little_memory():
    rng = np.random.default_rng(4)
    hashes = [rng.bytes(32) for _ in range(10_000)]
    hashes[9_999] = hashes[17]
    tracemalloc.start()
    start = time.process_time()
    try:
        found = find_duplicates([str(i) for i in range(10_000)], hashes)
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()
    assert time.process_time() - start < 20
    assert found == ((17, 9_999),)


def test_ten_thousand_copies_of_one_file_make_one_group():
    tracemalloc.start()
    try:
        found = find_duplicates(["same"] * 10_000, [bytes(32)] * 10_000)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert found == (tuple(range(10_000)),)
