"""The researchers' API: a token acts for its owner, sees what its owner sees, and leaves the same traces."""

import io
import json
import zipfile
from datetime import timedelta

import hypothesis
import pytest
import schemathesis
from django.core.cache import cache
from django.core.wsgi import get_wsgi_application
from django.test import Client
from django.utils import timezone

from desk.api.views import ResearcherThrottle
from desk.models import AccessToken
from studies.models import AuditEntry, Participant, Study, digest_of
from tests.builders import make_dataset, make_participant, make_study
from tests.generated_requests import CHECKED, SAME_EVERY_TIME
from tests.people import browser_of, make_researcher, share
from tests.worker import Worker

pytestmark = pytest.mark.django_db

# Too long to stand by chance in a digest or a code.
RECRUITERS_ID = "5f1e" * 6


def token_for(user, **fields) -> str:
    secret = AccessToken.new_secret()
    AccessToken.objects.create(user=user, name="a test", digest=digest_of(secret), **fields)
    return secret


class Program:
    """A researcher's own program, with a token."""

    def __init__(self, user) -> None:
        self.headers = {"Authorization": f"Bearer {token_for(user)}"}

    def get(self, path: str = "", **options):
        return Client().get(f"/api/v1/studies/{path}", headers=self.headers, **options)

    def post(self, path: str, body):
        return Client().post(
            f"/api/v1/studies/{path}", body, content_type="application/json", headers=self.headers
        )


@pytest.fixture
def study() -> Study:
    dataset = make_dataset(teaching=12, evaluation=6)
    return make_study(dataset=dataset, arms="rt,jedi", owner=make_researcher("owner"))


@pytest.fixture
def program(study) -> Program:
    return Program(study.owner)


def error_of(reply) -> str:
    body = reply.json()
    assert set(body) == {"error"} and set(body["error"]) == {"code", "message", "fields"}
    return body["error"]["code"]


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer jedi_wrong", "Basic YTpi", "Bearer \xe9\xff", "jedi_x"]
)
def test_without_a_good_token_nobody_gets_in_and_is_told_how(study, header):
    headers = {} if header is None else {"Authorization": header}
    for path in ("", f"{study.slug}/", f"{study.slug}/exports/everything.zip"):
        reply = Client().get(f"/api/v1/studies/{path}", headers=headers)
        assert reply.status_code == 401
        assert reply["WWW-Authenticate"].startswith("Bearer")
        assert error_of(reply) in {"not_authenticated", "authentication_failed"}
        assert "Access tokens" in reply.json()["error"]["message"]


def test_a_session_of_the_admin_is_no_token(study):
    assert browser_of(study.owner).get("/api/v1/studies/").status_code == 401


def test_a_token_ends_with_its_revocation_and_with_its_owner(study):
    program = Program(study.owner)
    assert program.get().status_code == 200
    for end in ({"is_active": False}, {"is_staff": False}):
        type(study.owner).objects.filter(pk=study.owner.pk).update(**end)
        assert program.get().status_code == 401
        type(study.owner).objects.update(is_active=True, is_staff=True)
    AccessToken.objects.update(expires_at=timezone.now())
    assert program.get().status_code == 401
    AccessToken.objects.update(expires_at=timezone.now() + timedelta(days=1))
    assert program.get().status_code == 200
    AccessToken.objects.get().revoke()
    assert program.get().status_code == 401


def test_the_last_use_of_a_token_is_kept_to_the_minute(program):
    program.get()
    first = AccessToken.objects.get().last_used_at
    assert first is not None
    program.get()
    assert AccessToken.objects.get().last_used_at == first


def test_only_the_digest_of_a_token_is_kept(study):
    secret = token_for(study.owner)
    token = AccessToken.objects.get()
    assert secret.startswith("jedi_") and len(secret) > 40
    assert not any(secret in str(value) for value in token.__dict__.values())
    assert len({AccessToken.new_secret() for _ in range(100)}) == 100


def test_the_list_has_ones_own_and_shared_studies_with_the_role(study):
    theirs = make_study(dataset=study.dataset)
    for can_edit in (False, True):
        shared = make_study(dataset=study.dataset)
        share(shared, study.owner, can_edit=can_edit)
    rows = Program(study.owner).get().json()["results"]
    assert [row["role"] for row in rows] == ["edit", "read", "owner"]
    assert theirs.slug not in {row["slug"] for row in rows}
    assert rows[-1] == {
        "slug": study.slug,
        "title": study.title,
        "state": "open",
        "role": "owner",
        "created_at": rows[-1]["created_at"],
        "public_url": study.public_url,
    }


def test_a_superuser_sees_all_studies(study, admin_user):
    [row] = Program(admin_user).get().json()["results"]
    assert (row["slug"], row["role"]) == (study.slug, "superuser")


def test_staff_without_rights_see_nothing(study):
    from django.contrib.auth.models import User

    nobody = User.objects.create_user("nobody", is_staff=True)
    share(study, nobody)
    assert Program(nobody).get().json()["results"] == []
    assert Program(nobody).get(f"{study.slug}/").status_code == 404


def test_a_study_tells_its_settings_and_where_everybody_stands(study, program):
    assert program.get(f"{study.slug}/").json()["version"] is None
    Worker(study).go_to("done")
    Worker(study).post("withdrawal", {})
    detail = program.get(f"{study.slug}/").json()
    assert detail["version"] == {"number": 1, "hash": study.versions.get().hash}
    assert detail["settings"]["evaluation_size"] == study.evaluation_size
    counts = detail["counts"]
    assert (counts["joined"], counts["done"], counts["withdrawn"]) == (2, 1, 1)
    arms = {row["arm"]: row for row in detail["arms"]}
    assert (arms["rt"]["done"], arms["rt"]["is_open"], arms[""]["is_open"]) == (1, True, False)
    assert study.webhook_secret not in json.dumps(detail)


def test_a_strangers_study_does_not_exist(study):
    stranger = Program(make_researcher("stranger"))
    for path in ("", "participants/", "exports/everything.zip", "exports/participants.csv"):
        reply = stranger.get(f"{study.slug}/{path}")
        assert (reply.status_code, error_of(reply)) == (404, "not_found")
    assert stranger.post(f"{study.slug}/state/", {"state": "closed"}).status_code == 404
    assert not AuditEntry.objects.exists()


def test_participants_come_in_pages_and_name_nobody(study, program):
    worker = Worker(study, PROLIFIC_PID=RECRUITERS_ID, SESSION_ID="s1", STUDY_ID="p1")
    worker.go_to("done")
    for _ in range(2):
        make_participant(study)
    first = program.get(f"{study.slug}/participants/?page_size=2").json()
    assert (first["count"], len(first["results"])) == (3, 2)
    second = Client().get(first["next"], headers=program.headers).json()
    assert (second["next"], len(second["results"])) == (None, 1)
    row, person = first["results"][0], worker.participant
    assert row["participant"] == person.code
    assert row["teaching_gain"] == person.teaching_gain
    assert row["version"] == 1
    assert RECRUITERS_ID not in json.dumps([first, second])
    assert person.token not in json.dumps(first)
    assert program.get(f"{study.slug}/participants/?page=9").status_code == 404


def test_participants_can_be_filtered(study, program):
    for stage, purpose, arm in [
        ("done", "live", "rt"),
        ("done", "live", "jedi"),
        ("memory", "live", ""),
        ("done", "pilot", "rt"),
    ]:
        person = make_participant(study)
        Participant.objects.filter(pk=person.pk).update(
            stage=stage, purpose=purpose, arm=arm, finished_at=timezone.now() if arm else None
        )
    Participant.objects.filter(arm="jedi").update(is_excluded=True)

    def number(query: str) -> int:
        return program.get(f"{study.slug}/participants/?{query}").json()["count"]

    assert number("") == 3
    assert number("stage=done") == 2
    assert number("stage=done&arm=rt") == 1
    assert number("purpose=pilot") == 1
    assert (number("excluded=true"), number("excluded=false")) == (1, 2)
    assert number("finished_after=2020-01-01T00:00:00Z") == 2
    assert number("finished_after=2090-01-01T00:00:00Z") == 0


@pytest.mark.parametrize(
    "query", ["stage=nothing", "purpose=x", "excluded=maybe", "finished_after=soon"]
)
def test_a_filter_that_is_nonsense_is_told(study, program, query):
    reply = program.get(f"{study.slug}/participants/?{query}")
    assert (reply.status_code, error_of(reply)) == (400, "invalid")
    assert list(reply.json()["error"]["fields"]) == [query.partition("=")[0]]


def test_pages_of_participants_cost_the_same_however_many_there_are(
    study, program, django_assert_max_num_queries
):
    for _ in range(3):
        make_participant(study)
    program.get(f"{study.slug}/participants/")
    with django_assert_max_num_queries(7):
        program.get(f"{study.slug}/participants/")


@pytest.mark.parametrize("accept", ["*/*", "text/csv", "application/json", "image/png"])
def test_a_table_is_the_same_as_in_the_admin(study, program, accept):
    Worker(study, PROLIFIC_PID=RECRUITERS_ID).go_to("done")
    address = f"exports/participants.csv?x={accept[:2]}"
    reply = Client().get(
        f"/api/v1/studies/{study.slug}/{address}", headers=program.headers | {"Accept": accept}
    )
    by_hand = browser_of(study.owner).get(
        f"/admin/studies/study/{study.pk}/downloads/participants.csv"
    )
    assert reply.status_code == 200
    assert reply["Content-Type"] == by_hand["Content-Type"]
    assert reply["Content-Disposition"] == by_hand["Content-Disposition"]
    content = b"".join(reply.streaming_content)
    assert content == b"".join(by_hand.streaming_content)
    assert RECRUITERS_ID.encode() not in content


def test_every_export_is_on_record_and_names_people_only_when_asked_to(study, program):
    Worker(study, PROLIFIC_PID=RECRUITERS_ID).go_to("done")
    plain = program.get(f"{study.slug}/exports/everything.zip")
    files = zipfile.ZipFile(io.BytesIO(b"".join(plain.streaming_content)))
    assert "participants.csv" in files.namelist()
    assert not any(RECRUITERS_ID.encode() in files.read(name) for name in files.namelist())
    named = program.get(f"{study.slug}/exports/participants.jsonl?identifiable=1")
    assert RECRUITERS_ID.encode() in b"".join(named.streaming_content)
    assert "identifiable" in named["Content-Disposition"]
    details = list(
        AuditEntry.objects.order_by("pk").values_list("action", "actor__username", "detail")
    )
    assert [row[:2] for row in details] == [("export", "owner")] * 2
    assert "identifiable" in details[1][2] and "identifiable" not in details[0][2]


def test_a_file_that_does_not_exist_is_told_in_the_usual_form(study, program):
    for name in ("nothing.csv", "participants.xlsx"):
        reply = program.get(f"{study.slug}/exports/{name}")
        assert (reply.status_code, error_of(reply)) == (404, "not_found")


def test_an_export_of_a_version_that_does_not_exist_is_told(study, program):
    Worker(study)
    for file in ("participants.csv", "everything.zip"):
        reply = program.get(f"{study.slug}/exports/{file}?version=7")
        assert (reply.status_code, error_of(reply)) == (400, "invalid")
        assert "Its versions: 1." in reply.json()["error"]["fields"]["version"][0]
        assert program.get(f"{study.slug}/exports/{file}?version=1").status_code == 200


def test_a_program_opens_pauses_and_closes_a_study(study, program):
    for state in ("paused", "open", "closed", "closed"):
        reply = program.post(f"{study.slug}/state/", {"state": state})
        assert (reply.status_code, reply.json()["state"]) == (200, state)
        study.refresh_from_db()
        assert study.state == state
    entries = AuditEntry.objects.filter(action="state")
    assert [entry.actor for entry in entries] == [study.owner] * 3


def test_a_state_that_may_not_follow_or_does_not_exist_is_refused(study, program):
    Worker(study)
    reply = program.post(f"{study.slug}/state/", {"state": "draft"})
    assert (reply.status_code, error_of(reply)) == (409, "state_not_allowed")
    for body in ({"state": "nothing"}, {}, [], "open"):
        reply = program.post(f"{study.slug}/state/", json.dumps(body))
        assert (reply.status_code, error_of(reply)) == (400, "invalid")
    study.refresh_from_db()
    assert study.state == "open"


def test_who_may_only_look_changes_no_state(study):
    reader = Program(share(study, make_researcher("reader")))
    reply = reader.post(f"{study.slug}/state/", {"state": "closed"})
    assert (reply.status_code, error_of(reply)) == (403, "permission_denied")
    editor = Program(share(study, make_researcher("editor"), can_edit=True))
    assert editor.post(f"{study.slug}/state/", {"state": "closed"}).status_code == 200


# Making and checking studies


def wanted(**settings):
    return {"slug": "moths-2", "title": "Moths", "consent": "Do you agree?", "evaluation_size": 6, "long_steps": 12,
            "medium_steps": 12, "short_steps": 12, "other_steps": 12, **settings}  # fmt: skip


def test_a_program_makes_a_draft_with_the_rate_of_its_data_set(study, program):
    reply = program.post("", wanted(dataset=study.dataset.name))
    assert reply.status_code == 201, reply.json()
    made = Study.objects.get(slug="moths-2")
    assert (made.state, made.owner, made.dataset) == ("draft", study.owner, study.dataset)
    assert (made.learning_rate, made.memory_trials) == (None, 3)
    assert reply.json()["settings"]["learning_rate"] == study.dataset.learning_rate
    typed = program.post("", wanted(dataset=study.dataset.name, slug="moths-3", learning_rate=0.5))
    assert typed.json()["settings"]["learning_rate"] == 0.5


@pytest.mark.parametrize(
    ("settings", "field", "reason"),
    [
        ({"dataset": "Nothing"}, "dataset", "There is no such data set."),
        ({"evaluation_size": 400}, "evaluation_size", "Choose at most"),
        ({"evaluation_size": "many"}, "evaluation_size", "integer"),
        ({"slug": "study name"}, "slug", "letters, numbers"),
        ({"title": ""}, "title", "blank"),
        ({"learning_rate": -1}, "learning_rate", "greater than"),
    ],
)
def test_a_study_that_the_form_would_refuse_is_refused(study, program, settings, field, reason):
    reply = program.post("", wanted(**{"dataset": study.dataset.name} | settings))
    assert (reply.status_code, error_of(reply)) == (400, "invalid")
    assert reason in " ".join(reply.json()["error"]["fields"][field])
    assert Study.objects.count() == 1


def test_a_link_name_is_used_once_and_data_sets_of_others_are_unknown(study, program):
    reply = program.post("", wanted(dataset=study.dataset.name, slug=study.slug))
    assert "already exists" in " ".join(reply.json()["error"]["fields"]["slug"])
    foreign = make_dataset(teaching=12, evaluation=6, owner=make_researcher("grace"), name="Hers")
    reply = program.post("", wanted(dataset=foreign.name))
    assert "There is no such data set" in reply.json()["error"]["fields"]["dataset"][0]


def test_opening_a_study_tells_what_may_spoil_it(study, program):
    Study.objects.update(learning_rate=study.dataset.learning_rate / 30, state="paused")
    lines = {line["check"]: line for line in program.get(f"{study.slug}/checks/").json()}
    assert lines["rate"]["grade"] == "question"
    assert "30 times smaller" in lines["rate"]["sentence"]
    reply = program.post(f"{study.slug}/state/", {"state": "open"}).json()
    raised = [key for key, line in lines.items() if line["grade"] in ("question", "obstacle")]
    assert [line["check"] for line in reply["questions"]] == raised
    assert program.post(f"{study.slug}/state/", {"state": "paused"}).json()["questions"] == []


def test_a_program_that_asks_too_often_is_asked_to_wait(program, monkeypatch):
    monkeypatch.setattr(ResearcherThrottle, "get_rate", lambda self: "2/min")
    replies = [program.get() for _ in range(3)]
    assert [reply.status_code for reply in replies] == [200, 200, 429]
    assert (error_of(replies[-1]), int(replies[-1]["Retry-After"]) > 0) == ("throttled", True)
    cache.clear()


def test_a_wrong_method_is_told_in_the_usual_form(program, study):
    reply = program.post(f"{study.slug}/", {})
    assert (reply.status_code, error_of(reply)) == (405, "method_not_allowed")
    assert program.get(f"{study.slug}/state/").status_code == 405


def test_no_generated_request_breaks_the_api(study, program):
    Worker(study).go_to("done")
    schema = schemathesis.openapi.from_wsgi(
        "/api/schema/",
        get_wsgi_application(),
        headers={"Accept": "application/vnd.oai.openapi+json"},
    )
    for operation in (result.ok() for result in schema.get_all_operations()):
        if operation.path.startswith("/api/v1/"):
            attack(operation, study.slug, program.headers)


def attack(operation, slug: str, headers: dict[str, str]) -> None:
    @hypothesis.settings(SAME_EVERY_TIME, max_examples=8)
    @hypothesis.given(case=operation.as_strategy())
    def run(case):
        cache.clear()
        if "slug" in case.path_parameters:
            case.path_parameters["slug"] = slug
        case.call_and_validate(headers=headers, checks=CHECKED)

    run()
