"""The form of replies."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("accepted", ["*/*", "application/json", "text/html", "image/png", "?", ""])
@pytest.mark.parametrize("address", ["/api/sessions/nobody/", "/api/v1/studies/"])
def test_an_address_with_one_form_has_it_whatever_the_client_accepts(address, accepted):
    reply = Client().get(address, headers={"Accept": accepted})
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.json()["error"]["message"]


@pytest.mark.parametrize(
    "accepted", ["application/vnd.oai.openapi", "application/vnd.oai.openapi+json"]
)
def test_an_address_with_several_has_the_one_that_the_client_accepts(accepted):
    reply = Client().get("/api/schema/", headers={"Accept": accepted})
    assert reply.headers["Content-Type"].partition(";")[0] == accepted


def test_a_form_that_there_is_not_is_refused():
    assert Client().get("/api/schema/", headers={"Accept": "image/png"}).status_code == 406
