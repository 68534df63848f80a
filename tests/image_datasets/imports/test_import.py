"""Imports from end to end: every form of source, by the command and in the admin, through one service."""

import io

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from image_datasets.extractors.base import described
from image_datasets.extractors.registry import EXTRACTORS, load
from image_datasets.imports import services
from image_datasets.models import Import
from image_datasets.pictures.encoding import padded, prepare
from studies.models import Dataset, Example
from teaching.engine import Pool
from tests.image_datasets.drawn_files import encoded
from tests.image_datasets.made_imports import (
    FORMS,
    PER_CLASS,
    carry_out_orders,
    drawn,
    folders_of,
    import_by_command,
    label_of,
    made,
    made_import,
    manifest_files,
    nothing_was_made,
    npz_files,
    picture_files,
    precomputed,
    source_folder,
    source_zip,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir", "no_extra")]

ADD = "/admin/datasets/import/add/"


@pytest.fixture
def import_in_the_admin(transactional_db, researcher):
    """Drops a zip on the form, as a researcher does, and carries out the order that this gives."""

    def imported(path, **fields):
        form = {"name": "Shapes", "extractor": "best", "duplicates": "keep_together"}
        archive = SimpleUploadedFile(path.name, path.read_bytes())
        reply = researcher.post(ADD, form | fields | {"archive": archive})
        assert reply.status_code == 302
        Import.objects.update(seed=5)
        carry_out_orders()
        return Import.objects.latest("pk")

    return imported


@pytest.fixture
def press(transactional_db, researcher):
    """A button on the import's page, and the work that follows from it."""

    def pressed(job, order, **fields):
        researcher.post(reverse("admin:import_order", args=[job.pk, order]), fields)
        carry_out_orders()
        job.refresh_from_db()

    return pressed


@pytest.mark.parametrize("form", FORMS)
def test_the_command_and_the_admin_make_the_same_data_set(form, tmp_path, import_in_the_admin):
    files = FORMS[form]()
    by_command = made(import_by_command(source_folder(tmp_path / "images", files)))
    job = import_in_the_admin(source_zip(tmp_path / "images.zip", files))
    assert job.state == Import.State.DONE
    assert (job.dataset.name, job.dataset.version) == ("Shapes", 2)
    assert job.dataset.owner == job.created_by is not None
    in_the_admin = made(job.dataset)
    assert in_the_admin.examples == by_command.examples
    assert in_the_admin.pool == by_command.pool
    assert in_the_admin == by_command


def test_the_command_imports_a_zip_as_it_does_a_folder(tmp_path):
    files = npz_files()
    folder = import_by_command(source_folder(tmp_path / "images", files))
    zipped = import_by_command(source_zip(tmp_path / "images.zip", files))
    assert made(zipped) == made(folder)


def test_another_seed_draws_another_split(tmp_path):
    path = source_folder(tmp_path / "images", npz_files())
    first, second = (import_by_command(path, seed=seed) for seed in (1, 2))
    sides = [
        {content for split, _, _, content in made(each).examples if split == "evaluation"}
        for each in (first, second)
    ]
    assert len(sides[0]) == len(sides[1]) == PER_CLASS
    assert sides[0] != sides[1]


def test_the_manifest_decides_the_split(tmp_path):
    files = manifest_files(with_split=True)
    dataset = import_by_command(source_folder(tmp_path / "images", files))
    tested = {content for split, _, _, content in made(dataset).examples if split == "evaluation"}
    asked = [name for name in files if name.endswith((".png",)) and int(name[-7:-4]) % 2]
    assert tested == as_served(dataset, [files[name] for name in asked])


def as_served(dataset, originals):
    """What the browser gets of these originals, in this data set."""
    size = len(dataset.image_path(dataset.examples.first()).read_bytes())
    return {padded(prepare(content, "x.png").content, size) for content in originals}


def test_every_row_of_the_pool_belongs_to_its_image_and_label(tmp_path):
    files = picture_files()
    dataset = import_by_command(source_folder(tmp_path / "images", files), features="colour")
    rows = dataset.examples.filter(split=Example.Split.TEACHING).order_by("pool_index")
    extractor, fitted = EXTRACTORS["colour"], load(dataset.folder / "features.npz")
    descriptions = np.array([described(extractor, dataset.image_path(row)) for row in rows])
    pool = Pool.load(dataset.folder / "pool")
    assert [row.pool_index for row in rows] == list(range(len(rows)))
    assert (pool.labels > 0).astype(int).tolist() == [row.label for row in rows]
    np.testing.assert_allclose(pool.features[:, :-1], fitted.transform(descriptions), atol=1e-9)
    by_class = {
        label: as_served(dataset, [files[name] for name in files if label_of(name) == label])
        for label in dataset.class_names
    }
    for row in dataset.examples.all():
        assert dataset.image_path(row).read_bytes() in by_class[dataset.class_names[row.label]]


def test_precomputed_features_stay_with_their_images(tmp_path):
    files = npz_files()
    names = [name for name in files if name.endswith(".png")]
    dataset = import_by_command(source_folder(tmp_path / "images", files))
    name_of = {content: name for name in names for content in as_served(dataset, [files[name]])}
    rows = dataset.examples.filter(split=Example.Split.TEACHING).order_by("pool_index")
    served = [name_of[dataset.image_path(row).read_bytes()] for row in rows]
    fitted = load(dataset.folder / "features.npz")
    X = precomputed(names)
    expected = fitted.transform(X[[names.index(name) for name in served]])
    features = Pool.load(dataset.folder / "pool").features[:, :-1]
    np.testing.assert_allclose(features, expected - expected.mean(axis=0), atol=1e-9)


def test_the_researcher_chooses_after_seeing_the_accuracies(
    tmp_path, researcher, import_in_the_admin, press
):
    job = import_in_the_admin(source_zip(tmp_path / "images.zip"), extractor="")
    assert job.state == Import.State.CHOOSING
    assert nothing_was_made()
    page = researcher.get(f"/admin/datasets/import/{job.pk}/change/").content.decode()
    for row in job.findings["candidates"]:
        if "accuracy" in row:
            assert row["title"] in page
            assert f"{row['accuracy']['mean_percent']} %" in page
            assert f"{row['accuracy']['low_percent']} – {row['accuracy']['high_percent']} %" in page
        else:
            assert row["missing"] in page
    press(job, "choose", extractor="paper")
    assert job.state == Import.State.DONE
    assert job.dataset.extractor == "paper"
    chosen_before = import_by_command(source_folder(tmp_path / "images"), features="paper")
    assert made(job.dataset) == made(chosen_before)


def test_a_missing_extra_is_named_with_the_command_that_installs_it(tmp_path):
    path = source_folder(tmp_path / "images")
    told = io.StringIO()
    call_command("import_dataset", "Shapes", str(path), seed=5, stdout=told)
    assert "make deep" in told.getvalue()
    assert Dataset.objects.get().extractor in ("paper", "colour")
    with pytest.raises(CommandError, match=r"not installed.*make deep"):
        import_by_command(path, features="deep")


@pytest.mark.parametrize(
    ("files", "features", "message"),
    [
        (picture_files, "sift", "no features called “sift”.*best, paper, colour, deep, brought"),
        (picture_files, "brought", "no precomputed features.*features.npz"),
        (npz_files, "paper", "come with precomputed features.*Choose best"),
    ],
)
def test_features_that_cannot_be_made_are_refused_before_the_work(
    files, features, message, tmp_path
):
    path = source_folder(tmp_path / "images", files())
    with pytest.raises(CommandError, match=message):
        import_by_command(path, features=features)
    assert nothing_was_made()
    assert "Preparing" not in Import.objects.get().log


def test_the_number_of_evaluation_images_is_the_researchers(tmp_path):
    path = source_folder(tmp_path / "images", npz_files())
    dataset = import_by_command(path, evaluation_per_class=4)
    tested = dataset.examples.filter(split=Example.Split.EVALUATION)
    assert sorted(tested.values_list("label", flat=True)) == 4 * [0] + 4 * [1]
    with pytest.raises(CommandError, match="Ask for fewer"):
        import_by_command(path, evaluation_per_class=PER_CLASS)


def with_copies():
    """Copies of one picture on both sides of a manifest's split."""
    files = manifest_files(with_split=True)
    copy, original = "pictures/round-001.png", "pictures/round-000.png"
    return files | {copy: encoded(drawn("round", 0), "PNG", compress_level=1)}, original, copy


def test_copies_across_the_split_stay_together_or_are_refused_by_name(tmp_path):
    files, original, copy = with_copies()
    path = source_folder(tmp_path / "images", files)
    with pytest.raises(CommandError, match=f"{original} and {copy}"):
        import_by_command(path, duplicates="refuse")
    assert nothing_was_made()
    dataset = import_by_command(path, duplicates="keep_together")
    findings = Import.objects.get(dataset=dataset).findings
    assert [original, copy] in findings["duplicates"]
    assert any(copy in warning for warning in findings["warnings"])
    assert dataset.insight["duplicates"] == 1
    assert dataset.examples.filter(split=Example.Split.EVALUATION).count() == PER_CLASS - 1


def with_bad_images(per_class=PER_CLASS):
    return npz_files(per_class) | {"round/003.png": b"\x89PNG not really", "square/004.png": b""}


def test_bad_images_are_listed_and_left_out_only_if_the_researcher_says_so(
    tmp_path, researcher, import_in_the_admin, press
):
    path = source_zip(tmp_path / "images.zip", with_bad_images(PER_CLASS + 1))
    job = import_in_the_admin(path)
    assert job.state == Import.State.FAILED
    assert nothing_was_made()
    address = f"/admin/datasets/import/{job.pk}/change/"
    page = researcher.get(address).content.decode()
    for name in ("round/003.png", "square/004.png", "Continue without the bad images"):
        assert name in page
    press(job, "skip")
    assert job.state == Import.State.DONE
    assert job.dataset.examples.count() == 2 * PER_CLASS
    assert "round/003.png" in researcher.get(address).content.decode()


def test_an_import_that_cannot_write_says_so_and_goes_on_when_it_can(settings, tmp_path):
    job = made_import(source_folder(tmp_path / "source", npz_files(6)))
    settings.JEDI_DATA_DIR.mkdir()
    in_the_way = settings.JEDI_DATA_DIR / "imports"
    in_the_way.write_text("")
    services.run(job)
    job.refresh_from_db()
    assert job.state == "failed"
    assert "(Not a directory). Make room on its disk, or make the data folder" in job.problem
    in_the_way.unlink()
    services.resume(job)
    services.run(job)
    job.refresh_from_db()
    assert "Each class needs at least 20 images" in job.problem, "it has read them all"


def test_a_repaired_image_is_read_anew(tmp_path):
    path = source_folder(tmp_path / "images", with_bad_images())
    with pytest.raises(CommandError, match=r"round/003\.png"):
        import_by_command(path)
    source_folder(path, npz_files())
    job = Import.objects.get()
    services.resume(job)
    services.run(job)
    assert job.state == Import.State.DONE
    assert made(job.dataset) == made(import_by_command(path))


def test_the_command_leaves_only_the_data_set_behind(tmp_path):
    path = source_folder(tmp_path / "images", npz_files())
    dataset = import_by_command(path)
    assert folders_of("datasets") == {dataset.key}
    assert folders_of("imports") == set()
    assert {file.name for file in path.rglob("*") if file.is_file()} == {
        name.split("/")[-1] for name in npz_files()
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Shapes", "nowhere"], "nothing at nowhere"),
        (["x" * 101, "."], "100 characters"),
        (["", "."], "blank"),
        (["Shapes", ".", "--seed", "-1"], "whole number"),
        (["Shapes", ".", "--evaluation-per-class", "0"], "greater than or equal to 1"),
        (["Shapes", "."], "no images in folders.*one folder for each"),
    ],
)
def test_the_command_says_what_is_wrong(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match=message):
        call_command("import_dataset", *arguments, stdout=io.StringIO())
    assert nothing_was_made()
