"""What a researcher says about the classes of a data set, until somebody has read it."""

import pytest
from django.test import Client

from studies.models import ImageClass
from studies.models.datasets import readable_names
from teaching.references import references_of
from tests.builders import make_dataset, make_participant, make_study
from tests.people import browser_of, make_researcher

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset():
    return make_dataset(teaching=12, evaluation=6)


def address(dataset) -> str:
    return f"/admin/studies/dataset/{dataset.pk}/classes/"


def values(dataset, **changes) -> dict:
    """What the page's form sends, with changes such as `name_0`."""
    fields = {"class-TOTAL_FORMS": 2, "class-INITIAL_FORMS": 2}
    for one in dataset.classes.all():
        own = {
            "id": one.pk,
            "display_name": changes.get(f"name_{one.index}", one.display_name),
            "description": changes.get(f"description_{one.index}", one.description),
            "colour": changes.get(f"colour_{one.index}", one.colour),
            "reference": changes.get(
                f"reference_{one.index}", references_of(dataset)[one.index].pk
            ),
        }
        fields |= {f"class-{one.index}-{name}": value for name, value in own.items()}
    return fields


def names(dataset) -> list[str]:
    return list(dataset.classes.values_list("display_name", flat=True))


def test_names_descriptions_and_pictures_are_saved(researcher, dataset):
    picture = dataset.examples.filter(split="teaching", label=1).last()
    sent = values(
        dataset, name_0=" Felis   silvestris ", description_0="Wild.", reference_1=picture.pk
    )
    assert researcher.post(address(dataset), sent).status_code == 302
    first, second = dataset.classes.all()
    assert (first.display_name, first.name, first.description) == (
        "Felis silvestris",
        "wild",
        "Wild.",
    )
    assert second.reference == picture
    page = researcher.get(address(dataset)).content.decode()
    assert 'value="Felis silvestris"' in page
    assert f'value="{picture.pk}"\n                checked' in page


def test_two_classes_can_exchange_their_names(researcher, dataset):
    researcher.post(address(dataset), values(dataset, name_0="domestic", name_1="wild"))
    assert names(dataset) == ["domestic", "wild"]


@pytest.mark.parametrize("name", ["", "DOMESTIC", "wi\u200bld", "x" * 61])
def test_a_name_that_people_cannot_read_or_tell_apart_is_refused(researcher, dataset, name):
    reply = researcher.post(address(dataset), values(dataset, name_0=name))
    assert reply.status_code == 200
    assert "errorlist" in reply.content.decode()
    assert names(dataset) == ["wild", "domestic"]


def test_a_picture_of_another_class_is_refused(researcher, dataset):
    other = dataset.examples.filter(split="teaching", label=1).first()
    reply = researcher.post(address(dataset), values(dataset, reference_0=other.pk))
    assert "errorlist" in reply.content.decode()
    assert not ImageClass.objects.exclude(reference=None).exists()


def test_once_somebody_has_joined_only_colours_change(researcher, dataset):
    study = make_study(dataset=dataset)
    make_participant(study, purpose="preview")
    researcher.post(address(dataset), values(dataset, name_0="tried"))
    assert names(dataset) == ["tried", "domestic"]
    make_participant(study)
    # The study may have moved on to other images since.
    study.refresh_from_db()
    study.dataset = make_dataset()
    study.save()
    researcher.post(address(dataset), values(dataset, name_0="changed", colour_0="#112233"))
    assert names(dataset) == ["tried", "domestic"]
    assert dataset.classes.get(index=0).colour == "#112233"
    assert "Somebody has joined a study" in researcher.get(address(dataset)).content.decode()


def test_only_the_owner_and_superusers_change_it(dataset):
    ada, other = make_researcher("ada"), browser_of(make_researcher("other"))
    assert other.get(address(dataset)).status_code == 200
    assert other.post(address(dataset), values(dataset, name_0="mine")).status_code == 403
    dataset.owner = ada
    dataset.save()
    assert other.get(address(dataset)).status_code == 404
    assert browser_of(ada).post(address(dataset), values(dataset, name_0="hers")).status_code == 302
    assert Client().get(address(dataset)).status_code == 302
    assert names(dataset) == ["hers", "domestic"]


def test_names_of_folders_become_readable():
    names = ["Pieris_brassicae", " pieris__napi_"]
    assert readable_names(names) == ["Pieris brassicae", "pieris napi"]
    assert readable_names(["a_b", "a b"]) == ["a_b", "a b"]
    rows = ImageClass.numbered(make_dataset(), ["Pieris_rapae", "___"])
    assert [row.name for row in rows] == ["Pieris_rapae", "___"]
    assert [row.display_name for row in rows] == ["Pieris rapae", "___"]
