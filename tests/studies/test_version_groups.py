"""Which versions may be analysed together, and which of them somebody asked for."""

import pytest

from studies.models import Participant, Study, StudyVersion
from studies.version_groups import HARMLESS, UnknownVersion, choose_versions, what_matters
from tests.builders import make_dataset, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return make_study(dataset=make_dataset(teaching=8, evaluation=6))


def join(study: Study, stage: str = "done", **settings) -> Participant:
    """Somebody who joins after these settings were changed."""
    for name, value in settings.items():
        setattr(study, name, value)
    study.save()
    version = StudyVersion.freeze(study)
    return Participant.objects.create(study=study, version=version, stage=stage)


def chosen(study: Study, asked: str = ""):
    return choose_versions(study, study.participants.all(), asked)


def test_a_setting_matters_unless_it_is_known_to_be_harmless():
    assert set(Study.CONFIGURATION) >= HARMLESS
    matters = what_matters(make_study().configuration())
    assert set(matters) == set(Study.CONFIGURATION) - HARMLESS


def test_a_setting_that_an_old_version_did_not_know_had_its_default(study):
    new = study.configuration()
    old = {name: value for name, value in new.items() if name != "attention_checks"}
    assert what_matters(old) == what_matters(new)


def test_versions_are_grouped_by_what_matters_even_if_others_lie_between(study):
    join(study)
    join(study, evaluation_size=4)
    join(study, evaluation_size=6, welcome="Welcome back")
    choice = chosen(study)
    assert [group.numbers for group in choice.groups] == [(1, 3), (2,)]
    assert (choice.numbers, choice.is_mixed, choice.value) == ((1, 3), False, "")
    assert choice.differing == ("evaluation images",)
    assert choice.mark == "-versions-1-3"


def test_the_default_is_the_newest_version_in_which_somebody_finished(study):
    join(study)
    join(study, stage="teaching", evaluation_size=4)
    assert chosen(study).numbers == (1,)
    join(study)
    assert chosen(study).numbers == (2,)


def test_pooling_takes_a_word_and_is_marked(study):
    join(study)
    join(study, other_steps=8)
    pooled = chosen(study, "all")
    assert (pooled.numbers, pooled.is_mixed) == ((1, 2), True)
    assert (pooled.value, pooled.mark) == ("all", "-pooled-versions-1-2")
    assert chosen(study, "2,1") == pooled


def test_one_version_is_nothing_to_choose_from(study):
    assert chosen(study).numbers == ()
    join(study)
    choice = chosen(study)
    assert (choice.numbers, choice.mark, choice.pooling) == ((1,), "", "")


def test_a_version_that_does_not_exist_is_refused_with_those_that_do(study):
    join(study)
    with pytest.raises(UnknownVersion, match=r"Its versions: 1\."):
        chosen(study, "7")
