"""Who may open what: every address of the site, tried by every kind of person.

The addresses come from the URLconf itself. A page of a study is judged by its row in `desk.pages.PAGES`; every other
address has a row of its own here, and an address without one fails the test that names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from desk.models import AccessToken
from desk.page import Page
from desk.pages import PAGES
from image_datasets.models import Import
from image_datasets.remedy import NO_REMEDY
from jobs.worker import beat
from studies import audit
from studies.models import AuditEntry, digest_of
from tests.builders import make_dataset, make_study
from tests.people import browser_of, make_researcher, share
from tests.worker import Worker

pytestmark = pytest.mark.django_db

ROLES = ("anonymous", "staff", "stranger", "reader", "editor", "owner", "superuser")

# What can come of a request. "in": was let in, whatever came of it there.
IN, SIGN_IN, NO, NONE, METHOD, UNKNOWN = "in", "sign in", "403", "404", "405", "401"
Outcomes = tuple[str, ...]


def everybody(outcome: str) -> Outcomes:
    return (outcome,) * len(ROLES)


def staff(*outcomes: str) -> Outcomes:
    """Of the six roles that are signed in; who is not is asked to."""
    assert len(outcomes) == len(ROLES) - 1
    return (SIGN_IN, *outcomes)


# Of the six roles: staff without rights, stranger, reader, editor, owner, superuser.
ANY_STAFF = staff(IN, IN, IN, IN, IN, IN)
RESEARCHERS = staff(NO, IN, IN, IN, IN, IN)
SUPERUSER = staff(NO, NO, NO, NO, NO, IN)
NOBODY = staff(NO, NO, NO, NO, NO, NO)
VISIBLE_APPS = staff(NONE, IN, IN, IN, IN, IN)
VISIBLE = staff(NO, NONE, IN, IN, IN, IN)
EDITABLE = staff(NO, NONE, NO, IN, IN, IN)
OWNED = staff(NO, NONE, NO, NO, IN, IN)
OWN = staff(NO, NONE, NONE, NONE, IN, IN)


@dataclass(frozen=True)
class Row:
    """What an address answers each role; `post` is left out where nothing is written."""

    get: Outcomes
    post: Outcomes | None = None
    body: Mapping[str, Any] = field(default_factory=dict)
    address: str = ""
    """If it cannot be made from the route."""


def of_model(
    *, add: Outcomes = NOBODY, see: Outcomes, change: Outcomes = NOBODY, delete: Outcomes = NOBODY,
    listed: Outcomes = RESEARCHERS, history: Outcomes | None = None,
) -> dict[str, Row]:  # fmt: skip
    """The addresses that Django's admin makes for a model."""
    # Whether there is an object is looked at first.
    past = history or tuple(NONE if outcome == NO else outcome for outcome in see)
    return {
        "": Row(listed),
        "add/": Row(add, add),
        "<path:object_id>/change/": Row(see, change),
        "<path:object_id>/delete/": Row(delete, delete),
        "<path:object_id>/history/": Row(past),
        # Leads to the change form, which looks closer.
        "<path:object_id>/": Row(ANY_STAFF),
    }


# By the model's part of the address.
MODELS = {
    "studies/study/": of_model(add=RESEARCHERS, see=VISIBLE, change=EDITABLE, delete=OWNED),
    "studies/dataset/": of_model(see=VISIBLE, delete=staff(NO, NONE, NO, NO, NO, NO)),
    "studies/participant/": of_model(see=VISIBLE),
    "studies/auditentry/": of_model(see=VISIBLE),
    "datasets/import/": of_model(add=RESEARCHERS, see=OWN, delete=OWN),
    "desk/accesstoken/": of_model(add=RESEARCHERS, see=OWN),
    "auth/user/": of_model(
        add=SUPERUSER, see=SUPERUSER, change=SUPERUSER, delete=SUPERUSER, listed=SUPERUSER,
        history=SUPERUSER,
    ),
    "auth/group/": of_model(
        add=SUPERUSER, see=SUPERUSER, change=SUPERUSER, delete=SUPERUSER, listed=SUPERUSER,
        history=SUPERUSER,
    ),
    # The queue's rows are there for nobody in this test, and for superusers alone in life.
    "django_tasks_database/dbtaskresult/": of_model(
        see=staff(NO, NO, NO, NO, NO, NONE), listed=SUPERUSER, history=staff(*[NONE] * 6)
    ),
}  # fmt: skip

API = (UNKNOWN, NONE, NONE, IN, IN, IN, IN)

ROWS = {
    f"admin/{part}{rest}": row for part, rows in MODELS.items() for rest, row in rows.items()
} | {
    # The worker's side is open to whoever has the link.
    "": Row(everybody(IN)),
    "healthz": Row(everybody(IN)),
    "readyz": Row(everybody(IN)),
    "s/<slug:slug>/": Row(everybody(IN), everybody(IN)),
    "w/<slug:token>/": Row(everybody(IN)),
    "w/<slug:token>/images/<slug:key>": Row(everybody(IN), address="/w/{token}/images/{image}"),
    "api/schema/": Row(everybody(IN)),
    "api/studies/<slug:slug>/sessions/": Row(everybody(METHOD), everybody(IN)),
    "api/sessions/<str:token>/": Row(everybody(IN)),
    "api/sessions/<str:token>/answers/": Row(everybody(METHOD), everybody(IN)),
    "api/sessions/<str:token>/exposures/": Row(everybody(METHOD), everybody(IN)),
    "api/sessions/<str:token>/displays/": Row(everybody(METHOD), everybody(IN)),
    "api/sessions/<str:token>/events/": Row(everybody(METHOD), everybody(IN)),
    "api/sessions/<str:token>/withdrawal/": Row(everybody(IN), everybody(IN)),
    # Researchers' programs: each role comes with a token, but who is anonymous.
    "api/v1/studies/": Row((UNKNOWN, *everybody(IN)[1:]), (UNKNOWN, NO, *everybody(IN)[2:])),
    "api/v1/studies/<slug:slug>/checks/": Row(API),
    "api/v1/studies/<slug:slug>/": Row(API),
    "api/v1/studies/<slug:slug>/state/": Row(
        (UNKNOWN, *everybody(METHOD)[1:]), (UNKNOWN, NONE, NONE, NO, IN, IN, IN), {"state": "paused"}
    ),
    "api/v1/studies/<slug:slug>/participants/": Row(API),
    "api/v1/studies/<slug:slug>/exports/everything.zip": Row(API),
    "api/v1/studies/<slug:slug>/exports/<slug:table>.<slug:extension>": Row(API),
    # The admin's own doors.
    "admin/": Row(ANY_STAFF),
    "admin/login/": Row(everybody(IN), everybody(IN)),
    "admin/logout/": Row((IN, *everybody(METHOD)[1:]), everybody(IN)),
    "admin/password_change/": Row(ANY_STAFF, ANY_STAFF),
    "admin/password_change/done/": Row(ANY_STAFF),
    "admin/first-password/<uidb64>/<token>/": Row(everybody(IN), address="/admin/first-password/MQ/x-y/"),
    "admin/jsi18n/": Row(ANY_STAFF),
    "admin/docs/": Row(ANY_STAFF),
    "admin/docs/<slug:name>/": Row(ANY_STAFF, address="/admin/docs/researchers/"),
    "admin/docs/images/<str:name>": Row(ANY_STAFF, address="/admin/docs/images/people-loss.png"),
    # No form of ours completes what is typed.
    "admin/autocomplete/": Row(NOBODY),
    "admin/r/<path:content_type_id>/<path:object_id>/": Row(
        staff(NONE, NONE, IN, IN, IN, IN), address="/admin/r/{study_type}/{study}/"
    ),
    "admin/^(?P<app_label>…)/$": Row(VISIBLE_APPS, address="/admin/studies/"),
    "admin/(?P<url>.*)$": Row(staff(*[NONE] * 6), address="/admin/nothing/"),
    # What we added to Django's pages of models.
    "admin/auth/user/<id>/password/": Row(SUPERUSER, SUPERUSER, address="/admin/auth/user/{user}/password/"),
    "admin/auth/user/<int:pk>/link/": Row(
        staff(*[METHOD] * 6), SUPERUSER, address="/admin/auth/user/{user}/link/"
    ),
    "admin/desk/accesstoken/<int:pk>/revoke/": Row(
        staff(*[METHOD] * 6),
        staff(NONE, NONE, NONE, NONE, IN, IN),
        address="/admin/desk/accesstoken/{accesstoken}/revoke/",
    ),
    "admin/datasets/import/<int:pk>/state/": Row(OWN, address="/admin/datasets/import/{import}/state/"),
    "admin/datasets/import/<int:pk>/orders/<slug:order>/": Row(
        staff(*[METHOD] * 6), OWN, address="/admin/datasets/import/{import}/orders/cancel/"
    ),
    "admin/datasets/import/<int:pk>/pictures/<slug:version>/<int:row>": Row(
        OWN, address="/admin/datasets/import/{import}/pictures/plain/0"
    ),
    "admin/studies/dataset/<int:pk>/classes/": Row(
        VISIBLE, OWNED, address="/admin/studies/dataset/{dataset}/classes/"
    ),
    "admin/studies/dataset/images/<str:key>": Row(VISIBLE, address="/admin/studies/dataset/images/{example}"),
    "admin/studies/participant/<int:pk>/why/<int:number>/": Row(
        staff(NO, NONE, IN, IN, IN, IN), address="/admin/studies/participant/{participant}/why/4/"
    ),
    "admin/studies/study/check/": Row(staff(NO, *[METHOD] * 5), RESEARCHERS),
}  # fmt: skip

# They lead to the front page whoever has nothing to do there.
DOORS = ("/admin/login/", "/admin/logout/")

# What stands for the parts of an address of a study's page: by the page, or for all of them.
PARTS: dict[tuple[str, str] | str, Any] = {
    "arm": "rt",
    ("figure", "key"): "gain",
    ("model_figure", "key"): "calibration",
    "form": "csv",
    "table": "participants",
    "extension": "csv",
    "person": "{participant}",
    ("bonus_file", "name"): "by-code.csv",
}
# What a page's form needs, so that a request gets past it to the rights.
BODIES: dict[str, Mapping[str, Any]] = {
    "state": {"state": "paused"},
    "preview_open": {"stage": "consent"},
}


def row_of_page(page: Page) -> Row:
    """A page of a study: its flags say all."""
    reader = NO if page.edits else IN
    may = (SIGN_IN, NONE, NONE, reader, IN, IN, IN)
    seen = tuple(METHOD if outcome == IN else outcome for outcome in may) if page.posts else may
    writes = page.posts or page.edits
    return Row(seen, may if writes else None, BODIES.get(page.name, {}), address_of_page(page))


def address_of_page(page: Page) -> str:
    def part(match: re.Match[str]) -> str:
        name = match[1].rpartition(":")[2]
        known = PARTS.get((page.name, name), PARTS.get(name))
        assert known is not None, f"Say in PARTS what <{name}> of the page {page.name} may be."
        return str(known)

    return "/admin/studies/study/{study}/" + re.sub(r"<([^>]+)>", part, page.path)


OF_PAGES = {
    f"admin/studies/study/<int:pk>/{page.path}": page for page in PAGES if isinstance(page, Page)
}


def routes(resolver: URLResolver | None = None, before: str = "") -> Iterator[str]:
    """Every route of the site, as the URLconf writes it."""
    for pattern in (resolver or get_resolver()).url_patterns:
        route = before + re.sub(
            r"\(\?P<app_label>[^)]*\)", "(?P<app_label>…)", str(pattern.pattern)
        )
        if isinstance(pattern, URLPattern):
            yield route
        else:
            yield from routes(pattern, route)


ALL_ROUTES = sorted(set(routes()))


# Of the participant whom every role looks at. Whoever may only read never gets it.
RECRUITERS_ID = b"5f1e5f1e5f1e"


def import_with_a_picture(owner: User) -> Import:
    job = Import.objects.create(name="Finches", created_by=owner)
    pictures = job.pictures(NO_REMEDY)
    pictures.mkdir(parents=True)
    (pictures / "000000.jpg").write_bytes(b"a picture")
    return job


class World:
    """A study with its people, one of every thing that is somebody's, and one person of every role."""

    def __init__(self) -> None:
        owner = make_researcher("owner")
        dataset = make_dataset(teaching=12, evaluation=6, owner=owner)
        self.study = make_study(dataset=dataset, arms="rt,jedi", owner=owner, reward=2)
        people: dict[str, User] = {
            "staff": User.objects.create_user("staff", is_staff=True),
            "stranger": make_researcher("stranger"),
            "reader": share(self.study, make_researcher("reader")),
            "editor": share(self.study, make_researcher("editor"), can_edit=True),
            "owner": owner,
            "superuser": User.objects.create_superuser("superuser"),
        }
        self.browsers = {"anonymous": Client()} | {
            role: browser_of(user) for role, user in people.items()
        }
        self.headers: dict[str, dict[str, str]] = {"anonymous": {}} | {
            role: {"Authorization": f"Bearer {self.token_of(user)}"}
            for role, user in people.items()
        }
        self.names = self.things(owner)

    def token_of(self, user: User) -> str:
        secret = AccessToken.new_secret()
        AccessToken.objects.create(user=user, name="of a test", digest=digest_of(secret))
        return secret

    def things(self, owner: User) -> dict[str, Any]:
        worker = Worker(self.study, PROLIFIC_PID=RECRUITERS_ID.decode())
        worker.go_to("done")
        under_way = Worker(self.study)
        picture = under_way.go_to("memory")["images"][0]["id"]
        entry = audit.record(AuditEntry.Action.EXPORT, "Took a table away.", study=self.study)
        return {
            "slug": self.study.slug,
            "token": under_way.token,
            "image": picture,
            "table": "participants",
            "extension": "csv",
            "study": self.study.pk,
            "study_type": ContentType.objects.get_for_model(self.study).pk,
            "dataset": self.study.dataset.pk,
            "example": self.study.dataset.examples.first().key,
            "participant": worker.participant.pk,
            "auditentry": entry.pk,
            "import": import_with_a_picture(owner).pk,
            "accesstoken": AccessToken.objects.get(user=owner).pk,
            "user": User.objects.create_user("somebody").pk,
            "group": Group.objects.get().pk,
            "dbtaskresult": "3b0b7a3c-0000-4000-8000-000000000000",
        }

    def address(self, route: str, row: Row) -> str:
        if row.address:
            return row.address.format(**self.names)
        model = route.split("/")[2] if route.count("/") > 2 else ""
        names = self.names | {"object_id": self.names.get(model)}
        return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda match: str(names[match[1]]), route)

    def outcome(self, role: str, method: str, address: str, body: Mapping[str, Any]) -> str:
        """What came of a request, which changes nothing in the end."""
        browser = self.browsers[role]
        browser.raise_request_exception = False
        is_api = address.startswith("/api/")
        options = {"headers": self.headers[role]} if address.startswith("/api/v1/") else {}
        if method == "post" and is_api:
            options["content_type"] = "application/json"
        cookies = browser.cookies.copy()
        with transaction.atomic():
            reply = getattr(browser, method)(address, dict(body), **options)
            content = b"".join(reply)
            reply.close()
            transaction.set_rollback(True)
        assert role != "reader" or RECRUITERS_ID not in content
        browser.cookies = cookies
        return IN if address in DOORS and reply.status_code == 302 else outcome_of(reply)


def outcome_of(reply: Any) -> str:
    assert reply.status_code < 500, reply.content[-2000:]
    if reply.status_code in {401, 403, 404, 405}:
        return str(reply.status_code)
    if reply.status_code == 302 and reply["Location"].startswith("/admin/login/"):
        return SIGN_IN
    # Django's admin says so of an object that is not there, or not there for this person.
    return NONE if reply.status_code == 302 and reply["Location"] == "/admin/" else IN


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """Built once for all addresses, and taken back at the end."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield World()
        transaction.set_rollback(True)


@pytest.mark.parametrize("route", ALL_ROUTES)
def test_every_role_gets_what_its_row_says(world: World, route: str) -> None:
    row = row_of_page(OF_PAGES[route]) if route in OF_PAGES else ROWS.get(route)
    assert row, f"Nobody has said who may open {route}: give it a row."
    address = world.address(route, row)
    # Whatever came before may have taken longer than a background worker may be silent.
    beat()
    for method, outcomes in (("get", row.get), ("post", row.post)):
        wanted = dict(zip(ROLES, outcomes or (), strict=False))
        # Where all are alike, the ends of the row stand for it.
        tried = ROLES if len(set(wanted.values())) > 1 else (ROLES[0], ROLES[-1])
        got = {role: world.outcome(role, method, address, row.body) for role in tried if wanted}
        assert got == {role: wanted[role] for role in got}, f"{method.upper()} {address}"


@pytest.mark.parametrize(
    "address",
    [
        "/admin/studies/study/{study}/downloads/participants.csv",
        "/admin/studies/study/{study}/downloads/everything.zip",
        "/api/v1/studies/{slug}/exports/participants.jsonl",
        "/api/v1/studies/{slug}/exports/everything.zip",
    ],
)
def test_recruiters_ids_are_for_those_who_may_change_the_study(world: World, address: str) -> None:
    for role, outcome in {"reader": NO, "editor": IN, "owner": IN}.items():
        path = address.format(**world.names)
        assert world.outcome(role, "get", path, {"identifiable": "1"}) == outcome


@pytest.mark.parametrize(
    ("model", "lookup"),
    [
        ("participant", "external_id"),
        ("participant", "external_id__startswith"),
        ("participant", "token__startswith"),
        ("study", "webhook_secret__startswith"),
        ("study", "participants__external_id__startswith"),
        ("auditentry", "study__webhook_secret__gt"),
    ],
)
def test_no_lookup_of_a_list_finds_a_secret_out(world: World, model: str, lookup: str) -> None:
    for role in ("reader", "owner"):
        reply = world.browsers[role].get(f"/admin/studies/{model}/", {lookup: "5"})
        assert reply.status_code == 400


def test_no_row_is_about_an_address_that_is_gone() -> None:
    assert set(ROWS) <= set(ALL_ROUTES)


def test_an_address_without_a_row_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(ROWS, "healthz")
    with pytest.raises(AssertionError, match="who may open healthz"):
        test_every_role_gets_what_its_row_says(None, "healthz")
