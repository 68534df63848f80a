"""The first page of the desk: a researcher's studies with how they stand, and plain names for every list."""

import re

import pytest

from desk.home import grouped_lists
from studies.models import Participant, Study
from tests.builders import make_dataset, make_participant, make_study
from tests.people import browser_of, make_researcher, share, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada():
    return make_researcher("ada")


def page(user, path="/admin/") -> str:
    return text_of(browser_of(user), path)


def study_of(owner, title):
    return make_study(dataset=make_dataset(teaching=12, evaluation=6), owner=owner, title=title)


def test_a_researcher_meets_their_own_studies_first(ada):
    study = study_of(ada, "Moths")
    study_of(make_researcher("grace"), "Ferns")
    make_participant(study)
    text = page(ada)
    assert "Moths" in text and "Ferns" not in text
    assert "0 of 1 person has finished" in text
    assert f'href="/admin/studies/study/{study.pk}/monitor/"' in text


def test_bots_and_previews_are_not_counted_on_the_first_page(ada):
    person = make_participant(study_of(ada, "Moths"))
    person.purpose = "rehearsal"
    person.save()
    assert "Nobody has joined yet" in page(ada)


def test_who_has_no_study_is_told_what_one_needs(ada):
    text = page(ada)
    assert "There is no study yet" in text
    assert 'href="/admin/datasets/import/add/"' in text


def test_the_first_page_costs_the_same_with_many_studies(ada, django_assert_max_num_queries):
    browser = browser_of(ada)
    for number in range(10):
        study_of(ada, f"Moths {number}")
    with django_assert_max_num_queries(13):
        text = browser.get("/admin/").content.decode()
    assert "Moths 9" in text and "Moths 1<" not in text
    assert "All 10 studies" in text


# What to do next


@pytest.mark.parametrize(
    ("state", "people", "sentence", "first"),
    [
        ("draft", 0, "rehearse it with bots", "preview"),
        ("pilot", 0, "Send the link to a few people", "share"),
        ("open", 0, "Share the link.", "share"),
        ("open", 1, "Follow its progress.", "monitor"),
        ("open", 2, "The target number has finished: close the study.", "monitor"),
        ("paused", 1, "Open it again, or close it", "checks"),
        ("closed", 0, "It ended without results.", "checks"),
        ("closed", 2, "Review the flagged sessions", "quality"),
    ],
)
def test_every_study_says_what_to_do_next(ada, state, people, sentence, first):
    study = study_of(ada, "Moths")
    for _ in range(people):
        make_participant(study)
    Participant.objects.update(stage="done")
    Study.objects.update(state=state, target_per_arm=2, arms="jedi")
    step = page(ada).partition('class="own-next"')[2]
    assert sentence in step
    assert re.search(r'href="([^"]+)"', step)[1] == f"/admin/studies/study/{study.pk}/{first}/"


def test_who_may_only_read_is_offered_nothing_to_change(ada):
    study = study_of(make_researcher("grace"), "Ferns")
    share(study, ada)
    step = page(ada).partition('class="own-next"')[2].partition("</div>")[0]
    assert "Shared with you for reading." in step
    assert "/results/" in step and "/checks/" not in step


# Lists and documents


def test_every_list_is_named_once(admin_user):
    text = page(admin_user)
    for name in ("Data sets", "Imports", "Studies", "Participants", "Users"):
        assert len(re.findall(f">\\s*{name}\\s*</a>", text)) == 1, name
    assert text.count("Data sets") == 1


def test_a_list_that_no_group_names_is_not_lost():
    model = {"object_name": "Weather", "name": "Weathers", "admin_url": "/w/", "add_url": None}
    (group,) = grouped_lists([{"models": [model]}])
    assert (group["title"], group["rows"][0]["title"]) == ("Other", "Weathers")


def test_the_first_page_leads_to_the_documentation(ada):
    text = page(ada)
    assert 'href="/admin/docs/researchers/"' in text
    assert 'href="/admin/docs/"' in text


def test_the_queue_of_the_server_is_no_business_of_researchers(admin_user):
    assert "Task" not in page(admin_user)


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("studies/dataset", "Data sets"),
        ("datasets/import", "Imports"),
        ("desk/accesstoken", "Access tokens"),
        ("studies/study", "Studies"),
        ("studies/participant", "Participants"),
    ],
)
def test_every_list_is_called_by_what_is_in_it(ada, path, title):
    text = page(ada, f"/admin/{path}/")
    assert f"<h1>{title}</h1>" in text
    assert f"<title> {title} | JEDI Web" in text


def test_the_people_of_one_study_are_listed_without_its_name_in_every_row(ada):
    study = study_of(ada, "Moths")
    make_participant(study)
    assert "column-study_title" in page(ada, "/admin/studies/participant/")
    of_one = page(ada, f"/admin/studies/participant/?study__id__exact={study.pk}")
    assert "column-study_title" not in of_one and "column-gain" in of_one
