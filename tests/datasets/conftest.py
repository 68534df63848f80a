"""Ground for imports: a data folder of the test's own, and the same extractors on every machine."""

from collections.abc import Iterator
from functools import cache

import pytest

from datasets.imports import preparation
from datasets.pictures import encoding as images


@pytest.fixture(scope="session", autouse=True)
def prepared_once() -> Iterator[None]:
    """Every import here is of the same few pictures, and the same bytes give the same result."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preparation, "prepare", cache(images.prepare))
        yield


@pytest.fixture
def data_dir(settings, tmp_path):
    settings.JEDI_DATA_DIR = tmp_path / "data"
    return settings.JEDI_DATA_DIR


@pytest.fixture
def no_extra(monkeypatch):
    """As on a machine without the optional deep features."""
    monkeypatch.setattr("datasets.extractors.weights.weights_file", lambda: None)
