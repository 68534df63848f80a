"""The page of a data set: what a researcher reads there, who may, and that nothing on it can be changed."""

import re

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.db.models import ProtectedError
from django.test import Client
from django.test.utils import CaptureQueriesContext

from studies.models import Dataset, Example
from teaching.ceiling import ceiling_sentence
from tests.builders import make_dataset, make_study
from tests.image_datasets.made_imports import (
    folders_of,
    import_by_command,
    npz_files,
    source_folder,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir", "no_extra")]


def page_of(dataset, *rest):
    return f"/admin/studies/dataset/{dataset.pk}/{'/'.join(rest) or 'change'}/"


@pytest.fixture
def imported(tmp_path):
    return import_by_command(source_folder(tmp_path / "images", npz_files()))


def test_the_page_tells_what_is_known_of_an_imported_data_set(imported, researcher):
    page = researcher.get(page_of(imported)).content.decode()
    accuracy = imported.insight["accuracy"]
    for part in ("mean", "low", "high"):
        assert f"{100 * accuracy[part]:.0f}" in page or f"{100 * accuracy[part]:.1f}" in page
    assert ceiling_sentence(imported) in page
    for heading in (
        "How well it can be taught",
        "Hardest",
        "Most ambiguous",
        "Map",
        "Graph",
        "Shortcuts",
    ):
        if heading != "Hardest" or imported.insight["hardest"]:
            assert heading in page
    for warning in imported.insight["warnings"]:
        assert warning["message"].split("“")[0] in page
    nearest = imported.insight["accuracy"]["likeness"]["neighbours"]["mean"]
    assert f"{100 * nearest:.0f}" in page
    assert "the concept predicts" in page
    assert page.count('class="contact-sheet"') >= 2
    teaching = imported.examples.filter(split=Example.Split.TEACHING).count()
    marks = re.search(r'<svg class="map".*?</svg>', page, re.DOTALL)[0]
    assert marks.count("<circle") + marks.count("<rect") == teaching


def test_the_page_judges_shortcuts_by_the_rule_of_today(researcher):
    cue = {"name": "border", "title": "the border", "mean": 0.65, "low": 0.6, "high": 0.71}
    old = {"code": "shortcut", "message": "An old verdict.", "remedy": "Do this."}
    insight = {
        "accuracy": {"mean": 0.71, "low": 0.66, "high": 0.76, "confusion": []},
        "counts": [150, 150],
        "shortcuts": {"together": cue, "each": [cue], "chance": 0.5},
        "warnings": [old],
    }
    dataset = make_dataset()
    Dataset.objects.filter(pk=dataset.pk).update(insight=insight)
    page = researcher.get(page_of(dataset)).content.decode()
    assert "The border alone tells the class of 65 % of the images" in page
    assert "a shortcut" in page
    assert "An old verdict" not in page
    assert "No problems found" not in page


def test_every_image_on_the_page_can_be_seen(imported, researcher):
    page = researcher.get(page_of(imported)).content.decode()
    addresses = set(re.findall(r'<img src="([^"]+)"', page))
    assert addresses
    for address in addresses:
        reply = researcher.get(address)
        assert reply.status_code == 200
        assert reply["Content-Type"] == "image/jpeg"
        assert "Last-Modified" not in reply
        assert reply.getvalue().startswith(b"\xff\xd8")


def test_a_data_set_without_insight_has_a_page_too(researcher):
    dataset = make_dataset()
    assert dataset.insight == {}
    page = researcher.get(page_of(dataset))
    assert page.status_code == 200
    assert "contact-sheet" in page.content.decode()
    assert "How well it can be taught" not in page.content.decode()


def test_a_data_set_with_a_part_of_the_insight_shows_that_part(imported, researcher):
    """Other software, and earlier versions of this, kept less with a data set."""
    for part in imported.insight:
        Dataset.objects.update(insight={part: imported.insight[part]})
        assert researcher.get(page_of(imported)).status_code == 200, part
        rest = {key: value for key, value in imported.insight.items() if key != part}
        Dataset.objects.update(insight=rest)
        assert researcher.get(page_of(imported)).status_code == 200, part
    Dataset.objects.update(insight={"accuracy": {"mean": 0.75}})
    page = researcher.get(page_of(imported)).content.decode()
    assert "75.0" in page
    assert "Not everything was measured" in page


def test_the_number_of_queries_does_not_grow_with_the_data_set(researcher):
    counts = []
    for size in (20, 120):
        dataset = make_dataset(teaching=size, evaluation=size)
        researcher.get(page_of(dataset))
        with CaptureQueriesContext(
            connection,
        ) as queries:
            researcher.get(page_of(dataset))
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 14


def staff(*permissions):
    user = User.objects.create_user("staff", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_page_and_images_are_for_those_who_may_see_data_sets(client):
    dataset = make_dataset()
    image = f"/admin/studies/dataset/images/{dataset.examples.first().key}"
    for address in (page_of(dataset), image):
        assert client.get(address)["Location"].startswith("/admin/login/")
        assert staff().get(address).status_code == 403
        User.objects.all().delete()
        reply = staff("view_dataset").get(address)
        assert reply.status_code == 200
        reply.close()
        User.objects.all().delete()


def test_an_image_that_is_not_there_is_not_found(researcher):
    assert researcher.get("/admin/studies/dataset/images/nobody").status_code == 404
    dataset = make_dataset()
    example = dataset.examples.first()
    dataset.image_path(example).unlink()
    assert researcher.get(f"/admin/studies/dataset/images/{example.key}").status_code == 404


def test_nothing_about_a_data_set_can_be_edited(researcher):
    dataset = make_dataset(name="Fixed")
    reply = researcher.post(page_of(dataset), {"name": "Other", "learning_rate": "3", "seed": "1"})
    assert reply.status_code == 403
    assert researcher.get("/admin/studies/dataset/add/").status_code == 403
    after = Dataset.objects.get()
    assert (after.name, after.learning_rate, after.seed) == (
        "Fixed",
        dataset.learning_rate,
        dataset.seed,
    )


def test_a_data_set_that_a_study_uses_is_not_deleted(researcher):
    study = make_study()
    dataset = study.dataset
    assert study.title in researcher.get(page_of(dataset)).content.decode()
    assert researcher.post(page_of(dataset, "delete"), {"post": "yes"}).status_code == 403
    with pytest.raises(ProtectedError):
        dataset.delete()
    assert Dataset.objects.filter(pk=dataset.pk).exists()
    assert all(dataset.image_path(row).exists() for row in dataset.examples.all())


def test_an_unused_data_set_is_deleted_with_rows_and_files(
    researcher, django_capture_on_commit_callbacks
):
    kept, removed = make_dataset(), make_dataset()
    with django_capture_on_commit_callbacks(execute=True):
        assert researcher.post(page_of(removed, "delete"), {"post": "yes"}).status_code == 302
    assert list(Dataset.objects.all()) == [kept]
    assert not Example.objects.exclude(dataset=kept).exists()
    assert folders_of("datasets") == {kept.key}


def test_an_import_under_a_name_in_use_makes_a_new_version(imported, tmp_path, researcher):
    study = make_study(dataset=imported, title="The first study")
    again = import_by_command(tmp_path / "images", seed=8)
    assert (again.name, again.version) == (imported.name, 2)
    study.refresh_from_db()
    assert study.dataset == imported
    form = researcher.get(f"/admin/studies/study/{study.pk}/change/").content.decode()
    assert re.search(r"<option[^>]*selected[^>]*>Shapes \(version 1\)", form)
    assert "Shapes (version 2)" in form
    assert "Shapes (version 1)" in researcher.get("/admin/studies/study/").content.decode()


def test_versions_go_on_counting_when_an_old_one_is_deleted(imported, tmp_path):
    second = import_by_command(tmp_path / "images", seed=8)
    imported.delete()
    third = import_by_command(tmp_path / "images", seed=9)
    assert (second.version, third.version) == (2, 3)
