"""A strict content security policy on every page, the admin's too."""

import pytest
from django.test import Client

from tests.builders import make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db


def policy(reply) -> dict[str, set[str]]:
    parts = [part.split() for part in reply["Content-Security-Policy"].split(";") if part.strip()]
    return {name: set(values) for name, *values in parts}


def assert_strict(reply) -> None:
    rules = policy(reply)
    assert_guarded(reply)
    assert rules["default-src"] == rules["base-uri"] == rules["frame-ancestors"] == {"'none'"}
    for name in ("script-src", "style-src", "connect-src", "form-action", "font-src"):
        assert rules[name] == {"'self'"}, name
    assert rules["img-src"] <= {"'self'", "data:", "blob:"}
    assert "unsafe" not in reply["Content-Security-Policy"]


def assert_guarded(reply) -> None:
    assert reply["X-Frame-Options"] == "DENY"
    assert reply["X-Content-Type-Options"] == "nosniff"
    assert "camera=(), " in reply["Permissions-Policy"]


def assert_nothing_inline(page: str) -> None:
    """Nothing that the policy would block."""
    assert "<style" not in page
    assert " style=" not in page
    assert " onclick=" not in page
    for tag in page.split("<script")[1:]:
        assert " src=" in tag.split(">")[0] or 'type="application/json"' in tag.split(">")[0]


def test_every_public_page_has_the_policy():
    study = make_study()
    worker = Worker(study)
    for address, status in {
        "/": 200,
        f"/s/{study.slug}/": 200,
        worker.participant.get_absolute_url(): 200,
        "/api/schema/": 200,
        "/admin/login/": 200,
        "/nothing/": 404,
    }.items():
        reply = Client().get(address)
        assert reply.status_code == status
        assert_strict(reply)
        if "html" in reply["Content-Type"]:
            assert_nothing_inline(reply.content.decode())


def test_every_admin_page_has_the_policy(researcher):
    study = make_study()
    worker = Worker(study)
    worker.go_to("done")
    person = worker.participant.pk
    for address in (
        "/admin/",
        "/admin/studies/study/",
        f"/admin/studies/study/{study.pk}/change/",
        "/admin/studies/study/add/",
        "/admin/studies/dataset/",
        f"/admin/studies/dataset/{study.dataset_id}/change/",
        "/admin/studies/participant/",
        f"/admin/studies/participant/{person}/change/",
        f"/admin/studies/study/{study.pk}/downloads/teaching-gain.csv",
    ):
        reply = researcher.get(address)
        assert reply.status_code == 200, address
        assert_strict(reply)
        if "html" in reply["Content-Type"]:
            assert_nothing_inline(reply.content.decode())


def test_the_deployed_pages_ask_no_other_host(sqlite_site):
    slug = sqlite_site.make_study()
    for path in ("/", f"/s/{slug}/", "/admin/login/", "/nothing"):
        reply = sqlite_site.client().get(path)
        assert "Content-Security-Policy" in reply.headers
        page = reply.content.decode()
        assert 'src="http' not in page
        assert 'href="http' not in page.replace('href="http://www.w3.org', "")


def test_data_and_images_have_the_policy_of_the_pages():
    worker = Worker(make_study())
    image = worker.go_to("teaching")["image"]["url"]
    for address in (image, f"/api/sessions/{worker.token}/", "/api/sessions/nobody/"):
        reply = Client().get(address)
        assert policy(reply)["default-src"] == policy(reply)["frame-ancestors"] == {"'none'"}
        assert policy(reply)["script-src"] == {"'self'"}
        assert_guarded(reply)
