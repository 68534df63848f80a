"""Ground for imports: a data folder of the test's own, and the same extractors on every machine."""

import pytest


@pytest.fixture
def data_dir(settings, tmp_path):
    settings.JEDI_DATA_DIR = tmp_path / "data"
    return settings.JEDI_DATA_DIR


@pytest.fixture
def no_extra(monkeypatch):
    """As on a machine without the optional deep features."""
    monkeypatch.setattr("datasets.extractors.weights.weights_file", lambda: None)
