"""The researcher's door: a first password by a link that works once, and a lock after wrong ones."""

import io
import re

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from jedi_web.management.commands.prepare import first_password_link

pytestmark = pytest.mark.django_db
PASSWORD = "a good long passphrase"


def first_link() -> str:
    first = first_password_link()
    assert first is not None
    return first[1]


def follow(client: Client, link: str):
    path = link.removeprefix("http://127.0.0.1:8000")
    return client.get(path, follow=True)


def set_password(client: Client, link: str, password: str = PASSWORD):
    page = follow(client, link)
    address = page.redirect_chain[-1][0]
    return client.post(address, {"new_password1": password, "new_password2": password})


def sign_in(client: Client, password: str, name: str = "researcher"):
    return client.post("/admin/login/", {"username": name, "password": password})


def test_the_first_researcher_sets_the_password_by_the_link_and_is_signed_in():
    client = Client()
    reply = set_password(client, first_link())
    assert (reply.status_code, reply["Location"]) == (302, "/admin/")
    assert client.get("/admin/").status_code == 200
    later = Client()
    assert sign_in(later, PASSWORD).status_code == 302
    assert later.get("/admin/").status_code == 200


def test_a_link_signs_no_closed_account_in():
    link = first_link()
    User.objects.update(is_active=False)
    client = Client()
    set_password(client, link)
    assert client.get("/admin/")["Location"].startswith("/admin/login/")


def test_the_link_works_once():
    link = first_link()
    set_password(Client(), link)
    stranger = Client()
    page = follow(stranger, link)
    assert "new_password1" not in page.content.decode()
    assert first_password_link() is None


def test_there_is_no_default_password():
    first_password_link()
    user = User.objects.get()
    assert not user.has_usable_password()
    for guess in ("", "researcher", "admin", "password", "None"):
        assert not user.check_password(guess)


def test_the_link_is_shown_again_until_it_was_used_and_makes_one_user():
    assert first_password_link() is not None
    assert first_password_link() is not None
    assert User.objects.count() == 1


def test_a_weak_first_password_is_refused():
    link = first_link()
    assert set_password(Client(), link, "12345678").status_code == 200
    assert not User.objects.get().has_usable_password()


def test_the_link_names_the_superuser_that_it_is_for():
    User.objects.create_superuser("ada", password=None)
    assert first_password_link()[0] == "ada"
    assert User.objects.count() == 1


def test_a_changed_link_sets_nothing():
    link = first_link()
    page = follow(Client(), link[:-2] + "x/")
    assert "new_password1" not in page.content.decode()


def test_preparing_prints_the_links_and_again_changes_no_data():
    from tests.builders import database_snapshot

    def prepare() -> str:
        output = io.StringIO()
        call_command("prepare", "--no-demo", stdout=output)
        return output.getvalue()

    assert re.search(
        r"this link works once\):\s+http://127.0.0.1:8000/admin/first-password/", prepare()
    )
    before = database_snapshot()
    prepare()
    assert database_snapshot() == before
    set_password(Client(), first_link())
    assert "works once" not in prepare()


def test_five_wrong_passwords_close_the_door_even_for_the_right_one():
    client = Client()
    set_password(client, first_link())
    for _ in range(4):
        assert sign_in(client, "wrong").status_code == 200
    assert sign_in(client, "wrong").status_code == 429
    reply = sign_in(client, PASSWORD)
    assert reply.status_code == 429
    assert "Too many attempts" in reply.content.decode()


def test_a_lock_is_for_one_name_from_one_address():
    set_password(Client(), first_link())
    attacker = Client(REMOTE_ADDR="203.0.113.9")
    for _ in range(6):
        reply = sign_in(attacker, "wrong")
    assert reply.status_code == 429
    assert sign_in(Client(REMOTE_ADDR="198.51.100.7"), PASSWORD).status_code == 302


def test_behind_a_proxy_an_attacker_does_not_lock_everybody_out(settings):
    settings.JEDI_PROXIES = 1
    set_password(Client(), first_link())
    proxy = {"REMOTE_ADDR": "10.0.0.1"}
    # The first address is the attacker's own invention; the proxy appends the true one.
    attacker = [
        Client(**proxy, HTTP_X_FORWARDED_FOR=f"198.51.100.{k}, 203.0.113.9") for k in range(6)
    ]
    replies = [sign_in(client, "wrong") for client in attacker]
    assert replies[-1].status_code == 429
    researcher = Client(**proxy, HTTP_X_FORWARDED_FOR="198.51.100.7")
    assert sign_in(researcher, PASSWORD).status_code == 302


def test_without_a_proxy_a_forwarded_address_is_not_believed():
    set_password(Client(), first_link())
    replies = [sign_in(Client(HTTP_X_FORWARDED_FOR=f"198.51.100.{k}"), "wrong") for k in range(6)]
    assert replies[-1].status_code == 429
