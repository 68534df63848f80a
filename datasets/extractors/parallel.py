"""Describing many images on all cores, in order, with progress and a way to stop."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TypeAlias

import numpy as np
from PIL import Image

from jobs.processes import process_pool
from teaching.engine.arrays import Progress, no_progress

from .base import CancelCheck, Cancelled, Describer, Description, ExtractorMissing, ImageLike, never

# An image in memory, or where to find one: a file or its content.
ImageSource: TypeAlias = ImageLike | Path | str | bytes

# Starting a process costs as much as describing this many images.
WORTH_A_PROCESS = 64
# Images handed to a process at a time: few enough for a lively progress bar.
CHUNK = 8
BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def describe_all(
    describer: Describer,
    sources: Sequence[ImageSource],
    *,
    processes: int | None = None,
    progress: Progress = no_progress,
    cancelled: CancelCheck = never,
) -> Description:
    """Descriptions (n, …) of n images in their order, the same for any number of processes.

    Images are read where they are described, so that only their descriptions are in memory.
    Raises `Cancelled` soon after `cancelled()` is true.
    """
    missing = describer.missing()
    if missing is not None:
        raise ExtractorMissing(missing)
    if not sources:
        raise ValueError("There are no images to describe.")
    workers = min(processes or os.cpu_count() or 1, len(sources) // WORTH_A_PROCESS)
    if workers < 2:
        work = ((described(describer, source)) for source in sources)
        return _gathered(work, len(sources), progress, cancelled)
    return _described_by_processes(describer, sources, workers, progress, cancelled)


def described(describer: Describer, source: ImageSource) -> Description:
    """The description of one image, wherever it is."""
    if isinstance(source, Image.Image | np.ndarray):
        return describer.describe(source)
    with Image.open(BytesIO(source) if isinstance(source, bytes) else source) as image:
        return describer.describe(image)


def _described_by_processes(
    describer: Describer,
    sources: Sequence[ImageSource],
    workers: int,
    progress: Progress,
    cancelled: CancelCheck,
) -> Description:
    with one_blas_thread(), process_pool(workers) as pool:
        work = pool.map(_Describe(describer), sources, chunksize=CHUNK)
        try:
            return _gathered(work, len(sources), progress, cancelled)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class _Describe:
    """`described` for one describer, in a form that travels to another process."""

    def __init__(self, describer: Describer) -> None:
        self.describer = describer

    def __call__(self, source: ImageSource) -> Description:
        return described(self.describer, source)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Processes started meanwhile compute on one thread each, or they would fight for the cores."""
    before = {name: os.environ.get(name) for name in BLAS_THREADS}
    os.environ.update(dict.fromkeys(BLAS_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _gathered(
    work: Iterable[Description], n: int, progress: Progress, cancelled: CancelCheck
) -> Description:
    gathered: Description | None = None
    for done, description in enumerate(work, start=1):
        if cancelled():
            raise Cancelled("Describing the images was cancelled.")
        if gathered is None:
            gathered = np.empty((n, *description.shape), dtype=description.dtype)
        gathered[done - 1] = description
        progress("describe", done / n)
    assert gathered is not None, "there is at least one image"  # noqa: S101
    return gathered
