"""Remedies do to every image what they say, and to the rest of it nothing."""

import numpy as np
import pytest
from PIL import Image

from image_datasets.errors import BadImage
from image_datasets.pictures.encoding import apply_remedy, crop, cropped_size, prepare
from image_datasets.remedy import NO_REMEDY, Remedy
from tests.image_datasets.drawn_files import decoded, encoded, pixels, scene

WEIGHTS = np.array([0.299, 0.587, 0.114])


def grey(image):
    return pixels(image) @ WEIGHTS


def test_a_crop_takes_its_share_of_each_side():
    image = scene(width=200, height=100)
    left = crop(image, Remedy(crop_left=10, crop_top=20, crop_right=5, crop_bottom=0))
    assert left.size == (170, 80)
    assert (pixels(left) == pixels(image)[20:, 20:190]).all()


@pytest.mark.parametrize("size", [(200, 100), (101, 200), (64, 64)])
def test_a_square_lies_in_the_middle_of_what_the_crop_leaves(size):
    width, height = cropped_size(size, Remedy(crop_left=10, crops_to_square=True))
    assert width == height == min(round(size[0] * 0.9), size[1])


def test_a_mask_hides_the_border_and_nothing_else():
    image = scene(width=200, height=100)
    masked = pixels(apply_remedy(image, Remedy(border="mask", border_width=10)))
    assert (masked[10:90, 20:180] == pixels(image)[10:90, 20:180]).all()
    masked[10:90, 20:180] = 128
    assert (masked == 128).all()


def test_a_blur_leaves_the_colour_of_the_border_but_no_outlines():
    image = scene(width=200, height=200)
    blurred, before = pixels(apply_remedy(image, Remedy(border="blur"))), pixels(image)
    assert (blurred[20:180, 20:180] == before[20:180, 20:180]).all()
    top = blurred[:10, 20:180]
    assert np.abs(np.diff(top, axis=1)).mean() < 0.5 * np.abs(np.diff(before[:10], axis=1)).mean()
    assert abs(top.mean() - before[:10].mean()) < 25


@pytest.mark.parametrize("change", [lambda p: p // 3, lambda p: 170 + p // 3, lambda p: p])
def test_equalised_images_are_equally_bright_and_contrasted(change):
    image = Image.fromarray(change(np.asarray(scene())))
    equal = grey(apply_remedy(image, Remedy(equalises_brightness=True)))
    assert equal.mean() == pytest.approx(128, abs=1)
    assert equal.std() == pytest.approx(50, abs=1)


def test_what_a_mask_hides_does_not_count_for_the_brightness():
    remedy = Remedy(border="mask", border_width=20, equalises_brightness=True)
    image = np.asarray(scene(width=200, height=100)).copy()
    image[:20] = 255
    seen = grey(apply_remedy(Image.fromarray(image), remedy))[20:80, 40:160]
    assert seen.mean() == pytest.approx(128, abs=1)


def test_a_flat_image_stays_flat():
    flat = Image.new("RGB", (80, 80), (20, 30, 40))
    assert grey(apply_remedy(flat, Remedy(equalises_brightness=True))).std() < 1


def test_a_prepared_image_keeps_its_identity_under_a_remedy():
    data = encoded(scene(width=300, height=200))
    plain = prepare(data, "a.png")
    square = prepare(data, "a.png", Remedy(crops_to_square=True, border="mask"))
    assert square.pixel_hash == plain.pixel_hash
    assert (plain.original.aspect, square.original.aspect) == (1.5, 1.0)
    assert decoded(square.content).size == (480, 480)
    assert (plain.original.width, plain.original.height) == (300, 200)


def test_a_crop_that_leaves_too_little_names_the_remedy():
    with pytest.raises(BadImage, match=r"leaves 40×100 pixels.*Crop less"):
        prepare(encoded(scene(width=100, height=100)), "a.png", Remedy(crop_left=30, crop_right=30))


def test_words_and_names_of_remedies():
    assert not NO_REMEDY
    assert str(NO_REMEDY) == "used as they are"
    both = Remedy(crop_left=5, crop_bottom=8, border="blur", equalises_brightness=True)
    assert str(both) == (
        "cropped by 5 % at the left and 8 % at the bottom, blurred along a border of 10 %, "
        "brought to the same brightness and contrast"
    )
    assert Remedy(border_width=20).key == NO_REMEDY.key != both.key
    assert "/" not in both.key
