"""Make data sets from packs: zips of AVIF images and a table of their classes, split and features (traits).

`python -m research.butterflies` paints the images and writes the packs.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from zipfile import ZipFile

import numpy as np
from PIL import Image

from image_datasets.imports.creation import Draft, LabelledImage, create_dataset
from image_datasets.imports.finishing import insight_into
from studies.models import Dataset

# Higher than that of imports, because the images in the pack are compressed already.
QUALITY = 88


@dataclass(frozen=True)
class Packed:
    """One image of a pack, as AVIF."""

    content: bytes
    label: str
    split: str
    """teaching or evaluation"""
    traits: tuple[float, ...]


def read_pack(path: Path) -> Iterator[Packed]:
    with ZipFile(path) as pack:
        table = io.StringIO(pack.read("specimens.csv").decode())
        for row in csv.DictReader(table):
            content, label, split = pack.read(row.pop("file")), row.pop("label"), row.pop("split")
            yield Packed(content, label, split, tuple(map(float, row.values())))


def as_jpeg(content: bytes) -> bytes:
    file = io.BytesIO()
    with Image.open(io.BytesIO(content)) as image:
        image.save(file, "JPEG", quality=QUALITY, optimize=True)
    return file.getvalue()


def make_dataset(path: Path, *, name: str, classes: Sequence[str], seed: int) -> Dataset:
    images: dict[str, list[LabelledImage]] = {"teaching": [], "evaluation": []}
    traits: dict[str, list[tuple[float, ...]]] = {"teaching": [], "evaluation": []}
    for one in read_pack(path):
        images[one.split].append(LabelledImage(as_jpeg(one.content), classes.index(one.label)))
        traits[one.split].append(one.traits)
    draft = Draft(
        name=name,
        classes=classes,
        seed=seed,
        teaching=images["teaching"],
        features=np.array(traits["teaching"]),
        evaluation=images["evaluation"],
        evaluation_features=np.array(traits["evaluation"]),
        extractor="traits",
    )
    return create_dataset(replace(draft, insight=insight_into(draft)))
