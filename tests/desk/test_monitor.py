"""The live monitor: what it counts, whom it lists, what its buttons do, and at what cost."""

import pytest

from studies.models import Study
from tests.builders import make_dataset, make_study
from tests.crowd import make_crowd

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return make_study(dataset=make_dataset(teaching=12, evaluation=8), max_participants=500)


def address(study: Study, rest: str = "") -> str:
    return f"/admin/studies/study/{study.pk}/monitor/{rest}"


def test_the_page_opens_for_an_empty_study_and_a_full_one(researcher, study):
    assert "nobody has joined yet" in researcher.get(address(study)).content.decode()
    make_crowd(study, 120)
    assert researcher.get(address(study)).status_code == 200
