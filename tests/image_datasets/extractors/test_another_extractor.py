"""An extractor takes one file and one row of the registry; forms, pages and commands follow by themselves.

This is such a file: everything that an import needs to know about "brightness" is written here.
"""

import io
from dataclasses import dataclass

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from image_datasets.extractors.base import Extractor, Fitted, square_canvas
from image_datasets.extractors.registry import EXTRACTORS, load
from image_datasets.imports import services
from image_datasets.models import Import
from studies.models import Dataset
from teaching.engine.arrays import FloatArray
from tests.image_datasets.made_imports import import_by_command, source_folder

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir", "no_extra")]


@dataclass(frozen=True)
class FittedBrightness(Fitted):
    mean: FloatArray

    def transform(self, descriptions):
        return descriptions - self.mean


class Brightness(Extractor):
    name = "brightness"
    title = "Brightness on a coarse grid"
    description = "how bright each of 64 parts of the image is"
    kind = "brightness"
    fitted = FittedBrightness

    def describe(self, image):
        return square_canvas(image, 8).mean(axis=2).ravel() / 255

    def fit(self, descriptions, labels, seed=0):
        return FittedBrightness(np.asarray(descriptions.mean(axis=0)))


class Uninstalled(Brightness):
    name = "uninstalled"
    kind = "uninstalled"

    def missing(self):
        return "Install it with: make uninstalled"


@pytest.fixture
def another(monkeypatch):
    """The row of the registry."""
    monkeypatch.setitem(EXTRACTORS, "brightness", Brightness())


def test_a_data_set_is_imported_with_it(another, tmp_path):
    dataset = import_by_command(source_folder(tmp_path / "images"), features="brightness")
    assert dataset.extractor == "brightness"
    assert isinstance(load(dataset.folder / "features.npz"), FittedBrightness)
    assert dataset.insight["accuracy"]["mean"] > 0


def test_a_researcher_finds_it_on_the_page_and_chooses_it(another, tmp_path, admin_client):
    job = Import.objects.create(
        name="Shapes", source=str(source_folder(tmp_path / "images")), extractor="", seed=5
    )
    services.run(job)
    page = admin_client.get(f"/admin/datasets/import/{job.pk}/change/").content.decode()
    assert "Brightness on a coarse grid" in page
    assert "How bright each of 64 parts of the image is." in page
    services.choose_features(job, "brightness")
    job.refresh_from_db()
    services.run(job)
    assert Dataset.objects.get().extractor == "brightness"


def test_the_command_names_it(another, capsys):
    with pytest.raises(SystemExit):
        call_command("import_dataset", "--help")
    assert "brightness" in capsys.readouterr().out


def test_one_that_is_not_installed_is_named_with_its_remedy(monkeypatch, tmp_path):
    monkeypatch.setitem(EXTRACTORS, "uninstalled", Uninstalled())
    path = source_folder(tmp_path / "images")
    with pytest.raises(CommandError, match=r"not installed.*make uninstalled"):
        import_by_command(path, features="uninstalled")
    told = io.StringIO()
    call_command("import_dataset", "Shapes", str(path), features="paper", seed=5, stdout=told)
    assert "Install it with: make uninstalled" in told.getvalue()
