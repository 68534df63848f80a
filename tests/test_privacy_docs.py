"""docs/privacy.md says what is stored: compared with the models, the cookies and the rows themselves."""

import re
from pathlib import Path

import pytest
from django.apps import apps
from django.test import Client

from studies.models import Participant
from studies.withdrawal import KEPT
from tests.builders import database_snapshot, make_study
from tests.people import make_researcher
from tests.quiz.models import Question
from tests.worker import Worker

TEXT = (Path(__file__).resolve().parent.parent / "docs" / "privacy.md").read_text(encoding="utf-8")
BROWSER = "Mozilla/5.0 (a browser nobody else has)"
ADDRESS = "203.0.113.77"


def documented() -> dict[str, set[str]]:
    """The fields in the first column of the table under each model's heading."""
    sections = re.split(r"^### `([\w.]+)`$", TEXT, flags=re.MULTILINE)[1:]
    return {
        name: set(
            re.findall(
                r"`(\w+)`",
                " ".join(re.findall(r"^\| (.+?) \|", text.split("\n## ")[0], re.MULTILINE)),
            )
        )
        for name, text in zip(sections[::2], sections[1::2], strict=True)
    }


def stored_about_participants() -> set[str]:
    relations = Participant._meta.related_objects
    return {
        Participant._meta.label,
        *(relation.related_model._meta.label for relation in relations),
    } - {Question._meta.label}


@pytest.mark.parametrize("name", sorted(stored_about_participants() | set(documented())))
def test_every_stored_field_is_in_the_docs_and_no_other(name):
    assert name in documented(), f"docs/privacy.md has no section ### `{name}`."
    fields = {field.name for field in apps.get_model(name)._meta.concrete_fields}
    assert documented()[name] == fields


def cookies_in_the_docs() -> set[str]:
    section = TEXT.partition("## Cookies")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| `([\w<>]+)` \|", section, re.MULTILINE))


@pytest.mark.django_db
def test_every_cookie_is_in_the_docs():
    study = make_study(owner=make_researcher("owner"))
    seen: set[str] = set()
    worker = Client()
    page = worker.post(f"/s/{study.slug}/", follow=True)
    assert page.status_code == 200
    seen |= {re.sub(r"\d+$", "<n>", name) for name in worker.cookies}
    researcher = Client()
    study.owner.set_password("a good long passphrase")
    study.owner.save()
    researcher.get("/admin/login/")
    form = {"username": "owner", "password": "a good long passphrase"}
    assert researcher.post("/admin/login/", form).status_code == 302
    researcher.post(f"/admin/studies/study/{study.pk}/connections/test/")
    seen |= set(researcher.cookies)
    assert seen == cookies_in_the_docs()


@pytest.mark.django_db
def test_nothing_of_a_workers_browser_or_address_is_stored():
    client = Client(REMOTE_ADDR=ADDRESS, HTTP_USER_AGENT=BROWSER, HTTP_ACCEPT_LANGUAGE="xx-test")
    study = make_study(arms="rt")
    client.get(f"/s/{study.slug}/")
    client.post(f"/s/{study.slug}/")
    worker = Worker(study, client, PROLIFIC_PID="5f1e")
    worker.post("events", {"events": [{"kind": "opened"}]})
    worker.go_to("done")
    client.get(f"/w/{worker.token}/")
    rows = str(database_snapshot())
    assert "5f1e" in rows
    for trace in (ADDRESS, BROWSER, "a browser nobody", "xx-test"):
        assert trace not in rows


def test_what_stays_after_a_withdrawal_is_in_the_docs():
    section = TEXT.partition("- **Delete**")[2].partition("- **Keep**")[0]
    said = {"code", "seed", "study", "version", "purpose", "arm", "ticket", "stage", "seal"}
    assert said <= set(KEPT)
    assert all(word in section for word in said)
    # Times, the software's version and a researcher's decision: told as such, or about no person.
    times = {name for name in KEPT if name.endswith("_at")}
    assert set(KEPT) - said - times == {
        "id", "software_version", "is_excluded", "token_digest", "roster_number",
    }  # fmt: skip
    assert "digest of the link" in section
