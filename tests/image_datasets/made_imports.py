"""What the tests of imports share: sources of every form, drawn here, and a look at what became of them."""

import csv
import io
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from django.conf import settings
from django.core.management import call_command
from django_tasks_db.models import DBTaskResult
from PIL import Image

from image_datasets.models import Import
from studies.models import Dataset, Example
from tests.image_datasets.drawn_files import encoded, written_folder, written_zip

PER_CLASS = 20
CLASSES = ("round", "square")


def drawn(label, number, size=64):
    """One of a class: a disc or a square of its own place, size and colour, on a ground of its own."""
    rng = np.random.default_rng([CLASSES.index(label), number])
    y, x = np.mgrid[:size, :size] / size
    left, top = rng.uniform(0.35, 0.65, 2)
    half = rng.uniform(0.15, 0.3)
    across, down = np.abs(x - left), np.abs(y - top)
    inside = across**2 + down**2 < half**2 if label == "round" else np.maximum(across, down) < half
    ground = Image.fromarray(rng.integers(0, 256, (5, 5, 3), dtype=np.uint8))
    canvas = np.asarray(ground.resize((size, size), Image.Resampling.BICUBIC)).copy()
    canvas[inside] = rng.integers(0, 256, 3)
    return Image.fromarray(canvas)


def picture_files(per_class=PER_CLASS):
    """The files of a small task by name, one folder for each class."""
    return {
        f"{label}/{number:03}.png": drawn_file(label, number)
        for label in CLASSES
        for number in range(per_class)
    }


@cache
def drawn_file(label, number):
    return encoded(drawn(label, number))


def label_of(name):
    return name.split("/")[0]


def manifest_files(with_split, per_class=PER_CLASS):
    """The same images in one folder, a manifest that says what they are, and features to be quick."""
    files = picture_files(per_class)
    flat = {name: f"pictures/{name.replace('/', '-')}" for name in files}
    rows = [("file", "label", "split")[: 3 if with_split else 2]]
    for name in files:
        side = "evaluation" if int(Path(name).stem) % 2 else "teaching"
        rows.append((flat[name], label_of(name), side)[: 3 if with_split else 2])
    images = {flat[name]: content for name, content in files.items()}
    return images | {"manifest.csv": table(rows), "features.npz": npz(files, flat.values())}


def npz(names, ids):
    content = io.BytesIO()
    labels = [label_of(name) for name in names]
    np.savez(content, X=precomputed(names), y=np.array(labels), ids=np.array(list(ids)))
    return content.getvalue()


def precomputed(names, width=4):
    """Features of a researcher's own: the class and noise. (n, width)"""
    rng = np.random.default_rng(3)
    signs = np.array([[1.0 if label_of(name) == CLASSES[1] else -1.0] for name in names])
    return signs + rng.standard_normal((len(names), width))


def npz_files(per_class=PER_CLASS):
    files = picture_files(per_class)
    return files | {"features.npz": npz(files, files)}


def csv_files(per_class=PER_CLASS):
    files = picture_files(per_class)
    rows = [("id", "label", "f1", "f2", "f3", "f4")]
    rows += [
        (name, label_of(name), *map(repr, map(float, row)))
        for name, row in zip(files, precomputed(files), strict=True)
    ]
    return files | {"features.csv": table(rows)}


FIVE = ("ant", "bee", "cicada_x", "dragonfly", "earwig")


def five_files(per_class=PER_CLASS):
    """Five classes of plain pictures, all different, and features that tell them apart."""
    rng = np.random.default_rng(4)
    names = [f"{label}/{number:03}.png" for label in FIVE for number in range(per_class)]
    files = {
        name: encoded(Image.fromarray(rng.integers(0, 256, (64, 64, 3), dtype=np.uint8)))
        for name in names
    }
    X = 2 * np.eye(5)[[FIVE.index(label_of(name)) for name in names]]
    content = io.BytesIO()
    np.savez(
        content,
        X=X + rng.normal(size=X.shape),
        y=np.array([label_of(name) for name in names]),
        ids=np.array(names),
    )
    return files | {"features.npz": content.getvalue()}


def table(rows):
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    return file.getvalue().encode()


FORMS = {
    "folders": picture_files,
    "manifest": lambda: manifest_files(with_split=False),
    "manifest with a split": lambda: manifest_files(with_split=True),
    "features in npz": npz_files,
    "features in CSV": csv_files,
}


def source_folder(path, files=None):
    return written_folder(path, files or picture_files())


def source_zip(path, files=None):
    return written_zip(path, files or picture_files())


def import_by_command(path, name="Shapes", **options):
    """The data set that the command makes."""
    call_command("import_dataset", name, str(path), stdout=io.StringIO(), **{"seed": 5} | options)
    return Dataset.objects.filter(name=name).order_by("version").last()


def carry_out_orders():
    """Does here what the worker does in a process of its own: everything that was put into the queue."""
    for order in DBTaskResult.objects.ready():
        order.task.call(*order.task_result.args)
        order.delete()


def made_import(path, **fields):
    """An import of a folder or a zip that waits for a worker."""
    defaults = {"name": "Shapes", "source": str(path), "extractor": Import.BEST, "seed": 5}
    return Import.objects.create(**defaults | fields)


@dataclass(frozen=True)
class Made:
    """All of a data set but its random names."""

    fields: tuple
    examples: list
    pool: dict
    fitted: dict
    insight: dict


def made(dataset):
    """A data set as values that can be compared with another one's."""
    dataset.refresh_from_db()
    return Made(
        fields=(
            *dataset.class_names,
            dataset.learning_rate,
            dataset.extractor,
            dataset.seed,
        ),
        examples=[
            (row.split, row.pool_index, row.label, dataset.image_path(row).read_bytes())
            for row in dataset.examples.order_by("pk")
        ],
        pool=arrays(dataset.folder / "pool"),
        fitted=arrays(dataset.folder),
        insight=dataset.insight,
    )


def arrays(folder):
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.is_file() and path.suffix != ".npz"
    } | {
        f"{path.name}:{name}": values.tobytes()
        for path in sorted(folder.glob("*.npz"))
        for name, values in np.load(path).items()
    }


def folders_of(kind):
    """The names of the folders that lie under `datasets` or `imports`."""
    folder = Path(settings.JEDI_DATA_DIR) / kind
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


def nothing_was_made():
    return not (Dataset.objects.exists() or Example.objects.exists() or folders_of("datasets"))
