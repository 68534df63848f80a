"""The network: its layers against literal loops, its weights against pictures that it must know."""

import io
import math
import os
import pickle

import numpy as np
import pytest
from PIL import Image, ImageDraw

from image_datasets.extractors import deep
from image_datasets.extractors.base import ExtractorMissing, describe_all
from image_datasets.extractors.deep import Block, Convolution, imagenet_network
from image_datasets.extractors.registry import EXTRACTORS

from .test_extractors import drawn, striped


def random_array(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def before(extent, k, stride):
    """The zeros before the first pixel, by the rule that the network was trained with."""
    outputs = math.ceil(extent / stride)
    return max((outputs - 1) * stride + k - extent, 0) // 2


def literal_convolution(x, kernel, offset, stride):
    """x (h, w, inputs), kernel (k, k, inputs, outputs)."""
    k, outputs = kernel.shape[0], kernel.shape[3]
    h, w, inputs = x.shape
    top, left = before(h, k, stride), before(w, k, stride)
    y = np.zeros((math.ceil(h / stride), math.ceil(w / stride), outputs))
    for row, column, output in np.ndindex(*y.shape):
        total = float(offset[output])
        for i, j, channel in np.ndindex(k, k, inputs):
            r, c = row * stride + i - top, column * stride + j - left
            if 0 <= r < h and 0 <= c < w:
                total += float(x[r, c, channel]) * float(kernel[i, j, channel, output])
        y[row, column, output] = total
    return y


def literal_depthwise(x, kernel, offset, stride):
    """Each channel is a convolution of one channel with one."""
    channels = [
        literal_convolution(
            x[..., c : c + 1], kernel[..., c, None, None], offset[c : c + 1], stride
        )
        for c in range(x.shape[2])
    ]
    return np.concatenate(channels, axis=2)


def named_weights(outputs, inputs, k, prefix="", seed=0):
    """A convolution and a batch normalisation under the names that the file gives them."""
    rng = np.random.default_rng(seed)
    return {
        f"{prefix}conv.weight": rng.normal(size=(outputs, inputs, k, k)).astype(np.float32),
        f"{prefix}bn.weight": rng.uniform(0.5, 2, outputs).astype(np.float32),
        f"{prefix}bn.bias": rng.normal(size=outputs).astype(np.float32),
        f"{prefix}bn.running_mean": rng.normal(size=outputs).astype(np.float32),
        f"{prefix}bn.running_var": rng.uniform(0.1, 3, outputs).astype(np.float32),
    }


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("shape", [(5, 6), (4, 7)])
def test_a_full_convolution_is_its_definition(shape, stride):
    x, kernel, offset = random_array(*shape, 2), random_array(3, 3, 2, 4), random_array(4)
    found = deep.convolved(x, Convolution(kernel, offset), stride)
    np.testing.assert_allclose(found, literal_convolution(x, kernel, offset, stride), atol=1e-5)


@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("shape", [(5, 6), (8, 3), (1, 1)])
def test_a_depthwise_convolution_is_its_definition(shape, stride, k, monkeypatch):
    # So few numbers at a time that the image is worked on in parts.
    monkeypatch.setattr(deep, "CACHED", 20)
    x, kernel, offset = random_array(*shape, 3), random_array(k, k, 3), random_array(3)
    found = deep.depthwise_convolved(x, Convolution(kernel, offset), stride)
    np.testing.assert_allclose(found, literal_depthwise(x, kernel, offset, stride), atol=1e-5)


def test_mixing_channels_is_a_convolution_of_one_pixel():
    x, kernel, offset = random_array(3, 4, 5), random_array(5, 2), random_array(2)
    found = deep.pointwise_convolved(x, Convolution(kernel, offset))
    expected = literal_convolution(x, kernel[None, None], offset, 1)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_batch_normalisation_is_folded_into_the_kernel():
    table = named_weights(4, 2, 3)
    x = random_array(5, 5, 2, seed=9)
    kernel = table["conv.weight"].transpose(2, 3, 1, 0)
    plain = literal_convolution(x, kernel, np.zeros(4), 1)
    centred = (plain - table["bn.running_mean"]) / np.sqrt(table["bn.running_var"] + 1e-3)
    expected = centred * table["bn.weight"] + table["bn.bias"]
    folded = deep.folded(table, "conv", "bn", (2, 3, 1, 0))
    np.testing.assert_allclose(deep.convolved(x, folded, 1), expected, atol=1e-4)


@pytest.mark.parametrize(("stride", "outputs"), [(1, 2), (1, 3), (2, 2)])
def test_a_block_widens_looks_around_and_narrows(stride, outputs):
    x = random_array(6, 5, 2)
    expand = Convolution(random_array(2, 6, seed=1), random_array(6, seed=2))
    depthwise = Convolution(random_array(3, 3, 6, seed=3), random_array(6, seed=4))
    project = Convolution(random_array(6, outputs, seed=5), random_array(outputs, seed=6))
    wide = np.clip(literal_convolution(x, expand.kernel[None, None], expand.offset, 1), 0, 6)
    looked = np.clip(literal_depthwise(wide, depthwise.kernel, depthwise.offset, stride), 0, 6)
    expected = literal_convolution(looked, project.kernel[None, None], project.offset, 1)
    if stride == 1 and outputs == 2:
        expected = expected + x
    found = deep.apply_block(x, Block(expand, depthwise, project, stride))
    np.testing.assert_allclose(found, expected, atol=1e-4)


def picture(background):
    image = Image.new("RGB", (224, 224), background)
    return image, ImageDraw.Draw(image)


def ring(radius, corners, turn=0.0, centre=(112, 112)):
    angles = [turn + 2 * math.pi * corner / corners for corner in range(corners)]
    return [(centre[0] + radius * math.cos(a), centre[1] + radius * math.sin(a)) for a in angles]


def honeycomb():
    image, pen = picture((120, 70, 10))
    for column in range(-1, 12):
        for row in range(-1, 12):
            centre = (column * 22 + row % 2 * 11, row * 19)
            pen.polygon(ring(10, 6, math.pi / 6, centre), fill=(230, 170, 40))
    return image


def spider_web():
    image, pen = picture((30, 40, 30))
    for end in ring(160, 16):
        pen.line([(112, 112), end], fill="white")
    for radius in range(10, 160, 11):
        pen.polygon(ring(radius, 16), outline="white")
    return image


def crossword():
    image, pen = picture("white")
    black = np.random.default_rng(0).random((13, 13)) < 0.2
    for row, column in np.ndindex(13, 13):
        left, top = 8 + 16 * column, 8 + 16 * row
        fill = "black" if black[row, column] else "white"
        pen.rectangle((left, top, left + 16, top + 16), fill=fill, outline="black")
    return image


def clock():
    image, pen = picture((200, 180, 150))
    pen.ellipse((20, 20, 204, 204), fill="white", outline="black", width=8)
    for inner, outer in zip(ring(75, 12), ring(85, 12), strict=True):
        pen.line([inner, outer], fill="black", width=5)
    pen.line([(112, 112), (150, 70)], fill="black", width=7)
    pen.line([(112, 112), (112, 40)], fill="black", width=4)
    return image


@pytest.mark.parametrize(
    ("draw", "imagenet_class"),
    [(honeycomb, 599), (spider_web, 815), (crossword, 918), (clock, 409)],
)
def test_the_network_names_what_is_drawn(draw, imagenet_class):
    activations = imagenet_network().activations(np.asarray(draw()))
    table = deep.imagenet_weights()
    scores = activations @ table["_fc.weight"].T + table["_fc.bias"]
    assert scores.argmax() == imagenet_class


def test_a_description_is_the_pooled_last_layer_but_one():
    description = EXTRACTORS["deep"].describe(honeycomb().resize((90, 120)))
    assert description.shape == (1280,)
    assert description.dtype == np.float32
    assert 0 <= description.min() < description.max() <= 6


def test_the_deep_features_tell_stripes_apart():
    images, labels = drawn(striped, 8)
    descriptions = describe_all(EXTRACTORS["deep"], images, processes=1)
    fitted = EXTRACTORS["deep"].fit(descriptions[:10], labels[:10])
    features = fitted.transform(descriptions)
    nearest = [labels[np.argmin(((features[:10] - row) ** 2).sum(axis=1))] for row in features[10:]]
    assert nearest == labels[10:].tolist()


def text(string):
    """A pickled string."""
    return b"X" + len(string).to_bytes(4, "little") + string.encode()


def file_of_weights(strides=(1, 2), offset=1, numbers=range(8)):
    """One tensor (2, 3) in the form that weights come in, its strides in an unusual order."""
    storage = (
        b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("7") + text("cpu") + b"K\x08Nt"
    )
    steps = b"".join(b"K" + bytes([stride]) for stride in strides)
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"QK" + bytes([offset])
    tensor += b"K\x02K\x03\x86" + steps + b"\x86\x89NtR"
    table = b"\x80\x02ccollections\nOrderedDict\n)R(" + text("w") + tensor + b"u."
    raw = np.array(numbers, dtype="<f4")
    parts = [pickle.dumps(0, 2), pickle.dumps(1, 2), pickle.dumps({}, 2), table]
    parts += [pickle.dumps(["7"], 2), len(raw).to_bytes(8, "little"), raw.tobytes()]
    return io.BytesIO(b"".join(parts))


def test_a_tensor_is_read_by_its_strides():
    table = deep.read_tensors(file_of_weights())
    assert table["w"].tolist() == [[1, 3, 5], [2, 4, 6]]


@pytest.mark.parametrize("outside", [{"strides": (1, 9)}, {"offset": 4}])
def test_a_tensor_outside_its_numbers_is_refused(outside):
    with pytest.raises(deep.Forbidden, match="outside"):
        deep.read_tensors(file_of_weights(**outside))


@pytest.mark.parametrize(
    "harmful", [os.system, eval, pickle.loads, getattr, np.frombuffer, type("T", (), {})]
)
def test_a_file_of_weights_can_run_nothing(harmful):
    name = f"c{harmful.__module__}\n{harmful.__qualname__}\n".encode()
    with pytest.raises(deep.Forbidden, match="not allowed"):
        deep.WeightsUnpickler(io.BytesIO(b"\x80\x02" + name + b".")).load()


def test_weights_other_than_the_known_ones_are_refused(monkeypatch, tmp_path):
    other = tmp_path / "other.pth"
    other.write_bytes(file_of_weights().getvalue())
    monkeypatch.setattr(deep, "weights_file", lambda: other)
    with pytest.raises(ExtractorMissing, match="not the known ones"):
        deep.imagenet_weights.__wrapped__()


def test_the_weights_are_found_without_importing_their_package():
    assert deep.weights_file().name.endswith(".pth")
    assert EXTRACTORS["deep"].missing() is None
