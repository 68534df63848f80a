"""How fast features are made and how well they serve a target concept.

    python -m bench.features                       drawn images
    python -m bench.features --folder PATH         photographs, one sub-folder per class
    python -m bench.features --images 10000        time and memory at another size

Describing is timed as the processor's own time for one image, which other work on the machine does
not lengthen, and by the clock on all cores; fitting and cross-validation by the clock, as an import
runs them. Drawn images tell about time; only photographs tell about accuracy.
"""

import os

# One BLAS thread, as in an import; NumPy reads this once, when it is imported.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from PIL import Image

from datasets.checks.shortcuts import ImageCues, measure_cues
from datasets.checks.similarity import neighbour_accuracy
from datasets.checks.target import cross_validated_accuracy
from datasets.extractors.base import Describer, Description
from datasets.extractors.parallel import describe_all, described
from datasets.extractors.registry import EXTRACTORS

SIDE = 320
# Images that are enough to time one core.
ALONE = 24

T = TypeVar("T")


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.folder:
            paths, labels = photographs(arguments.folder)
        else:
            paths, labels = drawn_images(Path(folder), arguments.images)
        print(f"{len(paths)} images, {os.cpu_count()} cores")
        descriptions = describe_kinds(paths)
        compare(descriptions, labels, arguments.seed)
        check(paths, labels, arguments.seed)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process: {peak:.0f} MB")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.features", description=__doc__)
    parser.add_argument("--folder", type=Path, help="photographs, one sub-folder per class")
    parser.add_argument("--images", type=int, default=200, help="how many to draw")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def photographs(folder: Path) -> tuple[list[Path], np.ndarray]:
    """All images of the first two sub-folders, and their labels."""
    negative, positive = sorted(path for path in folder.iterdir() if path.is_dir())[:2]
    paths, labels = [], []
    for label, members in ((-1, negative), (1, positive)):
        found = sorted(path for path in members.iterdir() if path.is_file())
        paths += found
        labels += [label] * len(found)
    return paths, np.array(labels)


def drawn_images(folder: Path, count: int) -> tuple[list[Path], np.ndarray]:
    """Waves in clouds: the classes differ a little in direction and in colour."""
    rng = np.random.default_rng(0)
    labels = np.tile([-1, 1], count // 2)
    paths = [folder / f"{number}.jpg" for number in range(len(labels))]
    for path, label in zip(paths, labels, strict=True):
        Image.fromarray(_drawn(rng, label)).save(path, quality=90)
    return paths, labels


def _drawn(rng: np.random.Generator, label: int) -> np.ndarray:
    y, x = np.mgrid[:SIDE, :SIDE] / SIDE
    angle = 0.8 + 0.35 * label + rng.normal(0, 0.5)
    wave = np.sin(rng.uniform(20, 60) * (x * np.cos(angle) + y * np.sin(angle)))
    clouds = Image.fromarray(rng.integers(0, 255, (9, 9), dtype=np.uint8)).resize((SIDE, SIDE))
    grey = 60 * wave + np.asarray(clouds) / 2 + rng.normal(0, 15, (SIDE, SIDE))
    tint = np.array([10, -5, 0]) * label + rng.normal(0, 15, 3)
    return np.clip(grey[..., None] + tint + 60, 0, 255).astype(np.uint8)


def describe_kinds(paths: list[Path]) -> dict[str, Description]:
    """Describe the images once for each kind that is installed."""
    found: dict[str, Description] = {}
    for extractor in EXTRACTORS.values():
        if extractor.kind in found or not extractor.reads_images:
            continue
        if extractor.missing() is not None:
            print(f"{extractor.name}: {extractor.missing()}")
            continue
        found[extractor.kind] = _described(extractor.kind, extractor, paths)
    return found


def _described(name: str, describer: Describer, paths: list[Path]) -> Description:
    # The first image may load a network, which is not part of its time.
    described(describer, paths[0])
    one = [_processor_time(describer, path) for path in paths[:ALONE]]
    found, seconds = timed(describe_all, describer, paths)
    print(
        f"{name:8} describe: {1000 * np.median(one):6.1f} ms of one core an image, "
        f"{1000 * seconds / len(paths):6.1f} ms by the clock on all ({seconds:.1f} s), "
        f"{found[0].nbytes / 1000:.0f} kB each"
    )
    return found


def _processor_time(describer: Describer, path: Path) -> float:
    start = time.process_time()
    described(describer, path)
    return time.process_time() - start


def compare(descriptions: dict[str, Description], labels: np.ndarray, seed: int) -> None:
    """Fit, transform and cross-validate every extractor."""
    for name, extractor in EXTRACTORS.items():
        if extractor.kind not in descriptions:
            continue
        rows = descriptions[extractor.kind]
        fitted, fit_time = timed(extractor.fit, rows, labels, seed)
        features, transform_time = timed(fitted.transform, rows)
        found, time_to_validate = timed(cross_validated_accuracy, extractor, rows, labels, seed)
        neighbours = neighbour_accuracy(features, labels)
        print(
            f"{name:8} accuracy {found.mean:.3f} [{found.low:.3f}, {found.high:.3f}], "
            f"nearest neighbour {neighbours.mean:.3f}, penalty {found.penalty:g}; "
            f"fit {fit_time:.1f} s, transform {transform_time:.1f} s, "
            f"cross-validation {time_to_validate:.1f} s"
        )


def check(paths: list[Path], labels: np.ndarray, seed: int) -> None:
    """The shortcut check on the pixels alone."""
    cues = _described("cues", ImageCues(), paths)
    report, seconds = timed(measure_cues, cues, None, labels, seed)
    each = ", ".join(f"{found.name} {found.mean:.2f}" for found in report.each)
    together = report.together
    print(
        f"shortcuts together {together.mean:.3f} [{together.low:.3f}, {together.high:.3f}]; "
        f"{each} ({seconds:.1f} s)"
    )


def timed(work: Callable[..., T], *arguments: Any) -> tuple[T, float]:
    """What the work gives, and the seconds that it takes."""
    start = time.perf_counter()
    result = work(*arguments)
    return result, time.perf_counter() - start


if __name__ == "__main__":
    main()
