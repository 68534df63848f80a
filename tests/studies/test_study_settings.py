"""The paper's numbers as settings of a study, checked together before anybody takes part."""

import re
from importlib import import_module

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError

from studies.models import Example, Study
from studies.models.settings import GROUPS, names_in
from tests.admin_form import form_values
from tests.builders import make_dataset, make_study
from tests.settings_page import PAGE, current_page

PAPER = {
    "memory_trials": 3, "memory_min_length": 2, "memory_max_length": 9, "memory_extra_seconds": 1.0,
    "beta_mapping": "paper", "fixed_beta": None,
    "arms": "jedi,imt,eer,rt", "assignment": "round_robin", "cold_start": 5, "short_steps": 20,
    "medium_steps": 30, "long_steps": 40, "short_memory_up_to": 4.5, "medium_memory_up_to": 6.5,
    "other_steps": 30, "learning_rate": None, "learning_rate_decay": 20.0, "evaluation_size": 100,
    "jedi_estimator": "paper",
    "bonus_share": 0.2,
}  # fmt: skip


def test_the_defaults_are_the_papers_values():
    study = Study()
    assert {name: getattr(study, name) for name in PAPER} == PAPER


def test_the_page_about_the_settings_is_written_from_them():
    assert PAGE.read_text(encoding="utf-8") == current_page(), "run python -m tests.settings_page"


def test_exceptions_are_settings_of_their_group():
    for group in GROUPS:
        named = {*group.group.outside_sessions, *group.group.harmless}
        assert named <= set(names_in(group)), group.__name__


WRONG = [
    ("evaluation_size", 22, "10 evaluation images.*Choose at most 20"),
    ("evaluation_size", 7, "even number"),
    ("evaluation_size", 0, "greater than or equal to 2"),
    ("arms", "jedi,socrates", "not known: socrates"),
    ("arms", " , ", "Name at least one"),
    ("arms", "jedi,jedi", "each teacher once"),
    ("long_steps", 41, "has 40 images, fewer than 41"),
    ("other_steps", 2, "3 random images at the start"),
    ("memory_max_length", 1, "cannot have fewer images than the first"),
    ("memory_max_length", 13, "different pictures"),
    ("beta_mapping", "guessed", "not a valid choice"),
    ("fixed_beta", 0.4, "Leave it empty, or choose “fixed”"),
    ("memory_trials", 1, "greater than or equal to 2"),
    ("medium_memory_up_to", 4.5, "more than the limit of a short memory"),
    ("return_url", "javascript:alert(1)", "https://"),
    ("return_url", "https://x.example/{PROLIFIC_PID}", "Filled in are only: {code}"),
    ("mturk_return_url", "https://x.example/{SESSION_ID}", "{workerId}, {assignmentId}, {hitId}"),
    ("bonus_share", 1.5, "less than or equal to 1"),
    ("max_participants", 0, "greater than or equal to 1"),
    ("learning_rate", 0, "greater than or equal to"),
    ("slug", "not a link name", "letters, numbers, underscores or hyphens"),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("field", "value", "reason"), WRONG, ids=lambda part: str(part)[:40])
def test_a_wrong_setting_is_refused_with_the_reason(field, value, reason):
    with pytest.raises(ValidationError) as refusal:
        make_study(**{field: value})
    assert set(refusal.value.message_dict) == {field}
    assert re.search(reason, " ".join(refusal.value.message_dict[field]))
    assert not Study.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("beta", [None, -0.1, 1, 1.5, float("nan")])
def test_a_fixed_memory_decay_needs_a_number_below_one(beta):
    with pytest.raises(ValidationError, match=r"0 to less than 1|at least 0 and less than 1"):
        make_study(beta_mapping="fixed", fixed_beta=beta)


@pytest.mark.django_db
def test_a_link_that_was_for_everybody_goes_to_the_recruiters_whose_ids_it_asks_for():
    migration = import_module("studies.migrations.0011_return_links")
    for link, names in {
        "https://x.example/{code}": {"return_url", "prolific_return_url", "mturk_return_url"},
        "https://x.example/{SESSION_ID}": {"prolific_return_url"},
        "https://x.example/{hitId}": {"mturk_return_url"},
    }.items():
        study = make_study()
        Study.objects.filter(pk=study.pk).update(return_url=link)
        migration.give_everybody_the_link(apps, None)
        study.refresh_from_db()
        assert {name for name in migration.OWN if getattr(study, name) == link} == names
        assert {getattr(study, name) for name in migration.OWN} <= {link, ""}
        migration.keep_one_link(apps, None)
        study.refresh_from_db()
        assert study.return_url == link


def change_page(study: Study) -> str:
    return f"/admin/studies/study/{study.pk}/change/"


@pytest.mark.django_db
def test_the_form_refuses_an_evaluation_that_the_data_set_cannot_fill(researcher):
    study = make_study(dataset=make_dataset(evaluation=20))
    values = form_values(researcher, change_page(study)) | {"evaluation_size": "22"}
    reply = researcher.post(change_page(study), values)
    assert reply.status_code == 200
    page = reply.content.decode()
    assert "has 10 evaluation images of “wild”, and 11 are needed" in page
    assert "Choose at most 20 or a larger data set." in page
    study.refresh_from_db()
    assert study.evaluation_size == 6


@pytest.mark.django_db
def test_the_form_takes_what_the_data_set_can_fill(researcher):
    study = make_study(dataset=make_dataset(evaluation=20))
    values = form_values(researcher, change_page(study)) | {"evaluation_size": "20"}
    reply = researcher.post(change_page(study), values)
    assert reply.status_code == 302, reply.context["adminform"].form.errors
    study.refresh_from_db()
    assert study.evaluation_size == 20


@pytest.mark.django_db
def test_a_form_without_numbers_names_the_fields_and_does_not_break(researcher):
    study = make_study()
    for field in (
        "evaluation_size",
        "short_steps",
        "memory_max_length",
        "dataset",
        "learning_rate_decay",
    ):
        values = form_values(researcher, change_page(study)) | {field: ""}
        reply = researcher.post(change_page(study), values)
        assert reply.status_code == 200
        assert field in reply.context["adminform"].form.errors


@pytest.mark.django_db
def test_a_teacher_that_cannot_serve_so_large_a_pool_is_refused():
    dataset = make_dataset(teaching=10, evaluation=6)
    Example.objects.bulk_create(
        Example(dataset=dataset, split="teaching", pool_index=row, label=1)
        for row in range(10, 10_001)
    )
    with pytest.raises(ValidationError, match="EER serves pools of up to 10000 images"):
        make_study(dataset=dataset, arms="jedi,eer")
    make_study(dataset=dataset, arms="jedi,imt,rt")
