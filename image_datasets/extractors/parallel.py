"""Describing many images on all cores, in order, with progress and a way to stop."""

import os
from collections.abc import Iterable, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TypeAlias

import numpy as np
from PIL import Image

from jobs.processes import mapped

from . import base

# An image in memory, or where to find one: a file or its content.
ImageSource: TypeAlias = base.ImageLike | Path | str | bytes

# Starting a process costs as much as describing this many images.
WORTH_A_PROCESS = 64
# Images handed to a process at a time: few enough for a lively progress bar.
CHUNK = 8


def describe_all(
    describer: base.Describer,
    sources: Sequence[ImageSource],
    *,
    processes: int | None = None,
    progress: base.Progress = base.no_progress,
    cancelled: base.CancelCheck = base.never,
) -> base.Description:
    """Descriptions (n, …) of n images in their order, the same for any number of processes.

    Images are read where they are described, so that only their descriptions are in memory.
    Raises `Cancelled` soon after `cancelled()` is true.
    """
    missing = describer.missing()
    if missing is not None:
        raise base.ExtractorMissing(missing)
    if not sources:
        raise ValueError("There are no images to describe.")
    workers = min(processes or os.cpu_count() or 1, len(sources) // WORTH_A_PROCESS)
    with mapped(partial(described, describer), sources, workers=workers, chunk=CHUNK) as work:
        return _gathered(work, len(sources), progress, cancelled)


def described(describer: base.Describer, source: ImageSource) -> base.Description:
    """The description of one image, wherever it is."""
    if isinstance(source, Image.Image | np.ndarray):
        return describer.describe(source)
    with Image.open(BytesIO(source) if isinstance(source, bytes) else source) as image:
        return describer.describe(image)


def _gathered(
    work: Iterable[base.Description], n: int, progress: base.Progress, cancelled: base.CancelCheck
) -> base.Description:
    gathered: base.Description | None = None
    for done, description in enumerate(work, start=1):
        if cancelled():
            raise base.Cancelled("Describing the images was cancelled.")
        if gathered is None:
            gathered = np.empty((n, *description.shape), dtype=description.dtype)
        gathered[done - 1] = description
        progress("describe", done / n)
    assert gathered is not None, "there is at least one image"  # noqa: S101
    return gathered
