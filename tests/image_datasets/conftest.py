"""Ground for imports: a data folder of the test's own, and the same extractors on every machine."""

from collections.abc import Callable, Hashable, Iterator
from copy import copy
from functools import cache
from typing import Any

import numpy as np
import pytest
from PIL import Image

from image_datasets.checks import shortcuts, target
from image_datasets.extractors import visual_words
from image_datasets.imports import preparation
from image_datasets.pictures import encoding as images


@pytest.fixture(scope="session", autouse=True)
def worked_out_once() -> Iterator[None]:
    """Every import here is of the same few pictures, and the same input gives the same result."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preparation, "prepare", cache(images.prepare))
        for module, name in (
            (visual_words, "vocabulary"),
            (shortcuts, "image_cues"),
            (shortcuts, "accuracy_of_features"),
            (target, "fit_target"),
        ):
            patch.setattr(module, name, kept(getattr(module, name)))
        yield


def kept(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of arrays, images and numbers, which works nothing out a second time."""
    results: dict[Hashable, Any] = {}

    def look_up(*arguments: Any) -> Any:
        key = tuple(map(content, arguments))
        if key not in results:
            results[key] = function(*arguments)
        return copy(results[key])

    return look_up


def content(value: Any) -> Hashable:
    if not isinstance(value, np.ndarray | Image.Image):
        return value
    array = np.asarray(value)
    return array.shape, array.dtype.str, array.tobytes()


@pytest.fixture
def data_dir(settings, tmp_path):
    settings.JEDI_DATA_DIR = tmp_path / "data"
    return settings.JEDI_DATA_DIR


@pytest.fixture
def no_extra(monkeypatch):
    """As on a machine without the optional deep features."""
    monkeypatch.setattr("image_datasets.extractors.deep.weights_file", lambda: None)
