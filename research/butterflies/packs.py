"""Packs of demo images: ZIP archives of AVIF images and a table of their classes, split and traits."""

import csv
import io
import os
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from PIL import Image
from tqdm import tqdm

from jobs.processes import mapped

from .painting import paint
from .specimens import TRAIT_NAMES, Collection, Specimen

SIDE = 480
# SSIMULACRA 2 of 77 against the painting. A JPEG of quality 84 has 80 at 3.7 times the size, and WebP needs about 1.7
# times the size for the same score. Image sequences, which compress like a video, need more too.
QUALITY = 52
SPEED = 4


def painted(specimen: Specimen) -> Image.Image:
    return paint(specimen.named_traits(), specimen.grain, SIDE)


def compressed(specimen: Specimen) -> bytes:
    file = io.BytesIO()
    painted(specimen).save(
        file, "AVIF", quality=QUALITY, speed=SPEED, subsampling="4:4:4", max_threads=1
    )
    return file.getvalue()


def write_pack(path: Path, collection: Collection) -> None:
    teaching, evaluation = collection.drawn()
    specimens = [*teaching, *evaluation]
    splits = ["teaching"] * len(teaching) + ["evaluation"] * len(evaluation)
    names = [f"{number:03}.avif" for number in range(len(specimens))]
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["file", "label", "split", *TRAIT_NAMES])
    for name, split, one in zip(names, splits, specimens, strict=True):
        writer.writerow([name, collection.species.names[one.label], split, *one.traits])
    with ZipFile(path, "w") as pack:
        # A ZipInfo without a date: the pack depends on its content only.
        pack.writestr(ZipInfo("specimens.csv"), table.getvalue(), ZIP_DEFLATED, 9)
        for name, content in zip(names, _all_compressed(specimens, path.name), strict=True):
            pack.writestr(ZipInfo(name), content, ZIP_STORED)


def _all_compressed(specimens: list[Specimen], label: str) -> Iterator[bytes]:
    with mapped(compressed, specimens, workers=os.cpu_count() or 1, chunk=4) as images:
        yield from tqdm(images, label, len(specimens))
