"""More than two classes in an import, and some of many."""

import json

import numpy as np
import pytest

from image_datasets.imports import preparation, services
from image_datasets.models import Import
from studies.models import Example
from teaching.ceiling import ceiling_of
from teaching.choice import load_pool
from tests.image_datasets.made_imports import (
    FIVE,
    five_files,
    import_by_command,
    made,
    made_import,
    source_folder,
)

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("data_dir", "no_extra", "in_this_process"),
]


@pytest.fixture
def in_this_process(monkeypatch):
    """Which remembers the pictures that it has prepared; tests/jobs/test_worker.py has others prepare them."""
    monkeypatch.setattr(preparation, "WORTH_A_PROCESS", 1000)


@pytest.fixture
def source(tmp_path):
    return source_folder(tmp_path / "insects", five_files(24))


def measure(client, job, **fields):
    client.post(f"/admin/datasets/import/{job.pk}/orders/measure/", fields)
    job.refresh_from_db()
    services.run(job)


def test_five_folders_become_a_data_set_with_a_page(source, researcher):
    dataset = import_by_command(source, evaluation_per_class=8)
    rows = list(dataset.classes.all())
    assert [row.name for row in rows] == list(FIVE)
    assert rows[2].display_name == "cicada x"
    for split, expected in ((Example.Split.TEACHING, 16), (Example.Split.EVALUATION, 8)):
        labels = dataset.examples.filter(split=split).values_list("label", flat=True)
        assert np.bincount(list(labels)).tolist() == [expected] * 5
    pool = load_pool(dataset).pool
    assert pool.target.shape == (5, 6)
    assert np.sum(dataset.insight["accuracy"]["confusion"]) == 80
    assert ceiling_of(dataset).mean > 0.6
    page = researcher.get(f"/admin/studies/dataset/{dataset.pk}/change/").content.decode()
    assert page.count("predicted cicada x") >= 1
    assert page.count('class="mark"') == 80 + 5
    json.dumps(dataset.insight, allow_nan=False)


def test_some_of_the_folders_are_taught(source):
    dataset = import_by_command(source, classes=["dragonfly", "bee"])
    assert dataset.class_names == ["bee", "dragonfly"]
    assert load_pool(dataset).pool.target.shape == (2, 6)


def test_classes_are_chosen_on_the_page_when_they_are_known(source, researcher):
    job = made_import(source, extractor="")
    services.run(job)
    page = researcher.get(f"/admin/datasets/import/{job.pk}/change/").content.decode()
    assert "Teach only these classes" in page
    assert "cicada_x (24)" in page
    measure(researcher, job, only_classes=["ant", "bee", "earwig"])
    assert job.state == Import.State.CHOOSING
    assert job.only_classes == ["ant", "bee", "earwig"]
    assert len(job.findings["counts"]) == 6
    assert len(job.findings["trials"]) == 1
    services.choose_features(job, "brought")
    services.run(job)
    by_command = import_by_command(source, classes=["ant", "bee", "earwig"])
    assert made(job.dataset) == made(by_command)
    measure_of_all = {"only_classes": list(FIVE)}
    researcher.post(f"/admin/datasets/import/{job.pk}/orders/measure/", measure_of_all)
    job.refresh_from_db()
    assert job.state == Import.State.DONE


def test_an_import_that_stops_at_its_classes_lets_one_choose(tmp_path, researcher):
    files = five_files(24) | {f"fox/{n}.png": b"no picture" for n in range(3)}
    del files["features.npz"]
    job = made_import(source_folder(tmp_path / "animals", files), extractor="")
    services.run(job)
    assert job.state == Import.State.FAILED
    assert "“fox” has 3" in job.problem
    assert "fox (3)" in researcher.get(f"/admin/datasets/import/{job.pk}/change/").content.decode()
    services.measure_again(job, job.remedy, ["ant", "bee"])
    job.refresh_from_db()
    assert job.state == Import.State.WAITING


def test_all_of_the_classes_are_no_choice(source, researcher):
    job = made_import(source, extractor="")
    services.run(job)
    measure(researcher, job, only_classes=list(FIVE))
    assert job.only_classes == []
