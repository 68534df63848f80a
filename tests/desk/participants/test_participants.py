"""Participants in the admin: everything can be read, by whom it concerns, and nothing can be changed."""

import re
from dataclasses import asdict

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from desk import participant as participant_page
from desk.sharing import RESEARCHERS
from evaluation.models import EvaluationItem
from image_datasets.checks.insight import map_of
from studies.models import Participant, SessionEvent, StudyShare
from teaching.engine import TEACHERS
from teaching.models import TeachingStep
from tests.builders import database_snapshot, make_dataset, make_participant, make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db

LIST = "/admin/studies/participant/"


def page_of(participant: Participant) -> str:
    return f"{LIST}{participant.pk}/change/"


def why_of(participant: Participant, step: int) -> str:
    return f"{LIST}{participant.pk}/why/{step}/"


def read(client: Client, address: str) -> str:
    reply = client.get(address)
    assert reply.status_code == 200
    return reply.content.decode()


def colleague(name: str = "colleague") -> Client:
    """A signed-in researcher who owns nothing."""
    user = User.objects.create_user(name, password="x", is_staff=True)
    user.groups.add(Group.objects.get(name=RESEARCHERS))
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def finished_by(arm: str = "rt", **settings) -> Participant:
    dataset = make_dataset(
        teaching=14, evaluation=10, insight=lambda pool, order: {"map": asdict(map_of(pool))}
    )
    worker = Worker(make_study(dataset=dataset, arms=arm, **settings), PROLIFIC_PID="5f1e")
    worker.go_to("done")
    return worker.participant


@pytest.fixture(scope="module")
def somebody(make_once) -> Participant:
    return make_once(finished_by)


@pytest.fixture
def finished(somebody) -> Participant:
    return Participant.objects.get(pk=somebody.pk)


# The list


def test_the_list_shows_where_everybody_stands(researcher, finished):
    page = read(researcher, LIST)
    for text in (finished.code, "RT", "live", f"{100 * finished.evaluation_accuracy:.1f}"):
        assert text in page
    for gain, shown in ((0.25, "+25.0"), (-0.125, "−12.5"), (0.0, "+0.0")):
        Participant.objects.update(teaching_gain=gain)
        assert shown in read(researcher, LIST)


FILTERS = {
    "stage__exact=done": True, "stage__exact=memory": False,
    "arm=rt": True, "arm=jedi": False, "arm=none": False,
    "purpose__exact=live": True, "purpose__exact=pilot": False,
    "is_excluded__exact=0": True, "is_excluded__exact=1": False,
    "q={code}": True, "q=ZZZZ-ZZZZ": False,
    "study__id__exact={study}": True, "study__id__exact=987": False,
}  # fmt: skip


def test_the_list_can_be_searched_and_filtered(researcher, finished):
    for query, is_found in FILTERS.items():
        wanted = query.format(code=finished.code, study=finished.study_id)
        assert (page_of(finished) in read(researcher, f"{LIST}?{wanted}")) == is_found, query


def test_the_list_of_one_study_is_a_page_of_that_study(researcher, finished):
    menu = 'aria-label="Pages of this study"'
    assert menu in read(researcher, f"{LIST}?study__id__exact={finished.study_id}")
    assert menu not in read(researcher, LIST)


def test_the_list_names_no_study_and_nobody_of_strangers(finished):
    make_study(dataset=finished.study.dataset, title="Somebody else’s")
    client = colleague()
    user = User.objects.get(username="colleague")
    for title in ("My own", "My other"):
        study = make_study(dataset=finished.study.dataset, title=title)
        type(study).objects.filter(pk=study.pk).update(owner=user)
    own = make_participant(study)
    page = read(client, LIST)
    assert own.code in page
    assert "My own" in page
    assert finished.code not in page
    assert finished.study.title not in page
    assert "Somebody else" not in page
    assert finished.study.title not in read(client, f"{LIST}?study__id__exact={finished.study_id}")


def statements(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        read(client, address)
    return len(captured)


def test_the_list_costs_seven_statements_however_many_there_are(researcher, finished):
    other = make_study(dataset=finished.study.dataset)
    make_participant(other)
    read(researcher, LIST)
    assert statements(researcher, LIST) <= 7
    few = statements(researcher, LIST)
    for _ in range(6):
        make_participant(other)
    assert statements(researcher, LIST) == few


# The page of one


def test_the_page_shows_the_whole_session(researcher, finished):
    finished.memoryrounds.update(shown_ms=3040.0)
    page = read(researcher, page_of(finished))
    for step in TeachingStep.objects.of(finished):
        assert f'href="{why_of(finished, step.step)}"' in page
        assert step.example.key in page
    for item in EvaluationItem.objects.of(finished):
        assert item.example.key in page
    for row in finished.memoryrounds.all():
        assert row.pictures[0] in page
        assert f"3.04\u00a0s of {row.exposure_ms / 1000:.2f}\u00a0s" in page
    right = finished.teachingsteps.filter(is_correct=True).count()
    right += finished.evaluationitems.filter(is_correct=True).count()
    right += finished.memoryrounds.filter(is_correct=True).count()
    assert page.count('href="#icon-right"/></svg> right</span>') == right
    assert page.count("said wild, is domestic") + page.count("said domestic, is wild") == (
        finished.teachingsteps.filter(is_correct=False).count()
    )


def test_the_page_tells_the_facts(researcher, finished):
    page = read(researcher, page_of(finished))
    for fact in (
        f"{finished.memory_span:g}", f"{finished.beta:.3f}", finished.version.hash[:12], f"{finished.seed}", "5f1e",
        f"{finished.unique_examples} of {finished.teaching_steps}", "cold start",
    ):  # fmt: skip
        assert fact in page


def test_events_excluded_people_and_previews_are_told(researcher, finished):
    assert "No events were recorded." in read(researcher, page_of(finished))
    SessionEvent.objects.create(participant=finished, kind="error", position=4, detail="It broke")
    Participant.objects.update(purpose="preview", is_excluded=True)
    page = read(researcher, page_of(finished))
    for text in ("error on the page", "It broke", "preview: excluded from results", "excluded"):
        assert text in page


def test_a_session_under_way_can_be_read_too(researcher):
    worker = Worker(make_study(dataset=make_dataset(teaching=14, evaluation=6), arms="jedi"))
    for stage in ("consent", "memory", "teaching", "evaluation"):
        worker.go_to(stage)
        page = read(researcher, page_of(worker.participant))
        assert ("no answer yet" in page) == (stage != "consent")
        assert ("Not reached." in page) == (stage != "evaluation")


def test_attention_checks_are_neither_right_nor_wrong(researcher):
    participant = finished_by(attention_checks=2)
    page = read(researcher, page_of(participant))
    assert page.count("check passed") + page.count("check failed") == 2


def test_a_changed_step_is_told_on_both_pages(researcher):
    participant = finished_by("jedi")
    last = TeachingStep.objects.of(participant).last()
    spare = participant.study.dataset.examples.filter(split="teaching").exclude(pk=last.example_id)
    last.example = spare[0]
    last.save()
    page = read(researcher, page_of(participant))
    assert f"Replay: {last.step - 1} of {last.step} choices match." in page
    assert f"Steps {last.step} come out differently" in page
    assert page.count(">replay differs<") == 1
    assert "the choice would be another image" in read(researcher, why_of(participant, last.step))


def test_a_large_pool_is_replayed_only_when_asked_for(researcher, monkeypatch):
    participant = finished_by("jedi")
    monkeypatch.setattr(participant_page, "MAX_AUTOMATIC_REPLAY", 10)
    page = read(researcher, page_of(participant))
    assert "choices match" not in page
    assert "<dt>rank</dt>" not in page
    assert "<dt>score</dt>" in page
    page = read(researcher, f"{page_of(participant)}?replay=1")
    assert "choices match" in page
    assert "<dt>rank</dt>" in page


def test_a_session_of_a_teacher_that_is_gone_can_still_be_read(researcher, finished):
    Participant.objects.update(arm="oracle")
    assert "Cannot be replayed." in read(researcher, page_of(finished))
    assert "There is no teacher" in read(researcher, why_of(finished, 2))


def test_the_pages_cost_the_same_however_long_the_session_is(researcher):
    costs = set()
    for steps in (4, 12):
        lengths = dict.fromkeys(("short_steps", "medium_steps", "long_steps", "other_steps"), steps)
        participant = finished_by("jedi", **lengths)
        pages = page_of(participant), why_of(participant, steps)
        for page in pages:
            read(researcher, page)
        costs.add(tuple(statements(researcher, page) for page in pages))
    [(whole, why)] = costs
    assert whole <= 14
    assert why <= 11


# Why this image


@pytest.mark.parametrize("arm", TEACHERS)
def test_a_session_of_every_teacher_can_be_replayed_and_explained(researcher, arm):
    participant = finished_by(arm)
    last = participant.teachingsteps.count()
    assert f"Replay: {last} of {last} choices match." in read(researcher, page_of(participant))
    page = read(researcher, why_of(participant, last))
    for name in TEACHERS:
        title = TEACHERS[name].title
        assert (f"{title} would have shown" in page) == (name != arm)
    says = {"rt": "Chance decided", "eer": "Risk is", "tracked": "nine times out of ten"}
    assert says.get(arm, "<b>Usefulness</b> is") in page
    assert ("The best of" in page) == (arm != "rt")
    assert 'class="ring"' in page
    assert page.count("<circle") + page.count("<rect") > 14
    assert f'href="{why_of(participant, last - 1)}"' in page
    assert f'href="{why_of(participant, last + 1)}"' not in page


def test_the_parts_on_the_page_are_those_that_were_stored(researcher):
    participant = finished_by("jedi")
    step = TeachingStep.objects.of(participant).last()
    page = read(researcher, why_of(participant, step.step))
    numbers = dict(re.findall(r"<dt>(diversity|usefulness|score)</dt><dd>([^<]+)</dd>", page)[:3])
    for name, text in numbers.items():
        shown = float(text.replace("−", "-"))
        places = len(text.partition(".")[2])
        assert shown == pytest.approx(getattr(step, name), abs=10**-places)
    assert len(numbers) == 3


def test_the_cold_start_is_chance_and_the_same_for_everybody(researcher, finished):
    page = read(researcher, why_of(finished, 2))
    assert "Chance decided" in page
    assert "The cold start is the same for every teacher" in page
    assert "would have shown" not in page


def test_a_data_set_without_a_map_says_so(researcher):
    worker = Worker(make_study(dataset=make_dataset(teaching=14, evaluation=6), arms="jedi"))
    worker.go_to("evaluation")
    assert "This data set has no map" in read(researcher, why_of(worker.participant, 5))


def test_an_image_that_waits_for_its_answer_is_explained_already(researcher):
    worker = Worker(make_study(dataset=make_dataset(teaching=14, evaluation=6), arms="eer"))
    worker.go_to("teaching")
    assert "has not answered yet" in read(researcher, why_of(worker.participant, 1))


def test_a_step_that_was_never_taken_is_not_found(researcher, finished):
    for step in (0, finished.teaching_steps + 1, 99):
        assert researcher.get(why_of(finished, step)).status_code == 404


def test_the_pages_have_nothing_that_the_policy_forbids(researcher, finished):
    for address in (page_of(finished), why_of(finished, 5)):
        page = read(researcher, address)
        content = page[page.index('<div class="participant') :]
        assert " style=" not in content
        assert "<style" not in content
        assert "<script" not in content[: content.index("</section>")]


# Who may see it


def pages(participant: Participant) -> list[str]:
    return [page_of(participant), why_of(participant, 1)]


def test_the_secret_of_a_session_is_on_no_page(researcher, finished):
    for address in (LIST, *pages(finished)):
        assert finished.token not in read(researcher, address)


def test_histories_can_be_neither_changed_nor_deleted_nor_invented(researcher, finished):
    before = database_snapshot(but=["django_session", "django_admin_log"])
    for address in (*pages(finished), f"{LIST}{finished.pk}/delete/", f"{LIST}add/"):
        assert researcher.post(address, {"stage": "consent", "post": "yes"}).status_code == 403
    assert researcher.post(
        LIST, {"action": "delete_selected", "_selected_action": [finished.pk], "post": "yes"}
    ).status_code in {200, 302, 403}
    assert database_snapshot(but=["django_session", "django_admin_log"]) == before


def test_a_study_with_participants_cannot_be_deleted(researcher, finished):
    researcher.post(f"/admin/studies/study/{finished.study.pk}/delete/", {"post": "yes"})
    assert Participant.objects.filter(pk=finished.pk).exists()


def test_strangers_are_sent_to_the_sign_in(finished):
    for address in (LIST, *pages(finished)):
        reply = Client().get(address)
        assert reply.status_code == 302
        assert reply["Location"].startswith("/admin/login/")


def test_for_researchers_without_a_share_a_participant_does_not_exist(finished):
    client = colleague()
    for address in pages(finished):
        assert client.get(address).status_code == 404
    user = User.objects.get(username="colleague")
    StudyShare.objects.create(study=finished.study, user=user)
    for address in pages(finished):
        assert client.get(address).status_code == 200


def test_whoever_may_see_no_participants_is_refused(finished):
    client = colleague()
    User.objects.get(username="colleague").groups.clear()
    for address in (LIST, *pages(finished)):
        assert client.get(address).status_code == 403


@pytest.mark.parametrize("number", ["0", "x", "99999999999999999999999"])
def test_who_is_nobody_is_not_found(researcher, number):
    assert researcher.get(f"{LIST}{number}/change/").status_code == 404
