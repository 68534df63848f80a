"""Bots that take a study through its own API, and what simulated workers let one expect."""

import csv
import io
import re
from concurrent.futures.process import BrokenProcessPool

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from analysis.exports.files import Selection, gain_csv
from rehearsal.bots import Bot, FeatureLookup, NoFeatures
from rehearsal.forecast import forecast
from rehearsal.http import Client as ServerClient
from rehearsal.http import ServerError
from rehearsal.models import Rehearsal
from rehearsal.services import run
from rehearsal.simulation import POPULATION
from studies.models import Participant
from studies.recruitment import invitation
from teaching import pools
from teaching.ceiling import ceiling_sentence
from teaching.choice import learning_rate_of
from teaching.engine import Habits, Population
from teaching.services import replay
from tests.builders import make_dataset, make_study
from tests.people import text_of


class Server:
    """The application itself, asked as the bots ask a server."""

    def __init__(self):
        self.client = Client()

    def get(self, path):
        return self.client.get(path).json()

    def post(self, path, body):
        reply = self.client.post(path, body, content_type="application/json")
        assert reply.status_code < 300, reply.content
        return reply.json()


def bot_in(study, number=0, population=POPULATION, **options):
    features = FeatureLookup(study.dataset)
    worker = population.worker(features.pool, learning_rate_of(study), [5, number])
    return Bot(Server(), worker, features, **options)


def take_part(study, number=0, population=POPULATION, **options):
    bot = bot_in(study, number, population, **options)
    return bot.take_part(study.slug, invitation(study, Participant.Purpose.REHEARSAL)), bot


def forecast_rows(study, workers, seed, processes=1):
    """Of every worker, its rows by teacher."""
    with forecast(study, workers, seed, processes) as results:
        return list(results)


@pytest.mark.django_db
def test_bots_take_the_whole_study_with_every_teacher_and_count_nowhere():
    study = make_study(memory_max_length=9, memory_trials=3)
    for number in range(4):
        stayed, _ = take_part(study, number)
        assert stayed
    people = list(study.participants.order_by("pk"))
    assert [person.arm for person in people] == ["jedi", "imt", "eer", "rt"]
    assert {(person.purpose, person.stage) for person in people} == {("rehearsal", "done")}
    assert len(list(gain_csv(Selection(study)))) == 1
    for person in people:
        assert all(step.matches for step in replay(person))


@pytest.mark.django_db
def test_the_memory_test_finds_the_span_of_a_bot():
    study = make_study(memory_max_length=9, memory_trials=3)
    exact = Population(span=5.0, span_sd=0.0)
    take_part(study, 0, exact)
    assert study.participants.get().memory_lengths == [5, 5, 5]
    assert study.participants.get().beta == pytest.approx(0.8)


@pytest.mark.django_db
def test_bots_learn_what_they_are_taught():
    study = make_study(
        dataset=make_dataset(teaching=80, evaluation=60, separation=1.5),
        arms="jedi", learning_rate=0.5, short_steps=40, medium_steps=40, long_steps=40, evaluation_size=60,
    )  # fmt: skip
    for number in range(3):
        take_part(study, number)
    people = study.participants.all()
    assert sum(person.evaluation_accuracy for person in people) / 3 > 0.8


@pytest.mark.django_db
def test_bots_and_forecasts_learn_five_classes_with_and_without_pictures_of_them():
    study = make_study(
        dataset=make_dataset(teaching=60, evaluation=50, classes=("a", "b", "c", "d", "e")),
        arms="jedi,eer", learning_rate=1.0, cold_start=5, short_steps=30, medium_steps=30, long_steps=30,
        other_steps=30, evaluation_size=50, shows_references=True,
    )  # fmt: skip
    for number in range(4):
        take_part(study, number)
    people = list(study.participants.all())
    assert sum(person.evaluation_accuracy for person in people) / 4 > 0.5
    chosen = {item.answer for person in people for item in person.evaluationitems.all()}
    assert chosen == {0, 1, 2, 3, 4}
    for person in people:
        assert all(step.matches for step in replay(person))
    rows = [row["evaluation"] for by_arm in forecast_rows(study, 4, 9) for row in by_arm.values()]
    assert sum(rows) / len(rows) > 0.5


@pytest.mark.django_db
def test_a_bot_that_leaves_stays_where_it_was():
    study = make_study()
    stayed, _ = take_part(study, population=Population(habits=Habits(drop_out=1.0)))
    assert not stayed
    assert study.participants.get().stage == "consent"


@pytest.mark.django_db
def test_at_a_human_pace_a_bot_waits_as_long_as_a_person_looks_and_thinks():
    study = make_study()
    slept: list[float] = []
    take_part(study, is_paced=True, sleep=slept.append)
    shown = sum(round_.exposure_ms for round_ in study.participants.get().memoryrounds.all())
    assert sum(slept) > shown / 1000 + 12 * 0.35
    answered = study.participants.get().teachingsteps.values_list("response_ms", flat=True)
    assert min(answered) >= 350


@pytest.mark.django_db
def test_a_bot_follows_the_instruction_of_an_attention_check():
    study = make_study(attention_checks=2)
    take_part(study)
    told = study.participants.get().evaluationitems.exclude(instructed_label=None)
    assert len(told) == 2
    assert all(item.answer == item.instructed_label for item in told)


@pytest.mark.django_db
def test_the_same_seed_gives_the_same_forecast_and_the_numbers_fit_together():
    study = make_study(arms="jedi,rt", learning_rate=0.5)
    people = forecast_rows(study, 3, seed=9)
    assert people == forecast_rows(study, 3, seed=9, processes=2)
    assert people != forecast_rows(study, 3, seed=10)
    for rows in people:
        assert list(rows) == ["jedi", "rt"]
        assert rows["jedi"]["span"] == rows["rt"]["span"]
        assert rows["jedi"]["steps"] in {6, 7, 8}
        assert rows["rt"]["steps"] == 6
        for row in rows.values():
            assert row["gain"] == pytest.approx(row["evaluation"] - row["first_seen"])


@pytest.mark.django_db
def test_a_forecast_is_kept_with_the_settings_it_was_made_with(researcher):
    study = make_study(arms="jedi,rt", learning_rate=0.5)
    rehearsal = Rehearsal.objects.create(study=study, kind="forecast", workers=12)
    run(rehearsal)
    rehearsal.refresh_from_db()
    assert (rehearsal.state, rehearsal.finished) == ("done", 12)
    assert {arm: len(rows) for arm, rows in rehearsal.results.items()} == {"jedi": 12, "rt": 12}
    page = researcher.get(f"/admin/studies/study/{study.pk}/rehearsal/").content.decode()
    assert "JEDI − RT" in page
    # As Postgres returns it: shorter names first.
    rehearsal.results = {arm: rehearsal.results[arm] for arm in ("rt", "jedi")}
    rehearsal.save()
    again = researcher.get(f"/admin/studies/study/{study.pk}/rehearsal/").content.decode()
    assert "JEDI − RT" in again
    assert ceiling_sentence(study.dataset) in page
    assert "Simulate again." not in page
    suggested = f"{study.dataset.learning_rate:.3g}"
    assert f"who learn at the rate η₀ = 0.5, where the data set suggests {suggested}" in page
    study.other_steps = 7
    study.save()
    page = researcher.get(f"/admin/studies/study/{study.pk}/rehearsal/").content.decode()
    assert "Simulate again." in page


@pytest.mark.django_db
def test_a_data_set_without_evaluation_features_says_what_to_do():
    study = make_study()
    (study.dataset.folder / pools.EVALUATION).unlink()
    with pytest.raises(NoFeatures, match="Import its images again"):
        FeatureLookup(study.dataset)
    for kind in Rehearsal.Kind.values:
        rehearsal = Rehearsal.objects.create(study=study, kind=kind, workers=1)
        run(rehearsal)
        assert rehearsal.state == "failed"
        assert "Import its images again" in rehearsal.problem


@pytest.mark.django_db
def test_a_forecast_whose_process_was_killed_names_a_remedy(monkeypatch):
    def killed(*arguments):
        raise BrokenProcessPool

    monkeypatch.setattr("rehearsal.services.forecast", killed)
    rehearsal = Rehearsal.objects.create(study=make_study(), kind="forecast", workers=2)
    run(rehearsal, processes=2)
    assert rehearsal.state == "failed"
    assert "--processes" in rehearsal.problem


@pytest.mark.django_db
def test_a_server_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr("rehearsal.http.time.sleep", lambda seconds: None)
    rehearsal = Rehearsal.objects.create(study=make_study(), workers=1)
    run(rehearsal, address="http://127.0.0.1:9")
    assert rehearsal.state == "failed"
    assert "http://127.0.0.1:9" in rehearsal.problem
    with pytest.raises(ServerError, match=r"http://127\.0\.0\.1:8000"):
        ServerClient("ftp://nowhere")


@pytest.mark.django_db
def test_the_page_orders_bots_and_shows_how_far_they_are(
    researcher, django_capture_on_commit_callbacks
):
    study = make_study()
    base = f"/admin/studies/study/{study.pk}/rehearsal/"
    assert researcher.get(base).status_code == 200
    assert researcher.post(base + "bots/", {"workers": "0"}).status_code == 302
    assert not Rehearsal.objects.exists()
    with django_capture_on_commit_callbacks():
        researcher.post(base + "bots/", {"workers": "5"})
        researcher.post(base + "bots/", {"workers": "6"})
    rehearsal = Rehearsal.objects.get()
    assert (rehearsal.workers, rehearsal.state, rehearsal.kind) == (5, "waiting", "bots")
    [row] = researcher.get(base + "state/").json()["rehearsals"]
    assert (row["id"], row["share"], row["is_under_way"]) == (rehearsal.pk, 0.0, True)
    page = " ".join(researcher.get(base).content.decode().split())
    assert "<td> 5 bots </td>" in page and "<span data-ended>0</span> of 5 </td>" in page


@pytest.mark.django_db
def test_the_question_of_power_is_asked_in_the_address(researcher):
    study = make_study(arms="jedi,rt", learning_rate=0.5)
    rows = [
        {"gain": 2 * g, "first_seen": 0.5, "evaluation": 0.5 + g, "steps": 30}
        for g in (0.0, 0.1, 0.2) * 4
    ]
    Rehearsal.objects.create(
        study=study, kind="forecast", state="done", workers=12, results={"jedi": rows, "rt": rows}
    )
    base = f"/admin/studies/study/{study.pk}/rehearsal/"
    page = text_of(researcher, f"{base}?effect=5&alpha=0.05&power=80")
    # The spread of 0, .1, .2 four times is .0853: an effect of .05 takes 47 per arm at 5 % and 57 at 2.5 %. Twice the
    # spread takes about four times as many.
    for outcome, alone, both in (("Teaching gain", 184, 223), ("Evaluation accuracy", 47, 57)):
        table = page.partition(f'aria-label="{outcome}: workers per teacher"')[2]
        numbers = re.findall(r"<b>(\d+)</b>", table.partition("</table>")[0])
        assert [int(numbers[place]) for place in (0, 2)] == [alone, both]
    assert "α = 0.025 each" in page
    wrong = researcher.get(base, {"effect": "-1", "alpha": "2", "power": "80"})
    assert wrong.status_code == 200
    assert "greater than or equal to 0.1" in wrong.content.decode()


@pytest.mark.django_db
def test_the_command_names_the_studies_that_there_are():
    study = make_study()
    with pytest.raises(CommandError, match=study.slug):
        call_command("rehearse", "nothing")
    with pytest.raises(CommandError, match="1 or more"):
        call_command("rehearse", study.slug, workers=0)


def test_the_command_drives_bots_through_a_running_server(sqlite_site):
    slug = sqlite_site.make_study(memory_max_length=4)
    told = sqlite_site.python(
        "manage.py", "rehearse", slug, "--workers=5", f"--url=http://127.0.0.1:{sqlite_site.port}"
    )
    assert "5 finished, 0 dropped out." in told
    people = sqlite_site.participants(slug, "purpose", "stage", "arm")
    assert len(people) == 5
    assert {row[:2] for row in people} == {("rehearsal", "done")}
    exported = sqlite_site.python("manage.py", "export_gain", slug)
    assert list(csv.DictReader(io.StringIO(exported))) == []
