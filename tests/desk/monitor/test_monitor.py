"""The live monitor: what it counts, whom it lists, what its buttons do, and at what cost."""

import itertools
import re
from collections import Counter
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from desk.filters import PURPOSES
from desk.monitor import (
    EVERYBODY,
    EXCLUDED,
    PAGE_SIZE,
    Monitor,
    MonitorFilter,
    funnel,
    live_context,
    place_titles,
    time_ago,
)
from studies import services, stages
from studies.errors import StateNotAllowed
from studies.head_counts import UNDER_WAY
from studies.models import AuditEntry, Participant, SessionEvent, Study, StudyShare, StudyVersion
from tests.builders import make_dataset, make_study
from tests.crowd import make_crowd
from tests.worker import Worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    dataset = make_dataset(teaching=12, evaluation=8)
    return make_study(dataset=dataset, max_participants=500, target_per_arm=30)


@pytest.fixture
def crowd(study) -> list[Participant]:
    return make_crowd(study, 150)


def address(study: Study, rest: str = "") -> str:
    return f"/admin/studies/study/{study.pk}/monitor/{rest}"


def page_of(client: Client, study: Study, rest: str = "", **parameters: str) -> str:
    reply = client.get(address(study, rest), parameters)
    assert reply.status_code == 200
    return reply.content.decode()


def add(study: Study, **fields) -> Participant:
    version = StudyVersion.freeze(study)
    return Participant.objects.create(study=study, version=version, **fields)


def figure(study: Study, key: str, **parameters: str) -> tuple[str, str]:
    rows = {row["key"]: row for row in live_context(study, parameters)["figures"]}
    return str(rows[key]["value"]), rows[key]["note"]


# What is counted, against a plain look at every row


def status_of(person: Participant) -> str:
    if person.has_expired:
        return "abandoned"
    return UNDER_WAY if person.is_under_way else person.stage


def belongs(person: Participant, choice: MonitorFilter) -> bool:
    """Whether a list has somebody, said in another way than the product says it."""
    here = {
        EVERYBODY: True,
        EXCLUDED: person.is_excluded,
        person.stage: status_of(person) in (UNDER_WAY, person.stage),
        status_of(person): True,
    }.get(choice.place, False)
    has_arm = choice.arm in ("", person.arm or "none")
    return person.purpose == choice.purpose and here and has_arm


def test_every_list_has_whom_it_should_and_counts_them(study, crowd):
    make_crowd(study, 30, seed=6, purpose="pilot")
    people = list(study.participants.order_by("-pk"))
    assert {status_of(person) for person in people} == {UNDER_WAY, *Participant.ENDS}
    for purpose, place, arm in itertools.product(PURPOSES, place_titles(), ["", "jedi", "none"]):
        choice = MonitorFilter(purpose, place, arm)
        expected = [person.pk for person in people if belongs(person, choice)]
        monitor = Monitor(study, choice)
        assert monitor.count(choice) == len(expected), choice
        assert [row.participant.pk for row in monitor.people] == expected[:PAGE_SIZE], choice


def test_the_funnel_counts_how_far_everybody_came(study, crowd):
    steps = {step.stage: step for step in funnel(Monitor(study, MonitorFilter()).groups)}
    marks = [
        None, "consented_at", "teaching_started_at", "evaluation_started_at",
    ]  # fmt: skip
    people = list(study.participants.all())
    for stage, mark in zip(stages.labels(), marks, strict=True):
        assert steps[stage].reached == sum(mark is None or bool(getattr(p, mark)) for p in people)
        here = [p for p in people if p.stage == stage and status_of(p) == UNDER_WAY]
        assert steps[stage].here == len(here)
    assert steps["done"].reached == sum(p.stage == "done" for p in people)
    lost = sum(status_of(p) in ("abandoned", "declined", "withdrawn") for p in people)
    assert sum(step.lost for step in steps.values()) == lost


def test_who_withdrew_and_left_nothing_but_a_teacher_came_to_teaching(study):
    add(study, stage="withdrawn", arm="rt", finished_at=timezone.now())
    steps = {step.stage: step for step in funnel(Monitor(study, MonitorFilter()).groups)}
    assert (steps["teaching"].reached, steps["teaching"].lost, steps["evaluation"].reached) == (
        1,
        1,
        0,
    )


def test_every_teacher_has_its_counts_beside_what_it_lost(study, crowd):
    rows = {row["name"]: row for row in live_context(study, {})["arms"]}
    assert [*rows] == [*study.arm_names, ""]
    for arm, row in rows.items():
        people = list(study.participants.filter(arm=arm))
        counts = Counter(status_of(p) for p in people if not p.is_excluded)
        head_count = row["head_count"]
        assert (head_count.done, head_count.under_way) == (counts["done"], counts[UNDER_WAY])
        assert (head_count.abandoned, head_count.withdrawn) == (
            counts["abandoned"],
            counts["withdrawn"],
        )
        assert head_count.excluded == sum(p.is_excluded for p in people)
        assert head_count.joined == len(people)
        ended = sum(counts.values()) - counts[UNDER_WAY]
        assert row["lost"] == f"{100 * (ended - counts['done']) / ended:.0f}\u00a0%"


def test_the_page_shows_targets_for_live_people_alone(researcher, study, crowd):
    assert "of 30 (target)" in page_of(researcher, study)
    pilot = page_of(researcher, study, purpose="pilot")
    assert "(target)" not in pilot
    assert "excluded from the results" in pilot


# How long it takes, and what it pays


def finish(study: Study, minutes: float, **fields) -> None:
    start = timezone.now() - timedelta(hours=3)
    end = start + timedelta(minutes=minutes)
    add(study, stage="done", arm="rt", consented_at=start, finished_at=end, **fields)


def test_pay_per_hour_follows_from_the_median_duration(study):
    Study.objects.filter(pk=study.pk).update(reward="3.00", currency="USD")
    study.refresh_from_db()
    assert figure(study, "pay") == ("–", "USD 3.00 each; nobody has finished yet")
    for minutes in (10, 20, 45, 30):
        finish(study, minutes)
    # Whoever does not count does not change it.
    finish(study, 400, is_excluded=True)
    finish(study, 400, purpose="pilot")
    assert figure(study, "minutes")[0] == "25\N{NO-BREAK SPACE}min 00\N{NO-BREAK SPACE}s"
    assert figure(study, "pay")[0] == "USD 7.20"
    assert (
        figure(study, "minutes", purpose="pilot")[0]
        == "400\N{NO-BREAK SPACE}min 00\N{NO-BREAK SPACE}s"
    )


def test_without_a_pay_a_sentence_says_where_to_set_it(study):
    finish(study, 10)
    assert figure(study, "pay") == ("–", "set the pay on the set-up page to see it")


def test_places_are_counted_as_joining_counts_them(study):
    finish(study, 10, is_excluded=True)
    add(study, stage="memory", consented_at=timezone.now())
    add(study, stage="memory", last_seen_at=timezone.now() - timedelta(days=9))
    add(study, stage="memory", purpose="pilot")
    taken = study.participants.live().occupying(study.cutoff).count()
    assert figure(study, "places") == (f"{taken} of 500", f"{500 - taken} left")
    Study.objects.filter(pk=study.pk).update(max_participants=None)
    study.refresh_from_db()
    assert figure(study, "places") == ("2", "no limit")


# Who is where


def test_the_list_says_where_somebody_is_since_when_and_how_far(study):
    workers = {}
    for stage, answers in {"memory": 1, "teaching": 3, "evaluation": 2}.items():
        workers[stage] = Worker(study)
        workers[stage].go_to(stage)
        for _ in range(answers):
            workers[stage].answer_current()
    rows = {row["status"]: row for row in live_context(study, {})["people"]}
    assert (
        rows["teaching"]["progress"]
        == f"image 4 of {workers['teaching'].participant.teaching_steps}"
    )
    assert rows["evaluation"]["progress"] == "image 3 of 6"
    assert rows["memory"]["progress"] == "trial 1 of 2"
    assert rows["teaching"]["code"] == workers["teaching"].participant.code
    began = workers["teaching"].participant.teaching_started_at
    assert rows["teaching"]["since"]["at"] == began


def test_who_has_gone_is_listed_with_the_moment_they_were_gone(study):
    long_ago = timezone.now() - timedelta(days=3)
    add(study, stage="teaching", arm="rt", teaching_steps=6, last_seen_at=long_ago)
    finish(study, 20)
    [overdue] = live_context(study, {"place": "abandoned"})["people"]
    assert (overdue["status"], overdue["since"]["at"], overdue["progress"]) == (
        "abandoned",
        long_ago,
        "",
    )
    [done] = live_context(study, {"place": "done"})["people"]
    assert done["since"]["at"] == study.participants.get(stage="done").finished_at


@pytest.mark.parametrize(
    ("passed", "words"), [(0, "now"), (59, "now"), (60, "1 min"), (7199, "1 h"), (90_000, "1 d")]
)
def test_ages_are_told_roughly(passed, words):
    assert time_ago(timedelta(seconds=passed)) == words


def test_pages_of_the_list_lead_through_everybody_once(researcher, study):
    make_crowd(study, 2 * PAGE_SIZE + 7)
    codes: list[str] = []
    query = "?place=everybody"
    while query:
        page = page_of(researcher, study, query)
        codes += re.findall(r'<tr id="p-([^"]+)"', page)
        found = re.search(r'href="[^"?]*(\?[^"#]*)#people" rel="next"', page)
        query = found[1].replace("&amp;", "&") if found else ""
    assert sorted(codes) == sorted(study.participants.values_list("code", flat=True))
    beyond = page_of(researcher, study, place="everybody", page="999")
    assert "Page 3 of 3" in beyond


def test_nonsense_in_the_address_is_the_plain_page(researcher, study, crowd):
    plain = page_of(researcher, study)
    strange = page_of(researcher, study, purpose="preview", place="moon", arm="x", page="-1")
    count = re.compile(r"Page 1 of \d+, (\d+) in all")
    assert count.search(strange)[1] == count.search(plain)[1]


def test_an_empty_study_says_so(researcher, study):
    assert "nobody has joined yet" in page_of(researcher, study)


# What went wrong


def test_errors_of_the_last_day_are_told_together(researcher, study):
    people = [add(study), add(study), add(study, purpose="pilot")]
    old = timezone.now() - timedelta(hours=25)
    rows = [(0, "error", "<b>oh</b>"), (1, "error", "<b>oh</b>"), (1, "error", "<b>oh</b>"),
            (0, "offline", ""), (0, "hidden", ""), (2, "error", "of a pilot")]  # fmt: skip
    for person, kind, detail in rows:
        SessionEvent.objects.create(
            participant=people[person], kind=kind, detail=detail, position=1
        )
    SessionEvent.objects.create(participant=people[0], kind="error", position=1, at=old)
    troubles = live_context(study, {})["errors"]
    assert [(t["detail"], t["people"], t["count"]) for t in troubles] == [
        ("<b>oh</b>", 2, 3), ("", 1, 1),
    ]  # fmt: skip
    page = page_of(researcher, study)
    assert "&lt;b&gt;oh&lt;/b&gt;" in page
    assert "<b>oh</b>" not in page


# What it costs


def cost(client: Client, study: Study, rest: str = "") -> int:
    with CaptureQueriesContext(connection) as asked:
        page_of(client, study, rest)
    return len(asked)


def test_more_people_ask_no_more_questions(researcher, study, crowd):
    page_of(researcher, study)  # The ceiling of the data set is worked out once.
    few = [cost(researcher, study), cost(researcher, study, "news/")]
    make_crowd(study, 300, seed=9)
    assert [cost(researcher, study), cost(researcher, study, "news/")] == few
    # Session, user, study and rights; the head counts, durations, the list with three kinds of progress, and errors;
    # then what the checks ask: five about the data set's images, its page, who has heard scores of them, a forecast,
    # durations and versions.
    assert few == [22, 22]


# Who may see it, and what changes by itself


def test_the_news_are_the_part_of_the_page_that_changes(researcher, study, crowd):
    news = page_of(researcher, study, "news/", place="teaching")
    page = page_of(researcher, study, place="teaching")
    assert "<html" not in news
    assert 'id="people"' in news
    assert f'data-news-url="{address(study, "news/")}"' in page
    links = re.findall(r'href="([^"?]+)\?', news)
    assert set(links) == {address(study)}, "they lead to the page, not to its news"


def assistant(study: Study, can_edit: bool) -> Client:
    user = User.objects.create_user("grace", is_staff=True)
    user.user_permissions.set(
        Permission.objects.filter(codename__in=["view_study", "change_study"])
    )
    StudyShare.objects.create(study=study, user=user, can_edit=can_edit)
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


ORDERS = ("arms/rt/close/", "arms/rt/open/", "places/")


def test_a_reader_sees_the_page_without_its_buttons(study, crowd):
    reader = assistant(study, can_edit=False)
    page = page_of(reader, study)
    assert "<form" not in page[page.index('class="monitor-page"') :].split("</main>")[0]
    for order in ORDERS:
        assert reader.post(address(study, order), {"more": "5"}).status_code == 403
    assert not AuditEntry.objects.exists()


def test_a_stranger_finds_nothing(study, crowd):
    reader = assistant(make_study(dataset=study.dataset), can_edit=True)
    for path in ("", "news/", *ORDERS):
        assert reader.get(address(study, path)).status_code == 404


def test_buttons_take_a_post(researcher, study):
    for order in ORDERS:
        assert researcher.get(address(study, order)).status_code == 405


# What the buttons do


def test_an_arm_is_closed_and_opened_again_on_record(study):
    editor = assistant(study, can_edit=True)
    reply = editor.post(address(study, "arms/imt/close/") + "?place=done")
    assert reply["Location"] == address(study) + "?place=done"
    study.refresh_from_db()
    assert study.open_arms == ["jedi", "eer", "rt"]
    assert "IMT is closed to new participants" in page_of(editor, study)
    editor.post(address(study, "arms/imt/open/"))
    study.refresh_from_db()
    assert study.closed_arms == []
    entries = AuditEntry.objects.filter(study=study, actor_name="grace", action="state")
    assert [entry.detail for entry in entries.order_by("pk")] == [
        "The teacher imt was closed.", "The teacher imt was opened again.",
    ]  # fmt: skip


def test_twice_is_once(study, admin_user):
    for _ in range(2):
        services.close_arm(study, "rt", admin_user)
    study.refresh_from_db()
    assert study.closed_arms == ["rt"]
    for _ in range(2):
        services.reopen_arm(study, "rt", admin_user)
    assert AuditEntry.objects.count() == 2


def test_the_last_open_arm_stays_open(researcher, study, admin_user):
    for arm in ("jedi", "imt", "eer"):
        services.close_arm(study, arm, admin_user)
    page = page_of(researcher, study)
    assert address(study, "arms/rt/close/") not in page
    reply = researcher.post(address(study, "arms/rt/close/"), follow=True)
    assert "last open teacher" in reply.content.decode()
    study.refresh_from_db()
    assert study.open_arms == ["rt"]
    assert AuditEntry.objects.count() == 3


def test_an_arm_that_the_study_has_not_is_refused(study, admin_user):
    for change in (services.close_arm, services.reopen_arm):
        with pytest.raises(StateNotAllowed, match="no such teacher"):
            change(study, "nobody", admin_user)


def test_a_closed_arm_that_left_the_settings_does_not_count_as_one(study, admin_user):
    services.close_arm(study, "eer", admin_user)
    study.arms = "jedi,rt"
    study.save()
    services.close_arm(study, "rt", admin_user)
    study.refresh_from_db()
    assert (study.closed_arms, study.open_arms) == (["rt"], ["jedi"])


def test_places_are_added_on_record(researcher, study):
    page = researcher.post(address(study, "places/"), {"more": "25"}, follow=True)
    assert "There are now 525 places." in page.content.decode()
    study.refresh_from_db()
    assert study.max_participants == 525
    assert AuditEntry.objects.get().detail == "25 places were added; there are 525 now."


@pytest.mark.parametrize("more", ["0", "-3", "many", "10001", "9" * 40, "", "½"])
def test_no_nonsense_is_added(researcher, study, more):
    page = researcher.post(address(study, "places/"), {"more": more}, follow=True)
    assert "Add between 1 and 10,000 places" in page.content.decode()
    study.refresh_from_db()
    assert study.max_participants == 500


def test_a_study_without_a_limit_has_no_places_to_add(researcher):
    study = make_study(dataset=make_dataset(teaching=12, evaluation=8))
    assert address(study, "places/") not in page_of(researcher, study)
    page = researcher.post(address(study, "places/"), {"more": "5"}, follow=True)
    assert "number of places in this study is not limited" in page.content.decode()


def test_the_monitor_pauses_and_opens_the_study(researcher, study):
    state = f"/admin/studies/study/{study.pk}/state/"
    assert f'action="{state}"' in page_of(researcher, study)
    for wanted in ("paused", "open", "closed"):
        reply = researcher.post(state, {"state": wanted, "back": "monitor"})
        assert reply["Location"] == address(study)
        study.refresh_from_db()
        assert study.state == wanted
        assert f"The study is {wanted}" in page_of(researcher, study)
