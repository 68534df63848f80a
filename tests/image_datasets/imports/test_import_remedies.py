"""Remedies for shortcuts: tried on an import's page, compared by their numbers, and kept with the data set."""

import io

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from image_datasets.imports import services
from image_datasets.models import Import
from studies.models import Dataset
from tests.image_datasets.drawn_files import encoded
from tests.image_datasets.made_imports import (
    drawn,
    import_by_command,
    label_of,
    made,
    made_import,
    npz,
    picture_files,
    source_folder,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir", "no_extra")]


def framed(name):
    """A picture of its class with a frame that gives the class away."""
    label, number = label_of(name), int(name.split("/")[1][:3])
    image = drawn(label, number).resize((128, 128))
    pixels = np.asarray(image).copy()
    pixels[:8] = pixels[-8:] = 250 if label == "round" else 5
    return encoded(Image.fromarray(pixels))


@pytest.fixture
def source(tmp_path):
    files = {name: framed(name) for name in picture_files(30)}
    return source_folder(tmp_path / "images", files | {"features.npz": npz(files, files)})


@pytest.fixture
def choosing(source):
    job = made_import(source, extractor="")
    services.run(job)
    assert job.state == Import.State.CHOOSING
    return job


def order(client, job, name, **fields):
    client.post(f"/admin/datasets/import/{job.pk}/orders/{name}/", fields)
    job.refresh_from_db()
    # What the worker does.
    services.run(job)


def page_of(client, job):
    return client.get(f"/admin/datasets/import/{job.pk}/change/").content.decode()


CUTS = {"crop_left": 0, "crop_top": 0, "crop_right": 0, "crop_bottom": 0}
MASK = CUTS | {"border": "mask", "border_width": 20}


def cue(trial, title):
    return next(row for row in trial["cues"] if title in row["title"])


def test_a_remedy_is_tried_compared_and_kept(choosing, researcher, source):
    assert "Measure again" in page_of(researcher, choosing)
    order(researcher, choosing, "measure", **MASK)
    assert choosing.state == Import.State.CHOOSING
    before, after = choosing.findings["trials"]
    assert (before["remedy"], after["remedy"]) == (
        "used as they are",
        "masked along a border of 20 %",
    )
    assert cue(before, "border")["is_shortcut"]
    assert not cue(after, "border")["is_shortcut"]
    page = page_of(researcher, choosing)
    assert "Masked along a border of 20 %" in page
    sample = choosing.findings["samples"][0]["row"]
    for version in ("plain", "treated"):
        address = f"/admin/datasets/import/{choosing.pk}/pictures/{version}/{sample}"
        assert researcher.get(address).getvalue().startswith(b"\xff\xd8")
    order(researcher, choosing, "choose", extractor="brought")
    dataset = choosing.dataset
    assert dataset.insight["remedy"]["border"] == "mask"
    assert (
        "masked along a border of 20 %"
        in researcher.get(f"/admin/studies/dataset/{dataset.pk}/change/").content.decode()
    )
    image = Image.open(dataset.image_path(dataset.examples.first()))
    assert np.abs(np.asarray(image)[:70].astype(int) - 128).max() < 25
    by_command = import_by_command(source, border="mask", border_width=20)
    assert made(by_command) == made(dataset)


def test_a_remedy_can_be_taken_back(choosing, researcher):
    order(researcher, choosing, "measure", **MASK)
    order(researcher, choosing, "measure", **CUTS, border="", border_width=10)
    assert len(choosing.findings["trials"]) == 2
    order(researcher, choosing, "choose", extractor="brought")
    assert "remedy" not in choosing.dataset.insight


def test_a_wrong_remedy_is_refused_with_a_reason(choosing, researcher):
    order(researcher, choosing, "measure", **MASK | {"crop_left": 99})
    assert not choosing.remedy
    assert "Ensure this value is less than or equal to 40" in page_of(researcher, choosing)


def test_a_crop_that_leaves_too_little_stops_and_can_be_changed(choosing, researcher):
    order(researcher, choosing, "measure", **MASK | {"crop_left": 40, "crop_right": 40})
    assert choosing.state == Import.State.FAILED
    assert "Crop less" in choosing.problem
    order(researcher, choosing, "measure", **MASK)
    assert choosing.state == Import.State.CHOOSING


def test_remedies_and_pictures_are_for_the_owner_of_the_import(choosing, client, django_user_model):
    user = django_user_model.objects.create_user("other", is_staff=True)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    address = f"/admin/datasets/import/{choosing.pk}"
    assert client.get(f"{address}/pictures/plain/0").status_code == 403
    assert client.post(f"{address}/orders/measure/", MASK).status_code == 403


def test_the_command_prints_the_numbers_before_and_after(source):
    told = io.StringIO()
    call_command("import_dataset", "Shapes", str(source), "--equalise", seed=5, stdout=told)
    assert "Images used as they are; then brought to the same brightness and contrast:" in (
        told.getvalue()
    )
    assert " → " in told.getvalue()
    with pytest.raises(CommandError, match="less than or equal to 40"):
        call_command("import_dataset", "Shapes", str(source), "--crop", "50", "0", "0", "0")
    assert Dataset.objects.count() == 1
