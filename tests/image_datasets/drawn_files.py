"""Small pictures for tests, drawn here: no photograph is needed."""

import io
import zipfile

import numpy as np
from PIL import Image


def scene(seed=0, width=160, height=120):
    """A picture of its own: coloured hills and blots at all scales, as in a photograph."""
    rng = np.random.default_rng(seed)
    total = np.zeros((height, width, 3), dtype=np.float32)
    for cells, strength in ((3, 1.0), (7, 0.6), (17, 0.35), (50, 0.15)):
        blots = Image.fromarray(rng.integers(0, 256, (cells, cells, 3), dtype=np.uint8))
        total += strength * np.asarray(blots.resize((width, height), Image.Resampling.BICUBIC))
    return Image.fromarray((total * (255 / total.max())).astype(np.uint8))


def specimen(seed, size=160):
    """One of a family with a common layout: the same stage and outline, other markings."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[-1 : 1 : size * 1j, -1 : 1 : size * 1j]
    stage = 200 - 60 * (x**2 + y**2)
    body = (np.abs(x) < 0.6) & (np.abs(y) < 0.4)
    marks = sum(
        np.exp(-((x - a) ** 2 + (y - b) ** 2) / 0.004) for a, b in rng.uniform(-0.5, 0.5, (6, 2))
    )
    grey = np.clip(np.where(body, 90 - 25 * marks, stage), 0, 255).astype(np.uint8)
    return Image.fromarray(grey).convert("RGB")


def encoded(image, file_format="PNG", **options):
    file = io.BytesIO()
    image.save(file, file_format, **options)
    return file.getvalue()


def decoded(content):
    return Image.open(io.BytesIO(content))


def pixels(image):
    return np.asarray(image.convert("RGB"), dtype=np.int16)


def plain(colour="white", size=(64, 64)):
    """A file of a few hundred bytes, for tests that never look at the picture."""
    return encoded(Image.new("RGB", size, colour))


def class_files(per_class=20, classes=("cat", "dog"), ending=".png"):
    """The files of a data set by name, one folder for each class."""
    return {
        f"{label}/{number:03}{ending}": plain((number, 10 * place, 100))
        for place, label in enumerate(classes)
        for number in range(per_class)
    }


def written_folder(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def written_zip(path, files, compression=zipfile.ZIP_DEFLATED):
    """Names may be ZipInfo objects; in that case they say what else is special about the entry."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path
