"""The numbers behind the results: which arms there are, and which of them the others are compared with."""

import pytest

from analysis.results.data import load_results
from analysis.results.page import analyse
from studies.models import Participant, StudyVersion
from tests.builders import make_dataset, make_study
from tests.crowd import make_finished

pytestmark = pytest.mark.django_db


def test_without_jedi_the_first_arm_is_the_one_compared_with():
    study = make_study(arms="eer,rt", dataset=make_dataset(teaching=12, evaluation=8))
    make_finished(study, 12)
    analysis = analyse(load_results(study), "teaching_gain")
    assert (analysis.reference, list(analysis.comparisons)) == ("eer", ["rt"])


def test_an_arm_that_only_rows_know_is_not_lost():
    study = make_study(dataset=make_dataset(teaching=12, evaluation=8))
    make_finished(study, 4)
    version = StudyVersion.freeze(study)
    Participant.objects.create(
        study=study, version=version, stage="done", arm="older", teaching_gain=0.1
    )
    assert load_results(study).arms == ("jedi", "imt", "eer", "rt", "older")
