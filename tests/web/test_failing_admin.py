"""Every SQL statement of every write of the researchers' admin fails in turn: nothing is half done, and the repeat
succeeds.

The addresses come from the URLconf. Each is on one of three lists here: what writes, what only keeps a record of a file
that was taken, and what writes nothing.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection, transaction
from django.test import Client, TestCase
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from desk import bonus, outbound
from desk.accounts import make_password_link
from desk.models import AccessToken, Payment, WebhookDelivery
from image_datasets.models import Import
from jobs.models import LEASE
from jobs.recovery import look_for_lost_work
from rehearsal.models import Rehearsal
from studies.models import AuditEntry, Participant, Study, digest_of
from tests.admin_form import form_values
from tests.breakdown import NOTED, SESSION, Ask, through_all_failures, unbroken
from tests.builders import SHORT, database_snapshot, make_dataset, make_participant, make_study
from tests.web.test_access_matrix import ALL_ROUTES, OF_PAGES, ROWS, World, row_of_page

pytestmark = pytest.mark.django_db

PASSWORD = "a long password for a test"
STUDY, DATASET, IMPORT = "admin/studies/study/", "admin/studies/dataset/", "admin/datasets/import/"
USER, GROUP, TOKEN = "admin/auth/user/", "admin/auth/group/", "admin/desk/accesstoken/"
PERSON, ENTRY = "admin/studies/participant/", "admin/studies/auditentry/"
QUEUED = "admin/django_tasks_database/dbtaskresult/"
MODELS = (USER, GROUP, TOKEN, STUDY, DATASET, IMPORT, PERSON, ENTRY, QUEUED)
UPLOAD = f"{IMPORT}add/"
PAGE, ROW = f"{STUDY}<int:pk>/", "<path:object_id>/"


@dataclass(frozen=True)
class Desk:
    """Somebody who may do everything, and a study to do it with."""

    study: Study
    user: User
    browser: Client

    def send(self, path: str, **values: Any) -> Ask:
        """A form, as a browser sends it."""
        return lambda: self.browser.post(f"/{path}", values)

    def press(self, path: str, **values: Any) -> Ask:
        """A button on a page of the study."""
        return self.send(f"{STUDY}{self.study.pk}/{path}", **values)

    def save(self, path: str, **changes: Any) -> Ask:
        """A form of Django's admin, with changes."""
        return self.send(path, **form_values(self.browser, f"/{path}") | changes)

    def finished(self) -> Participant:
        person = make_participant(self.study)
        ended = Participant.objects.filter(pk=person.pk)
        ended.update(stage=Participant.Stage.DONE, evaluation_accuracy=0.9)
        return person

    def somebody(self) -> User:
        return User.objects.create_user("somebody")

    def job(self, state: str) -> Import:
        job = Import.objects.create(
            name="Finches", created_by=self.user, state=state, run="of a dead worker",
            findings={"classes": {"a": 9, "b": 9}, "candidates": [{"name": "pixels", "accuracy": 0.9}]},
        )  # fmt: skip
        job.folder.mkdir(parents=True)
        return job

    def order(self, name: str, state: str, **values: Any) -> Ask:
        return self.send(f"{IMPORT}{self.job(state).pk}/orders/{name}/", **values)


@pytest.fixture
def desk(settings, tmp_path, admin_user, monkeypatch) -> Desk:
    settings.JEDI_DATA_DIR = tmp_path
    monkeypatch.setattr(outbound, "resolve", lambda url: None)
    dataset = make_dataset(teaching=12, evaluation=8)
    study = make_study(dataset=dataset, arms="rt,jedi", reward=2, max_participants=40)
    browser = unbroken()
    browser.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    return Desk(study, admin_user, browser)


# Accounts


def setting_the_first_password(desk: Desk) -> Ask:
    somebody = desk.somebody()
    link = "/admin/" + make_password_link(somebody).partition("/admin/")[2]
    browser = unbroken()
    form = browser.get(link)["Location"]
    return lambda: browser.post(form, {"new_password1": PASSWORD, "new_password2": PASSWORD})


def signing_in(desk: Desk) -> Ask:
    User.objects.create_user("ada", password=PASSWORD, is_staff=True)
    browser = unbroken()
    return lambda: browser.post("/admin/login/", {"username": "ada", "password": PASSWORD})


def changing_the_own_password(desk: Desk) -> Ask:
    ada = User.objects.create_user("ada", password=PASSWORD, is_staff=True)
    browser = unbroken()
    browser.force_login(ada, backend="django.contrib.auth.backends.ModelBackend")
    new = dict.fromkeys(("new_password1", "new_password2"), f"{PASSWORD}, longer")
    return lambda: browser.post("/admin/password_change/", {"old_password": PASSWORD, **new})


def changing_an_account(desk: Desk) -> Ask:
    since = {"date_joined_0": "2026-01-01", "date_joined_1": "10:00"}
    return desk.save(f"{USER}{desk.user.pk}/change/", email="ada@example.org", **since)


def setting_a_password(desk: Desk) -> Ask:
    new = dict.fromkeys(("password1", "password2"), PASSWORD)
    path = f"{USER}{desk.somebody().pk}/password/"
    return desk.send(path, usable_password="true", **new)


def deleting_several(desk: Desk, kind: str, row: Any) -> Ask:
    chosen = {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"}
    return desk.send(kind, **chosen)


def revoking_a_token(desk: Desk) -> Ask:
    token = AccessToken.objects.create(user=desk.user, name="nightly", digest=digest_of("x"))
    return desk.send(f"{TOKEN}{token.pk}/revoke/")


# Studies


def adding_a_study(desk: Desk) -> Ask:
    names = {"title": "New", "slug": "new", "dataset": desk.study.dataset.pk}
    return desk.save(f"{STUDY}add/", **SHORT, consent="Do you agree?", **names)


def changing_and_sharing_a_study(desk: Desk) -> Ask:
    make_participant(desk.study)
    colleague = {"shares-TOTAL_FORMS": 1, "shares-0-study": desk.study.pk}
    colleague["shares-0-user"] = User.objects.create_user("grace", is_staff=True).pk
    return desk.save(f"{STUDY}{desk.study.pk}/change/", seed=12, **colleague)


def clearing_previews(desk: Desk) -> Ask:
    make_participant(desk.study)
    Participant.objects.update(purpose="preview")
    return desk.press("preview/clear/", purpose="preview")


def reopening_an_arm(desk: Desk) -> Ask:
    Study.objects.update(closed_arms=["rt"])
    return desk.press("monitor/arms/rt/open/")


def excluding_somebody(desk: Desk) -> Ask:
    return desk.press(f"people/{desk.finished().pk}/exclusion/", reason="A bot.")


def reopening_a_session(desk: Desk) -> Ask:
    person = make_participant(desk.study)
    Participant.objects.filter(pk=person.pk).update(stage="abandoned")
    return desk.press(f"people/{person.pk}/reopen/")


def recording_payments(desk: Desk) -> Ask:
    return desk.press("payment/record/", amount="2.00", people=desk.finished().code)


def undoing_payments(desk: Desk) -> Ask:
    bonus.record_payments(desk.study, [desk.finished().code], amount=2, actor=desk.user)
    return desk.press("payment/undo/", batch=Payment.objects.get().batch)


def trying_the_webhook(desk: Desk) -> Ask:
    Study.objects.update(webhook_url="https://hooks.example.org/")
    return desk.press("connections/test/")


def deleting_everybody(desk: Desk) -> Ask:
    desk.finished()
    Study.objects.update(state=Study.State.CLOSED)
    return desk.press("privacy/everybody/", name=desk.study.slug)


# Data sets


def describing_classes(desk: Desk) -> Ask:
    fields: dict[str, Any] = {"class-TOTAL_FORMS": 2, "class-INITIAL_FORMS": 2}
    for one in desk.study.dataset.classes.all():
        own = {"id": one.pk, "display_name": f"{one.name}er", "colour": "#123456"}
        fields |= {f"class-{one.index}-{name}": value for name, value in own.items()}
    return desk.send(f"{DATASET}{desk.study.dataset.pk}/classes/", **fields)


def deleting_a_data_set(desk: Desk) -> Ask:
    dataset = make_dataset(teaching=4, evaluation=4)
    return desk.send(f"{DATASET}{dataset.pk}/delete/", post="yes")


def importing_images(desk: Desk) -> Ask:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("cat/1.png", b"")

    def upload() -> Any:
        archive = SimpleUploadedFile("images.zip", content.getvalue())
        values = {"name": "Cats", "archive": archive, "duplicates": "keep_together"}
        return desk.browser.post(f"/{UPLOAD}", values)

    return upload


# Each way of writing, by the address that it is sent to.
WRITES: list[tuple[str, Callable[[Desk], Ask]]] = [
    ("admin/first-password/<uidb64>/<token>/", setting_the_first_password),
    ("admin/login/", signing_in),
    ("admin/logout/", lambda desk: desk.send("admin/logout/")),
    ("admin/password_change/", changing_the_own_password),
    (f"{USER}add/", lambda desk: desk.save(f"{USER}add/", username="grace")),
    (f"{USER}{ROW}change/", changing_an_account),
    (f"{USER}{ROW}delete/", lambda desk: desk.send(f"{USER}{desk.somebody().pk}/delete/", post="yes")),
    (USER, lambda desk: deleting_several(desk, USER, desk.somebody())),
    (f"{USER}<id>/password/", setting_a_password),
    (f"{USER}<int:pk>/link/", lambda desk: desk.send(f"{USER}{desk.somebody().pk}/link/")),
    (f"{GROUP}add/", lambda desk: desk.save(f"{GROUP}add/", name="Readers", permissions=["1", "2"])),
    (f"{GROUP}{ROW}change/", lambda desk: desk.save(f"{GROUP}{Group.objects.get().pk}/change/", name="All")),
    (f"{GROUP}{ROW}delete/", lambda desk: desk.send(f"{GROUP}{Group.objects.get().pk}/delete/", post="yes")),
    (GROUP, lambda desk: deleting_several(desk, GROUP, Group.objects.get())),
    (f"{TOKEN}add/", lambda desk: desk.send(f"{TOKEN}add/", name="nightly", days="30")),
    (f"{TOKEN}<int:pk>/revoke/", revoking_a_token),
    (f"{STUDY}add/", adding_a_study),
    (f"{STUDY}{ROW}change/", changing_and_sharing_a_study),
    (f"{STUDY}{ROW}delete/", lambda desk: desk.send(f"{STUDY}{desk.study.pk}/delete/", post="yes")),
    (f"{PAGE}state/", lambda desk: desk.press("state/", state="paused")),
    (f"{PAGE}preview/open/", lambda desk: desk.press("preview/open/", stage="evaluation", teacher="rt")),
    (f"{PAGE}preview/clear/", clearing_previews),
    (f"{PAGE}rehearsal/bots/", lambda desk: desk.press("rehearsal/bots/", workers="3")),
    (f"{PAGE}rehearsal/forecast/", lambda desk: desk.press("rehearsal/forecast/", workers="3")),
    (f"{PAGE}monitor/arms/<slug:arm>/close/", lambda desk: desk.press("monitor/arms/rt/close/")),
    (f"{PAGE}monitor/arms/<slug:arm>/open/", reopening_an_arm),
    (f"{PAGE}monitor/places/", lambda desk: desk.press("monitor/places/", more="5")),
    (f"{PAGE}people/<int:person>/exclusion/", excluding_somebody),
    (f"{PAGE}people/<int:person>/reopen/", reopening_a_session),
    (f"{PAGE}payment/record/", recording_payments),
    (f"{PAGE}payment/undo/", undoing_payments),
    (f"{PAGE}connections/webhook/", lambda desk: desk.press("connections/webhook/", webhook_url="https://a.org/")),
    (f"{PAGE}connections/secret/", lambda desk: desk.press("connections/secret/")),
    (f"{PAGE}connections/test/", trying_the_webhook),
    (f"{PAGE}privacy/participant/", lambda desk: desk.press("privacy/participant/", code=desk.finished().code)),
    (f"{PAGE}privacy/everybody/", deleting_everybody),
    (f"{DATASET}<int:pk>/classes/", describing_classes),
    (f"{DATASET}{ROW}delete/", deleting_a_data_set),
    (f"{IMPORT}<int:pk>/orders/<slug:order>/", lambda desk: desk.order("choose", "choosing", extractor="pixels")),
    (f"{IMPORT}<int:pk>/orders/<slug:order>/", lambda desk: desk.order("measure", "choosing", crop_left="5")),
    (f"{IMPORT}<int:pk>/orders/<slug:order>/", lambda desk: desk.order("cancel", "waiting")),
    (f"{IMPORT}<int:pk>/orders/<slug:order>/", lambda desk: desk.order("resume", "failed")),
    (f"{IMPORT}<int:pk>/orders/<slug:order>/", lambda desk: desk.order("skip", "failed")),
    (f"{IMPORT}{ROW}delete/", lambda desk: desk.send(f"{IMPORT}{desk.job('failed').pk}/delete/", post="yes")),
]  # fmt: skip


@pytest.mark.parametrize(("route", "begin"), WRITES, ids=[route for route, _ in WRITES])
def test_whatever_is_written_is_done_wholly_or_not_at_all(desk, route, begin):
    reply, broken = through_all_failures(begin(desk))
    assert reply.status_code < 400 or SESSION in broken[-1]
    assert reply.resolver_match.route == route
    # Signing out ends a session, and that is all.
    assert route == "admin/logout/" or any(is_a_write(sql) and SESSION not in sql for sql in broken)


@pytest.mark.django_db(transaction=True)
def test_an_upload_is_kept_wholly_or_not_at_all(desk):
    """With true commits: the file is kept after the commit and before the request ends."""
    reply, broken = through_all_failures(importing_images(desk))
    assert reply.resolver_match.route == UPLOAD
    assert reply.status_code == 302
    assert any("datasets_import" in sql for sql in broken)
    job = Import.objects.get()
    assert zipfile.is_zipfile(job.source)


def is_a_write(sql: str) -> bool:
    return sql.startswith(("INSERT", "UPDATE", "DELETE"))


def test_what_could_not_be_queued_is_queued_by_the_next_look_of_a_worker(desk):
    for begin in (desk.press("rehearsal/bots/", workers="3"), trying_the_webhook(desk)):
        through_all_failures(begin)
    assert not DBTaskResult.objects.exists()
    a_lease_ago = timezone.now() - 2 * LEASE
    Rehearsal.objects.update(heartbeat_at=a_lease_ago)
    WebhookDelivery.objects.update(next_try_at=a_lease_ago)
    with TestCase.captureOnCommitCallbacks(execute=True):
        look_for_lost_work()
    assert {row.task_path for row in DBTaskResult.objects.all()} == {
        "rehearsal.tasks.carry_out",
        "desk.tasks.deliver_webhook",
    }


# Of these, a line in the record is the only write, and the last step before the file is given.
TAKEN = {
    "results/<slug:key>.<slug:form>": "results/gain.csv",
    "model/<slug:key>.<slug:form>": "model/decay.csv",
    "payment/files/<str:name>": "payment/files/by-code.csv",
    "downloads/teaching-gain.csv": "downloads/teaching-gain.csv",
    "downloads/everything.zip": "downloads/everything.zip",
    "downloads/<slug:table>.<slug:extension>": "downloads/participants.csv",
}


@pytest.mark.parametrize("route", TAKEN)
def test_a_file_that_cannot_be_recorded_is_not_given(desk, route):
    desk.finished()

    def ask() -> Any:
        return desk.browser.get(f"/{STUDY}{desk.study.pk}/{TAKEN[route]}")

    with connection.execute_wrapper(without_writes):
        assert ask().status_code == 503
    transaction.set_rollback(False)
    assert not AuditEntry.objects.exists()
    assert ask().status_code == 200
    assert AuditEntry.objects.count() == 1


def without_writes(execute: Any, sql: str, *rest: Any) -> Any:
    if is_a_write(sql):
        raise OperationalError("the database cannot be written")
    return execute(sql, *rest)


# Django's pages of models, where nobody may add, change or delete.
REFUSED = {
    *(
        f"{model}{page}"
        for model in (PERSON, ENTRY, QUEUED)
        for page in ("add/", f"{ROW}change/", f"{ROW}delete/")
    ),
    f"{TOKEN}{ROW}change/",
    f"{TOKEN}{ROW}delete/",
    f"{DATASET}add/",
    f"{DATASET}{ROW}change/",
    f"{IMPORT}{ROW}change/",
}
# Whatever is sent to these, they show something, or lead elsewhere.
SHOW = {
    "admin/",
    "admin/(?P<url>.*)$",
    "admin/^(?P<app_label>…)/$",
    "admin/autocomplete/",
    "admin/docs/",
    "admin/docs/images/<str:name>",
    "admin/docs/<slug:name>/",
    "admin/jsi18n/",
    "admin/password_change/done/",
    "admin/r/<path:content_type_id>/<path:object_id>/",
    # What was typed is checked, and not saved.
    f"{STUDY}check/",
    f"{PAGE}check/",
    f"{DATASET}images/<str:key>",
    f"{IMPORT}<int:pk>/state/",
    f"{IMPORT}<int:pk>/pictures/<slug:version>/<int:row>",
    f"{PERSON}<int:pk>/why/<int:number>/",
    *(f"{model}{page}" for model in MODELS for page in (ROW, f"{ROW}history/")),
    # In these lists nothing can be done to what is ticked.
    *(model for model in MODELS if model not in (USER, GROUP)),
    *(
        f"{PAGE}{page}"
        for page in (
            "preview/", "share/", "share/qr.svg", "rehearsal/", "rehearsal/state/", "checks/", "monitor/",
            "monitor/news/", "results/", "model/", "quality/", "payment/", "downloads/", "versions/", "connections/",
            "privacy/",
        )
    ),
}  # fmt: skip


def test_every_address_of_the_admin_is_on_one_list():
    lists = [
        {UPLOAD},
        {route for route, _ in WRITES},
        {f"{PAGE}{page}" for page in TAKEN},
        REFUSED,
        SHOW,
    ]
    everywhere = [route for routes in lists for route in routes]
    assert sorted(everywhere) == [route for route in ALL_ROUTES if route.startswith("admin/")]


def test_whatever_is_sent_to_the_others_changes_nothing():
    world = World()
    ticked = {
        "action": "delete_selected",
        "_selected_action": [world.names["study"]],
        "post": "yes",
    }
    before = database_snapshot(but=NOTED)
    for route in sorted(REFUSED | SHOW):
        row = row_of_page(OF_PAGES[route]) if route in OF_PAGES else ROWS[route]
        reply = world.browsers["superuser"].post(world.address(route, row), ticked)
        # Of a file, that is its end.
        list(reply)
        assert route not in REFUSED or reply.status_code in (403, 404), route
        assert database_snapshot(but=NOTED) == before, route
